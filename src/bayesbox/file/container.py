"""The container of a model: a zip of uncompressed members in which every byte is checked.

    header and content of each member, manifest.json last
    directory: one entry per member
    end record

Nothing in it may vary: no compression, no time, no comment, no gap. So the bytes are determined by the members, and the
reader compares everything except the content with what it would have written itself. The content is checked against its
CRC-32, which locates damage, and against the SHA-256 in the manifest. Any zip tool reads the file.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Mapping
from typing import NamedTuple, NoReturn, cast

from bayesbox.described import Advice
from bayesbox.errors import BadModelFile, file_name
from bayesbox.file.known_file import SEEN
from bayesbox.file.strict_json import dumps
from bayesbox.file.wrong_file import not_a_model, unavailable

LIMIT = 1 << 30  # bytes of a file
MOST_MEMBERS = 1000
VIEWED = (".arrow", ".bayes")  # members read without copying
MODEL, MANIFEST = "model.json", "manifest.json"  # the first member, and the last
DAMAGED = "Use another copy of the file, or train the model again"
NO_MODEL = "Pass a file written by `save` or `bayes train`"

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}\.[a-z]{1,10}")
_FORM = struct.pack("<HHHHH", 10, 0, 0, 0, 1 << 5 | 1)  # zip 1.0, no flags, stored, 0:00 on 1 January 1980
_HEADER, _ENTRY, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_HEADER_SIZE, _ENTRY_SIZE, _END_SIZE = 30, 46, 22


class _Entry(NamedTuple):
    """The directory entry of a member. `offset` is that of its header."""

    name: str
    crc: int
    size: int
    offset: int

    @property
    def content(self) -> slice:
        start = self.offset + _HEADER_SIZE + len(self.name)
        return slice(start, start + self.size)

    def _sums(self) -> bytes:
        return struct.pack("<IIIHH", self.crc, self.size, self.size, len(self.name), 0)

    def header(self) -> bytes:
        return _HEADER + _FORM + self._sums() + self.name.encode()

    def entry(self) -> bytes:
        made_by, attributes = struct.pack("<H", 10), struct.pack("<HHHII", 0, 0, 0, 0, self.offset)
        return _ENTRY + made_by + _FORM + self._sums() + attributes + self.name.encode()


def _end(count: int, size: int, start: int) -> bytes:
    """The end record of a directory of this many entries and bytes that starts there."""
    return _END + struct.pack("<HHHHIIH", 0, 0, count, count, size, start, 0)


def _manifest(members: Mapping[str, bytes]) -> bytes:
    return dumps({name: hashlib.sha256(content).hexdigest() for name, content in members.items()}) + b"\n"


def pack(members: Mapping[str, bytes]) -> bytes:
    """The members, in order, and the manifest of their checksums as one file.

    >>> unpack(pack({"model.json": b"{}"}))
    {'model.json': b'{}'}
    """
    for name in members:
        if not _NAME.fullmatch(name) or name == MANIFEST:
            raise ValueError(f"a member cannot be named {name!r}")
    pieces: list[bytes] = []
    entries: list[_Entry] = []
    position = 0
    for name, content in {**members, MANIFEST: _manifest(members)}.items():
        entry = _Entry(name, zlib.crc32(content), len(content), position)
        entries.append(entry)
        pieces += [entry.header(), content]
        position = entry.content.stop
    directory = b"".join(entry.entry() for entry in entries)
    return b"".join([*pieces, directory, _end(len(entries), len(directory), position)])


def unpack(data: bytes, *, name: str = "model") -> dict[str, bytes]:
    """The members without the manifest, after checking that every byte is as `pack` writes it.

    `name` is that of the file, for messages. Tables and nested models are views of the data, so that nothing is copied.
    """
    _require_size(len(data), name)
    if data[: len(_HEADER)] != _HEADER:
        known = not_a_model(bytes(data[:SEEN]), name)
        if known is None:
            _refuse("this is not a bayesbox model", name, found=bytes(data[:16]), remedy=NO_MODEL)
        _refuse(f"this is not a bayesbox model, but {known.what}", name, remedy=known.remedy or NO_MODEL)
    entries = _directory(data, name)
    members = {entry.name: _content(data, entry, name) for entry in entries}
    manifest = members.pop(MANIFEST, None)
    if manifest is None or entries[-1].name != MANIFEST:
        _refuse(f"the last member is not {MANIFEST}", f"{name}, directory", found=entries[-1].name)
    if manifest != _manifest(members):
        _refuse("the checksums do not match the members", f"{name}, {MANIFEST}", found=manifest)
    return members


def _directory(data: bytes, name: str) -> list[_Entry]:
    """The entries, which must cover the file up to the directory without gaps or overlaps."""
    count, start, stop = _extent(data, name)
    entries: list[_Entry] = []
    names: set[str] = set()
    place, content = start, 0
    for number in range(1, count + 1):
        where = f"{name}, directory, entry {number}"
        entry, place = _entry_at(data, place, stop, where)
        if entry.name in names:
            _refuse("two members have the same name", where, found=entry.name)
        if entry.offset != content or entry.content.stop > start:
            _refuse("the member does not begin where the previous one ends", where, found=(entry.offset, entry.size))
        names.add(entry.name)
        entries.append(entry)
        content = entry.content.stop
    if place != stop or content != start:
        _refuse("the members do not fill the file", f"{name}, directory", found=(content, start, place, stop))
    return entries


def _extent(data: bytes, name: str) -> tuple[int, int, int]:
    """The number of members, and where the directory starts and stops."""
    where, end = f"{name}, end record", bytes(data[-_END_SIZE:])
    if len(end) < _END_SIZE or end[: len(_END)] != _END:
        _refuse(
            "the end of the file is not that of a model: it is truncated, or something was appended", where, found=end
        )
    count, size, start = struct.unpack("<HII", end[10:20])
    if end != _end(count, size, start) or start + size + _END_SIZE != len(data):
        _refuse("the record does not match the file", where, found=end)
    if not 0 < count <= MOST_MEMBERS:
        _refuse(f"a model must have 1 to {MOST_MEMBERS} members", where, found=count)
    return count, start, start + size


def _entry_at(data: bytes, place: int, stop: int, where: str) -> tuple[_Entry, int]:
    """The entry at a position of the directory, and the position of the next."""
    fixed = bytes(data[place : min(place + _ENTRY_SIZE, stop)])
    if len(fixed) < _ENTRY_SIZE:
        _refuse("the directory is too short", where, found=fixed)
    crc, size, _, length = struct.unpack("<IIIH", fixed[16:30])
    (offset,) = struct.unpack("<I", fixed[42:46])
    after = place + _ENTRY_SIZE + length
    written = bytes(data[place : min(after, stop)])
    member = written[_ENTRY_SIZE:].decode("latin-1")
    if not _NAME.fullmatch(member):
        _refuse("unknown member", where, found=member)
    entry = _Entry(member, crc, size, offset)
    if written != entry.entry():
        _refuse("the entry is not that of a model", where, found=written)
    return entry, after


def _content(data: bytes, entry: _Entry, name: str) -> bytes:
    """The bytes of a member, with its header and CRC-32 checked."""
    where = f"{name}, {entry.name}"
    header = bytes(data[entry.offset : entry.content.start])
    if header != entry.header():
        _refuse("the header of the member does not match the directory", where, found=header)
    # Arrow and `unpack` read a view like bytes
    viewed = entry.name.endswith(VIEWED)
    content = cast(bytes, memoryview(data)[entry.content]) if viewed else bytes(data[entry.content])
    if zlib.crc32(content) != entry.crc:
        _refuse("the content of the member is damaged: its checksum differs", where, found=f"{zlib.crc32(content):08x}")
    return content


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, up to the size limit of a model."""
    name = file_name(path)
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > LIMIT else file.read(size + 1)
            if len(data) > size:  # a pipe, or a file that is growing
                data += file.read(LIMIT + 1 - len(data))
    except OSError as error:
        raise unavailable(error, name) from error
    _require_size(max(size, len(data)), name)
    return data


def _require_size(size: int, name: str) -> None:
    if size > LIMIT:
        _refuse(f"the file is too large for a model: more than {LIMIT} bytes", name, found=size, remedy=NO_MODEL)


def _refuse(what: str, where: str, *, found: object = None, remedy: Advice = DAMAGED) -> NoReturn:
    raise BadModelFile(what, where=where, found=found, remedy=remedy)
