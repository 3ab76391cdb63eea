"""A file system under SQLite that remembers every write, so that the power can be cut at any moment afterwards.

What was written to a file and not synced may be lost, may be there in part, or may be there although what was written
before it is not. `Disk.after_cut(step)` is what is left of the files if the power fails at that step.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw

SECTOR = 512  # bytes that are written whole or not at all
NAMES = itertools.count()


class Step(NamedTuple):
    """Something that happened: a write, truncation, sync or removal of a file, a sync of the folder, or an
    acknowledgement."""

    what: str
    file: str = ""
    at: int = 0
    data: bytes = b""
    fact: Any = None


class Disk:
    """All that happened to the files under a name of a VFS, in its order."""

    def __init__(self) -> None:
        self.vfs = f"power-{next(NAMES)}"
        self.steps: list[Step] = []
        self._lock = threading.Lock()
        self._registered = _Files(self)

    def add(self, step: Step) -> None:
        with self._lock:
            self.steps.append(step)

    def acknowledge(self, fact: Any) -> None:
        """Note that somebody was told something: it must last from now on."""
        self.add(Step("acknowledge", fact=fact))

    def acknowledged(self, step: int) -> list[Any]:
        """What was told until a step."""
        return [each.fact for each in self.steps[:step] if each.what == "acknowledge"]

    def after_cut(self, step: int, chance: random.Random) -> dict[str, bytes]:
        """The files after a power cut at a step; chance decides about what was not synced."""
        lasting: dict[str, bytearray] = {}
        pending: dict[str, list[Step]] = {}
        for each in self.steps[:step]:
            if each.what in ("write", "truncate", "delete"):
                pending.setdefault(each.file, []).append(each)
            elif each.what == "sync":
                _apply(lasting, pending.pop(each.file, []), None)
            elif each.what == "sync folder":
                for own in pending.values():
                    _apply(lasting, [step for step in own if step.what == "delete"], None)
                    own[:] = [step for step in own if step.what != "delete"]
        for own in pending.values():
            _apply(lasting, own, chance)
        return {file: bytes(content) for file, content in lasting.items()}


def _apply(files: dict[str, bytearray], steps: list[Step], chance: random.Random | None) -> None:
    """Let these steps last: all of them, or those that chance picks, and of some a part."""
    keep = 1.0 if chance is None else chance.choice([0.0, 0.5, 0.9, 1.0])
    for step in steps:
        if chance is not None and chance.random() >= keep:
            continue
        if step.what == "delete":
            files.pop(step.file, None)
            continue
        content = files.setdefault(step.file, bytearray())
        if step.what == "truncate":
            del content[step.at :]
            continue
        data = step.data
        if chance is not None and chance.random() < 0.2:  # torn
            data = data[: chance.randrange(len(data) // SECTOR + 1) * SECTOR]
        if len(content) < step.at:
            content.extend(bytes(step.at - len(content)))
        content[step.at : step.at + len(data)] = data


class _Files(apsw.VFS):
    """The system's files, watched."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        super().__init__(disk.vfs, "")

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        return _File(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.disk.add(Step("delete", os.path.basename(filename)))
        if syncdir:
            self.disk.add(Step("sync folder"))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        path = name if isinstance(name, str) or name is None else name.filename()
        self.file = os.path.basename(path or "temporary")
        self.new_log = path is not None and path.endswith(("-journal", "-wal")) and not os.path.exists(path)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self.disk.add(Step("write", self.file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self.disk.add(Step("truncate", self.file, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self.disk.add(Step("sync", self.file))
        if self.new_log:  # SQLite syncs the folder with the first sync of a new log
            self.disk.add(Step("sync folder"))
            self.new_log = False


@contextmanager
def disk() -> Iterator[Disk]:
    """A disk whose VFS is registered for as long as the block lasts."""
    found = Disk()
    try:
        yield found
    finally:
        found._registered.unregister()
