"""Errors over HTTP: RFC 9457 problems, which name the field and the row concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from bayesbox.errors import (
    BayesboxError,
    EventConflict,
    NoCounts,
    StoreBusy,
    StoreFailed,
    UnknownEvents,
    UnknownRecord,
)
from bayesbox.serve.models.rows import BadRowOf

MEDIA_TYPE = b"application/problem+json"
TYPE = "urn:bayesbox:problem:"


class Problem(Exception):
    """An error response: its status, what is wrong, and where, if known."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str | None = None,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Sequence[tuple[bytes, bytes]] = (),
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = tuple(headers)
        self.more = more

    def body(self, instance: str) -> bytes:
        """The problem as JSON; `instance` is the id of the request."""
        found: dict[str, Any] = {
            "type": TYPE + self.kind,
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "instance": f"urn:request:{instance}",
            **self.more,
        }
        if self.errors:
            found["errors"] = list(self.errors)
            found |= {name: self.errors[0][name] for name in ("field", "row") if self.errors[0].get(name) is not None}
        return msgspec.json.encode(found)


def problem_of(error: BayesboxError | BadRowOf) -> Problem:
    """An exception of the package as a problem."""
    if isinstance(error, BadRowOf):
        about = {"detail": str(error.error), "pointer": error.pointer, "field": error.field, "row": error.row}
        inner = problem_of(error.error)
        return Problem(inner.status, _text(error), kind=inner.kind, errors=[about], headers=inner.headers, **inner.more)
    if isinstance(error, EventConflict):
        return Problem(409, str(error), kind="event-conflict", ids=list(error.ids))
    if isinstance(error, UnknownEvents):
        return Problem(404, str(error), kind="unknown-events", ids=list(error.ids))
    if isinstance(error, UnknownRecord):
        return Problem(404, str(error), kind="unknown-record")
    if isinstance(error, StoreBusy):
        return Problem(503, str(error), kind="store-busy", headers=[(b"retry-after", b"1")])
    if isinstance(error, StoreFailed):
        return Problem(503, str(error), kind="store-failed", headers=[(b"retry-after", b"5")])
    if isinstance(error, NoCounts):
        return Problem(409, str(error), kind="no-counts")
    kind = type(error).__name__
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind).lstrip("-")
    column = getattr(error, "column", None)
    errors = [] if column is None else [{"detail": str(error), "field": str(column), "row": None}]
    return Problem(422, str(error), kind=words, errors=errors)


def _text(error: BadRowOf) -> str:
    return str(error.error) if error.row is None else f"row {error.row}: {error.error}"
