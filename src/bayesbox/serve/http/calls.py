"""The request and the reply of a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from bayesbox.serve.http.routes import Match

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
JSON = b"application/json"


class Reply(NamedTuple):
    """The reply of a handler: a body, the digest of the model, and how it is sent."""

    body: bytes
    digest: str | None = None  # None: that of all models together
    status: int = 200
    media_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Call:
    """One request, as passed to its handler."""

    __slots__ = ("forwarded", "header", "id", "match", "method", "path", "query", "receive", "rows", "scope", "token")

    def __init__(self, scope: Scope, receive: Receive, id: str) -> None:
        self.scope = scope
        self.receive = receive
        self.id = id
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope.get("query_string", b"")
        self.header: dict[bytes, bytes] = dict(scope["headers"])
        self.match: Match | None = None
        self.token: str | None = None
        self.rows = 0
        self.forwarded = False  # to the writer process, which counts it
