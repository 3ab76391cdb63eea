"""Disks that fail while a service learns and forgets: full, or with errors of reading, writing and syncing.

    python -m tests.serve.store.faults 500

lets that many operations of the disk fail, in random walks, and prints how many requests they refused. A request that
was acknowledged and is gone afterwards, or tallies that are not those of the base and the events, end in an error.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from typing import Any

import apsw
from tests.serve.store.cases import NAME, base, retrained, row
from tests.serve.store.power import NAMES

from bayesbox.errors import StoreFailed
from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event
from bayesbox.serve.store.sqlite import SqliteDatabase, open_at
from bayesbox.serve.verify import verify_store

KINDS = {
    "full": (apsw.FullError, ("xWrite",)),
    "write": (apsw.IOError, ("xWrite",)),
    "sync": (apsw.IOError, ("xSync",)),
    "read": (apsw.IOError, ("xRead",)),
    "any": (apsw.IOError, ("xWrite", "xSync", "xRead", "xTruncate")),
}


class FailingFiles(apsw.VFS):
    """The system's files, whose operations fail when `arm` says so."""

    def __init__(self) -> None:
        self.name = f"faults-{next(NAMES)}"
        self.failed, self.left, self.wait = 0, 0, 0
        self.kind = "any"
        super().__init__(self.name, "")

    def arm(self, kind: str, *, wait: int, times: int) -> None:
        """Let so many operations fail, after some that do not."""
        self.kind, self.wait, self.left = kind, wait, times

    def may_fail(self, operation: str) -> None:
        error, operations = KINDS[self.kind]
        if self.left <= 0 or operation not in operations:
            return
        if self.wait > 0:
            self.wait -= 1
            return
        self.left -= 1
        self.failed += 1
        raise error("the disk has failed")

    def xOpen(self, name: Any, flags: list[int]) -> _FailingFile:  # noqa: N802
        return _FailingFile(self, name, flags)


class _FailingFile(apsw.VFSFile):
    def __init__(self, files: FailingFiles, name: Any, flags: list[int]) -> None:
        self.files = files
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self.files.may_fail("xRead")
        return bytes(super().xRead(amount, offset))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.files.may_fail("xWrite")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.files.may_fail("xSync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.files.may_fail("xTruncate")
        super().xTruncate(newsize)


def walk(path: str, files: FailingFiles, chance: random.Random) -> int:
    """Learn and forget while the disk fails now and then; how many requests were refused."""
    store = open_at(path, vfs=files.name, poll=60.0)
    store.attach(NAME, *base())
    events: dict[str, Event] = {}
    kept: set[str] = set()
    unsure: set[str] = set()  # refused: they may be there or not
    refused = 0
    for number in range(40):
        files.arm(chance.choice([*KINDS]), wait=chance.randrange(6), times=chance.choice([0, 0, 1, 2, 5]))
        sure = sorted(kept - unsure)
        gone = chance.sample(sure, min(len(sure), 2)) if chance.random() < 0.25 else []
        some = [Event(f"{number}-{k}", row(chance), chance.choice("yn")) for k in range(chance.randrange(1, 4))]
        try:
            if gone:
                unsure |= {*gone}
                store.forget(NAME, gone)
                unsure -= {*gone}
                kept -= {*gone}
                continue
            events |= {event.id: event for event in some}
            unsure |= {event.id for event in some}
            store.learn(NAME, some)
            unsure -= {event.id for event in some}
            kept |= {event.id for event in some}
        except StoreFailed:
            refused += 1
    files.arm("any", wait=0, times=0)
    check(store.current(NAME).digest, path, kept, unsure, events)
    last = Event("last", {"age": 1}, "y")  # it works again, without a restart
    assert store.learn(NAME, [last]).statuses == ["learned"]
    store.close()
    again = open_at(path, poll=60.0)
    again.attach(NAME, *base())
    check(again.current(NAME).digest, path, kept | {"last"}, unsure, events | {"last": last})
    again.close()
    return refused


def check(digest: str, path: str, kept: set[str], unsure: set[str], events: dict[str, Event]) -> None:
    database = SqliteDatabase(path, make=False)
    with database.reading() as transaction:
        stored = [row[0] for row in transaction.query("SELECT id FROM events")]
    found = verify_store(database)
    database.close()
    assert kept - unsure <= {*stored} <= kept | unsure
    assert digest == retrained([events[id] for id in stored])
    assert found.holds, found


def try_faults(count: int, *, seed: int, folder: str) -> tuple[int, int]:
    """Let at least so many operations fail: how many did, and how many requests they refused."""
    chance, failed, refused = random.Random(seed), 0, 0
    while failed < count:
        files = FailingFiles()
        try:
            refused += walk(os.path.join(folder, f"{files.name}.db"), files, chance)
            failed += files.failed
        finally:
            files.unregister()
    return failed, refused


if __name__ == "__main__":
    held.SNAPSHOT_EVENTS = 9
    with tempfile.TemporaryDirectory() as folder:
        failed, refused = try_faults(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0, folder=folder)
    print(f"{failed:,} faults of the disk under the service, {refused:,} requests refused, nothing lost")
