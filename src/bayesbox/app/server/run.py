"""Run the app on this machine until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence
from typing import Any

from bayesbox.app.server.shown import ShownFile
from bayesbox.errors import BadOption

HOST = "127.0.0.1"


def serve(
    opened: Sequence[ShownFile], *, port: int = 0, seconds: float | None = None, started: Callable[[str], None]
) -> None:
    """Serve these files; `started` is called with the URL. Stops after this many seconds, or with Ctrl-C."""
    import uvicorn

    from bayesbox.app.server.guard import new_secret
    from bayesbox.app.server.routes import application

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, port))
        except OSError as error:
            raise BadOption(
                f"port {port} cannot be used: {error.strerror}",
                remedy="Choose another port, or 0 for any free one",
            ) from None
        own = bound.getsockname()[1]
        secret = new_secret()
        app = application(opened, secret, own)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", server_header=False))
        if seconds is not None:
            _end_after(server, seconds)
        started(f"http://{HOST}:{own}/{secret}/")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[bound])


def _end_after(server: Any, seconds: float) -> None:
    """Stop a server this many seconds after its start; stopping it earlier would leave its sockets open."""
    start = server.startup

    async def startup(*given: Any, **options: Any) -> None:
        await start(*given, **options)
        asyncio.get_running_loop().call_later(seconds, setattr, server, "should_exit", True)

    server.startup = startup
