"""The decompressed size of Arrow and Parquet files, from their metadata, before Arrow allocates memory."""

from __future__ import annotations

import os
import struct
from typing import IO, Any

from bayesbox.errors import BadData
from bayesbox.file.flatbuffers import FlatTable
from bayesbox.source.files.streams import INFLATION, INFLATION_FLOOR, ByteStream

MAGIC = b"ARROW1"
CONTINUATION = 0xFFFFFFFF
DICTIONARY, RECORD_BATCH = 2, 3  # the message types with buffers
METADATA = 256 << 20  # the most bytes of metadata per message


class Growth:
    """The decompressed size of the messages of an Arrow file: of each batch, and of all dictionaries."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._kept = [0, 0]  # bytes of all dictionaries, in the file and in memory

    def check(self, message: FlatTable, body: Any, size: int) -> None:
        """Raise an error if the buffers of a message grow too much; `body(place)` returns eight bytes at an offset."""
        kind = message.number(1, "<B")
        if kind not in (DICTIONARY, RECORD_BATCH):
            return
        batch = message.table(2) if kind == RECORD_BATCH else message.table(2).table(1)
        if not batch.place(3):
            return
        grown = 0
        for buffer in batch.structs(2, 16):
            place, length = struct.unpack("<qq", buffer)
            if length >= 8:
                grown += max(struct.unpack("<q", body(place))[0], 0)
        if kind == DICTIONARY:
            self._kept = [self._kept[0] + size, self._kept[1] + grown]
            size, grown = self._kept
        require_growth(grown, size, self._file)


def require_growth(grown: int, size: int, file: str) -> None:
    """Raise an error if the decompressed size is too many times the compressed size."""
    if grown > max(INFLATION_FLOOR, INFLATION * size):
        raise BadData(
            f"the compressed file grows to more than {INFLATION} times its size",
            where=file,
            found=f"{grown} bytes out of {size}",
            remedy="If this is intended, write it without compression",
        )


def require_bounded_file(file: IO[bytes], name: str) -> None:
    """Check the batches and dictionaries listed in the footer of an Arrow file."""
    size = file.seek(0, os.SEEK_END)

    def at(place: int, length: int) -> bytes:
        if not 0 <= place <= place + length <= size:
            raise ValueError("its metadata point outside the file")
        file.seek(place)
        return file.read(length)

    try:
        tail = at(size - 10, 10)
        length = struct.unpack_from("<i", tail)[0]
        footer = FlatTable.root(at(size - 10 - length, length), 0)
        growth = Growth(name)
        for block in footer.structs(2, 24) + footer.structs(3, 24):
            start, metadata, _, body = struct.unpack("<qiiq", block)
            text = at(start, metadata)
            first = 8 if struct.unpack_from("<I", text)[0] == CONTINUATION else 4
            inside = start + metadata
            growth.check(FlatTable.root(text, first), lambda place, inside=inside: at(inside + place, 8), body)
    except (struct.error, ValueError) as error:
        if isinstance(error, BadData):
            raise
        raise BadData("is not a valid Arrow file", where=name) from None
    file.seek(0)


class CheckedMessages:
    """A stream of Arrow messages that checks each message before Arrow reads it."""

    closed = False

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._growth = Growth(stream.name)
        self._ready = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """At most this many bytes of the messages in order; empty at the end."""
        pieces = []
        while size:
            if not self._ready:
                self._ready = memoryview(self._next())
                if not self._ready:
                    break
            piece = self._ready[:size] if size > 0 else self._ready
            self._ready = self._ready[len(piece) :]
            size -= len(piece) if size > 0 else 0
            pieces.append(piece)
        return b"".join(pieces)

    def _next(self) -> bytes:
        prefix = self._stream.read(4)
        if len(prefix) == 4 and struct.unpack("<I", prefix)[0] == CONTINUATION:
            prefix += self._stream.read(4)
        if len(prefix) not in (4, 8):
            return prefix
        length = struct.unpack("<i", prefix[-4:])[0]
        if not 0 < length <= METADATA:
            return prefix  # the end, or bytes that Arrow will reject
        metadata = self._stream.read(length)
        try:
            message = FlatTable.root(metadata, 0)
            size = message.number(3, "<q")
            body = self._stream.read(max(size, 0))
            self._growth.check(message, lambda place: body[place : place + 8] if place >= 0 else b"", len(body))
        except (struct.error, ValueError) as error:
            if isinstance(error, BadData):
                raise
            raise BadData("is not a valid Arrow file", where=self._stream.name) from None
        return prefix + metadata + body

    def close(self) -> None:
        """Do nothing: the stream that owns the file closes it."""
