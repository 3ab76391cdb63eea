"""What is derived is learned again from the events, in the background, and takes the place of the old."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.serve.store.conftest import Open

import bayesbox as bb
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.serve.store import held, retraining
from bayesbox.serve.store.base import Event, Store, open_database
from bayesbox.serve.store.durable import DurableStore
from bayesbox.serve.verify import verify_store

NAME = "derived"


def table(count: int, seed: int) -> dict[str, list[Any]]:
    """Rows whose class depends on two columns together, and on a third."""
    chance = random.Random(seed)
    rows = [(chance.gauss(0, 1), chance.gauss(0, 1), chance.choice("abc")) for _ in range(count)]
    return {
        "x": [x for x, _, _ in rows],
        "y": [y for _, y, _ in rows],
        "kind": [kind for _, _, kind in rows],
        "class": ["yes" if x + y + chance.gauss(0, 0.5) > (kind == "a") else "no" for x, y, kind in rows],
    }


def saved(folder: Path, model: Any) -> tuple[Any, bytes, str]:
    """A trained model, its bytes, and the file of its rows."""
    path = folder / f"{NAME}.rows.parquet"
    pq.write_table(pa.table(table(300, 1)), path)
    classifier = bb.train(str(path), target="class", model=model).classifier_
    data = to_bytes(classifier)
    return from_bytes(data), data, str(path)


def events(count: int, seed: int = 2) -> list[Event]:
    rows = pa.table(table(count, seed)).to_pylist()
    return [Event(f"{seed}-{place}", row, row.pop("class")) for place, row in enumerate(rows)]


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def actions(store: Store) -> list[str]:
    return [each["action"] for each in store.audit(NAME)]


def holds(address: str) -> bool:
    database = open_database(address)
    try:
        return verify_store(database).holds
    finally:
        database.close()


def every(store: Store, events: int) -> Store:
    assert isinstance(store, DurableStore)
    store._every = events
    return store


def test_a_calibration_is_learned_again_from_events(open_it: Open, address: str, tmp_path: Path) -> None:
    store = every(open_it(), 250)
    classifier, data, _ = saved(tmp_path, bb.NaiveBayes(calibration="temperature"))
    store.attach(NAME, classifier, data)
    some = events(260)
    store.learn(NAME, some[:240])
    assert store.current(NAME).stale
    before = store.current(NAME)
    learned = store.learn(NAME, some[240:])
    wait_until(lambda: not store.current(NAME).stale)
    state = store.current(NAME)
    assert state.digest == learned.digest  # the tallies stay
    assert state.classifier.calibrated != before.classifier.calibrated
    assert not state.classifier.stale
    certificate = store.forget(NAME, ["2-7"])
    assert any("calibration" in each for each in certificate["derived"])
    assert certificate["retrained"] is None
    wait_until(lambda: store.certificate(NAME, 1)["retrained"] is not None)
    assert store.certificate(NAME, 1)["retrained"]["digest"] == certificate["after"]
    assert actions(store) == ["attach", "learn", "learn", "retrain", "forget", "retrain"]
    assert holds(address)
    store.close()
    again = open_it()
    assert again.attach(NAME, classifier, data).digest == certificate["after"]
    assert again.current(NAME).classifier.calibrated == store.current(NAME).classifier.calibrated
    assert not again.current(NAME).stale
    assert not again.current(NAME).base_changed  # by us, not by another file
    other = to_bytes(bb.NaiveBayes().fit([{"x": 1.0}, {"x": 2.0}], ["no", "yes"]).classifier_)
    assert again.attach(NAME, from_bytes(other), other).base_changed


def test_without_the_rows_of_the_base_cut_points_stay_and_are_called_stale(open_it: Open, tmp_path: Path) -> None:
    store = every(open_it(), 10)
    classifier, data, _ = saved(tmp_path, bb.KDB())
    store.attach(NAME, classifier, data)
    store.learn(NAME, events(30))
    assert not store.retrain(NAME)
    assert any("cut points" in each for each in store.current(NAME).stale)
    assert store.current(NAME).classifier.derived == classifier.derived


@pytest.mark.parametrize("model", [bb.KDB(), bb.AODE()], ids=["kdb", "aode"])
def test_with_the_rows_of_the_base_all_is_trained_again(
    open_it: Open, address: str, tmp_path: Path, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is the model of all rows, but for what was forgotten."""
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 50)
    store = every(open_it(), 0)
    classifier, data, rows = saved(tmp_path, model)
    store.attach(NAME, classifier, data, rows=rows)
    some = events(400, seed=3)
    for place in range(0, 400, 40):
        store.learn(NAME, some[place : place + 40])
    store.forget(NAME, ["3-0", "3-399"])
    assert store.retrain(NAME)
    left = [{**event.row, "class": event.label} for event in some[1:399]]
    everything = [*pa.table(table(300, 1)).to_pylist(), *left]
    labels = [each.pop("class") for each in everything]
    expected = model.fit(everything, labels)
    state = store.current(NAME)
    assert (state.digest, state.rows) == (expected.book_.digest(), 698)
    assert state.classifier.derived == expected.classifier_.derived
    assert not state.stale
    assert store.at(NAME, 0).rows == 300
    assert holds(address)
    store.learn(NAME, events(1, seed=4))
    assert store.certificate(NAME, 1)["retrained"]["digest"] == state.digest
    store.close()
    assert open_it().attach(NAME, classifier, data, rows=rows).rows == 699


def test_auto_bayes_learns_by_being_trained_again(open_it: Open, address: str, tmp_path: Path) -> None:
    classifier, data, rows = saved(tmp_path, bb.AutoBayes())
    store = every(open_it(), 60)
    state = store.attach(NAME, classifier, data, rows=rows)
    some = events(60)
    store.learn(NAME, some[:59])
    assert store.current(NAME).stale
    assert store.current(NAME).digest == state.digest
    store.learn(NAME, some[59:])
    wait_until(lambda: not store.current(NAME).stale)
    assert store.current(NAME).rows == 360
    assert sum(store.current(NAME).classifier.book.n.tolist()) == 360
    certificate = store.forget(NAME, ["2-3"])
    assert "trained again" in certificate["derived"][0]
    wait_until(lambda: store.certificate(NAME, 1)["retrained"] is not None)
    assert sum(store.current(NAME).classifier.book.n.tolist()) == 359
    assert holds(address)


def test_auto_bayes_without_the_rows_of_its_base_is_trained_on_the_events(
    open_it: Open, address: str, tmp_path: Path
) -> None:
    """Once they are as many as the rows of the base: until then the base answers, and says that it is stale."""
    classifier, data, _ = saved(tmp_path, bb.AutoBayes())
    store = every(open_it(), 50)
    before = store.attach(NAME, classifier, data)
    some = events(330)
    assert store.learn(NAME, some[:299]).rows == 599
    assert not store.retrain(NAME)
    state = store.current(NAME)
    assert state.digest == before.digest
    assert "AutoBayes" in state.stale[0]
    store.learn(NAME, some[299:])
    wait_until(lambda: not store.current(NAME).stale)
    state = store.current(NAME)
    assert state.rows == 330
    rows = [dict(event.row) for event in some]
    expected = bb.AutoBayes().fit(rows, [event.label for event in some])
    assert state.digest == expected.book_.digest()
    certificate = store.forget(NAME, ["2-3", "2-4"])
    wait_until(lambda: store.certificate(NAME, 1)["retrained"] is not None)
    assert certificate["number"] == 1
    assert store.current(NAME).rows == 328
    assert sum(store.current(NAME).classifier.book.n.tolist()) == 328
    assert holds(address)
    store.close()
    again = open_it().attach(NAME, classifier, data)
    assert (again.rows, again.base_changed) == (328, False)  # the file is the one that was attached


def test_what_was_trained_with_an_event_that_is_forgotten_meanwhile_is_not_taken(open_it: Open, tmp_path: Path) -> None:
    store = every(open_it(), 0)
    classifier, data, rows = saved(tmp_path, bb.KDB())
    store.attach(NAME, classifier, data, rows=rows)
    store.learn(NAME, events(20))
    original = retraining._on_all_rows

    def slow(*arguments: Any) -> Any:
        found = original(*arguments)
        store.forget(NAME, ["2-0"])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retraining, "_on_all_rows", slow)
        assert not store.retrain(NAME)
    assert "retrain" not in actions(store)
    assert store.retrain(NAME)


def test_a_training_that_a_stop_cut_short_begins_again_with_the_next_start(open_it: Open, tmp_path: Path) -> None:
    store = every(open_it(), 0)
    classifier, data, rows = saved(tmp_path, bb.KDB())
    store.attach(NAME, classifier, data, rows=rows)
    store.learn(NAME, events(20))
    store.forget(NAME, ["2-0"])
    store.close()
    again = open_it()
    again.attach(NAME, classifier, data, rows=rows)
    wait_until(lambda: again.certificate(NAME, 1)["retrained"] is not None)
    assert not again.current(NAME).stale


def test_a_new_class_drops_the_calibration_and_forgetting_it_brings_it_back(open_it: Open, tmp_path: Path) -> None:
    """A label that was a slip: the state says what it did, and nothing is left of it."""
    store = every(open_it(), 0)
    classifier, data, _ = saved(tmp_path, bb.NaiveBayes(calibration="temperature"))
    store.attach(NAME, classifier, data)
    some = events(4)
    store.learn(NAME, some[:3])
    before = store.current(NAME)
    store.learn(NAME, [Event("slip", some[3].row, "yse")])
    state = store.current(NAME)
    assert state.classifier.calibrated is None
    assert any("none fits the classes" in each for each in state.stale)
    certificate = store.forget(NAME, ["slip"])
    after = store.current(NAME)
    assert (after.digest, certificate["after"]) == (before.digest, before.digest)
    assert after.classifier.calibrated == before.classifier.calibrated
    store.close()
    again = open_it().attach(NAME, classifier, data)
    assert again.classifier.calibrated == before.classifier.calibrated


def test_a_calibration_that_a_new_class_dropped_is_learned_again(open_it: Open, tmp_path: Path) -> None:
    store = every(open_it(), 0)
    classifier, data, _ = saved(tmp_path, bb.NaiveBayes(calibration="temperature"))
    store.attach(NAME, classifier, data)
    store.learn(NAME, events(240))
    store.learn(NAME, [Event(f"n{place}", event.row, "new") for place, event in enumerate(events(20, seed=9))])
    assert store.current(NAME).classifier.calibrated is None
    assert store.retrain(NAME)
    found = store.current(NAME).classifier
    assert found.calibrated is not None
    assert found.calibrated.classes == ("new", "no", "yes")
