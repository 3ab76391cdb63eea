"""The bytes of a file, a compressed file or standard input, read once from start to end."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from types import TracebackType
from typing import IO, Any

import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.file.wrong_file import unavailable

STDIN = "-"
STDIN_NAME = "standard input"

CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](?:\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)"),
}
INFLATION = 100  # the maximum growth factor of a compressed file,
INFLATION_FLOOR = 64 << 20  # once it has grown to this many bytes
PEEK = 1 << 16
PIECE = 1 << 20
LARGE = 1 << 24  # bytes per read


def name_of(path: str) -> str:
    """The name of a path in messages."""
    return STDIN_NAME if path == STDIN else path


class ByteStream:
    """A stream of bytes, decompressed if the file is compressed.

    `peek` returns the first bytes without consuming them, so that the format can be detected.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = name_of(path)
        self._file = _open(path)
        self._raw: Any = _Counted(self._file, self.name)
        self._codec: str | None = None
        self._given = 0
        self._ahead = b""
        self._copy: IO[bytes] | None = None
        try:
            self._inflate()
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    @property
    def compressed(self) -> bool:
        """Whether the bytes are decompressed."""
        return self._codec is not None

    @property
    def position(self) -> int:
        """The bytes of the file itself read so far, for progress."""
        return int(self._raw.position)

    @property
    def file(self) -> IO[bytes] | None:
        """The file itself if it supports random access, else None."""
        return None if self.compressed or not self._file.seekable() else self._file

    def _inflate(self) -> None:
        beginning = self._raw.peek(16)
        suffix = os.path.splitext(self.path)[1].lower()
        codec = next((name for name, magic in MAGIC.items() if magic.match(beginning)), None)
        if codec is None and suffix in CODECS and beginning:
            raise BadData(f"is not a {suffix} file", where=self.name, found=beginning[:8])
        if codec is not None:
            self._codec = codec
            self._bytes: Any = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), codec)
        else:
            self._bytes = self._raw

    def readinto(self, view: memoryview) -> int:
        """Fill the view; the number of bytes, less than its length only at the end."""
        done = min(len(self._ahead), len(view))
        view[:done] = self._ahead[:done]
        self._ahead = self._ahead[done:]
        while done < len(view):
            got = self._read_some(view[done:])
            if got == 0:
                break
            done += got
        return done

    def _read_some(self, view: memoryview) -> int:
        try:
            got = int(self._bytes.readinto(view))
        except OSError as error:
            raise self._broken(error) from None
        self._count(got)
        return got

    def _count(self, got: int) -> None:
        """Raise an error if a compressed file grows too much."""
        self._given += got
        if self.compressed and self._given > max(INFLATION_FLOOR, INFLATION * self._raw.position):
            raise BadData(
                f"the compressed file grows to more than {INFLATION} times its size",
                where=self.name,
                found=f"{self._given} bytes out of {self._raw.position}",
                remedy="If this is intended, decompress it yourself and pass the result",
            )

    def _broken(self, error: OSError) -> Exception:
        if self.compressed and error.errno is None:
            return BadData(
                "the compressed file is damaged or truncated",
                where=self.name,
                found=str(error),
                remedy="Copy or download it again",
            )
        return unavailable(error, self.name)

    def read(self, size: int) -> bytes:
        """At most `size` bytes, fewer only at the end; allocates no more than is read."""
        pieces = [self._ahead[:size]]
        self._ahead = self._ahead[size:]
        left = size - len(pieces[0])
        while left > 0 and (piece := self._read_piece(min(left, LARGE))):
            pieces.append(piece)
            left -= len(piece)
        return pieces[1] if len(pieces) == 2 and not pieces[0] else b"".join(pieces)

    def _read_piece(self, size: int) -> bytes:
        """At most this many bytes; empty at the end."""
        try:
            piece = bytes(self._bytes.read(size))
        except OSError as error:
            raise self._broken(error) from None
        self._count(len(piece))
        return piece

    def peek(self, size: int = PEEK) -> bytes:
        """The first bytes, up to `size`, without consuming them."""
        while len(self._ahead) < size:
            more = bytearray(size - len(self._ahead))
            got = self._read_some(memoryview(more))
            if got == 0:
                break
            self._ahead += more[:got]
        return self._ahead[:size]

    def spooled(self) -> IO[bytes]:
        """A file with random access: the file itself, or a temporary copy of the bytes."""
        if self.file is not None:
            self.file.seek(0)
            return self.file
        if self._copy is not None:
            self._copy.seek(0)
            return self._copy
        self._copy = copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the stream)
        piece = bytearray(PIECE)
        while got := self.readinto(memoryview(piece)):
            copy.write(memoryview(piece)[:got])
        copy.seek(0)
        return copy

    def close(self) -> None:
        """Close the file and any temporary copy; standard input stays open."""
        if self._copy is not None:
            self._copy.close()
        if self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Counted:
    """A file that counts the bytes read and can peek at its first bytes; pyarrow reads through it."""

    closed = False

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._ahead = b""
        self._name = name
        self.position = 0

    def peek(self, size: int) -> bytes:
        try:
            while len(self._ahead) < size and (more := self._file.read(size - len(self._ahead))):
                self._ahead += more
        except OSError as error:
            raise unavailable(error, self._name) from None
        return self._ahead[:size]

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        if self._ahead:
            size = len(self._ahead) if size < 0 else size
            data, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            data = self._file.read(size) or b""
        self.position += len(data)
        return data

    def readinto(self, view: memoryview) -> int:
        """Fill the view with one read of the file."""
        if self._ahead:
            data = self.read(len(view))
            view[: len(data)] = data
            return len(data)
        got = int(self._file.readinto(view) or 0)  # type: ignore[attr-defined]
        self.position += got
        return got

    def flush(self) -> None:
        """Do nothing: the file is not written."""

    def close(self) -> None:
        """The stream that owns the file closes it."""


def _open(path: str) -> IO[bytes]:
    if path == STDIN:
        return sys.stdin.buffer
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise unavailable(error, path) from None
