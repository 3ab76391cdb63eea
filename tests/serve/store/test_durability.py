"""Power cuts, failing disks and kill -9, some of each; `make fuzz` has the thousands."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import apsw
import pytest
from tests.serve.store.cases import NAME, base, events, ids
from tests.serve.store.faults import try_faults
from tests.serve.store.power_cuts import LostEvents, try_cuts
from tests.serve.store.server_kills import HASTY, try_server_kills
from tests.serve.store.writers import try_kills

from bayesbox.serve.store import held, sqlite
from bayesbox.serve.store import postgres as store_postgres
from bayesbox.serve.store.base import Event, open_store


@pytest.fixture(autouse=True)
def _snapshots_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 9)


def test_a_power_cut_loses_nothing(tmp_path: Path) -> None:
    assert try_cuts(100, seed=1, folder=tmp_path) > 500


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_store_that_does_not_sync_is_caught(tmp_path: Path, synchronous: str) -> None:
    """The gate itself."""
    with pytest.raises(LostEvents):
        try_cuts(150, seed=1, folder=tmp_path, synchronous=synchronous)


def test_a_disk_that_fails_loses_nothing(tmp_path: Path) -> None:
    failed, refused = try_faults(60, seed=1, folder=str(tmp_path))
    assert failed >= 60
    assert refused > 20


def test_killed_processes_lose_nothing_in_a_file(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/store.db"
    assert try_kills(address, processes=2, rounds=8, seed=0, folder=tmp_path) > 20


def test_killed_processes_lose_nothing_in_a_database(tmp_path: Path, postgres) -> None:  # type: ignore[no-untyped-def]
    postgres.execute("DROP SCHEMA IF EXISTS bayesbox CASCADE")
    assert try_kills(postgres.address, processes=8, rounds=8, seed=0, folder=tmp_path, pause=0.1) > 20


def test_what_was_forgotten_is_in_no_file(tmp_path: Path) -> None:
    """Neither the row nor the id, in the database or its log, before the certificate is returned."""
    secret, other = "Xq7-very-private-9Zk", "Mv2-somebody-else-4Rt"
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.attach(NAME, *base())
        store.learn(NAME, events(40))
        store.learn(NAME, [Event(f"id-{secret}", {"colour": secret, "person": secret}, "yes")])
        store.learn(NAME, [Event(f"id-{other}", {"colour": other}, "yes")])
        assert _files_holding(tmp_path, secret)
        store.forget(NAME, [f"id-{secret}"])
        assert _files_holding(tmp_path, secret) == []
        assert _files_holding(tmp_path, other)
        assert store.learn(NAME, [Event(f"id-{secret}", {"colour": secret}, "yes")]).statuses == ["forgotten"]
        assert _files_holding(tmp_path, secret) == []


def test_the_search_for_what_was_forgotten_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate itself: without secure deletion the bytes stay."""
    settings = tuple(each for each in sqlite.SETTINGS if "secure_delete" not in each)
    monkeypatch.setattr(sqlite, "SETTINGS", (*settings, "PRAGMA secure_delete=OFF"))
    monkeypatch.setattr(sqlite.SqliteDatabase, "scrub", lambda _: True)
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.attach(NAME, *base())
        store.learn(NAME, [Event("id-secret-17", {"colour": "secret-17"}, "yes")])
        store.forget(NAME, ["id-secret-17"])
        assert _files_holding(tmp_path, "secret-17")


def test_a_reader_in_the_way_delays_the_erasing_only(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.attach(NAME, *base())
        some = events(5)
        store.learn(NAME, some)
        reader = apsw.Connection(str(tmp_path / "store.db"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        assert store.forget(NAME, ids(some))["count"] == 5
        assert (tmp_path / "store.db-wal").stat().st_size > 0
        reader.close()
        deadline = time.monotonic() + 30
        while (tmp_path / "store.db-wal").stat().st_size:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_the_store_is_private(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.attach(NAME, *base())
        store.learn(NAME, events(1))
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def _files_holding(folder: Path, text: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if text.encode() in path.read_bytes())


def test_a_killed_server_loses_nothing(postgres) -> None:  # type: ignore[no-untyped-def]
    postgres.execute("DROP SCHEMA IF EXISTS bayesbox CASCADE")
    try:
        acknowledged, failed = try_server_kills(postgres, writers=3, rounds=4, seed=0)
    finally:
        postgres.stop()
        postgres.start()
    assert acknowledged > 20
    assert failed > 3


@pytest.mark.parametrize("waits", [True, False], ids=["as it is", "as the server would"])
def test_a_commit_is_acknowledged_after_it_is_written(  # type: ignore[no-untyped-def]
    postgres, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """The gate itself: without a setting of its own the store would take that of the server, and lose events."""
    postgres.execute("DROP SCHEMA IF EXISTS bayesbox CASCADE")
    if not waits:
        kept = [each for each in store_postgres.SESSION if "synchronous_commit" not in each]
        monkeypatch.setattr(store_postgres, "SESSION", kept)
    some = events(20)
    try:
        postgres.stop()
        postgres.start(*HASTY)
        store = open_store(postgres.address)
        store.attach(NAME, *base())
        for each in some:
            store.learn(NAME, [each])
        postgres.stop(signal.SIGKILL)
        postgres.start()
        store.close()
        with open_store(postgres.address) as again:
            again.attach(NAME, *base())
            statuses = again.learn(NAME, some).statuses
    finally:
        postgres.stop()
        postgres.start()
    assert (statuses == ["known"] * 20) == waits
