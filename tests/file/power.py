"""Power cuts: what may be on a disk after one, by the calls that a program has made until then.

A `Disk` looks on while a program works in a folder, and keeps a log of what it does to files and names. From that log
`after_cut` makes what the folder may hold when the power fails after some of the steps. Nothing lasts but this:

- bytes, where their file was synced since; else each write may be lost, torn at any byte, or there, in any order;
- names, where the folder was synced since; else each change of names may be lost or there, in any order;
- a rename is whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

Content = dict[str, bytes]
"""The bytes of each name in a folder."""

CALLS = ("open", "write", "fsync", "close", "dup", "replace", "link", "unlink")


@dataclass(frozen=True)
class Write:
    """Bytes at a place of a file; files have numbers, since their names change."""

    file: int
    place: int
    data: bytes


@dataclass(frozen=True)
class Names:
    """A change of names that happens as one: those that are given to files, and those that are taken away."""

    given: Mapping[str, int]
    taken: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SyncFile:
    """All bytes of a file last."""

    file: int


@dataclass(frozen=True)
class SyncFolder:
    """All names last."""


@dataclass(frozen=True)
class Acknowledged:
    """The program has said that it is done: from now on these bytes must be there."""

    content: Content


Step = Write | Names | SyncFile | SyncFolder | Acknowledged


class Disk:
    """A folder whose changes are recorded; what is in it to begin with lasts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.steps: list[Step] = []
        begin = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.names = {name: number for number, name in enumerate(begin)}
        self.first_names = dict(self.names)
        self.first_bytes = {self.names[name]: data for name, data in begin.items()}
        self._next = len(begin)
        self._file_of: dict[int, int] = {}  # by descriptor
        self._place_of: dict[int, int] = {}
        self._folders: set[int] = set()

    def acknowledge(self, *names: str) -> None:
        """The program has reported success, with these files as they are now."""
        self.steps.append(Acknowledged({name: (self.folder / name).read_bytes() for name in names}))

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Record what is done to the folder inside the block."""
        with contextlib.ExitStack() as patches:
            for call in CALLS:
                watch: Callable[..., Any] = getattr(self, f"_on_{call}")
                patches.enter_context(mock.patch.object(os, call, _wrapped(getattr(os, call), watch)))
            yield

    def _name(self, path: Any) -> str | None:
        """The name of a path in the folder; None where it is elsewhere."""
        if isinstance(path, int):
            return None
        folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
        return name if folder == str(self.folder) else None

    def _on_open(self, result: int, path: Any, flags: int, *_: Any, **__: Any) -> None:
        name = self._name(path)
        if stat.S_ISDIR(os.fstat(result).st_mode):
            if os.path.abspath(os.fsdecode(path)) == str(self.folder):
                self._folders.add(result)
        elif name is not None and flags & (os.O_WRONLY | os.O_RDWR):
            if name not in self.names:
                self.names[name], self._next = self._next, self._next + 1
                self.steps.append(Names({name: self.names[name]}))
            self._file_of[result], self._place_of[result] = self.names[name], 0

    def _on_write(self, result: int, descriptor: int, data: Any) -> None:
        if descriptor in self._file_of:
            place = self._place_of[descriptor]
            self.steps.append(Write(self._file_of[descriptor], place, bytes(data)[:result]))
            self._place_of[descriptor] = place + result

    def _on_fsync(self, _: None, descriptor: int) -> None:
        if descriptor in self._folders:
            self.steps.append(SyncFolder())
        elif descriptor in self._file_of:
            self.steps.append(SyncFile(self._file_of[descriptor]))

    def _on_close(self, _: None, descriptor: int) -> None:
        self._file_of.pop(descriptor, None)
        self._folders.discard(descriptor)

    def _on_dup(self, result: int, descriptor: int) -> None:
        if descriptor in self._file_of:
            self._file_of[result], self._place_of[result] = self._file_of[descriptor], 0

    def _on_replace(self, _: None, source: Any, target: Any) -> None:
        old, new = self._name(source), self._name(target)
        if old is not None and new is not None and self.names.get(old) != self.names.get(new):
            file = self.names.pop(old)
            self.names[new] = file
            self.steps.append(Names({new: file}, frozenset([old])))

    def _on_link(self, _: None, source: Any, target: Any) -> None:
        old, new = self._name(source), self._name(target)
        if old is not None and new is not None:
            self.names[new] = self.names[old]
            self.steps.append(Names({new: self.names[old]}))

    def _on_unlink(self, _: None, path: Any, **__: Any) -> None:
        name = self._name(path)
        if name is not None and self.names.pop(name, None) is not None:
            self.steps.append(Names({}, frozenset([name])))


def _wrapped(real: Callable[..., Any], watch: Callable[..., None]) -> Callable[..., Any]:
    def call(*given: Any, **options: Any) -> Any:
        result = real(*given, **options)
        watch(result, *given, **options)
        return result

    return call


def after_cut(disk: Disk, count: int, chance: random.Random) -> Content:
    """What the folder may hold when the power fails after so many steps; `chance` decides on what has not lasted."""
    steps = disk.steps[:count]
    names = dict(disk.first_names)
    lasting = max((place for place, step in enumerate(steps) if isinstance(step, SyncFolder)), default=-1)
    keep_none, keep_all = chance.random() < 0.25, chance.random() < 0.25
    for place, step in enumerate(steps):
        if isinstance(step, Names) and (place < lasting or keep_all or (not keep_none and chance.random() < 0.5)):
            names = {name: file for name, file in names.items() if name not in step.taken} | dict(step.given)
    return {name: _bytes(disk, file, steps, chance) for name, file in names.items()}


def _bytes(disk: Disk, file: int, steps: Sequence[Step], chance: random.Random) -> bytes:
    """The bytes of a file: those that last, and what chance has left of the others."""
    lasting = max((place for place, step in enumerate(steps) if step == SyncFile(file)), default=-1)
    data = bytearray(disk.first_bytes.get(file, b""))
    for place, step in enumerate(steps):
        if isinstance(step, Write) and step.file == file:
            part = step.data
            if place > lasting:
                part = chance.choice([b"", part, part[: chance.randrange(len(part) + 1)]])
            if part:
                data.extend(bytes(max(0, step.place + len(part) - len(data))))
                data[step.place : step.place + len(part)] = part
    return bytes(data)


class Lost(AssertionError):
    """A cut after which a file is neither as it was nor as it should be."""


def require_old_or_new(disk: Disk, count: int, content: Content, name: str, kept: str | None = None) -> None:
    """After a cut the file is the last that was acknowledged, or the next; then `kept`, if given, is the one before."""
    versions = [disk_version(disk, name), *(step.content[name] for step in _acknowledged(disk.steps))]
    done = len(list(_acknowledged(disk.steps[:count])))
    allowed = versions[done : done + 2]
    found = content.get(name)
    if found not in allowed:
        raise Lost(f"after {count} of {len(disk.steps)} steps {name} is {_shown(found)}")
    if kept is not None and done + 1 < len(versions) and found == versions[done + 1]:
        before = content.get(kept)
        if before != versions[done]:
            raise Lost(f"after {count} of {len(disk.steps)} steps {name} is new, and {kept} is {_shown(before)}")


def disk_version(disk: Disk, name: str) -> bytes | None:
    """The bytes that a name had to begin with."""
    file = disk.first_names.get(name)
    return None if file is None else disk.first_bytes[file]


def _acknowledged(steps: Sequence[Step]) -> Iterator[Acknowledged]:
    return (step for step in steps if isinstance(step, Acknowledged))


def _shown(data: bytes | None) -> str:
    return "not there" if data is None else f"{len(data)} bytes of no version"


def try_cuts(disk: Disk, name: str, *, times: int, seed: int = 0, kept: str | None = None) -> int:
    """Cut the power after every step, so many times with other chances; how many cuts these were."""
    chance, tried = random.Random(seed), 0
    for count in range(len(disk.steps) + 1):
        for _ in range(times):
            require_old_or_new(disk, count, after_cut(disk, count, chance), name, kept)
            tried += 1
    return tried
