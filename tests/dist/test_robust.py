"""The robust density against scipy and exact fractions, on the columns that it is for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import bayesbox as bb
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.number.robust import Robust
from bayesbox.errors import CannotExport, NeverLearned
from bayesbox.rule.smoothing import Laplace
from bayesbox.tally.grid import Grid, edges

OPTIONS = FitOptions(Laplace(), density="robust")


def fit(x: Any, y: Any, classes: int | None = None) -> Robust:
    target = np.asarray(y, dtype=np.int32)
    names = tuple(f"class {k}" for k in range(classes or int(target.max()) + 1))
    found = Robust.fit("x", Grid.of(names, np.asarray(x, dtype=np.float64), target), OPTIONS)
    assert found is not None
    return found


def predictive(own: np.ndarray, m: float, v: float) -> tuple[float, float, float]:
    """(df, loc, scale) of the t, from a prior worth one row for the mean and three for the variance."""
    n, k, df = len(own), 1 + len(own), 3 + len(own)
    a = own.mean() if n else m
    b = 3 * v + ((own - a) ** 2).sum() + n * (a - m) ** 2 / k
    return df, (m + n * a) / k, np.sqrt(b * (k + 1) / (k * df))


def evidence(own: np.ndarray, m: float, v: float) -> float:
    """The log of the product of the predictive densities, each after the values before it."""
    return sum(stats.t.logpdf(value, *predictive(own[:place], m, v)) for place, value in enumerate(own))


def sample(rows: int = 90, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    return random.normal(y, 1 + y), y


def test_the_density_is_the_predictive_t() -> None:
    x, y = sample()
    family = fit(x, y, classes=4)  # the last has no row
    assert (family.is_log, family.zero_apart) == (False, False)
    asked = np.array([-30.0, 0.0, 0.5, 1e6])
    for label in range(4):
        expected = stats.t.logpdf(asked, *predictive(x[y == label], x.mean(), x.var()))
        np.testing.assert_allclose(family.log_density(asked)[:, label], expected, rtol=1e-12)


def test_zero_is_apart_where_it_is_common() -> None:
    x, y = sample()
    x[np.random.default_rng(1).random(len(x)) < 0.6] = 0.0
    family = fit(x, y)
    assert family.zero_apart
    share = Fraction(int((x == 0).sum()), len(x))
    rest = x[x != 0]
    for label in range(3):
        own = x[y == label]
        zero = (int((own == 0).sum()) + 2 * share) / (len(own) + 2)
        assert np.exp(family.log_zero[label]) == pytest.approx(float(zero), rel=1e-14)
        assert np.exp(family.log_rest[label]) == pytest.approx(float(1 - zero), rel=1e-14)
        t = stats.t.logpdf(1.5, *predictive(own[own != 0], rest.mean(), rest.var()))
        found = family.log_density(np.array([0.0, 1.5]))[:, label]
        np.testing.assert_allclose(found, [float(np.log(float(zero))), np.log(float(1 - zero)) + t], rtol=1e-12)


@pytest.mark.parametrize(("zeros", "apart"), [(1, False), (2, True)])
def test_more_than_one_in_a_hundred_is_common(zeros: int, apart: bool) -> None:
    x = np.linspace(-3, 5, 101)[: 100 - zeros] + 1e-3
    family = fit([*x, *[0.0] * zeros], np.arange(100) % 2)
    assert family.zero_apart == apart


def logs_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = edges(np.array(Grid.of(("a",), x, np.zeros(len(x), dtype=np.int32)).grid.cell))
    cell = np.searchsorted(low, x, side="right") - 1
    return (np.log(low) + np.log(high))[cell] / 2, (np.log(high / low) ** 2 / 12)[cell]


def test_the_evidence_chooses_the_scale() -> None:
    random = np.random.default_rng(4)
    y = random.integers(0, 2, 60)
    for x in (np.exp(random.normal(y, 1.0)), 20 + random.normal(y, 1.0)):
        middle, within = logs_of(x)
        plain = sum(evidence(x[y == label], x.mean(), x.var()) for label in (0, 1))
        m, v = middle.mean(), middle.var() + within.mean()
        logs = -middle.sum()
        for label in (0, 1):
            own, inside = middle[y == label], within[y == label].sum()
            n = len(own)
            b = 3 * v + ((own - own.mean()) ** 2).sum() + inside + n * (own.mean() - m) ** 2 / (n + 1)
            logs += special.gammaln((n + 3) / 2) - special.gammaln(1.5) + 1.5 * np.log(3 * v)
            logs -= (n + 3) / 2 * np.log(b) + n / 2 * np.log(np.pi) + np.log(n + 1) / 2
        assert fit(x, y).is_log == (logs > plain)
    assert fit(np.exp(random.normal(y, 1.0)), y).is_log


def test_the_density_of_logs_is_one_of_x() -> None:
    x, y = np.exp(sample()[0]), sample()[1]
    family = fit(x, y)
    assert family.is_log
    for label in range(3):
        asked = np.array([1e-9, 0.3, 7.0])
        t = stats.t(family.df[label], family.loc[label], family.scale[label])
        np.testing.assert_allclose(
            family.log_density(asked)[:, label], t.logpdf(np.log(asked)) - np.log(asked), rtol=1e-12
        )
    assert not family.log_density(np.array([0.0, -2.0])).any()  # never seen: such a value says nothing
    zeros = fit([*x, 0.0], [*y, 0])
    assert zeros.is_log
    assert zeros.zero_apart
    exact = float((1 + 2 * Fraction(1, 91)) / (int((y == 0).sum()) + 1 + 2))
    assert np.exp(zeros.log_density(np.zeros(1))[0, 0]) == pytest.approx(exact, rel=1e-14)


def test_moments_of_logs_are_near_the_true_ones() -> None:
    x = np.exp(np.random.default_rng(0).normal(2, 0.7, 4000))
    family = fit(x, np.zeros(4000))
    assert family.loc[0] == pytest.approx(np.log(x).mean(), abs=5e-3)
    assert family.scale[0] == pytest.approx(np.log(x).std(), rel=5e-3)


@pytest.mark.parametrize("share", [1e-6, 0.05, 0.3, 0.5, 0.77, 0.999])
def test_quantiles_invert_the_distribution(share: float) -> None:
    x, y = sample()
    mostly_zero = np.where(np.arange(len(x)) % 3 > 0, 0.0, x)
    for values in (x, mostly_zero, np.exp(x), np.exp(x) * (mostly_zero == 0)):
        family = fit(values, y)
        found = family.quantile(share)
        for label in range(3):
            t = stats.t(family.df[label], family.loc[label], family.scale[label])
            zero = np.exp(family.log_zero[label])
            place = (
                t.cdf(np.log(found[label]) if found[label] > 0 else -np.inf) if family.is_log else t.cdf(found[label])
            )
            below = (1 - zero) * place
            if found[label] == 0:
                assert below <= share <= below + zero
            else:
                assert below + zero * (found[label] > 0) == pytest.approx(share, rel=1e-8)


def test_draws_have_the_shares_and_the_scale() -> None:
    x, y = sample()
    family = fit(np.exp(x) * (np.arange(len(x)) % 3 > 0), y)
    drawn = np.array(family.sample(np.random.default_rng(1), np.zeros(20_000, dtype=np.int64)), dtype=np.float64)
    assert (drawn == 0).mean() == pytest.approx(np.exp(family.log_zero[0]), abs=0.02)
    t = stats.t(family.df[0], family.loc[0], family.scale[0])
    assert stats.kstest(np.log(drawn[drawn > 0]), t.cdf).pvalue > 1e-3


def test_a_class_of_one_row_gets_no_needle() -> None:
    x = [*np.random.default_rng(0).normal(50, 10, 200), 50.0]
    family = fit(x, [0] * 200 + [1])
    assert family.scale[1] > 0.5 * family.scale[0]


@pytest.mark.parametrize("factor", [1e-300, 1e-3, 1.0, 1e300])
def test_scales_do_not_matter(factor: float) -> None:
    x, y = sample()
    one, other = fit(x / 64, y), fit(x / 64 * factor, y)
    asked = np.array([-0.5, 0.01, 0.7])
    np.testing.assert_allclose(
        other.log_density(asked * factor), one.log_density(asked) - np.log(factor), rtol=1e-9, atol=1e-9
    )


def test_a_large_offset_does_not_matter() -> None:
    x, y = np.round(sample()[0] * 16) / 16, sample()[1]
    far = fit(1e12 + x, y)
    assert not far.is_log
    np.testing.assert_allclose(far.log_density(1e12 + x), fit(x - 100, y).log_density(x - 100), rtol=1e-9)


def test_a_constant_says_nothing_and_one_other_value_only_that_it_is_not_zero() -> None:
    assert Robust.fit("x", Grid.of(("a",), np.full(3, 7.0), np.zeros(3, dtype=np.int32)), OPTIONS) is None
    family = fit([0.0, 0.0, 7.0, 7.0, 0.0], [0, 0, 0, 1, 1])
    assert family.describe() == "robust: zero apart"
    shares = [(2 + Fraction(6, 5)) / 5, (1 + Fraction(6, 5)) / 4]
    np.testing.assert_allclose(np.exp(family.log_density(np.array([0.0]))[0]), [float(p) for p in shares], rtol=1e-14)
    np.testing.assert_allclose(
        np.exp(family.log_density(np.array([7.0]))[0]), [float(1 - p) for p in shares], rtol=1e-14
    )
    assert family.quantile(0.99).tolist() == [7.0, 7.0]
    assert set(family.sample(np.random.default_rng(0), np.zeros(50, dtype=np.int64))) == {0.0, 7.0}


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


def test_leave_one_out_refuses_rows_that_were_never_learned() -> None:
    x, y = sample()
    clf = bb.NaiveBayes(numeric="robust").fit({"x": x}, y)
    with pytest.raises(NeverLearned) as caught:
        clf.leave_one_out({"x": [1e5]}, [0])
    assert caught.value.found == 1e5


def test_models_merge_and_forget_to_the_last_byte(tmp_path: Any) -> None:
    x, y = sample()
    x[::4] = 0.0
    table = {"x": x, "pay": np.exp(x)}

    def rows(part: slice) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return {name: values[part] for name, values in table.items()}, y[part]

    whole = bb.NaiveBayes(numeric="robust").fit(*rows(slice(None)))
    parts = bb.NaiveBayes(numeric="robust").fit(*rows(slice(50))).partial_fit(*rows(slice(50, None)))
    assert parts.book_.digest() == whole.book_.digest()
    first = bb.NaiveBayes(numeric="robust").fit(*rows(slice(50)))
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
        bb.NaiveBayes(numeric="robust").fit({"x": x}, y).to_pmml(tmp_path / "m.pmml")
    assert caught.value.remedy is not None
    assert "numeric='gaussian'" in caught.value.remedy
