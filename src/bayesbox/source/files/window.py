"""A window that moves over a stream of bytes: one buffer, filled again and again."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayesbox.errors import BadData
from bayesbox.source.files.reading import ROW_LIMIT, place

BLOCK = 4 << 20  # larger blocks read no faster and cost memory


class Bytes(Protocol):
    """A stream of bytes."""

    name: str

    def readinto(self, view: memoryview, /) -> int:
        """Fill the view; the number of bytes, less than its length only at the end."""


class Window:
    """The bytes of a stream that are under the eye: `view` is what was read and not used yet.

    The buffer is reused, so whatever is made of a view must be a copy of it.
    """

    def __init__(self, stream: Bytes, size: int = BLOCK, *, row_limit: int = ROW_LIMIT) -> None:
        self.stream = stream
        self.row_limit = row_limit
        self.line = 1  # the number of the first line in view
        self.newline = b"\n"
        self.finished = False
        self._size = size  # of the buffer, but for rows that are longer
        self._take(bytearray(size))
        self._start = 0
        self._stop = 0
        self.fill()
        if b"\n" not in self._buffer and b"\r" in self._buffer:
            self.newline = b"\r"

    def fill(self) -> bool:
        """Move what is left to the front and read on; False once nothing is in view."""
        left = self._stop - self._start
        rest = bytes(self.view)
        if left <= self._size < len(self._buffer):  # the long row is behind
            self._take(bytearray(self._size))
        memoryview(self._buffer)[:left] = rest
        self._start, self._stop = 0, left
        self._read_on()
        return self._stop > 0

    def _read_on(self) -> None:
        """Fill the buffer behind what is in view."""
        got = self.stream.readinto(memoryview(self._buffer)[self._stop :])
        self._stop += got
        self.finished = self._stop < len(self._buffer)

    def _take(self, buffer: bytearray) -> None:
        self._buffer = buffer
        self._array = np.frombuffer(buffer, dtype=np.uint8)

    def widen(self, size: int | None = None) -> None:
        """Take in more bytes: `size` at a time, or twice as many until the row that does not fit is used up."""
        if size is None:
            size = 2 * len(self._buffer)
        else:
            self._size = max(size, self._size)
        if size <= len(self._buffer):
            return
        if size > 2 * self.row_limit:
            where = place(self.stream.name, line=self.line)
            raise BadData(f"a row of over {self.row_limit} bytes", where=where, found=bytes(self.view[:80]))
        larger = bytearray(size)
        larger[: self._stop] = self._buffer[: self._stop]
        self._take(larger)
        self._read_on()

    @property
    def view(self) -> memoryview:
        """The bytes in view, without a copy."""
        return memoryview(self._buffer)[self._start : self._stop]

    def find(self, byte: bytes) -> int:
        """Where a byte first stands in the view; -1 if nowhere."""
        found = self._buffer.find(byte, self._start, self._stop)
        return found - self._start if found >= 0 else -1

    def last_line_end(self) -> int:
        """How far the complete lines reach in the view; all of it at the end of the stream."""
        if self.finished:
            return self._stop - self._start
        return max(self._buffer.rfind(self.newline, self._start, self._stop) + 1 - self._start, 0)

    def count(self, byte: bytes, end: int) -> int:
        """How often a byte stands in the first `end` bytes of the view."""
        return int(np.count_nonzero(self._array[self._start : self._start + end] == byte[0]))

    def advance(self, end: int) -> None:
        """The first `end` bytes are used up."""
        self.line += self.count(self.newline, end)
        self._start += end

    def skip_lines(self, count: int) -> bool:
        """Pass over this many lines; whether there are as many."""
        for _ in range(count):
            while (end := self.find(self.newline)) < 0:
                if self.finished:
                    self.advance(len(self.view))
                    return False
                self.advance(len(self.view))
                self.fill()
            self.advance(end + 1)
        return True
