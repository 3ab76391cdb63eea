"""Requests to the service in this process: no socket, no server, but the application as it is."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from bayesbox.serve.http.service import Service


class Answered(NamedTuple):
    """The status, the headers and the body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        body = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body
        return json.loads(body)


def ask(
    service: Service,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
    chunks: Sequence[bytes] | None = None,
    wait: float = 0.0,
) -> Answered:
    """One request; `chunks` are the parts of its body, with a wait before each."""
    return asyncio.run(asked(service, method, path, body, token=token, headers=headers, chunks=chunks, wait=wait))


async def asked(
    service: Service,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
    chunks: Sequence[bytes] | None = None,
    wait: float = 0.0,
) -> Answered:
    """The same inside of an event loop."""
    whole = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    parts = list(chunks) if chunks is not None else [whole]
    given = {"host": "test", **({} if token is None else {"authorization": f"Bearer {token}"}), **(headers or {})}
    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": bare,
        "raw_path": bare.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        if wait:
            await asyncio.sleep(wait)
        if not parts:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    await service(scope, receive, send)
    start, end = sent
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    assert int(found["content-length"]) == len(end["body"])
    assert len(found["bayesbox-digest"]) == 64
    assert found["x-request-id"]
    return Answered(start["status"], found, end["body"])
