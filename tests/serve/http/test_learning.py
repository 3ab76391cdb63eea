"""Events over HTTP: learned once, forgotten with a certificate, and the tallies are those of the rows that are left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.serve.http.conftest import Serve, Served
from tests.serve.http.models import people

import bayesbox as bb


def events(count: int, seed: int = 5) -> list[dict[str, object]]:
    rows, labels = people(count, seed)
    return [
        {"id": f"e{place}", "row": row, "label": label}
        for place, (row, label) in enumerate(zip(rows, labels, strict=True))
    ]


@pytest.fixture
def fresh(serve: Serve) -> Served:
    return serve()


def digest_with(served: Served, some: list[dict[str, object]]) -> str:
    """That of a model trained on the base's rows and these events."""
    rows, labels = people()
    model = bb.NaiveBayes(columns={"person": bb.Ignore()}).fit(
        [*rows, *(each["row"] for each in some)], [*labels, *(each["label"] for each in some)]
    )
    return str(model.book_.digest())


def test_learn_and_forget_are_exact(fresh: Served) -> None:
    some = events(40)
    found = fresh.post("/v1/models/people/learn", {"events": some}, scope="learn")
    assert (found["learned"], found["known"], found["rows"]) == (40, 0, 240)
    assert found["digest"] == digest_with(fresh, some)
    again = fresh.post("/v1/models/people/learn", {"events": [*some[:3], *events(41)[40:]]}, scope="learn")
    assert [each["status"] for each in again["answers"]] == ["known"] * 3 + ["learned"]
    certificate = fresh.post("/v1/models/people/forget", {"ids": ["e7", "e9"]}, scope="forget")
    left = [each for each in events(41) if each["id"] not in ("e7", "e9")]
    state = fresh.store.current("people")
    assert state.digest == digest_with(fresh, left)
    number = certificate["number"]
    assert fresh.ask("GET", f"/v1/models/people/certificates/{number}", scope="forget").json == certificate
    listed = fresh.ask("GET", "/v1/models/people/certificates", scope="forget").json["certificates"]
    assert listed == [certificate]
    once_more = fresh.post("/v1/models/people/learn", {"events": [some[7]]}, scope="learn")
    assert once_more["answers"] == [{"id": "e7", "status": "forgotten"}]
    answer = fresh.ask("POST", "/v1/models/people/predict", {"rows": [{}]})
    assert answer.headers["bayesbox-digest"] == answer.json["digest"] == state.digest


def test_forget_all_of_a_person(fresh: Served) -> None:
    some = events(120)
    fresh.post("/v1/models/people/learn", {"events": some}, scope="learn")
    fresh.post("/v1/models/people/forget", {"key": {"column": "person", "value": "p3"}}, scope="forget")
    left = [each for each in some if each["row"]["person"] != "p3"]  # type: ignore[index]
    assert len(left) == 117
    assert fresh.store.current("people").digest == digest_with(fresh, left)


def test_conflicts_and_unknown_ids(fresh: Served) -> None:
    [event] = events(1)
    fresh.post("/v1/models/people/learn", {"events": [event]}, scope="learn")
    changed = fresh.ask("POST", "/v1/models/people/learn", {"events": [{**event, "label": "other"}]}, scope="learn")
    assert (changed.status, changed.json["ids"]) == (409, ["e0"])
    unknown = fresh.ask("POST", "/v1/models/people/forget", {"ids": ["e0", "x", "y"]}, scope="forget")
    assert (unknown.status, unknown.json["ids"]) == (404, ["x", "y"])
    assert fresh.store.current("people").rows == 201
    assert fresh.ask("GET", "/v1/models/people/certificates/7", scope="forget").status == 404
    assert fresh.ask("GET", "/v1/models/people/certificates/x", scope="forget").status == 404


def test_a_new_class_is_noted(fresh: Served) -> None:
    one, other = events(2)
    known = fresh.post("/v1/models/people/learn", {"events": [one]}, scope="learn")
    assert "notes" not in known
    slip = fresh.post("/v1/models/people/learn", {"events": [{**other, "label": "hihg"}]}, scope="learn")
    assert "`hihg`" in slip["notes"][0]


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"id": "a", "row": {"age": "old"}, "label": "high"}, "age"),
        ({"id": "a", "row": {"age": 3}}, "label"),
        ({"id": "", "row": {}, "label": "high"}, "id"),
        ({"id": "a", "row": {"car": ["x"]}, "label": "high"}, "car"),
        ({"id": "a", "row": {}, "label": "high", "weight": -1}, None),
        ({"id": "a", "row": {}, "label": None}, "label"),
        ({"id": "a", "row": {"joined": "soon"}, "label": "high"}, None),
    ],
)
def test_an_event_that_does_not_fit_changes_nothing(
    served: Served, event: dict[str, object], field: str | None
) -> None:
    good = {"id": "good", "row": {"age": 20}, "label": "high"}
    found = served.ask("POST", "/v1/models/people/learn", {"events": [good, event]}, scope="learn")
    assert found.status == 422, found.body
    if field is not None:
        assert found.json["field"] == field
        assert found.json["row"] == 1
    assert served.store.current("people").rows == 200


def test_other_kinds_learn_too(fresh: Served) -> None:
    texts = {"events": [{"id": "m1", "row": "cheap offer now", "label": "spam"}]}
    assert fresh.post("/v1/models/mail/learn", texts, scope="learn")["rows"] == 5
    whole = {"events": [{"id": "n1", "row": {"car": "van", "married": True}, "label": 1}]}
    assert fresh.post("/v1/models/numbers/learn", whole, scope="learn")["rows"] == 121
    assert fresh.ask("POST", "/v1/models/weather/learn", whole, scope="learn").status == 404
    assert fresh.ask("POST", "/v1/models/alarm/forget", {"ids": ["a"]}, scope="forget").status == 404


def test_reload_takes_the_file_as_it_is(fresh: Served) -> None:
    path = fresh.folder / "weather.bayes"
    before, data = fresh.ask("GET", "/v2/models/weather").headers["bayesbox-digest"], path.read_bytes()
    other = bb.HiddenMarkovModel.from_tables(
        start=[1, 0],
        transition=[[0.5, 0.5], [0.5, 0.5]],
        emission=[[1, 0], [0, 1]],
        states=["a", "b"],
        symbols=["x", "y"],
    )
    try:
        other.save(path, overwrite=True)
        assert fresh.ask("GET", "/v2/models/weather").headers["bayesbox-digest"] == before
        found = fresh.ask("POST", "/v1/models/weather/reload", scope="admin")
        assert found.json["model"]["digest"] == other.digest() != before
        assert fresh.ask("GET", "/v2/models/weather").headers["bayesbox-digest"] == other.digest()
    finally:
        path.write_bytes(data)
    assert fresh.ask("POST", "/v1/models/nobody/reload", scope="admin").status == 404


def test_a_changed_base_is_taken_by_reload_alone(fresh: Served) -> None:
    path = fresh.folder / "people.bayes"
    data = path.read_bytes()
    some = events(10)
    fresh.post("/v1/models/people/learn", {"events": some}, scope="learn")
    rows, labels = people(50, seed=9)
    other = bb.NaiveBayes(columns={"person": bb.Ignore()}).fit(rows, labels)
    try:
        other.save(path, overwrite=True)
        assert fresh.store.current("people").rows == 210
        found = fresh.ask("POST", "/v1/models/people/reload", scope="admin").json["model"]
        assert found["rows"] == 60
        other.partial_fit([each["row"] for each in some], [each["label"] for each in some])
        assert found["digest"] == other.book_.digest()
    finally:
        path.write_bytes(data)


def test_audit_has_what_was_done(fresh: Served) -> None:
    some = [{**event, "id": f"visit of Ann {event['id']}"} for event in events(2)]
    fresh.post("/v1/models/people/learn", {"events": some}, scope="learn")
    fresh.post("/v1/models/people/forget", {"ids": ["visit of Ann e1"]}, scope="forget")
    records = fresh.ask("GET", "/v1/models/people/audit", scope="admin").json["records"]
    assert records
    assert "Ann" not in str(records)
    assert fresh.ask("GET", "/v1/models/people/audit?limit=1", scope="admin").json["records"] == records[:1]
    refused = fresh.ask("GET", "/v1/models/people/audit?after=x", scope="admin")
    assert (refused.status, refused.json["field"]) == (422, "after")


def test_as_of_an_event_number(serve: Serve, fresh: Served) -> None:
    from bayesbox.serve.http.service import Service
    from bayesbox.serve.models.folder import ModelFolder

    some = events(6)
    for event in some:
        fresh.post("/v1/models/people/learn", {"events": [event]}, scope="learn")
    fixed = Service(ModelFolder(str(fresh.folder), fresh.store, at=4), fresh.service.tokens)
    then = Served(fixed, fresh.store, fresh.models, fresh.folder)
    assert then.ask("GET", "/v2/models/people").headers["bayesbox-digest"] == digest_with(fresh, some[:4])
    refused = then.ask("POST", "/v1/models/people/learn", {"events": events(8)[7:]}, scope="learn")
    assert (refused.status, refused.json["type"]) == (409, "urn:bayesbox:problem:read-only")
    assert then.ask("POST", "/v1/models/people/reload", scope="admin").status == 409
    fixed.close()
    with pytest.raises(bb.BadOption, match="at most 6"):
        ModelFolder(str(fresh.folder), fresh.store, at=7)


def test_a_model_of_given_tables_answers_and_does_not_learn(tmp_path: Path) -> None:
    from bayesbox.serve.http.server import default_store
    from bayesbox.serve.http.service import Service
    from bayesbox.serve.models.folder import ModelFolder
    from bayesbox.serve.store.base import open_store

    tables = {"radio": {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.05, "dislike": 0.95}}}
    model = bb.NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables=tables)
    model.save(tmp_path / "radio.bayes")
    with open_store(default_store(str(tmp_path))) as store:
        served = Served(Service(ModelFolder(str(tmp_path), store), None), store, {}, tmp_path)
        found = served.post("/v1/models/radio/predict", {"rows": [{"radio": "like"}]})
        assert found["answers"][0]["proba"] == model.predict_proba_one({"radio": "like"})
        event = {"events": [{"id": "a", "row": {"radio": "like"}, "label": "old"}]}
        assert served.ask("POST", "/v1/models/radio/learn", event).status == 409
        assert served.ask("POST", "/v1/models/radio/reload").status == 200
        served.service.close()
