"""A PostgreSQL server that is killed while stores learn and forget.

    python -m tests.serve.store.server_kills 50

kills a server of its own so many times, by SIGKILL or by an immediate stop, and starts it again each time, while
several stores write to it and repeat what was not acknowledged. In the end every acknowledged event must be stored,
every acknowledged forgetting done, and the digest must be that of the base and the events stored. The server itself is
set to acknowledge commits before they are written (synchronous_commit=off), which the store must not rely on.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from tests.postgres import Postgres, postgres_server
from tests.serve.store.cases import NAME, base, retrained
from tests.serve.store.writers import event

from bayesbox.errors import StoreFailed, UnknownEvents
from bayesbox.serve.store.base import open_database, open_store
from bayesbox.serve.verify import verify_store

HASTY = ("-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s", "-c", "wal_writer_flush_after=0")


class LostCommit(AssertionError):
    """Something that was acknowledged is not in the store."""


class ServerWriter(threading.Thread):
    """Learns and forgets through a store of its own; what is not acknowledged is tried again with the same ids."""

    def __init__(self, address: str, name: str, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.address, self.stop = address, stop
        self.learned: set[str] = set()
        self.unsure: set[str] = set()  # about to be forgotten
        self.forgotten: set[str] = set()
        self.failed = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                try:
                    self._write()
                except StoreFailed:  # the server is down while the store is opened
                    self.failed += 1
                    time.sleep(0.02)
        except BaseException as error:
            self.error = error

    def _write(self) -> None:
        chance = random.Random(self.name)
        with open_store(self.address) as store:
            store.attach(NAME, *base())
            while not self.stop.is_set():
                if len(self.learned) > 5 and chance.random() < 0.1:
                    id = chance.choice(sorted(self.learned - self.unsure))
                    self.unsure.add(id)
                    try:
                        self._until_acknowledged(partial(store.forget, NAME, [id]))
                    except UnknownEvents:  # it was forgotten, and the server died before it could say so
                        assert self.failed
                    self.forgotten.add(id)
                    continue
                some = [f"{self.name}-{len(self.learned)}-{k}" for k in range(chance.randrange(1, 4))]
                self._until_acknowledged(partial(store.learn, NAME, [event(id) for id in some]))
                self.learned.update(some)

    def _until_acknowledged(self, change: Callable[[], object]) -> None:
        while True:
            try:
                change()
                return
            except StoreFailed:
                self.failed += 1
                if self.stop.is_set():
                    raise
                time.sleep(0.02)


def try_server_kills(server: Postgres, *, writers: int, rounds: int, seed: int, pause: float = 0.2) -> tuple[int, int]:
    """Kill the server in so many rounds; how many events and forgettings were acknowledged, how many calls failed."""
    chance = random.Random(seed)
    server.stop()
    server.start(*HASTY)
    stop = threading.Event()
    threads = [ServerWriter(server.address, f"s{seed}w{place}", stop) for place in range(writers)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(rounds):
            before = sum(len(thread.learned) for thread in threads)
            deadline = time.monotonic() + 60
            while sum(len(thread.learned) for thread in threads) < before + writers:  # all are at work
                assert time.monotonic() < deadline, [thread.error for thread in threads]
                time.sleep(0.01)
            time.sleep(chance.uniform(0, pause))
            server.stop(chance.choice([signal.SIGKILL, signal.SIGQUIT]))
            server.start(*HASTY)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    for thread in threads:
        if thread.error is not None:
            raise thread.error
    check(server.address, threads)
    return sum(len(each.learned) + len(each.forgotten) for each in threads), sum(each.failed for each in threads)


def check(address: str, threads: Sequence[ServerWriter]) -> None:
    """Compare the store with what was acknowledged."""
    learned = {id for each in threads for id in each.learned - each.unsure}
    forgotten = {id for each in threads for id in each.forgotten}
    with open_store(address) as store:
        digest = store.attach(NAME, *base()).digest
        database = open_database(address)
        with database.reading() as transaction:
            stored = {row[0] for row in transaction.query("SELECT id FROM events")}
        found = verify_store(database)
        database.close()
    lost = learned - stored | forgotten & stored
    if lost:
        raise LostCommit(f"{len(lost)} of {len(learned) + len(forgotten)}: {sorted(lost)[:5]}")
    assert digest == retrained([event(id) for id in stored])
    assert found.holds, found


def main(rounds: int) -> None:
    with postgres_server() as server:
        acknowledged, failed = try_server_kills(server, writers=4, rounds=rounds, seed=0)
    print(f"{rounds:,} kills of the server, {acknowledged:,} acknowledgements, {failed:,} refusals, nothing lost")


if __name__ == "__main__":
    main(int(sys.argv[1]))
