"""Learning and forgetting: what every store answers, and the digest of what it holds."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.serve.store.cases import NAME, base, estimator, events, ids, retrained
from tests.serve.store.conftest import Open

import bayesbox as bb
from bayesbox.errors import (
    BadData,
    BadOption,
    BadWeight,
    EventConflict,
    NoCounts,
    StoreFailed,
    UnknownEvents,
    UnknownRecord,
)
from bayesbox.file.save import to_bytes
from bayesbox.serve.store import held
from bayesbox.serve.store.base import Event, Store, open_store
from bayesbox.serve.store.forgetting import is_certificate_signed


def test_an_event_is_learned_once(store: Store) -> None:
    some = events(5)
    first = store.learn(NAME, some)
    again = store.learn(NAME, [*some[:2], Event("new", {"age": 3}, "yes"), Event("new", {"age": 3}, "yes")])
    assert first.statuses == ["learned"] * 5
    assert again.statuses == ["known", "known", "learned", "known"]
    assert (again.sequence, again.rows) == (6, 46)
    assert again.digest == store.current(NAME).digest == retrained([*some, Event("new", {"age": 3}, "yes")])


def test_what_is_learned_answers_at_once(store: Store) -> None:
    before = store.current(NAME)
    store.learn(NAME, [Event(str(number), {"colour": "mauve"}, "yes") for number in range(50)])
    after, row = store.current(NAME), {"colour": "mauve"}
    assert after.classifier.row_answers().proba(row)[1] > before.classifier.row_answers().proba(row)[1]
    assert before.rows == 40  # a state never changes


@pytest.mark.parametrize(
    "other", [Event("e1", {"age": 99}, "yes"), Event("e1", {"age": 5}, "no"), Event("e1", {"age": 5}, "yes", 2.0)]
)
def test_a_known_id_with_other_values_is_a_conflict(store: Store, other: Event) -> None:
    store.learn(NAME, [Event("e1", {"age": 5}, "yes")])
    with pytest.raises(EventConflict) as caught:
        store.learn(NAME, [Event("e2", {"age": 1}, "no"), other])
    assert caught.value.ids == ("e1",)
    assert store.current(NAME).rows == 41  # the other event of the request is not learned either
    assert store.learn(NAME, [Event("e1", {"age": 5, "colour": None}, "yes")]).statuses == ["known"]


def test_forgetting_is_exact_and_leaves_an_hmac(store: Store) -> None:
    some = events(30)
    before = store.learn(NAME, some)
    certificate = store.forget(NAME, ids(some[3:7]))
    left = [*some[:3], *some[7:]]
    assert (certificate["before"], certificate["after"]) == (before.digest, retrained(left))
    assert (certificate["number"], certificate["count"], len(certificate["ids"])) == (1, 4, 4)
    assert not {*certificate["ids"]} & {*ids(some)}
    again = store.learn(NAME, some[2:5])
    assert again.statuses == ["known", "forgotten", "forgotten"]
    assert again.digest == retrained(left)
    assert store.certificate(NAME, 1) == certificate
    assert store.certificates(NAME) == [certificate]
    with pytest.raises(UnknownRecord):
        store.certificate(NAME, 2)


def test_forgetting_is_all_or_nothing(store: Store) -> None:
    some = events(4)
    digest = store.learn(NAME, some).digest
    store.forget(NAME, ["e3"])
    with pytest.raises(UnknownEvents) as caught:
        store.forget(NAME, ["e1", "never", "e3"])
    assert caught.value.ids == ("never", "e3")
    assert store.current(NAME).digest == retrained(some[:3]) != digest
    with pytest.raises(UnknownEvents):
        store.forget(NAME, [])


def test_all_rows_of_a_person_are_forgotten(store: Store) -> None:
    some = events(60)
    store.learn(NAME, [*some, Event("decoy", {"colour": '"person":"p3"'}, "yes")])
    left = [event for event in some if event.row["person"] != "p3"]
    certificate = store.forget(NAME, key=("person", "p3"))
    assert certificate["count"] == len(some) - len(left) > 0
    assert certificate["key"] == "person"
    assert certificate["after"] == retrained([*left, Event("decoy", {"colour": '"person":"p3"'}, "yes")])
    with pytest.raises(UnknownEvents):
        store.forget(NAME, key=("person", "p3"))


def test_a_certificate_can_be_signed(store: Store) -> None:
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    store.learn(NAME, events(2))
    certificate = store.forget(NAME, ["e0"], signer=key)
    assert is_certificate_signed(certificate, key.public_key())
    assert not is_certificate_signed(certificate, other.public_key())
    assert not is_certificate_signed({**certificate, "count": 2}, key.public_key())
    assert not is_certificate_signed(store.forget(NAME, ["e1"]), key.public_key())


def test_a_restart_changes_nothing(open_it: Open) -> None:
    some = events(40)
    first = open_it()
    first.learn(NAME, some)
    first.forget(NAME, ids(some[::3]))
    digest, rows = first.current(NAME).digest, first.current(NAME).rows
    first.close()
    state = open_it().current(NAME)
    assert (state.digest, state.rows, state.sequence) == (digest, rows, 40)
    with pytest.raises(StoreFailed):
        first.learn(NAME, some)


def test_the_model_as_of_an_event(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With snapshots on the way, and without what was forgotten since."""
    monkeypatch.setattr(held, "SNAPSHOT_EVENTS", 7)
    monkeypatch.setattr(held, "MOST_SNAPSHOTS", 3)
    some = events(50)
    for event in some:
        store.learn(NAME, [event])
    gone = {"e2", "e8", "e30", "e49"}
    store.forget(NAME, sorted(gone))
    for sequence in (0, 1, 3, 7, 9, 25, 31, 49, 50):
        state = store.at(NAME, sequence)
        left = [event for event in some[:sequence] if event.id not in gone]
        assert (state.digest, state.rows, state.sequence) == (retrained(left), 40 + len(left), sequence)
    for sequence in (-1, 51):
        with pytest.raises(UnknownRecord):
            store.at(NAME, sequence)


def test_many_threads_share_commits(store: Store) -> None:
    some = events(200)
    threads = [
        threading.Thread(target=lambda own=some[place::8]: [store.learn(NAME, [e]) for e in own]) for place in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = store.current(NAME)
    assert (state.rows, state.digest) == (240, retrained(some))
    assert len(store.audit(NAME, limit=1000)) - 1 <= 200
    assert store.lag() == 0.0


def test_one_bad_request_of_a_commit_does_not_harm_the_others(store: Store) -> None:
    store.learn(NAME, [Event("known", {"age": 5}, "yes")])
    block = threading.Event()
    slow = threading.Thread(target=lambda: store._run(lambda _: block.wait()))  # so that the next ones share a commit
    slow.start()
    time.sleep(0.05)
    good = [store.submit(NAME, [event]) for event in events(3)]
    bad = store.submit(NAME, [Event("bad", {"age": "no number"}, "yes")])
    conflict = store.submit(NAME, [Event("known", {"age": 6}, "yes")])
    repeated = store.submit(NAME, events(1))
    block.set()
    slow.join()
    assert [each.result().statuses for each in (*good, repeated)] == [["learned"]] * 3 + [["known"]]
    assert isinstance(bad.exception(), BadData)
    assert isinstance(conflict.exception(), EventConflict)
    assert {each.result().sequence for each in (*good, repeated)} == {4}
    assert store.current(NAME).digest == retrained([Event("known", {"age": 5}, "yes"), *events(3)])


def test_values_of_several_types_count_as_they_would_alone(store: Store) -> None:
    some = [
        Event("a", {"age": 7, "colour": "7"}, "yes"),
        Event("b", {"age": 7.5, "colour": "true", "member": True}, "no", 2.5),
        Event("c", {"member": "false"}, "yes"),
        Event("d", {"member": 1}, "yes"),
        Event("e", {}, "no"),
    ]
    assert store.learn(NAME, some).digest == retrained(some)
    assert store.forget(NAME, ["b", "d"])["after"] == retrained([some[0], some[2], some[4]])


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (Event("", {}, "yes"), BadData),
        (Event("x\0", {}, "yes"), BadData),
        (Event("x" * 513, {}, "yes"), BadData),
        (Event("\ud800", {}, "yes"), BadData),
        (Event("x", {"age": [1]}, "yes"), BadData),
        (Event("x", {"age": float("inf")}, "yes"), BadData),
        (Event("x", {"age": 10**400}, "yes"), BadData),
        (Event("x", {"age": "old"}, "yes"), BadData),
        (Event("x", {}, None), BadData),
        (Event("x", {}, 3), BadData),
        (Event("x", {}, "yes", 0.0), BadWeight),
        (Event("x", {}, "yes", float("nan")), BadWeight),
    ],
)
def test_what_cannot_be_counted_is_refused(store: Store, event: Event, error: type[Exception]) -> None:
    with pytest.raises(error):
        store.learn(NAME, [Event("fine", {"age": 1}, "yes"), event])
    assert store.current(NAME).rows == 40
    assert store.learn(NAME, []).statuses == []


def test_a_column_gets_its_kind_from_an_event_that_is_forgotten(open_it: Open) -> None:
    """The kind stays, so that all other events count as before, also after a restart."""
    classifier = bb.NaiveBayes().fit([{"age": 3, "note": None}, {"age": 5, "note": None}], ["a", "b"]).classifier_
    store = open_it()
    store.attach("open", classifier, to_bytes(classifier))
    store.learn("open", [Event("1", {"note": "abc"}, "a"), Event("2", {"note": "2026-01-01"}, "b")])
    digest = store.forget("open", ["1"])["after"]
    store.learn("open", [Event("3", {"note": "xyz"}, "a")])
    store.close()
    again = open_it()
    again.attach("open", classifier, to_bytes(classifier))
    assert again.at("open", 2).digest == digest
    assert again.forget("open", ["3"])["after"] == digest


def test_the_base_changes_only_by_a_reload(open_it: Open) -> None:
    some = events(10)
    store = open_it()
    store.learn(NAME, some)
    other = estimator().learn_one({"age": 1.0}, "no")
    new = other.classifier_, to_bytes(other.classifier_)
    state = store.attach(NAME, *new)
    assert state.base_changed
    assert state.digest == retrained(some)
    state = store.reload(NAME, *new)
    assert not state.base_changed
    assert (state.rows, state.sequence) == (51, 10)
    assert state.digest == retrained([Event("", {"age": 1.0}, "no"), *some])
    assert store.forget(NAME, ["e1"])["count"] == 1
    assert store.at(NAME, 0).rows == 41
    assert store.attach(NAME, *base()).base_changed
    assert [each["action"] for each in store.audit(NAME)] == ["attach", "learn", "reload", "forget"]


def test_a_reload_that_does_not_fit_the_events_is_refused(store: Store) -> None:
    store.learn(NAME, events(3))
    digest = store.current(NAME).digest
    other = bb.NaiveBayes().fit({"age": ["young", "old"]}, ["no", "yes"]).classifier_
    with pytest.raises(BadData):
        store.reload(NAME, other, to_bytes(other))
    assert store.current(NAME).digest == digest
    assert not store.current(NAME).base_changed


def test_several_models_and_those_that_are_not_there(store: Store) -> None:
    store.attach("other", *base())
    store.learn("other", events(2))
    assert (store.current(NAME).rows, store.current("other").rows) == (40, 42)
    assert store.names() == ["other", NAME]
    for ask in (store.current, lambda name: store.learn(name, []), lambda name: store.forget(name, ["x"])):
        with pytest.raises(UnknownRecord):
            ask("nobody")
    fixed = bb.NaiveBayes.from_tables({"yes": 0.5, "no": 0.5}, {"colour": {"yes": {"red": 1.0}, "no": {"red": 1.0}}})
    store.attach("fixed", fixed.classifier_, to_bytes(fixed.classifier_))
    with pytest.raises(NoCounts):
        store.learn("fixed", events(1))


def test_another_process_sees_what_was_learned(open_it: Open) -> None:
    """Two stores on one database are what two processes have."""
    one, other = open_it(), open_it()
    some = events(20)
    one.learn(NAME, some[:10])
    assert other.learn(NAME, some[5:]).statuses == ["known"] * 5 + ["learned"] * 10  # with the newest, at once
    one.forget(NAME, ["e0", "e19"])
    deadline = time.monotonic() + 10
    while other.current(NAME).digest != retrained(some[1:19]):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert one.current(NAME).digest == other.current(NAME).digest


def test_tokens(store: Store) -> None:
    id = store.add_token("ab" * 32, ["predict", "learn"], time.time() + 60, "laptop")
    found = store.token("ab" * 32)
    assert found is not None
    assert (found.id, found.scopes, found.label) == (id, ("learn", "predict"), "laptop")
    assert found.is_valid(time.time())
    assert not found.is_valid(time.time() + 61)
    assert store.token("cd" * 32) is None
    store.revoke(id)
    store.revoke(id)
    revoked = store.token("ab" * 32)
    assert revoked is not None
    assert not revoked.is_valid(time.time())
    assert store.tokens() == [revoked]
    with pytest.raises(UnknownRecord):
        store.revoke("nobody")
    actions = [each["action"] for each in store.audit(None)]
    assert actions[-3:] == ["token create", "token revoke", "token revoke"]
    assert "ab" * 32 not in str(store.audit(None))


def test_every_kind_of_classifier_learns_and_forgets(store: Store) -> None:
    chance_rows: list[dict[str, Any]] = [
        {"age": float(k % 17), "colour": "rgb"[k % 3], "size": k % 2} for k in range(60)
    ]
    labels = ["yes" if k % 3 else "no" for k in range(60)]
    for make in (bb.FullBayes, bb.AveragedNaiveBayes, bb.AODE, bb.TAN, bb.KDB, lambda: bb.NaiveBayes(numeric="auto")):
        classifier = make().fit(chance_rows, labels).classifier_
        name = classifier.kind + str(len(store.names()))
        before = store.attach(name, classifier, to_bytes(classifier))
        some = [Event(str(k), row, labels[k]) for k, row in enumerate(chance_rows[:20])]
        learned = store.learn(name, some)
        assert (learned.rows, learned.digest != before.digest) == (80, True)
        certificate = store.forget(name, ids(some))
        assert certificate["after"] == before.digest
        assert certificate["derived"] == list(classifier.irreversible_parts())


def test_documents_are_learned_and_forgotten(store: Store) -> None:
    clf = bb.TextClassifier(occurrence="count").fit(
        ["cheap pills now", "meeting at noon", "pills pills"], ["spam", "ham", "spam"]
    )
    before = store.attach("mail", clf.classifier_, to_bytes(clf.classifier_))
    column = clf.classifier_.text_column
    learned = store.learn("mail", [Event("1", {column: "lunch at noon"}, "ham"), Event("2", {}, "ham")])
    assert learned.rows == 5
    assert store.forget("mail", ["1", "2"])["after"] == before.digest
    limited = bb.TextClassifier(limit=100).fit(["cheap pills now", "meeting at noon"], ["spam", "ham"])
    store.attach("limited", limited.classifier_, to_bytes(limited.classifier_))
    with pytest.raises(ValueError, match="limit"):
        store.learn("limited", [Event("1", {column: "lunch"}, "ham")])


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "mysql://here/x", "store.db"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(BadOption):
        open_store(url)


def test_a_file_that_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database at all, but long enough to look at" * 100)
    with pytest.raises(StoreFailed):
        open_store(f"sqlite:///{tmp_path}/store.db")
    with pytest.raises(StoreFailed):
        open_store(f"sqlite:///{tmp_path}/nowhere/store.db")
