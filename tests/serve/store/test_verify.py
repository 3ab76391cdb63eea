"""`bayes verify DIR`, `bayes audit` and `bayes events`: what they check, and what they must catch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.serve.store.cases import NAME, base, events, ids, retrained
from tests.serve.store.conftest import Open

from bayesbox.cli.main import run
from bayesbox.serve import audit
from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event, Store, open_database, open_store
from bayesbox.serve.verify import StoreCheck, verify_store


@pytest.fixture
def filled(open_it: Open, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with events, snapshots and certificates."""
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 10)
    store = open_it()
    some = events(45)
    for place in range(0, 45, 5):
        store.learn(NAME, some[place : place + 5])
    store.forget(NAME, ids(some[7:12]))
    store.forget(NAME, ["e30"])
    store.learn(NAME, events(3, prefix="later"))
    return store


def checked(address: str, **options: Any) -> StoreCheck:
    database = open_database(address)
    try:
        return verify_store(database, **options)
    finally:
        database.close()


def test_a_store_holds(filled: Store, address: str) -> None:
    """Also while it is in use."""
    found = checked(address)
    assert found.holds
    (model,) = found.models
    assert (model.events, model.rows, model.sequence, model.certificates) == (42, 82, 48, 2)
    assert model.snapshots >= 3
    assert model.counted == filled.current(NAME).digest == model.recorded
    assert found.audit.records == len(filled.audit(None)) == 13


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a service that is not running: events, snapshots, certificates."""
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 10)
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key.pub.pem").write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.attach(NAME, *base())
        some = events(30)
        for event in some:
            store.learn(NAME, [event])
        store.forget(NAME, ids(some[7:12]), signer=key)
    return tmp_path


CHANGES = {
    "another row": "UPDATE events SET row = replace(row, '\"member\":true', '\"member\":false') WHERE sequence = 3",
    "another label": "UPDATE events SET label = '\"maybe\"' WHERE sequence = 4",
    "another weight": "UPDATE events SET weight = 2 WHERE sequence = 2",
    "an event gone": "DELETE FROM events WHERE sequence = 20",
    "an event more": "INSERT INTO events SELECT model, 99, 'x', row, label, weight, 0 FROM events LIMIT 1",
    "an event back": "INSERT INTO events SELECT model, 8, 'e7', row, label, weight, 0 FROM events LIMIT 1",
    "another digest": "UPDATE models SET digest = base_digest",
    "other rows": "UPDATE models SET rows = rows + 1",
    "another base": "UPDATE bases SET data = (SELECT data FROM snapshots LIMIT 1)",
    "another snapshot": "UPDATE snapshots SET data = (SELECT data FROM bases) WHERE sequence = 20",
    "another snapshot digest": "UPDATE snapshots SET digest = (SELECT base_digest FROM models) WHERE sequence = 10",
    "a forgotten id gone": "DELETE FROM forgotten WHERE id = (SELECT min(id) FROM forgotten)",
    "a certificate gone": "DELETE FROM certificates",
    "a certificate of others": "UPDATE certificates SET document = replace(document, '\"count\": 5', '\"count\": 4')",
    "a record gone": "DELETE FROM audit WHERE number = 5",
    "the last records gone": "DELETE FROM audit WHERE number > 28",
    "a record changed": "UPDATE audit SET details = replace(details, '\"events\":1', '\"events\":2') WHERE number = 9",
    "a record unreadable": "UPDATE audit SET details = '{' WHERE number = 9",
    "a record of another": "UPDATE audit SET action = 'reload' WHERE number = 3",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_from_outside_is_found(folder: Path, change: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(folder)]) == 0
    with apsw.Connection(str(folder / "store.db")) as connection:
        connection.execute(CHANGES[change])
        assert connection.changes() > 0
    connection.close()
    capsys.readouterr()
    assert run(["verify", str(folder), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert not found["holds"]
    assert run(["verify", str(folder)]) == 3
    assert "WRONG" in capsys.readouterr().out
    whole = not change.startswith(("a record", "the last"))
    if change != "the last records gone":
        assert (run(["audit", "verify", str(folder)]) == 0) == whole


def test_signatures_are_checked_by_the_key(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = str(folder / "key.pub.pem")
    assert run(["verify", str(folder), "--public-key", key, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["signed"] == 1
    other = Ed25519PrivateKey.generate().public_key()
    (tmp_path / "other.pem").write_bytes(other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    assert run(["verify", str(folder), "--public-key", str(tmp_path / "other.pem")]) == 3


def test_the_audit_log_of_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "verify", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["records"]) == (True, 32)
    with open_store(f"sqlite:///{folder}/store.db") as store:
        store.record("note", None, {"text": "more"})
    assert run(["audit", "verify", str(folder), "--head", found["head"]]) == 0
    assert run(["audit", "verify", str(folder), "--head", "0" * 63 + "1"]) == 3
    capsys.readouterr()
    assert run(["audit", "show", str(folder), "--last", "2", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    assert [each["action"] for each in records] == ["forget", "note"]
    assert run(["audit", "show", str(folder), "--model", NAME]) == 0
    assert "learn people" in capsys.readouterr().out


def test_a_chain_of_records() -> None:
    """Every way to change a record, or the order of two, is a fault."""
    records: list[dict[str, Any]] = []
    for number in range(1, 6):
        record = {"number": number, "time": float(number), "action": "learn", "model": None, "details": {}}
        record["previous"] = records[-1]["hash"] if records else audit.FIRST
        records.append({**record, "hash": audit.hash_of(record)})
    assert audit.check_records(records).holds
    for place in range(5):
        for name in records[place]:
            other = [dict(each) for each in records]
            other[place][name] = "f" * 64 if name in ("hash", "previous") else "other" if name != "number" else 77
            assert not audit.check_records(other).holds, (place, name)
    assert not audit.check_records([*records[:2], *records[3:]]).holds
    assert not audit.check_records([records[1], records[0], *records[2:]]).holds
    assert audit.check_records(records[:3]).holds  # which only a hash noted earlier tells
    assert not audit.check_records(records[:3], head=records[4]["hash"]).holds


def test_events_as_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "events.parquet"
    assert run(["events", str(folder), NAME, "-o", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"model": NAME, "events": 25, "file": str(file)}
    table = pq.read_table(file).to_pylist()
    kept = [event for event in events(30) if event.id not in {f"e{k}" for k in range(7, 12)}]
    assert [each["event_id"] for each in table] == ids(kept)
    own = ("event_sequence", "event_id", "event_weight", "label")
    back = [Event(each["event_id"], {k: v for k, v in each.items() if k not in own}, each["label"]) for each in table]
    assert retrained(back) == retrained(kept)
    assert run(["events", str(folder), NAME, "-f", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["event_sequence"] == 1
    assert run(["events", str(folder), "nobody"]) == 3


def test_what_is_not_a_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(tmp_path)]) == 74
    assert run(["audit", "verify", str(tmp_path)]) == 74
    assert run(["events", str(tmp_path), NAME]) == 74
    assert run(["verify", str(tmp_path / "certificate.json")]) == 2
    assert run(["verify", str(tmp_path), "--rows", "x.csv"]) == 2
    assert run(["verify", "c.json", "m.bayes", "--store", "sqlite:///x"]) == 2
    assert not list(tmp_path.iterdir())  # nothing is made
    (tmp_path / "store.db").write_bytes(b"")
    assert run(["verify", str(tmp_path)]) == 74
    capsys.readouterr()
