"""Shared by the parsers: positions in a text, numbers, tokens and errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import read_numbers
from bayesbox.errors import BadModelFile, BadTable, UnknownNode
from bayesbox.network.graph import Graph, Node

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def decoded(data: bytes, where: str) -> str:
    """The bytes of a file decoded as UTF-8."""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = position(data[: error.start].decode("latin-1"), error.start)
        raise BadModelFile("not UTF-8 text", where=f"{where}, line {line}, column {column}") from None


def position(text: str, at: int) -> tuple[int, int]:
    r"""The line and the column of a character, both from 1.

    >>> position("a\nbc", 3)
    (2, 2)
    """
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


class TextPosition:
    """A position in a file, for error messages."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where

    def at(self, offset: int) -> str:
        """The position as text: file, line and column."""
        line, column = position(self.text, offset)
        return f"{self.where}, line {line}, column {column}"

    def fail(self, what: str, offset: int, found: object = None, remedy: str | None = None) -> NoReturn:
        """Raise an error at this position."""
        raise BadModelFile(what, where=self.at(offset), found=found, remedy=remedy)


class TokenStream:
    """The tokens of a text, each with its position."""

    def __init__(self, text: str, where: str, pattern: re.Pattern[str]) -> None:
        """`pattern` has a group `token`; anything else it matches, such as space and comments, is skipped."""
        self.place = TextPosition(text, where)
        self.token = ""
        """The next token; empty at the end."""
        self.offset = 0
        """Where it stands."""
        self._pattern = pattern
        self._bytes = text.encode() if text.isascii() else b""  # then characters and bytes have the same offsets
        self.seek(0)

    def seek(self, at: int) -> None:
        """Continue from a position in the text."""
        text = self.place.text
        while at < len(text):
            found = self._pattern.match(text, at)
            if found is None or found.end() == at:
                self.place.fail("unexpected character", at, text[at : at + 20])
            if found["token"] is not None:
                self.token, self.offset, self._next = found["token"], found.start("token"), found.end()
                return
            at = found.end()
        self.token, self.offset, self._next = "", len(text), len(text)

    def fail(self, what: str, remedy: str | None = None) -> NoReturn:
        """Raise an error at the next token."""
        self.place.fail(what, self.offset, self.token or "the end of the file", remedy)

    def take(self, wanted: str | None = None) -> str:
        """Consume and return the next token; if one is expected, it must be that."""
        token = self.token
        if not token or (wanted is not None and token != wanted):
            self.fail(f"expected `{wanted}`" if wanted is not None else "expected more")
        self.seek(self._next)
        return token

    def took(self, wanted: str) -> bool:
        """Consume the next token if it is this one; whether it was."""
        if self.token != wanted:
            return False
        self.seek(self._next)
        return True

    def integer(self, what: str, *, most: int) -> int:
        """Consume a non-negative integer."""
        token = self.token
        if not token.isascii() or not token.isdigit() or len(token) > 12 or int(token) > most:
            self.fail(f"expected {what}: an integer up to {most:,}")
        self.seek(self._next)
        return int(token)

    def number(self) -> float:
        """Consume a finite number, correctly rounded."""
        token = self.token
        if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
            self.fail("expected a number", "Decimals must have a point, not a comma" if "," in token else None)
        self.seek(self._next)
        return float(token)

    def numbers(self, most: int, *, between: str = "") -> NDArray[np.float64]:
        """Consume a run of numbers, up to `most`, in the core; the characters `between` are skipped.

        It may stop early: the caller continues with `number`, which reads the rest or raises an error.
        """
        if not self._bytes:
            return np.empty(0)
        values, end = read_numbers(self._bytes, self.offset, most, between.encode())
        if len(values):
            self.seek(end)
        return values


def graph_from(
    nodes: Iterable[Node],
    place: TextPosition,
    offset: Callable[[BadTable], int],
    *,
    name: str = "",
    normalize: bool = False,
) -> Graph:
    """The graph; an error has the position of the row of a table, or else of the node."""
    listed = list(nodes)
    if not listed:
        place.fail("the file has no nodes", 0)
    try:
        return Graph(listed, name=name, normalize=normalize, rounded=True)
    except BadTable as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        place.fail(what, offset(error), error.found, error.remedy)
    except UnknownNode as error:
        raise BadModelFile(f"{error.where}: {error.what}", where=place.where, remedy=error.advice) from error


def number_text(value: Any) -> str:
    """The shortest decimal that reads back as the same double.

    >>> number_text(0.1), number_text(1.0)
    ('0.1', '1.0')
    """
    return repr(float(value))


def require_plain(names: Iterable[str], forbidden: re.Pattern[str], format_name: str) -> None:
    """Raise an error for names that a format cannot represent."""
    for name in names:
        if not name or forbidden.search(name):
            raise BadModelFile(
                f"{format_name} cannot represent this name",
                found=name,
                remedy="Write .json or .xmlbif, which support any name",
            )
