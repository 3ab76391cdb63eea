"""A moving window over a stream of bytes, with one reused buffer."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayesbox.errors import BadData
from bayesbox.source.files.reading import ROW_LIMIT, place

BLOCK = 4 << 20  # larger blocks are not faster and use more memory


class Bytes(Protocol):
    """A stream of bytes."""

    name: str

    def readinto(self, view: memoryview, /) -> int:
        """Fill the view; the number of bytes, less than its length only at the end."""


class Window:
    """A window on a stream: `view` has the bytes that were read but not consumed.

    The buffer is reused, so anything made from a view must be a copy.
    """

    def __init__(self, stream: Bytes, size: int = BLOCK, *, row_limit: int = ROW_LIMIT) -> None:
        self.stream = stream
        self.row_limit = row_limit
        self.line = 1  # the number of the first line in view
        self.newline = b"\n"
        self.finished = False
        self._size = size  # the usual size of the buffer; longer rows need more
        self._take(bytearray(size))
        self._start = 0
        self._stop = 0
        self.fill()
        if b"\n" not in self._buffer and b"\r" in self._buffer:
            self.newline = b"\r"

    def fill(self) -> bool:
        """Move the remaining bytes to the front and read more; False if the view is empty."""
        left = self._stop - self._start
        rest = bytes(self.view)
        if left <= self._size < len(self._buffer):  # the long row was consumed
            self._take(bytearray(self._size))
        memoryview(self._buffer)[:left] = rest
        self._start, self._stop = 0, left
        self._read_on()
        return self._stop > 0

    def _read_on(self) -> None:
        """Fill the buffer after the bytes in view."""
        got = self.stream.readinto(memoryview(self._buffer)[self._stop :])
        self._stop += got
        self.finished = self._stop < len(self._buffer)

    def _take(self, buffer: bytearray) -> None:
        self._buffer = buffer
        self._array = np.frombuffer(buffer, dtype=np.uint8)

    def widen(self, size: int | None = None) -> None:
        """Enlarge the buffer to `size`, or to twice its size until the long row is consumed."""
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
        """The position of the first such byte in the view; -1 if there is none."""
        found = self._buffer.find(byte, self._start, self._stop)
        return found - self._start if found >= 0 else -1

    def last_line_end(self) -> int:
        """The end of the complete lines in the view; all of it at the end of the stream."""
        if self.finished:
            return self._stop - self._start
        return max(self._buffer.rfind(self.newline, self._start, self._stop) + 1 - self._start, 0)

    def count(self, byte: bytes, end: int) -> int:
        """The number of such bytes in the first `end` bytes of the view."""
        return int(np.count_nonzero(self._array[self._start : self._start + end] == byte[0]))

    def advance(self, end: int) -> None:
        """Consume the first `end` bytes."""
        self.line += self.count(self.newline, end)
        self._start += end

    def skip_lines(self, count: int) -> bool:
        """Skip this many lines; returns whether there are enough."""
        for _ in range(count):
            while (end := self.find(self.newline)) < 0:
                if self.finished:
                    self.advance(len(self.view))
                    return False
                self.advance(len(self.view))
                self.fill()
            self.advance(end + 1)
        return True
