"""Serve the app on this machine until it is stopped."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence

from bayesbox.app.server.opened import ShownFile
from bayesbox.errors import BadOption, MissingExtra

HOST = "127.0.0.1"


def serve(
    opened: Sequence[ShownFile], *, port: int = 0, seconds: float | None = None, started: Callable[[str], None]
) -> None:
    """Serve these files; `started` is called with the address. Ends after so many seconds, or by Ctrl-C."""
    try:
        import uvicorn

        from bayesbox.app.server.guard import new_secret
        from bayesbox.app.server.routes import application
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "app") from None
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, port))
        except OSError as error:
            raise BadOption(f"port {port} cannot be used: {error.strerror}", remedy="Choose another --port") from None
        own = bound.getsockname()[1]
        secret = new_secret()
        app = application(opened, secret, own)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", server_header=False))
        timer = None
        if seconds is not None:
            timer = threading.Timer(seconds, lambda: setattr(server, "should_exit", True))
            timer.daemon = True
            timer.start()
        started(f"http://{HOST}:{own}/{secret}/")
        try:
            server.run(sockets=[bound])
        except KeyboardInterrupt:
            pass
        finally:
            if timer is not None:
                timer.cancel()
