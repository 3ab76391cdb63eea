"""Forwarding from a worker to the writer: the unchanged request, over a Unix socket."""

from __future__ import annotations

import asyncio

from bayesbox.serve.http.calls import Call, Reply
from bayesbox.serve.http.problems import Problem

PASSED = (b"authorization", b"content-type")
MOST_IDLE = 32  # idle connections kept


class ToWriter:
    """Sends requests to the writer process, over persistent connections."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __call__(self, call: Call, body: bytes) -> Reply:
        """The response of the writer."""
        try:
            reader, writer = self._idle.pop() if self._idle else await asyncio.open_unix_connection(self.path)
        except OSError:
            raise _gone() from None
        done = False
        try:
            writer.write(_written(call, body))
            await writer.drain()
            reply = await _read(reader)
            done = True
            return reply
        except (OSError, asyncio.IncompleteReadError, ValueError):
            raise _gone() from None
        finally:
            if done and len(self._idle) < MOST_IDLE:
                self._idle.append((reader, writer))
            else:
                writer.close()


def _gone() -> Problem:
    detail = "the process that writes the store cannot be reached; repeat the request with the same ids"
    return Problem(503, detail, kind="no-writer", headers=[(b"retry-after", b"1")])


def _written(call: Call, body: bytes) -> bytes:
    path = call.scope.get("raw_path") or call.path.encode()
    if call.query:
        path = path + b"?" + call.query
    lines = [b"%s %s HTTP/1.1" % (call.method.encode(), path), b"host: writer", b"x-request-id: " + call.id.encode()]
    lines += [name + b": " + call.header[name] for name in PASSED if name in call.header]
    lines.append(b"content-length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def _read(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    status = int(head[0].split(b" ", 2)[1])
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in head[1:] if line)]
    known = dict(headers)
    body = await reader.readexactly(int(known[b"content-length"]))
    more = tuple(each for each in headers if each[0] in (b"retry-after", b"www-authenticate", b"allow"))
    digest = known[b"bayesbox-digest"].decode()
    return Reply(body, digest, status, known[b"content-type"], more)
