"""HTTP/1.1 of uvicorn, with additional limits on the size and the duration of request headers.

A client that sends its headers very slowly holds a connection without ever becoming a request, so no limit of the
application applies. Here a header must be complete within a time and a size limit, and a connection that sends nothing
is closed.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.problems import Problem


class LimitedProtocol(HttpToolsProtocol):
    """One connection with limited headers. `protocol_for` makes the class for the limits of a service."""

    limits: ClassVar[ServiceLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.head_size = 0  # of the complete lines
        self.held_back = 0  # the bytes since, of possibly incomplete lines
        self.head_since: float | None = self.loop.time()  # None while no header is being received
        self.timeout_keep_alive_task = self.loop.call_later(self.limits.keep_alive, self.timeout_keep_alive_handler)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.head_size = self.held_back = 0
        self.head_since = self.loop.time()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self.head_since = None
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.transport.is_closing():
            super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        before = self.head_since
        super().data_received(data)
        if before is not None and self.head_since == before:  # the header is still incomplete
            self.held_back += len(data)
            if self.held_back > self.limits.header:
                self.refuse(_too_long(self.limits))

    def _count(self, size: int) -> None:
        self.head_size += size
        if self.head_size > self.limits.header:
            self.refuse(_too_long(self.limits))

    def refuse(self, problem: Problem) -> None:
        """Respond to an invalid request, and close the connection."""
        if self.transport.is_closing():
            return
        body = problem.body("none")
        service: Any = self.app
        head = (
            f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
            f"content-type: application/problem+json\r\ncontent-length: {len(body)}\r\n"
            f"bayesbox-digest: {service.folder.digest()}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Invalid HTTP gets a problem too."""
        self.refuse(Problem(400, msg, kind="not-http"))

    def expire(self, now: float) -> None:
        """Time out a header that takes too long."""
        since = self.head_since
        if since is not None and now - since > self.limits.seconds and self._is_idle():
            self.refuse(Problem(408, f"the request header was not complete within {self.limits.seconds:g} s"))

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete


def _too_long(limits: ServiceLimits) -> Problem:
    return Problem(431, f"the request header is larger than {limits.header} bytes", kind="head-too-long")


def protocol_for(limits: ServiceLimits) -> type[LimitedProtocol]:
    """The protocol with these limits."""
    return type("ServiceProtocol", (LimitedProtocol,), {"limits": limits})


def expire_heads(connections: Any, now: float) -> None:
    """Time out the headers among these connections that take too long."""
    for connection in list(connections):
        if isinstance(connection, LimitedProtocol):
            connection.expire(now)
