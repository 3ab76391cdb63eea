"""Access control: a request needs the secret of this run in its path, this machine as its host, and no foreign origin.

The secret is 128 random bits, compared in constant time; other requests get 403. A page of another site cannot read the
secret, and even with it the browser would send that site as the origin.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
HOSTS = ("127.0.0.1", "localhost")
MOST_BYTES = 1 << 20  # of the body of a request


def new_secret() -> str:
    """128 random bits, as a part of a URL."""
    return secrets.token_urlsafe(16)


class Guard:
    """Middleware that requires the secret, and removes it from the path."""

    def __init__(self, app: App, secret: str, port: int) -> None:
        self.app = app
        self.secret = secret.encode()
        self.hosts = {f"{host}:{port}" for host in HOSTS} | ({*HOSTS} if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = self._allowed(scope)
        if path is None:
            await _refuse(send)
            return
        inner = dict(scope, path=path, raw_path=path.encode(), root_path="")
        await self.app(inner, receive, _with_headers(send))

    def _allowed(self, scope: Scope) -> str | None:
        """The path after the secret; None if the request is not allowed."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self.hosts:
            return None
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return None
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return None
        if int(headers.get("content-length") or 0) > MOST_BYTES or "transfer-encoding" in headers:
            return None
        first, _, rest = scope["path"].lstrip("/").partition("/")
        if not hmac.compare_digest(first.encode(), self.secret):
            return None
        return f"/{rest}"


async def _refuse(send: Send) -> None:
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain"), *HEADERS]})
    await send({"type": "http.response.body", "body": b"403: open the address that `bayes app` printed\n"})


def _with_headers(send: Send) -> Send:
    async def sender(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *HEADERS]}
        await send(message)

    return sender
