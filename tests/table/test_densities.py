"""Every density of numbers under the laws: learn, forget, merge, order and leave-one-out are exact."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.tally import values

NORMALS = ["gaussian:spacing", "gaussian:rounded", "student"]
DENSITIES = [*NORMALS, "kernel", "lognormal", "width:4", "frequency:4", "mdl", "modl", "auto"]
each_density = pytest.mark.parametrize("numeric", DENSITIES)


def table(rows: int = 60, seed: int = 3) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numbers of several shapes, with holes, ties and a column that is nearly a flag."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    X = {
        "skewed": np.exp(random.normal(y * 0.8, 1.0)),
        "tied": np.round(random.normal(y * 2.0, 1.5)),
        "humps": random.normal(np.where(random.random(rows) < 0.5, -3.0, 3.0) * (y == 1), 0.6),
        "offset": 1e9 + random.normal(y * 0.5, 1.0),
        "flag": np.where(np.arange(rows) == 7, 3.0, random.integers(0, 2, rows)),
    }
    for name in ("skewed", "tied"):
        X[name] = np.where(random.random(rows) < 0.1, np.nan, X[name])
    return X, np.array(["a", "b", "c"])[y]


def pick(X: dict[str, np.ndarray], rows: object) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in X.items()}


@each_density
def test_learning_forgetting_and_merging_give_the_same_model(numeric: str) -> None:
    X, y = table()
    whole = bb.NaiveBayes(numeric=numeric).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = bb.NaiveBayes(numeric=numeric).fit(pick(X, order), y[order])
    first, second = np.arange(40), np.arange(40, 60)
    in_parts = bb.NaiveBayes(numeric=numeric).partial_fit(pick(X, first), y[first])
    in_parts.partial_fit(pick(X, second), y[second])
    merged = bb.NaiveBayes(numeric=numeric).fit(pick(X, first), y[first])
    merged = merged + bb.NaiveBayes(numeric=numeric).fit(pick(X, second), y[second])
    forgotten = bb.NaiveBayes(numeric=numeric).fit(pick(X, first), y[first])
    forgotten.partial_fit(pick(X, second), y[second]).forget(pick(X, second), y[second])
    expected = whole.predict_proba(X)
    for other in (shuffled, in_parts, merged):
        assert other.book_.digest() == whole.book_.digest()
        np.testing.assert_array_equal(other.predict_proba(X), expected)
    alone = bb.NaiveBayes(numeric=numeric).fit(pick(X, first), y[first])
    assert forgotten.book_.digest() == alone.book_.digest()
    np.testing.assert_array_equal(forgotten.predict_proba(X), alone.predict_proba(X))


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels")  # of the row that is left out
@pytest.mark.parametrize("missing", ["ignore", "level"])
@each_density
def test_leave_one_out_is_the_model_of_the_other_rows(numeric: str, missing: str) -> None:
    X, y = table(rows=36)
    if numeric == "auto":  # the choice is that of all rows: declared, it is the same model
        X = {name: X[name] for name in ("skewed", "humps")}
    clf = bb.NaiveBayes(numeric=numeric, missing=missing).fit(X, y)
    found = clf.leave_one_out(X, y)
    if numeric == "auto":
        chosen = {each.column: type(each).__name__ for each in clf.classifier_.model.conditionals}
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bb.DataWarning)
            refit = bb.NaiveBayes(numeric=numeric, missing=missing).fit(pick(X, rest), y[rest])
        if numeric == "auto":
            again = {each.column: type(each).__name__ for each in refit.classifier_.model.conditionals}
            if again != chosen:
                continue
        np.testing.assert_allclose(found[row], refit.predict_proba(pick(X, [row]))[0], rtol=0, atol=1e-9)


@each_density
def test_a_missing_value_stays_missing(numeric: str) -> None:
    X, y = table()
    clf = bb.NaiveBayes(numeric=numeric).fit(X, y)
    nothing = {name: np.array([np.nan]) for name in X}
    np.testing.assert_allclose(clf.predict_proba(nothing)[0], np.exp(clf.class_log_prior_), rtol=1e-12)


@each_density
def test_weights_are_rows(numeric: str) -> None:
    X, y = table()
    twice = {name: np.tile(column, 2) for name, column in X.items()}
    doubled = bb.NaiveBayes(numeric=numeric).fit(X, y, sample_weight=np.full(len(y), 2.0))
    repeated = bb.NaiveBayes(numeric=numeric).fit(twice, np.tile(y, 2))
    assert doubled.book_.digest() == repeated.book_.digest()
    np.testing.assert_array_equal(doubled.predict_proba(X), repeated.predict_proba(X))


@each_density
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_any_scale(numeric: str, scale: float) -> None:
    X, y = table()
    plain = {"tied": X["tied"] + 20, "humps": X["humps"] + 20}
    one = bb.NaiveBayes(numeric=numeric).fit(plain, y)
    scaled = {name: column * scale for name, column in plain.items()}
    other = bb.NaiveBayes(numeric=numeric).fit(scaled, y)
    np.testing.assert_allclose(other.predict_proba(scaled), one.predict_proba(plain), atol=1e-6)


def test_a_coarse_column_adds_up_but_cannot_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "DISTINCT_LIMIT", 64)
    random = np.random.default_rng(8)
    x, y = random.normal(size=900), random.integers(0, 2, 900).astype(str)
    x += y == "1"
    whole = bb.NaiveBayes(numeric="kernel").fit({"x": x}, y)
    assert not whole.book_["x"].is_exact
    assert 32 < len(whole.book_["x"].values) <= 64
    order = random.permutation(900)
    parts = bb.NaiveBayes(numeric="kernel")
    for part in np.array_split(order, 13):
        parts.partial_fit({"x": x[part]}, y[part])
    assert parts.book_.digest() == whole.book_.digest()
    assert parts.book_["x"].mean.tolist() == whole.book_["x"].mean.tolist()  # the moments are exact all the same
    with refusal(bb.CannotForget, what="64"):
        whole.forget({"x": x[:1]}, y[:1])
    exact = bb.NaiveBayes(numeric="kernel", columns={"x": bb.Real("gaussian")}).fit({"x": x}, y)
    assert (whole.predict({"x": x}) == exact.predict({"x": x})).mean() > 0.9
    assert whole.leave_one_out({"x": x}, y).shape == (900, 2)


@each_density
def test_a_saved_model_goes_on_learning(numeric: str, tmp_path: Path) -> None:
    X, y = table()
    first, second = np.arange(40), np.arange(40, 60)
    clf = bb.NaiveBayes(numeric=numeric).fit(pick(X, first), y[first])
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    assert again.numeric == numeric
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    again.partial_fit(pick(X, second), y[second])
    whole = bb.NaiveBayes(numeric=numeric).fit(X, y)
    assert again.book_.digest() == whole.book_.digest()
    again.save(tmp_path / "again.bayes")
    whole.save(tmp_path / "whole.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == (tmp_path / "whole.bayes").read_bytes()


def test_weights_and_coarse_values_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "DISTINCT_LIMIT", 64)
    random = np.random.default_rng(9)
    x, y, w = random.normal(size=300), random.integers(0, 2, 300).astype(str), random.random(300)
    clf = bb.NaiveBayes(numeric="modl").fit({"x": x}, y, sample_weight=w)
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    assert again.book_["x"].bits == clf.book_["x"].bits < 53
    assert again.book_.digest() == clf.book_.digest()


def test_a_density_for_one_column_alone() -> None:
    X, y = table()
    columns = {"skewed": bb.Real("lognormal"), "humps": "real:kernel", "tied": bb.Real(floor=0.01)}
    clf = bb.NaiveBayes(numeric="student", columns=columns).fit(X, y)
    kinds = {each.columns[0]: type(each).__name__ for each in clf.classifier_.model.conditionals}
    assert kinds == {
        "skewed": "LogNormal",
        "humps": "Kernel",
        "tied": "Student",
        "offset": "Student",
        "flag": "Student",
    }
    assert clf.book_["humps"].form == "values"
    assert clf.book_["offset"].form == "moments"


def test_bins_become_the_states_of_a_network() -> None:
    X, y = table()
    clf = bb.NaiveBayes(numeric="mdl").fit({"humps": X["humps"], "tied": X["tied"]}, y)
    network = clf.to_network()
    bins = clf.classifier_.model.conditional("humps")
    row = {"humps": np.array([0.1]), "tied": np.array([np.nan])}
    state = bins.levels[int(np.searchsorted(bins.cuts, 0.1))]
    posterior = network.posteriors({"humps": state})["class"]
    np.testing.assert_allclose([posterior[name] for name in clf.classes_], clf.predict_proba(row)[0], rtol=1e-12)


def test_zero_and_below_are_a_level_of_the_lognormal() -> None:
    x = np.array([0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 5.0, 9.0, 7.0, -1.0])
    y = np.array(list("aaaaabbbbb"))
    clf = bb.NaiveBayes(numeric="lognormal").fit({"x": x}, y)
    term = clf.explain({"x": np.array([0.0, -3.0])}).terms[:, :, 0]
    np.testing.assert_allclose(np.exp(term), [[3 / 7, 3 / 7], [3 / 7, 3 / 7]])  # two of five rows, one of two levels
    above = bb.NaiveBayes(numeric="lognormal").fit({"x": x[x > 0]}, y[x > 0])
    assert not above.explain({"x": np.array([-3.0])}).terms.any()  # never seen anywhere: left out


def test_bad_densities_are_refused() -> None:
    for density in ("cauchy", "width:0", "mdl:3", "kernel:2", 3):
        with refusal(bb.BadOption, found=density):
            bb.Real(density)
        with refusal(bb.BadOption, found=density):
            bb.NaiveBayes(numeric=density).fit({"x": [1.0, 2.0]}, ["a", "b"])


def test_different_densities_do_not_merge() -> None:
    X, y = table()
    with pytest.raises(bb.CannotMerge):
        bb.NaiveBayes(numeric="mdl").fit(X, y) + bb.NaiveBayes(numeric="kernel").fit(X, y)


@pytest.mark.parametrize("numeric", ["gaussian", *DENSITIES])
def test_an_infinite_number_is_refused_by_name(numeric: str) -> None:
    X, y = table()
    clf = bb.NaiveBayes(numeric=numeric).fit({"tied": X["tied"]}, y)
    for value in (np.inf, -np.inf):
        for ask in (clf.predict, clf.predict_proba, clf.predict_log_proba):
            with refusal(bb.BadData, column="tied", where="row 2"):
                ask({"tied": np.array([1.0, value])})
        assert np.isneginf(clf.joint_log_proba({"tied": np.array([value])})).all()
        with refusal(bb.BadData, column="tied", where="row 1"):
            clf.leave_one_out({"tied": np.array([value])}, y[:1])


@pytest.mark.parametrize("model", [bb.FullBayes(), bb.AODE(), bb.TAN(), bb.KDB(1), bb.AveragedNaiveBayes()], ids=repr)
def test_models_of_numbers_refuse_an_infinite_one_by_name(model: Any) -> None:
    X, y = table()
    model.fit({"tied": X["tied"], "humps": X["humps"]}, y)
    for ask in (model.predict, model.predict_proba):
        with refusal(bb.BadData, column="tied", where="row 2", found=float("inf")):
            ask({"tied": np.array([1.0, np.inf]), "humps": np.array([0.0, np.nan])})


@pytest.mark.parametrize("numeric", ["gaussian", *DENSITIES])
def test_numbers_near_the_greatest_double(numeric: str) -> None:
    """Warnings are errors here: nothing overflows unseen, and every answer is a probability."""
    x = np.array([-1, 1, -0.9, 0.8, 0.5, -0.4, 0.1, -0.2, 0.3, -1.0, 1, 0.9]) * 1.7e308
    y = np.array(list("abababababcb"))
    clf = bb.NaiveBayes(numeric=numeric).fit({"x": x}, y)
    for answer in (clf.predict_proba({"x": x}), clf.leave_one_out({"x": x}, y)):
        np.testing.assert_allclose(answer.sum(axis=1), 1.0)
    assert "<polyline" in clf.density_svg("x")
    narrow = bb.NaiveBayes(numeric=numeric).fit({"x": np.arange(12.0) ** 2}, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)  # some densities call a value that far away impossible
        np.testing.assert_allclose(narrow.predict_proba({"x": x}).sum(axis=1), 1.0)
