"""A random walk of learning, forgetting, repeating, reloading and restarting, against a plain dictionary."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.serve.store.cases import COLOURS, NAME, base, retrained

from bayesbox.errors import EventConflict, StoreFailed, UnknownEvents
from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event, Store, open_database, open_store
from bayesbox.serve.verify import verify_store

rows = st.fixed_dictionaries(
    {},
    optional={
        "age": st.one_of(st.integers(-5, 99), st.floats(-1e12, 1e12, allow_nan=False)),
        "colour": st.sampled_from([*COLOURS, "", "7", "true", "naïve"]),
        "member": st.booleans(),
        "person": st.sampled_from(["p1", "p2", 3]),
    },
)
new_events = st.builds(
    Event,
    st.integers(0, 40).map(lambda number: f"e{number}"),
    rows,
    st.sampled_from(["no", "yes", "maybe"]),
    st.sampled_from([1.0, 1.0, 1.0, 0.25, 3.0]),
)


class StoreWalk(RuleBasedStateMachine):
    """What the store must hold is `kept`, in the order of learning, with the number of each event."""

    address: Any = None

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.mkdtemp()
        self.url = self.address or f"sqlite:///{self._folder}/store.db"
        self.kept: dict[str, tuple[int, Event]] = {}
        self.forgotten: set[str] = set()
        self.sequence = 0
        self.certificates = 0
        self.store = self._open()

    def _open(self) -> Store:
        store = open_store(self.url)
        store.attach(NAME, *base())
        return store

    @rule(some=st.lists(new_events, min_size=1, max_size=6))
    def learn(self, some: list[Event]) -> None:
        kept, sequence, expected = dict(self.kept), self.sequence, list[str]()
        conflict = False
        for event in some:
            if event.id in self.forgotten:
                expected.append("forgotten")
            elif event.id in kept:
                expected.append("known")
                conflict = conflict or not _same(kept[event.id][1], event)
            else:
                expected.append("learned")
                sequence += 1
                kept[event.id] = sequence, event
        if conflict:
            with pytest.raises(EventConflict):
                self.store.learn(NAME, some)
            return
        result = self.store.learn(NAME, some)
        self.kept, self.sequence = kept, sequence
        assert (result.statuses, result.sequence) == (expected, sequence)

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.kept)))
        assert self.store.learn(NAME, [self.kept[id][1]]).statuses == ["known"]

    @rule(ids=st.lists(st.integers(0, 40).map(lambda number: f"e{number}"), min_size=1, max_size=3, unique=True))
    def forget(self, ids: list[str]) -> None:
        unknown = tuple(id for id in ids if id not in self.kept)
        if unknown:
            with pytest.raises(UnknownEvents) as caught:
                self.store.forget(NAME, ids)
            assert caught.value.ids == unknown
            return
        self._forgot(self.store.forget(NAME, ids), {*ids})

    @rule(person=st.sampled_from(["p1", "p2", 3, "nobody"]))
    def forget_person(self, person: object) -> None:
        ids = {id for id, (_, event) in self.kept.items() if event.row.get("person") == person}
        if not ids:
            with pytest.raises(UnknownEvents):
                self.store.forget(NAME, key=("person", person))
            return
        self._forgot(self.store.forget(NAME, key=("person", person)), ids)

    def _forgot(self, certificate: dict[str, Any], ids: set[str]) -> None:
        self.certificates += 1
        assert (certificate["count"], certificate["number"]) == (len(ids), self.certificates)
        self.kept = {id: each for id, each in self.kept.items() if id not in ids}
        self.forgotten |= ids
        assert certificate["after"] == self._digest()

    @rule(part=st.floats(0, 1))
    def look_back(self, part: float) -> None:
        sequence = round(part * self.sequence)
        assert self.store.at(NAME, sequence).digest == self._digest(sequence)

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = self._open()

    @invariant()
    def digests_are_equal(self) -> None:
        state = self.store.current(NAME)
        assert (state.digest, state.rows) == (self._digest(), 40 + len(self.kept))

    def _digest(self, last: int | None = None) -> str:
        return retrained([event for number, event in self.kept.values() if last is None or number <= last])

    def teardown(self) -> None:
        self.store.close()
        database = open_database(self.url)
        try:
            assert verify_store(database).holds
        finally:
            database.close()
            shutil.rmtree(self._folder)


def _same(one: Event, other: Event) -> bool:
    def facts(event: Event) -> Any:
        return {name: repr(value) for name, value in event.row.items()}, event.label, event.weight

    return bool(facts(one) == facts(other))


@pytest.fixture(autouse=True)
def _snapshots_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 5)
    monkeypatch.setattr(held, "MOST_SNAPSHOTS", 4)


def test_walks_in_a_file() -> None:
    case = StoreWalk.TestCase
    case.settings = settings(max_examples=15, stateful_step_count=25, phases=[Phase.generate])
    case().runTest()


def test_walks_in_a_database(postgres) -> None:  # type: ignore[no-untyped-def]
    class InDatabase(StoreWalk):
        def __init__(self) -> None:
            postgres.execute("DROP SCHEMA IF EXISTS bayesbox CASCADE")
            self.address = postgres.address
            super().__init__()

    case = InDatabase.TestCase
    case.settings = settings(max_examples=8, stateful_step_count=20, phases=[Phase.generate])
    case().runTest()


def test_a_wrong_store_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate itself: a store that leaves forgotten events in its snapshots."""
    from bayesbox.serve.store import forgetting

    monkeypatch.setattr(forgetting, "_subtract_from_snapshots", lambda *_: None)
    case = StoreWalk.TestCase
    case.settings = settings(max_examples=60, stateful_step_count=25, phases=[Phase.generate])
    with pytest.raises((AssertionError, StoreFailed)):
        case().runTest()
