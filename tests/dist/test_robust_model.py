"""The robust density inside a model: leave-one-out, merging, many columns at once, and what the core makes of it."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dist.test_robust import fit, sample
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.number.cell_tree import edges_of
from bayesbox.dist.number.robust import Robust
from bayesbox.errors import CannotExport, NeverLearned, TooCostly
from bayesbox.rule.smoothing import Laplace
from bayesbox.table.naive import leave_one_out
from bayesbox.tally.grid import Grid

ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 1.0, 1.5, 2.0, 40.0, -3.0, 1e9, 0.25, 7.0]),
        st.sampled_from(["a", "b", "c"]),
    ),
    min_size=4,
    max_size=12,
)


@pytest.mark.filterwarnings("ignore")  # columns that say nothing without a row
@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans())
def test_leave_one_out_is_a_refit(rows: list[tuple[float, str]], positive: bool) -> None:
    x = np.array([abs(value) if positive else value for value, _ in rows])
    y = [label for _, label in rows]
    if len(set(y)) < 2:
        y[:2] = ["a", "b"]
    columns = {"x": bb.Real("robust")}
    found = bb.NaiveBayes(columns=columns).fit({"x": x}, y).leave_one_out({"x": x}, y)
    classes = sorted(set(y))
    for row, label in enumerate(y):
        if y.count(label) == 1:
            continue  # without its row the class is gone
        again = bb.NaiveBayes(columns=columns).fit({"x": np.delete(x, row)}, y[:row] + y[row + 1 :])
        assert again.classes_.tolist() == classes
        np.testing.assert_allclose(found[row], again.predict_proba({"x": x[row : row + 1]})[0], rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize(
    "x",
    [
        [0.0] + [7.0] * 200,  # zero is not common, and all others are equal
        [0.0] * 200 + [7.0],
        [0.0] * 200 + [7.0, 8.0],
        [-1.0] + [7.0, 8.0] * 100,
        [7.0] * 200 + [8.0],
        [0.0, -3.0] + [0.0] * 50,
        [0.0, 1e300] * 5 + [1e-300],
        [5e-324 * step for step in range(6)],
    ],
)
def test_leave_one_out_where_hardly_anything_is_left(x: list[float]) -> None:
    columns, y = {"x": bb.Real("robust")}, ["a", "b"] * (len(x) // 2) + ["a"] * (len(x) % 2)
    found = bb.NaiveBayes(columns=columns).fit({"x": x}, y).leave_one_out({"x": x}, y)
    for row in (0, 1, len(x) - 1):
        again = bb.NaiveBayes(columns=columns).fit({"x": x[:row] + x[row + 1 :]}, y[:row] + y[row + 1 :])
        np.testing.assert_allclose(found[row], again.predict_proba({"x": [x[row]]})[0], rtol=1e-9)


def test_a_row_that_changes_the_shape_needs_no_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 columns of 208 rows, some of them between two shapes, took 20 s: the whole model was made for each row."""
    made: list[int] = []
    real = leave_one_out._without_row
    monkeypatch.setattr(leave_one_out, "_without_row", lambda *given, **more: made.append(1) or real(*given, **more))
    y = np.arange(101) % 2
    changes = 0
    for seed in range(30):
        x = np.random.default_rng(seed).gamma(9.0, 1.0, 101)
        x[:2] = 0.0 if seed % 2 else x[:2]
        clf = bb.NaiveBayes().fit({"x": x}, y)
        found = clf.leave_one_out({"x": x}, y)
        shape = of_column(clf)
        row = int(np.argmax(x))  # it says most of the scale
        again = bb.NaiveBayes().fit({"x": np.delete(x, row)}, np.delete(y, row))
        changes += of_column(again) != shape
        np.testing.assert_allclose(found[row], again.predict_proba({"x": x[row : row + 1]})[0], rtol=1e-9)
    assert changes > 1
    assert not made


def of_column(clf: bb.NaiveBayes) -> tuple[bool, bool]:
    (density,) = clf.classifier_.model.conditionals
    return density.is_log, density.zero_apart


def test_runs_of_cells_of_many_classes_are_estimated_and_refused() -> None:
    """2,000 classes and 50 columns took 900 MB, where 20 were estimated."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 3)), np.arange(2000) % 100
    held = sum(each.table_bytes() for each in bb.NaiveBayes().fit(X, y).classifier_.model.conditionals)
    assert held > 3 * 20 * 100 * 64
    with bb.limit_context(memory=held):
        bb.NaiveBayes().fit(X, y).predict(X[:5])
    with bb.limit_context(memory=held - 1):
        with refusal(TooCostly, bytes=float(held), limit=held - 1, remedy="numeric='gaussian'"):
            bb.NaiveBayes().fit(X, y).predict(X[:5])
        bb.NaiveBayes(numeric="gaussian").fit(X, y).predict(X[:5])


def test_leave_one_out_refuses_rows_that_were_never_learned() -> None:
    x, y = sample()
    clf = bb.NaiveBayes().fit({"x": x}, y)
    with pytest.raises(NeverLearned) as caught:
        clf.leave_one_out({"x": [1e5]}, [0])
    assert caught.value.found == 1e5


def test_models_merge_and_forget_to_the_last_byte(tmp_path: Any) -> None:
    x, y = sample()
    x[::4] = 0.0
    table = {"x": x, "pay": np.exp(x)}

    def rows(part: slice) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return {name: values[part] for name, values in table.items()}, y[part]

    whole = bb.NaiveBayes().fit(*rows(slice(None)))
    parts = bb.NaiveBayes().fit(*rows(slice(50))).partial_fit(*rows(slice(50, None)))
    assert parts.book_.digest() == whole.book_.digest()
    first = bb.NaiveBayes().fit(*rows(slice(50)))
    whole.forget(*rows(slice(50, None)))
    for name, clf in (("a", whole), ("b", first)):
        clf.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_table_of_mostly_zeros_is_answered_sensibly() -> None:
    """Two columns of 99 % zeros and a class of 5 %: a normal density answered worse than the class shares."""
    random = np.random.default_rng(0)
    bad = random.random(4000) < 0.05
    rare = [random.random(4000) < np.where(bad, 0.05, 0.008), random.random(4000) < 0.01]
    x = {f"fee {k}": np.where(some, np.exp(random.normal(5, 1.5, 4000)), 0.0) for k, some in enumerate(rare)}
    x["income"] = np.exp(random.normal(10 - 0.4 * bad, 0.5))

    def loss(numeric: str) -> float:
        clf = bb.NaiveBayes(numeric=numeric).fit({k: v[:3000] for k, v in x.items()}, bad[:3000])
        p = clf.predict_proba({k: v[3000:] for k, v in x.items()})[:, 1]
        return float(-np.log(np.clip(np.where(bad[3000:], p, 1 - p), 1e-15, 1)).mean())

    share = bad[:3000].mean()
    guess = float(-np.log(np.where(bad[3000:], share, 1 - share)).mean())
    assert loss("robust") < guess < loss("gaussian")


def test_pmml_refuses_it_and_names_one_that_it_has(tmp_path: Any) -> None:
    x, y = sample()
    with pytest.raises(CannotExport) as caught:
        bb.NaiveBayes().fit({"x": x}, y).to_pmml(tmp_path / "m.pmml")
    assert caught.value.remedy is not None
    assert "numeric='gaussian'" in caught.value.remedy


@pytest.mark.parametrize("weighted", [False, True])
def test_many_columns_are_fitted_as_each_is_alone(weighted: bool) -> None:
    """Columns of every shape side by side: zero apart or not, on both scales, without a t, empty, constant."""
    random = np.random.default_rng(3)
    size = 400
    target = random.integers(0, 4, size).astype(np.int32)
    some = random.random(size)
    columns = [
        random.normal(size=size) + target,
        np.exp(random.normal(size=size) * (1 + target)),
        random.poisson(0.3 * (target + 1), size).astype(float),
        np.where(some < 0.3, 0.0, random.gamma(2, 1, size)),
        np.where(some < 0.3, 0.0, 5.0),
        random.normal(size=size) * 1e-9 + 1e6,
        np.where(target == 1, np.nan, random.standard_cauchy(size)),
        10.0 ** random.uniform(-300, 300, size),
        np.ones(size),
        np.full(size, np.nan),
        np.where(np.arange(size) < 12, random.normal(size=size), np.nan),
    ]
    weights = random.random(size) if weighted else None
    tallies = Grid.of_columns(("a", "b", "c", "d"), columns, target, weights)
    options = FitOptions(Laplace(), density="robust")
    names = [str(place) for place in range(len(columns))]
    together = Robust.fit_columns(names, tallies, [options] * len(columns))
    assert [each is None for each in together] == [place in (8, 9) for place in range(len(columns))]
    found = [each for each in together if each is not None]
    assert {each.is_log for each in found} == {each.zero_apart for each in found} == {each.has_t for each in found}
    for name, tally, made in zip(names, tallies, together, strict=True):
        alone = Robust.fit(name, tally, options)
        assert (made is None) == (alone is None)
        if made is None or alone is None:
            continue
        for field in dataclasses.fields(Robust):
            np.testing.assert_array_equal(getattr(made, field.name), getattr(alone, field.name))
        rebuilt = dataclasses.replace(made)  # without what was worked out for all columns at once
        values = columns[int(name)]
        values = values[~np.isnan(values)]
        np.testing.assert_array_equal(rebuilt.log_density(values), made.log_density(values))


def test_what_the_core_makes_of_the_cells_is_what_the_density_says() -> None:
    x, y = sample(900)
    for values in (x, np.exp(x), np.round(3 * x), np.where(x > 0.5, x, 0.0), -np.exp(x), 1e6 + x):
        made = fit(values, y)
        again = dataclasses.replace(made)  # which has nothing at hand
        assert "_cells" in vars(made)
        assert "_cells" not in vars(again)
        np.testing.assert_array_equal(made._heights, again._heights)
        restored = pickle.loads(pickle.dumps(made))
        edges = edges_of(made.starts[1:])
        places = np.concatenate([values, edges, np.nextafter(edges, -np.inf), [0.0, -0.0, 5e-324, 1e300, -1e308]])
        for other in (again, restored):
            np.testing.assert_array_equal(made.log_density(places), other.log_density(places))
            np.testing.assert_array_equal(made._log_rest(places), other._log_rest(places))
            assert (made.describe(), made.table_bytes()) == (other.describe(), other.table_bytes())
        keys = np.searchsorted(made.starts, np.arange(-16_376, 16_376), side="right") - 1
        cells = again._cells
        sizes = len(cells.run_of) // 2
        place = np.clip(np.arange(16_376) - cells.least_size, 0, sizes - 1)
        found = cells.run_of[np.concatenate([(sizes - 1 - place)[::-1], sizes + place])]
        np.testing.assert_array_equal(found, keys)
