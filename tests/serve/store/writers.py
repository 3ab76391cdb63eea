"""Processes that learn and forget until they are killed.

    python -m tests.serve.store.writers sqlite 1 50
    python -m tests.serve.store.writers postgresql 8 200

starts so many processes, kills one of them, or all, that many times, and starts it again. In the end every acknowledged
event must be stored, every acknowledged forgetting done, and the digest must be that of the base and the events stored.
The file is in a folder of its own, the PostgreSQL server one that is started for it.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.serve.store.cases import NAME, base, retrained, row

from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event, open_database, open_store
from bayesbox.serve.verify import verify_store

MOST = 100_000  # requests of one process, which is killed before


def event(id: str) -> Event:
    """The event of an id: always the same."""
    chance = random.Random(id)
    return Event(id, row(chance), chance.choice("yn"))


def write(address: str, name: str, journal: str) -> None:
    """Learn and forget, and note in a journal what was acknowledged, in the order it happened: + learned, ? about to be
    forgotten, - forgotten."""
    held.SNAPSHOT_EVENTS = 37
    note = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    chance = random.Random(name)
    mine: list[str] = []
    with open_store(address) as store:
        store.attach(NAME, *base())
        for request in range(MOST):
            if len(mine) > 5 and chance.random() < 0.1:
                id = mine.pop(chance.randrange(len(mine)))
                os.write(note, f"?{id}\n".encode())
                store.forget(NAME, [id])
                os.write(note, f"-{id}\n".encode())
                continue
            some = [f"{name}-{request}-{k}" for k in range(chance.randrange(1, 4))]
            store.learn(NAME, [event(id) for id in some])
            os.write(note, "".join(f"+{id}\n" for id in some).encode())
            mine += some


def nursery(address: str, folder: str) -> None:
    """Start a writer for every name that comes as a line, by a fork, which is quicker than a new process."""
    base()  # imports all that a writer needs
    importlib.import_module(f"bayesbox.serve.store.{'sqlite' if address.startswith('sqlite') else 'postgres'}")
    print("ready", flush=True)
    for line in sys.stdin:
        name = line.strip()
        child = os.fork()
        if child == 0:
            try:
                write(address, name, os.path.join(folder, f"{name}.journal"))
            finally:
                os._exit(1)
        print(child, flush=True)


def try_kills(address: str, *, processes: int, rounds: int, seed: int, folder: Path, pause: float = 0.05) -> int:
    """Kill writers in so many rounds, and check what is left; how many acknowledgements there were."""
    chance = random.Random(seed)
    command = [sys.executable, "-m", "tests.serve.store.writers", "--nursery", address, str(folder)]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    started = 0
    alive: list[int] = []

    def start() -> None:
        nonlocal started
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(f"w{started}\n")
        parent.stdin.flush()
        alive.append(int(parent.stdout.readline()))
        started += 1

    try:
        for _ in range(rounds):
            while len(alive) < processes:
                start()
            time.sleep(chance.uniform(pause, 6 * pause))
            for pid in list(alive) if chance.random() < 0.2 else [chance.choice(alive)]:
                os.kill(pid, signal.SIGKILL)
                alive.remove(pid)
    finally:
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        parent.stdin.close()
        parent.stdout.close()
        parent.wait()
    return check(address, folder)


def check(address: str, folder: Path) -> int:
    """Compare the store with the journals of its writers; how many acknowledgements there are."""
    lines = [line for path in folder.glob("*.journal") for line in path.read_text().split()]
    learned = {line[1:] for line in lines if line[0] == "+"}
    unsure = {line[1:] for line in lines if line[0] == "?"}
    forgotten = {line[1:] for line in lines if line[0] == "-"}
    with open_store(address) as store:
        digest = store.attach(NAME, *base()).digest
        database = open_database(address)
        with database.reading() as transaction:
            stored = {row[0] for row in transaction.query("SELECT id FROM events")}
        found = verify_store(database)
        database.close()
    assert len(learned) > 1
    assert learned - unsure <= stored, sorted(learned - unsure - stored)[:5]
    assert not forgotten & stored, sorted(forgotten & stored)[:5]
    assert digest == retrained([event(id) for id in stored])
    assert found.holds, found
    return len(lines)


def main(arguments: list[str]) -> None:
    if arguments[0] == "--nursery":
        nursery(arguments[1], arguments[2])
        return
    address, processes, rounds = arguments[0], int(arguments[1]), int(arguments[2])
    with tempfile.TemporaryDirectory() as folder:
        if address == "sqlite":
            address = f"sqlite:///{folder}/store.db"
        if address == "postgresql":
            from tests.postgres import postgres_server

            with postgres_server() as server:
                told = try_kills(server.address, processes=processes, rounds=rounds, seed=0, folder=Path(folder))
        else:
            told = try_kills(address, processes=processes, rounds=rounds, seed=0, folder=Path(folder))
    print(f"{rounds:,} rounds of kill -9 among {processes} writers, {told:,} acknowledgements, nothing lost")


if __name__ == "__main__":
    main(sys.argv[1:])
