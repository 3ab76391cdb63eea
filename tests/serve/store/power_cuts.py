"""Power cuts while a service learns and forgets.

    python -m tests.serve.store.power_cuts 2000

cuts the power that often, at random moments of random walks, and prints how often. A cut after which an acknowledged
event is gone, or counted twice, or back though it was forgotten, or after which the tallies are not those of the base
and the events, ends in an error.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.serve.store.cases import NAME, base, retrained, row
from tests.serve.store.power import Disk, disk

from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event, Store
from bayesbox.serve.store.sqlite import SqliteDatabase, open_at
from bayesbox.serve.verify import verify_store

CLIENTS = 3
REQUESTS = 12  # of each client in a walk


def walk(store: Store, on: Disk, chance: random.Random) -> dict[str, Event]:
    """Some clients learn, repeat and forget; the events by id."""
    events: dict[str, Event] = {}

    def client(number: int, own: random.Random) -> None:
        mine: list[str] = []
        for request in range(REQUESTS):
            if mine and own.random() < 0.2:
                gone = own.sample(mine, min(len(mine), own.randrange(1, 3)))
                store.forget(NAME, gone)
                on.acknowledge(("forgotten", gone))
                mine = [id for id in mine if id not in gone]
                continue
            some = [Event(f"{number}-{request}-{k}", row(own), own.choice("yn")) for k in range(own.randrange(1, 4))]
            events.update({event.id: event for event in some})
            store.learn(NAME, some)
            on.acknowledge(("learned", [event.id for event in some]))
            mine += [event.id for event in some]

    threads = [
        threading.Thread(target=client, args=(number, random.Random(chance.random()))) for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return events


class LostEvents(AssertionError):
    """An acknowledged change that a power cut has taken back, or a store that it has broken."""


def check(
    files: dict[str, bytes], told: Sequence[tuple[str, list[str]]], events: dict[str, Event], place: Path
) -> None:
    """Start again on what is left of the files, and compare with what was acknowledged."""
    for name, content in files.items():
        (place / name).write_bytes(content)
    path = str(place / "store.db")
    try:
        store = open_at(path, poll=60.0)
        try:
            store.attach(NAME, *base())
            kept = {each[0]: each[1] for each in _stored(path)}
            learned = {id for what, ids in told if what == "learned" for id in ids}
            forgotten = {id for what, ids in told if what == "forgotten" for id in ids}
            if not learned - forgotten <= kept.keys():
                # a forgetting may have been committed and not yet acknowledged
                lost = learned - forgotten - kept.keys()
                again = store.learn(NAME, [events[id] for id in sorted(lost)])
                if set(again.statuses) != {"forgotten"}:
                    raise LostEvents(f"acknowledged and gone: {sorted(lost)}")
            if forgotten & kept.keys():
                raise LostEvents(f"forgotten and back: {sorted(forgotten & kept.keys())}")
            state = store.current(NAME)
            if state.digest != retrained([events[id] for id in kept]):
                raise LostEvents("the digest is not that of base and events")
            database = SqliteDatabase(path, make=False)
            found = verify_store(database)
            database.close()
            if not found.holds:
                raise LostEvents(str(found))
        finally:
            store.close()
    except LostEvents:
        raise
    except Exception as error:
        raise LostEvents(f"the store cannot be opened: {error}") from error


def _stored(path: str) -> list[tuple[str, int]]:
    database = SqliteDatabase(path, make=False)
    with database.reading() as transaction:
        found = [(row[0], row[1]) for row in transaction.query("SELECT id, sequence FROM events ORDER BY sequence")]
    database.close()
    return found


def try_cuts(count: int, *, seed: int, folder: Path, synchronous: str = "FULL", each: int = 25) -> int:
    """Cut the power so many times, some in each of several walks; how many acknowledged requests were at stake."""
    chance, tried, stake = random.Random(seed), 0, 0
    while tried < count:
        with tempfile.TemporaryDirectory(dir=folder) as own, disk() as on:
            store = open_at(f"{own}/store.db", vfs=on.vfs, synchronous=synchronous, poll=60.0)
            store.attach(NAME, *base())
            first = len(on.steps)
            events = walk(store, on, chance)
            store.close()
            for _ in range(min(each, count - tried)):
                step = chance.randrange(first, len(on.steps) + 1)
                told = on.acknowledged(step)
                with tempfile.TemporaryDirectory(dir=folder) as place:
                    check(on.after_cut(step, chance), told, events, Path(place))
                tried, stake = tried + 1, stake + len(told)
    return stake


if __name__ == "__main__":
    held.SNAPSHOT_EVENTS = 9  # so that snapshots are written on the way
    with tempfile.TemporaryDirectory() as folder:
        stake = try_cuts(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0, folder=Path(folder))
    print(f"{int(sys.argv[1]):,} power cuts of the service, {stake:,} acknowledged requests, nothing lost")
