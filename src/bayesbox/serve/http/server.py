"""Run the service: open the store and the models, listen, and serve until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbox.errors import BadOption, DataWarning, require_packages
from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.store.base import Store, open_store

SWITCH = 0.0005  # the thread switch interval in seconds; Python's default is 5 ms
DRAIN = 30.0  # seconds for requests in progress when the service stops


@dataclass(frozen=True)
class ServeOptions:
    """The options of `bayes serve`."""

    folder: str
    store: str | None = None  # its URL; by default store.db in the folder
    host: str = "127.0.0.1"
    port: int = 8080
    cert: str | None = None
    key: str | None = None
    behind_proxy: bool = False
    tokens: bool = True
    workers: int = 0
    at: int | None = None
    sign: str | None = None  # the file of a key
    log: str = "requests"
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    seconds: float | None = None  # stop after this many
    retrain_every: int = 1000  # events between two retrainings of derived parts; 0 for never

    def check(self) -> None:
        """Raise an error for options that would serve the network without protection."""
        if self.workers and not hasattr(socket, "AF_UNIX"):
            raise BadOption("--workers needs Unix sockets, which this system does not have", found=self.workers)
        if (self.cert is None) != (self.key is None):
            raise BadOption("TLS needs both files: --tls-cert FILE --tls-key FILE")
        for path in (self.cert, self.key):
            if path is not None and not Path(path).is_file():
                raise BadOption("this file of TLS is not there", found=path)
        if is_loopback(self.host):
            return
        if not self.tokens:
            raise BadOption("--no-tokens is for this machine only", found=self.host, remedy="Listen on 127.0.0.1")
        if self.cert is None and not self.behind_proxy:
            raise BadOption(
                "beyond this machine the service needs TLS",
                found=self.host,
                remedy="Pass --tls-cert FILE --tls-key FILE, or --behind-proxy if a proxy terminates TLS",
            )

    def store_url(self) -> str:
        """The URL of the store."""
        return self.store or default_store(self.folder)


def default_store(folder: str) -> str:
    """The URL of the store of a folder."""
    return f"sqlite:///{Path(folder).absolute() / 'store.db'}"


def is_loopback(host: str) -> bool:
    """Whether an address is a loopback address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket at this address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(2048)
        found.set_inheritable(True)
        return found
    except OSError as error:
        raise BadOption(
            f"{host}, port {port} cannot be listened on: {error.strerror}", remedy="Choose another --host or --port"
        ) from None


def run(options: ServeOptions, started: Callable[[str, list[dict[str, Any]], bool], None]) -> None:
    """Serve until SIGTERM or SIGINT, or for this many seconds; `started` receives the address, the models, and whether
    a token exists or none is needed."""
    options.check()
    require_packages("serve", "apsw", "httptools", "msgspec", "prometheus_client", "starlette", "uvicorn")
    if not Path(options.folder).is_dir():
        raise BadOption(
            "DIR must be a folder of model files",
            found=options.folder,
            remedy="Put models into one, such as: bayes train DATA -t COLUMN -o models/NAME.bayes, "
            "then run: bayes serve models",
        )
    from bayesbox.serve.models.folder import require_models

    require_models(Path(options.folder))  # before a store is created in it
    listening = bound_socket(options.host, options.port)
    scheme = "http" if options.cert is None else "https"
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"{scheme}://{host}:{listening.getsockname()[1]}"
    with listening, open_store(options.store_url(), retrain_every=options.retrain_every) as store:
        now = time.time()
        is_open = not options.tokens or any(token.is_valid(now) for token in store.tokens())
        if options.workers:
            from bayesbox.serve.http.workers import run_with_workers

            run_with_workers(options, store, listening, lambda models: started(address, models, is_open))
        else:
            run_alone(options, store, listening, lambda models: started(address, models, is_open))


def make_service(options: ServeOptions, store: Store, forward: Any = None) -> Any:
    """The application over a store."""
    from bayesbox.classifier.signature import load_private_key
    from bayesbox.serve.http.logs import ServiceLog
    from bayesbox.serve.http.service import Service
    from bayesbox.serve.http.tokens import TokenCheck
    from bayesbox.serve.models.folder import ModelFolder

    signer = None if options.sign is None else load_private_key(options.sign)
    folder = ModelFolder(options.folder, store, at=options.at)
    rate = options.limits.rate
    if options.workers:  # each worker gets its share of the requests, and the writer the forwarded ones
        rate = 0.0 if forward is None else rate / options.workers
    tokens = TokenCheck(store, rate) if options.tokens else None
    log = ServiceLog(options.log)
    return Service(folder, tokens, limits=options.limits, log=log, forward=forward, signer=signer)


def run_alone(
    options: ServeOptions, store: Store, listening: socket.socket, started: Callable[[list[dict[str, Any]]], None]
) -> None:
    """Serve in this process."""
    with without_data_warnings():
        service = make_service(options, store)
        server = make_server(service, options, tls=True)
        started([service.folder.models[name].summary() for name in sorted(service.folder.models)])
        service.log.event("started", models=sorted(service.folder.models))
        run_loop(serve(server, service, [listening], options.seconds))
        service.close()
        service.log.event("stopped")
        service.log.flush()


def make_server(service: Any, options: ServeOptions, *, tls: bool) -> Any:
    """A uvicorn server for a service."""
    import uvicorn

    from bayesbox.serve.http.protocol import protocol_for

    class QuietServer(uvicorn.Server):
        """A server that does not handle signals."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        service,
        http=protocol_for(options.limits),
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=int(options.limits.keep_alive),
        timeout_graceful_shutdown=int(DRAIN),
        ssl_certfile=options.cert if tls else None,
        ssl_keyfile=options.key if tls else None,
    )
    return QuietServer(config)


async def serve(
    server: Any,
    service: Any,
    sockets: list[socket.socket],
    seconds: float | None = None,
    *,
    on_stop: Callable[[], Any] | None = None,
    on_reload: Callable[[], Any] | None = None,
) -> None:
    """Serve until a signal; requests in progress are completed, and readiness is false meanwhile."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        service.draining = True
        if on_stop is not None:
            loop.run_in_executor(None, on_stop).add_done_callback(lambda _: setattr(server, "should_exit", True))
        else:
            server.should_exit = True

    def reload() -> None:
        loop.run_in_executor(None, on_reload or service.reload_all)

    handled = {signal.SIGTERM: stop, signal.SIGINT: stop}
    if hasattr(signal, "SIGHUP"):
        handled[signal.SIGHUP] = reload
    before = {number: signal.getsignal(number) for number in handled}
    for number, handle in handled.items():
        _on_signal(loop, number, handle)
    if seconds is not None:
        loop.call_later(seconds, stop)
    ticking = loop.create_task(_tick(server, service))
    try:
        await server.serve(sockets)
    finally:
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _on_signal(loop: asyncio.AbstractEventLoop, number: signal.Signals, handle: Callable[[], None]) -> None:
    try:
        loop.add_signal_handler(number, handle)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(handle))


async def _tick(server: Any, service: Any) -> None:
    from bayesbox.serve.http.protocol import expire_heads

    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(min(1.0, service.limits.seconds / 4))
        expire_heads(server.server_state.connections, loop.time())
        await loop.run_in_executor(None, service.tick)


def run_loop(main: Any) -> None:
    """Run on uvloop, if it is installed."""
    try:
        import uvloop

        factory: Any = uvloop.new_event_loop
    except ImportError:
        factory = None
    with short_pauses(), asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)


@contextlib.contextmanager
def short_pauses() -> Iterator[None]:
    """Reduce latency: loaded objects are exempt from garbage collection, and background threads yield soon."""
    before = sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.unfreeze()


@contextlib.contextmanager
def without_data_warnings() -> Iterator[None]:
    """Suppress data warnings: the responses have them as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield
