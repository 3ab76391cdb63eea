"""Comment lines of a table: overwritten by blanks, so that line numbers stay correct."""

from __future__ import annotations

from bayesbox import _core
from bayesbox.source.files.scan import records
from bayesbox.source.files.window import Window


def blank_comments(window: Window, mark: bytes, delimiter: bytes) -> None:
    """Blank the lines in view that begin with the mark, outside quotes; readers skip blank lines.

    The view must begin with a row. An incomplete line is not changed yet.
    """
    text, view, newline = bytes(window.view), window.view, window.newline
    filler = b"\r" if newline == b"\n" else b"\n"  # the newline character that does not count as a line end
    position = 0
    while True:
        if text.startswith(mark, position):
            end = text.find(newline, position)
            if end < 0 and not window.finished:
                return
            end = len(text) if end < 0 else end
            view[position:end] = filler * (end - position)
            position = end + 1
            continue
        found = text.find(newline + mark, position) + 1
        if not found:
            return
        if text.find(b'"', position, found) >= 0 and not _core.quotes_enclose_fields(
            view[position:found], delimiter.decode()
        ):
            for start, end in _gaps(text[position:], mark, delimiter, newline, finished=window.finished):
                view[position + start : position + end] = filler * (end - start)
            return
        position = found


def _gaps(text: bytes, mark: bytes, delimiter: bytes, newline: bytes, *, finished: bool) -> list[tuple[int, int]]:
    """Where comments begin and end, found row by row, since a quoted field may contain a line that looks like one."""
    found: list[tuple[int, int]] = []
    before = 0
    for record in records(text, delimiter=delimiter, newline=newline, comment=mark):
        if record.is_open and not finished:  # what follows may be quoted
            return [*found, *_lines(text, before, record.start, mark, newline)]
        found += _lines(text, before, record.start, mark, newline)
        before = record.end
    last = len(text) if finished else text.rfind(newline) + 1
    return [*found, *_lines(text, before, last, mark, newline)]


def _lines(text: bytes, start: int, stop: int, mark: bytes, newline: bytes) -> list[tuple[int, int]]:
    """The comment lines between two rows."""
    found = []
    while start < stop:
        end = text.find(newline, start, stop)
        end = stop if end < 0 else end
        if text.startswith(mark, start):
            found.append((start, end))
        start = end + 1
    return found
