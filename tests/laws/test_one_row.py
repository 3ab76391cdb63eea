"""One row at a time has the answers of a table of one row: for every kind, density, calibration and classifier."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import mixed

import bayesbox as bb
from bayesbox.errors import DataWarning
from bayesbox.schema.families import densities

NEAR = 1e-14
CALIBRATIONS = ("temperature", "isotonic", "dirichlet", "shares")

VALUES: dict[str, Any] = {
    "car": st.sampled_from(["sports", "suv", "truck", "Ünique", 'a "quote"', "never seen", "", 3, 2.0]),
    "age": st.one_of(st.integers(0, 120), st.floats(0, 120)),
    "income": st.floats(1e12 - 4, 1e12 + 4),
    "dose": st.floats(-1e300, 1e300),
    "smoker": st.sampled_from([True, False, "true", "FALSE", 0, 1.0]),
    "member": st.sampled_from([0, 1, 1.0, 2]),
    "visits": st.integers(0, 5),
    "calls": st.integers(0, 12),
    "parcels": st.integers(0, 6),
    "zip": st.sampled_from(["01099", "1099", "10115", "99999"]),
    "height": st.floats(120, 220),
    "joined": st.dates(datetime.date(2024, 2, 20), datetime.date(2024, 3, 9)),
}


def rows(values: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Rows of which some columns are absent, and some values missing."""
    each = {name: st.one_of(st.none(), st.just(float("nan")), of, of, of) for name, of in values.items()}
    return st.fixed_dictionaries({}, optional=each).filter(bool)


def as_table(clf: Any, row: Any) -> np.ndarray:
    """The answer to a table of this one row, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        table = clf._rows_asked([row])  # not compiled, whatever predict_proba takes
        found: np.ndarray = clf.classifier_.posterior(table)[0]
    return found


def require_same(clf: Any, row: dict[str, Any]) -> None:
    expected = as_table(clf, row)
    scorer = clf.scorer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of a row that no class allows
        found = clf.predict_proba_one(row)
        assert list(found) == clf.classes_.tolist()
        np.testing.assert_allclose(list(found.values()), expected, rtol=0, atol=NEAR)
        np.testing.assert_allclose(scorer.proba(row), expected, rtol=0, atol=NEAR)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.exp(scorer.log_proba(row)), expected, rtol=0, atol=NEAR)
        best = sorted(expected)[-2:]
        if len(best) < 2 or best[1] - best[0] > NEAR:
            assert clf.predict_one(row) == scorer.predict(row) == clf.classes_[expected.argmax()]


@pytest.fixture(scope="module", params=["ignore", "smooth", "level"])
def everything(request: pytest.FixtureRequest) -> bb.NaiveBayes:
    options = {"missing": "level"} if request.param == "level" else {"unseen": request.param}
    kinds = {**mixed.KINDS, "height": bb.Real("gaussian"), "zip": bb.Category()}
    X, y = mixed.table(300)
    return bb.NaiveBayes(columns=kinds, **options).fit(X, y)


@settings(max_examples=60, deadline=None)
@given(row=rows(VALUES))
def test_every_kind_of_column(everything: bb.NaiveBayes, row: dict[str, Any]) -> None:
    require_same(everything, row)


@pytest.mark.parametrize("density", densities())
def test_every_density(density: str) -> None:
    draw = np.random.default_rng(3)
    y = draw.integers(0, 3, 120)
    X = {"x": draw.gamma(2.0 + y).round(2) + 1, "z": draw.normal(y), "car": draw.choice(["suv", "van"], 120)}
    clf = bb.NaiveBayes(numeric=density).fit(X, y)
    for x in (*X["x"][:6].tolist(), 0.0, -3.5, 1e6, 7, None):
        require_same(clf, {"x": x, "z": 0.25, "car": "suv"})
    require_same(clf, {"z": -1.0})


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("prior", [None, {"no": 0.1, "yes": 0.8, "maybe": 0.1}])
def test_calibrated_answers(calibration: str, prior: dict[str, float] | None) -> None:
    X, y = mixed.table(200)
    names = ("car", "age", "smoker", "zip")
    clf = bb.NaiveBayes(calibration=calibration).fit({name: X[name] for name in names}, y)
    clf = clf if prior is None else clf.with_prior(prior)
    for place in range(12):
        require_same(clf, {name: X[name][place] for name in names})


def test_weights_of_columns() -> None:
    X, y = mixed.table(200)
    names = ("car", "age", "smoker", "zip", "income")
    clf = bb.NaiveBayes(column_weights="learned").fit({name: X[name] for name in names}, y)
    assert set(clf.column_weights_.values()) != {1.0}
    for place in range(12):
        require_same(clf, {name: X[name][place] for name in names})


MODELS: dict[str, Callable[[], Any]] = {
    "averaged": bb.AveragedNaiveBayes,
    "aode": bb.AODE,
    "tan": bb.TAN,
    "kdb": bb.KDB,
    "full": bb.FullBayes,
}


@pytest.mark.parametrize("name", MODELS)
def test_every_classifier(name: str) -> None:
    X, y = mixed.table(120)
    names = ("car", "smoker", "age")
    clf = MODELS[name]().fit({column: X[column] for column in names}, y)
    for place in range(8):
        require_same(clf, {column: X[column][place] for column in names})
    require_same(clf, {"car": "suv"})


def test_groups_of_flags_are_one_category() -> None:
    draw = np.random.default_rng(1)
    colour = draw.integers(0, 3, 60)
    X = {f"is_{name}": (colour == k).tolist() for k, name in enumerate(("red", "green", "blue"))}
    clf = bb.NaiveBayes(one_hot={"colour": list(X)}).fit(X, draw.choice(["a", "b"], 60))
    for place in range(6):
        require_same(clf, {name: X[name][place] for name in X})


def test_documents() -> None:
    texts = ["kiwi sheep kiwi", "kiwi bird", "munich oktoberfest", "munich beer kiwi"]
    clf = bb.TextClassifier().fit(texts, ["NZ", "NZ", "DE", "DE"])
    for text in (*texts, "beer", "nothing known"):
        expected = clf.predict_proba([text])[0]
        assert list(clf.predict_proba_one(text).values()) == expected.tolist()
        assert clf.predict_one({"text": text}) == clf.predict([text])[0]
        np.testing.assert_array_equal(clf.scorer().proba(text), expected)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 700), missing=st.booleans())
def test_a_few_rows_of_an_array_have_the_bits_of_many(seed: int, rows: int, missing: bool) -> None:
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 3, 5_000)
    X = draw.normal(size=(5_000, 7)) + y[:, None]
    X[:, 3], X[:, 4] = draw.integers(0, 2, 5_000), draw.integers(0, 5, 5_000)
    if missing:
        X[draw.random(X.shape) < 0.1] = np.nan
    kinds = {1: bb.Real("gaussian"), 4: "category"}
    clf = bb.NaiveBayes(columns=kinds).fit(X, y)
    for method in (clf.predict, clf.predict_proba, clf.predict_log_proba):
        np.testing.assert_array_equal(method(X[:rows]), method(X)[:rows])
