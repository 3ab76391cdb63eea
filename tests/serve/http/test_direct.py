"""The core answers plain bodies of predict from JSON to JSON: as the usual way does, or not at all."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.http.conftest import Serve, Served

import bayesbox as bb
from bayesbox.errors import BayesboxError
from bayesbox.serve.http.decode import decode
from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.problems import Problem
from bayesbox.serve.models.classifier import PredictBody, ServedClassifier
from bayesbox.serve.models.rows import BadRowOf
from bayesbox.serve.store.base import ModelState

COLUMNS = ("age", "pay", "car", "zip", "married", "größe", "id")
LIMITS = ServiceLimits(rows=20)


@cache
def served(kind: str) -> ServedClassifier:
    """A model of numbers, levels that are texts and numbers, flags, bins, and a column that is ignored."""
    draw = np.random.default_rng(1)
    count = 120
    rows = {
        "age": draw.normal(40, 9, count).round(1),
        "pay": draw.normal(size=count),
        "car": draw.choice(["suv", "van", "sports car"], count),
        "zip": draw.choice([10115, 20095, 7], count),
        "married": draw.random(count) < 0.5,
        "größe": draw.choice(["groß", "klein"], count),
        "id": np.arange(count),
    }
    columns: dict[str, Any] = {"zip": "category", "id": bb.Ignore()}
    labels = draw.choice(["no", "yes", "who knows"], count)
    if kind == "kdb":
        model: Any = bb.KDB(columns=columns)
    elif kind == "full":
        model = bb.FullBayes(columns=columns)
    elif kind == "bins":
        model = bb.NaiveBayes(columns={**columns, "pay": bb.Real("width:4")}, calibration="temperature")
    else:
        model = bb.NaiveBayes(columns=columns, numeric=kind)
    target = labels == "yes" if kind == "gaussian" else labels
    classifier = model.fit(rows, target).classifier_
    state = ModelState("m", 0, classifier.book.digest(), count, classifier, "0" * 64)
    return ServedClassifier("m", lambda: state)


KINDS = ("robust", "gaussian", "bins", "kdb", "student", "full")


def usual(model: ServedClassifier, body: bytes) -> Any:
    """What the usual way answers; None where it refuses."""
    try:
        asked = decode(body, PredictBody, LIMITS)
        if len(asked.rows) > LIMITS.rows:
            return None
        return json.loads(model.predict(asked).body)
    except (Problem, BadRowOf, BayesboxError):
        return None


def require_same(kind: str, body: bytes) -> bool:
    """Where the core answers, the usual way answers the same; whether it does."""
    model = served(kind)
    found = model.predict_directly(body, LIMITS.rows)
    if found is None:
        return False
    answered = json.loads(found.body, parse_constant=pytest.fail)
    assert answered == usual(model, body), body
    assert found.rows == len(answered["answers"])
    classes = [each["class"] for each in answered["answers"]]
    assert found.classes == {label: classes.count(label) for label in set(classes)}
    return True


numbers = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(-3, 100),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=2).map(float),
    st.sampled_from([0.0, -0.0, 1.0, 10115.0, 20095, 7, 5e-324, 1.7976931348623157e308, 123456789012345.678]),
)
texts = st.sampled_from(
    ["suv", "van", "sports car", "groß", "klein", "7", "10115", "true", "FALSE", "1", "", "tank", 'a"b', "a\\b", "é"]
)
values = st.one_of(st.none(), st.booleans(), numbers, texts)
rows = st.lists(st.dictionaries(st.sampled_from([*COLUMNS, "other"]), values, max_size=7), max_size=8)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    body: dict[str, Any] = {"rows": draw(rows)}
    if draw(st.booleans()):
        body["proba"] = draw(st.booleans())
    if draw(st.booleans()):
        body["explain"] = draw(st.sampled_from([0, 0, 1, 0.0, -0.0, True, None]))
    items = draw(st.permutations(list(body.items())))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r\n ")]))
    return json.dumps(dict(items), ensure_ascii=draw(st.booleans()), separators=separators).encode()


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(KINDS), body=bodies())
def test_the_core_answers_as_the_usual_way_does(kind: str, body: bytes) -> None:
    require_same(kind, body)


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(KINDS), body=bodies(), data=st.data())
def test_damaged_bodies_are_never_taken_for_others(kind: str, body: bytes, data: st.DataObject) -> None:
    """What the usual way refuses, the core does not answer."""
    place = data.draw(st.integers(0, len(body) - 1))
    piece = data.draw(st.sampled_from([b"", *(bytes([c]) for c in b'{}[]",:-+.eE01 \\\x00\x1f\x7f\x80\xc3\xff')]))
    cut = data.draw(st.integers(place, min(place + 3, len(body))))
    require_same(kind, body[:place] + piece + body[cut:])


ROW = '"age": 30, "pay": 1.5, "car": "suv", "zip": 7, "married": true, "größe": "groß"'


@pytest.mark.parametrize("kind", KINDS[:-1])  # full Bayes answers rows without missing values alone
@pytest.mark.parametrize(
    "row",
    [
        ROW,
        ROW.replace("30", "-0"),
        ROW.replace("30", "3.0e1"),
        ROW.replace("1.5", "-12345678901234567890.5"),
        ROW.replace("7", "7.0"),
        ROW.replace("7", '"10115"'),
        ROW.replace("true", "0"),
        ROW.replace("true", '"False"'),
        ROW.replace("30", "null"),
        ROW + ', "id": 3',
        ROW + ', "id": "a text"',
        '"car": "van"',
        "",
    ],
)
def test_plain_rows_are_answered_by_the_core(kind: str, row: str) -> None:
    assert require_same(kind, f'{{"rows": [{{{row}}}, {{"car": "van"}}, {{{row}}}]}}'.encode())


@pytest.mark.parametrize(
    "body",
    [
        '{"rows": [{"age": 1, "age": 2}]}',
        '{"rows": [{"age": 01}]}',
        '{"rows": [{"age": 1.}]}',
        '{"rows": [{"age": .5}]}',
        '{"rows": [{"age": 1e}]}',
        '{"rows": [{"age": 1e400}]}',
        '{"rows": [{"age": NaN}]}',
        '{"rows": [{"age": "30"}]}',
        '{"rows": [{"age": 1}],}',
        '{"rows": [{"age": 1},]}',
        '{"rows": [{"age": 1,}]}',
        '{"rows": [{"age": 1}]} x',
        '{"rows": [{"age": 1}], "rows": []}',
        '{"rows": [{"age": 1}], "explain": 1}',
        '{"rows": [{"age": 1}], "other": 1}',
        '{"rows": [{"car": "tank"}]}',
        '{"rows": [{"car": "s\\u0075v"}]}',
        '{"rows": [{"id": 1}]}',
        '{"rows": [{"id": "a\x01b", "age": 1}]}',
        '{"rows": [{"id": [1], "age": 1}]}',
        '{"rows": [{"aeg": 1, "age": 1}]}',
        '{"proba": true}',
        "[]",
        "",
    ],
)
def test_what_is_not_plain_goes_the_usual_way(body: str) -> None:
    assert served("robust").predict_directly(body.encode(), LIMITS.rows) is None


def test_rows_beyond_the_limit_go_the_usual_way() -> None:
    body = json.dumps({"rows": [{"age": 1}] * 21}).encode()
    assert served("robust").predict_directly(body, 20) is None
    found = served("robust").predict_directly(body, 21)
    assert found is not None
    assert found.rows == 21


def test_many_rows_have_the_answers_of_each_alone() -> None:
    """Blocks of the scorer, columns in changing order, and absent ones."""
    draw = np.random.default_rng(5)
    some: list[dict[str, Any]] = []
    for _ in range(700):
        row = {
            "age": float(draw.normal(40, 9)),
            "car": str(draw.choice(["suv", "van"])),
            "married": bool(draw.random() < 0.5),
        }
        names = draw.permutation(list(row))[: draw.integers(1, 4)].tolist()
        some.append({name: row[name] for name in names})
    model = served("robust")
    whole = model.predict_directly(json.dumps({"rows": some}).encode(), 1000)
    assert whole is not None
    together = json.loads(whole.body)["answers"]
    core = model.current().classifier.row_answers()
    for row, answer in zip(some, together, strict=True):
        expected = core.by_label(row)
        assert answer["proba"] == expected
        assert math.isclose(sum(answer["proba"].values()), 1, rel_tol=1e-12)


def test_the_service_answers_and_counts_the_same_both_ways(serve: Serve) -> None:
    """`numbers` is a plain model; an escape in a key that is not plain sends the same row the usual way."""
    found: Served = serve()
    path = "/v1/models/numbers/predict"
    plain = b'{"rows": [{"car": "suv", "married": true}, {"car": "van"}]}'
    escaped = plain.replace(b'"suv"', b'"s\\u0075v"')
    one, other = (found.ask("POST", path, body) for body in (plain, escaped))
    assert (one.status, other.status) == (200, 200)
    assert one.json == other.json
    assert one.headers["bayesbox-digest"] == other.headers["bayesbox-digest"]
    assert found.service.metrics.rows["numbers"] == 4
    assert sum(count for (name, _), count in found.service.metrics.classes.items() if name == "numbers") == 4
    drift = found.ask("GET", "/v1/models/numbers/drift").json
    assert (drift["rows_seen"], drift["rows_counted"]) == (4, 4)
    columns = {
        "inputs": [
            {"name": "car", "shape": [2], "datatype": "BYTES", "data": ["suv", "van"]},
            {"name": "married", "shape": [2], "datatype": "BOOL", "data": [True, None]},
        ]
    }
    outputs = found.post("/v2/models/numbers/infer", columns)["outputs"]
    assert outputs[0]["data"] == [each["class"] for each in one.json["answers"]]
    assert outputs[1]["data"] == [share for each in one.json["answers"] for share in each["proba"].values()]
    assert found.ask("GET", "/v1/models/numbers/drift").json["rows_counted"] == 6


def test_long_bodies_wait_in_the_place_of_many_rows(serve: Serve) -> None:
    """So that what waits to be counted has a bound in bytes too."""
    found = serve()
    tally = found.service.folder.models["numbers"].tally  # type: ignore[attr-defined]
    body = b'{"rows": [{"car": "suv"}]' + b" " * 900_000 + b"}"
    for _ in range(30):
        assert found.ask("POST", "/v1/models/numbers/predict", body).status == 200
    assert sum(map(len, tally._bodies)) < 6_000_000
    tally.count()
    assert tally.result()["rows_seen"] == 30
