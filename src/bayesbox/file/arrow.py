"""Tables of tallies as Arrow IPC files, and reading them from untrusted bytes.

The layout is the simplest possible: the schema, one record batch, the footer; text and numbers without nulls, no
dictionaries, no compression (whose lengths would have to be trusted before they can be checked). The reader verifies
that layout in the metadata before Arrow decodes the body, so nothing larger than the file is allocated, and that the
footer, which other programs use, refers to the same batch.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from bayesbox.file.flatbuffers import FlatTable

TEXT, WHOLE, PLACE, DOUBLE = pa.string(), pa.int64(), pa.int32(), pa.float64()

_MAGIC, _START = b"ARROW1", 8  # the magic is padded to 8 bytes only at the start
_CONTINUATION, _SCHEMA, _RECORD_BATCH = 0xFFFFFFFF, 1, 3


def write(columns: Mapping[str, pa.Array]) -> bytes:
    """Columns of equal length as an Arrow file."""
    schema = pa.schema([pa.field(name, column.type, nullable=False) for name, column in columns.items()])
    batch = pa.record_batch(list(columns.values()), schema=schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression=None)) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read(data: bytes, columns: Mapping[str, tuple[pa.DataType, ...]]) -> dict[str, pa.Array]:
    """The columns of a file written by `write`, each of one of its types; ValueError if it is not valid.

    >>> read(write({"count": pa.array([3, 4])}), {"count": (WHOLE, TEXT)})["count"].to_pylist()
    [3, 4]
    """
    _require_plain(data)
    try:
        inner = pa.ipc.read_schema(pa.BufferReader(pa.py_buffer(data)[_START:]))
        with pa.ipc.open_file(pa.BufferReader(data)) as reader:
            _require_columns(reader.schema, inner, columns)
            batch = reader.get_batch(0)
        batch.validate(full=True)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise ValueError(f"Arrow cannot read it: {str(error).splitlines()[0]}") from error
    for name in columns:
        if batch.column(name).null_count:
            raise ValueError(f"the column `{name}` has nulls")
    return {name: batch.column(name) for name in columns}


def _require_columns(outer: pa.Schema, inner: pa.Schema, columns: Mapping[str, tuple[pa.DataType, ...]]) -> None:
    names = ", ".join(columns)
    if outer.names != list(columns):
        raise ValueError(f"its columns are not {names}")
    for name, types in columns.items():
        if outer.field(name).type not in types:
            raise ValueError(f"its column `{name}` cannot be of type {outer.field(name).type}")
    plain = pa.schema([pa.field(name, outer.field(name).type, nullable=False) for name in columns])
    if not (outer.equals(plain, check_metadata=True) and inner.equals(plain, check_metadata=True)):
        raise ValueError(f"its columns {names} have other declarations, or two")


class _Block(NamedTuple):
    """The position of a message: its start, the bytes of its metadata including the length prefix, and of its body."""

    start: int
    metadata: int
    body: int

    @property
    def stop(self) -> int:
        return self.start + self.metadata + self.body


def _require_plain(data: bytes) -> None:
    """Raise an error unless there are one schema, one uncompressed batch, and a matching footer."""
    try:
        if data[:_START] != _MAGIC + b"\0\0" or data[-len(_MAGIC) :] != _MAGIC:
            raise ValueError("it does not begin and end as an Arrow file")
        schema = _message(data, _START, _SCHEMA)
        batch = _message(data, schema.stop, _RECORD_BATCH)
        if data[batch.stop : batch.stop + 8] != struct.pack("<II", _CONTINUATION, 0):
            raise ValueError("it has more than one batch")
        footer = FlatTable.root(data, batch.stop + 8)
        tail = len(data) - len(_MAGIC) - 4
        if struct.unpack_from("<i", data, tail)[0] != tail - batch.stop - 8:
            raise ValueError("its footer has another length")
        if footer.structs(2, 24) or footer.structs(3, 24) != [struct.pack("<qiiq", *batch[:2], 0, batch.body)]:
            raise ValueError("its footer names another batch")
    except struct.error:
        raise ValueError("its metadata point outside the file") from None


def _message(data: bytes, start: int, wanted: int) -> _Block:
    mark, length = struct.unpack_from("<Ii", data, start)
    if mark != _CONTINUATION or length <= 0 or length % 8:
        raise ValueError("a message does not begin where it should")
    message = FlatTable.root(data, start + 8)
    body = message.number(3, "<q")
    block = _Block(start, length + 8, body)
    if message.number(1, "<B") != wanted or body < 0 or body % 8 or block.stop > len(data):
        raise ValueError("a message is of another type or size")
    if wanted == _RECORD_BATCH and message.table(2).place(3):
        raise ValueError("it is compressed")
    return block
