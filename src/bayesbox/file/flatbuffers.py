"""A minimal FlatBuffers reader for the metadata of untrusted Arrow files."""

from __future__ import annotations

import struct
from typing import NamedTuple


class FlatTable(NamedTuple):
    """A FlatBuffers table: fields by number, each at a position given by the table's index, or absent."""

    data: bytes
    start: int

    @classmethod
    def root(cls, data: bytes, at: int) -> FlatTable:
        """The root table of the data, at their first offset."""
        return cls(data, at + _unpack("<I", data, at))

    def place(self, field: int) -> int:
        """The position of a field, 0 if it is absent."""
        index = self.start - _unpack("<i", self.data, self.start)
        if 4 + 2 * field + 2 > _unpack("<H", self.data, index):
            return 0
        offset = _unpack("<H", self.data, index + 4 + 2 * field)
        return self.start + offset if offset else 0

    def number(self, field: int, form: str) -> int:
        """The number in a field, 0 if it is absent."""
        place = self.place(field)
        return _unpack(form, self.data, place) if place else 0

    def table(self, field: int) -> FlatTable:
        """The table in a field."""
        place = self.place(field)
        if not place:
            raise ValueError("a message is empty")
        return FlatTable(self.data, place + _unpack("<I", self.data, place))

    def structs(self, field: int, size: int) -> list[bytes]:
        """A vector of structs of this many bytes; an error if they do not fit in the data."""
        place = self.place(field)
        if not place:
            return []
        vector = place + _unpack("<I", self.data, place)
        count = _unpack("<I", self.data, vector)
        if vector + 4 + count * size > len(self.data):
            raise ValueError("a list is longer than the file")
        return [self.data[at : at + size] for at in range(vector + 4, vector + 4 + count * size, size)]


def _unpack(form: str, data: bytes, at: int) -> int:
    if at < 0:
        raise ValueError("its metadata point outside the file")
    value: int = struct.unpack_from(form, data, at)[0]
    return value
