"""The document in a model file, `model.json`: told apart by the kind of model, read with every fault named."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from bayesbox.errors import BadModelFile
from bayesbox.file import container
from bayesbox.file.atomic import replacing
from bayesbox.file.reader import Reader
from bayesbox.file.strict_json import parse

MODEL = "model.json"

T = TypeVar("T")


def write(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(data)


def kind_of(data: bytes, *, name: str = "model") -> str | None:
    """The kind of model that the bytes of a file hold, None where they do not say; a damaged file is refused.

    Where the document stands first, as in every model, it is read by itself: who reads the rest checks every byte.
    """
    kind = _kind(container.first_member(data))
    if kind is not None:
        return kind
    return _kind((MODEL, container.unpack(data, name=name).get(MODEL, b"null")))


def _kind(member: tuple[str, bytes] | None) -> str | None:
    if member is None or member[0] != MODEL:
        return None
    try:
        written = parse(member[1])
    except ValueError:
        return None
    kind = written.get("kind") if isinstance(written, dict) else None
    return kind if isinstance(kind, str) else None


def read(data: bytes, build: Callable[[Reader, dict[str, bytes]], T], *, name: str = "model") -> T:
    """What `build` makes of the document and the other members of a file; `name` is the file's, for messages.

    It raises ValueError(reason), or ValueError(member, reason) where the fault is in another member.
    """
    members = container.unpack(data, name=name)
    section = MODEL
    try:
        if MODEL not in members:
            raise ValueError(f"the archive is whole, but it holds no {MODEL}")
        return build(Reader(parse(members.pop(MODEL)), "the document"), members)
    except ValueError as error:
        if isinstance(error, BadModelFile):
            raise
        if len(error.args) == 2 and not isinstance(error, UnicodeError):
            section, reason = error.args
        else:
            reason = str(error)
        raise BadModelFile(reason, where=f"{name}, {section}", remedy=container.DAMAGED) from error
