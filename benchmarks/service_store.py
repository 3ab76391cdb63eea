"""The store of the service: events that are learned durably, beside plain rows, inserted and committed one by one.

The peer keeps the same JSON in the same database with the same settings, and counts nothing. SQLite is a file beside
the others; PostgreSQL is a server of its own, started here with its usual settings (fsync and synchronous_commit on).
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg

import bayesbox as bb
import harness
from bayesbox.file.save import to_bytes
from bayesbox.serve.store.base import Event, Store, open_store

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres import postgres_server

THREADS, BATCH = 32, 100


def people(count: int) -> tuple[list[dict[str, Any]], list[str]]:
    chance = random.Random(0)
    rows = [
        {f"number{k}": chance.gauss(k, 2) for k in range(6)} | {f"level{k}": chance.choice("abcdefg") for k in range(8)}
        for _ in range(count)
    ]
    return rows, [chance.choice(["no", "yes"]) for _ in rows]


def with_threads(count: int, work: Callable[[int], None]) -> float:
    """The seconds that so many threads take, each with its own part."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def learn_all(store: Store, events: list[Event], threads: int, batch: int) -> float:
    """The seconds that all events take, of several callers that each wait for their answers."""

    def work(number: int) -> None:
        own = events[number::threads]
        for place in range(0, len(own), batch):
            store.learn("people", own[place : place + batch])

    return with_threads(threads, work)


def inserted(path: str, rows: list[str]) -> float:
    """The seconds that inserting rows takes, each with a commit."""
    connection = apsw.Connection(path)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE events (id TEXT PRIMARY KEY, row TEXT)")
    start = time.perf_counter()
    for place, text in enumerate(rows):
        connection.execute("INSERT INTO events VALUES (?, ?)", (str(place), text))
    taken = time.perf_counter() - start
    connection.close()
    return taken


def inserted_by_server(address: str, rows: list[str]) -> float:
    """The same by a server."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE plain (id TEXT PRIMARY KEY, row TEXT)")
        start = time.perf_counter()
        for place, text in enumerate(rows):
            connection.execute("INSERT INTO plain VALUES (%s, %s)", (str(place), text))
        return time.perf_counter() - start


def measure(session: harness.Session, address: str, name: str, insert: Callable[[list[str]], float]) -> None:
    """Learning by single events and by batches, and forgetting, in one store."""
    count = 2_000 if session.quick else 10_000
    rows, labels = people(2 * count)
    classifier = bb.NaiveBayes().fit(rows, labels).classifier_
    with open_store(address) as store:
        store.attach("people", classifier, to_bytes(classifier))
        pairs = zip(rows, labels, strict=True)
        events = [Event(f"e{number}", row, label) for number, (row, label) in enumerate(pairs)]
        learn_all(store, events[:THREADS], THREADS, 1)
        one = learn_all(store, events[THREADS:count], THREADS, 1) / (count - THREADS)
        many = learn_all(store, events[count:], 4, BATCH) / count
        plain = insert([json.dumps(row) for row in rows[: count // 4]]) / (count // 4)
        peer = {"peer": "insert and commit, one by one", "theirs": f"{1 / plain:,.0f}/s"}
        for work, taken, target in (
            (f"{name}: learn, one event, {THREADS} threads (wall)", one, 2_000),
            (f"{name}: learn, batches of {BATCH}, 4 threads (wall)", many, 10_000),
        ):
            result = {"ratio": f"{plain / taken:.1f}x", **peer}
            session.add(harness.Result(work, f"{1 / taken:,.0f}/s", f">= {target:,}/s", 1 / taken >= target, **result))
        start = time.perf_counter()
        store.forget("people", [event.id for event in events[:100]])
        taken = time.perf_counter() - start
        session.amount(f"{name}: forget 100 events, traces removed (wall)", taken, 0.5, harness.seconds)


def benchmark(session: harness.Session) -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(session, f"sqlite:///{folder}/store.db", "SQLite", lambda rows: inserted(f"{folder}/plain.db", rows))
    with postgres_server() as server:
        server.stop()
        server.start("-c", "fsync=on")
        address = server.address
        measure(session, address, "PostgreSQL", lambda rows: inserted_by_server(address, rows))


if __name__ == "__main__":
    harness.main(benchmark)
