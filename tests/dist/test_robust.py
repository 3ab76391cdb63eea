"""The robust density against scipy and exact fractions, on the columns that it is for."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.number.cell_tree import edges_of
from bayesbox.dist.number.conjugate import ClassSpreads
from bayesbox.dist.number.robust import Robust
from bayesbox.errors import CannotExport, NeverLearned, TooCostly
from bayesbox.rule.smoothing import Laplace
from bayesbox.table.naive import leave_one_out
from bayesbox.tally.grid import Grid, edges

OPTIONS = FitOptions(Laplace(), density="robust")


def fit(x: Any, y: Any, classes: int | None = None) -> Robust:
    target = np.asarray(y, dtype=np.int32)
    names = tuple(f"class {k}" for k in range(classes or int(target.max()) + 1))
    found = Robust.fit("x", Grid.of(names, np.asarray(x, dtype=np.float64), target), OPTIONS)
    assert found is not None
    return found


WEIGHTS = (0.01, 0.1, 1, 10, 100, 1000)


class Prior(NamedTuple):
    """The mean of the column, the variance within its classes, and what the former is worth in rows."""

    m: float
    w: float
    k: float

    @classmethod
    def of(cls, parts: list[np.ndarray], inside: float = 0.0) -> Prior:
        """That of the values of each class; `inside`: squares that they have besides."""
        x = np.concatenate(parts)
        squares = sum(((own - own.mean()) ** 2).sum() for own in parts if len(own)) + inside
        w = (x.var() + inside / len(x) + squares) / (1 + sum(max(len(own) - 1, 0) for own in parts))
        logs = np.array([sum(cls(x.mean(), w, k).evidence(own) for own in parts) for k in WEIGHTS])
        return cls(x.mean(), w, float(np.exp(np.average(np.log(WEIGHTS), weights=special.softmax(logs)))))

    def predictive(self, own: np.ndarray) -> tuple[float, float, float]:
        """(df, loc, scale) of the t."""
        n, k, df = len(own), self.k + len(own), 10 + len(own)
        a = own.mean() if n else self.m
        b = 10 * self.w + ((own - a) ** 2).sum() + self.k * n * (a - self.m) ** 2 / k
        return df, (self.k * self.m + n * a) / k, np.sqrt(b * (k + 1) / (k * df))

    def evidence(self, own: np.ndarray) -> float:
        """The log of the product of the predictive densities, each after the values before it."""
        return sum(stats.t.logpdf(value, *self.predictive(own[:place])) for place, value in enumerate(own))


def by_class(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [x[y == label] for label in range(int(y.max()) + 1)]


def sample(rows: int = 90, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    return random.normal(y, 1 + y), y


def common(m: float, v: float) -> tuple[float, float, float]:
    """(df, loc, scale) of a class of no rows."""
    return 3, m, np.sqrt(2 * v)


def test_the_density_is_the_predictive_t_and_one_of_no_rows() -> None:
    x, y = sample(19)  # too few for their cells to say more
    family = fit(x, y, classes=4)  # the last has no row
    assert (family.is_log, family.zero_apart, len(family.starts)) == (False, False, 1)
    asked = np.array([-30.0, 0.0, 0.5, 1e6])
    none = stats.t.pdf(asked, *common(x.mean(), x.var()))
    prior = Prior.of(by_class(x, y))
    for label in range(4):
        own = stats.t.pdf(asked, *prior.predictive(x[y == label]))
        expected = np.log(0.9 * own + 0.1 * none)
        np.testing.assert_allclose(family.log_density(asked)[:, label], expected, rtol=1e-12)


def test_zero_is_apart_where_it_is_common() -> None:
    x, y = sample(45)
    x[np.random.default_rng(1).random(len(x)) < 0.6] = 0.0
    family = fit(x, y)
    assert family.zero_apart
    assert len(family.starts) == 1
    share = Fraction(int((x == 0).sum()), len(x))
    rest = x[x != 0]
    none = stats.t.pdf(1.5, *common(rest.mean(), rest.var()))
    prior = Prior.of(by_class(rest, y[x != 0]))
    for label in range(3):
        own = x[y == label]
        zero = (int((own == 0).sum()) + 2 * share) / (len(own) + 2)
        assert np.exp(family.log_zero[label]) == pytest.approx(float(zero), rel=1e-14)
        assert np.exp(family.log_rest[label]) == pytest.approx(float(1 - zero), rel=1e-14)
        t = stats.t.pdf(1.5, *prior.predictive(own[own != 0]))
        expected = [float(zero * 9 + share) / 10, 0.9 * float(1 - zero) * t + 0.1 * float(1 - share) * none]
        found = np.exp(family.log_density(np.array([0.0, 1.5]))[:, label])
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def key(x: float) -> int:
    """Which eighth of which power of two it is, counted from zero to either side."""
    mantissa, exponent = math.frexp(abs(x))
    size = (exponent + 1022) * 8 + int((mantissa * 2 - 1) * 8)
    return size if x > 0 else -1 - size


def edge(place: int) -> float:
    size = min(abs(place), 16376)
    if size == 16376:
        return math.copysign(math.inf, place)
    value = math.ldexp(1 + size % 8 / 8, size // 8 - 1023) if size >= 8 else size * math.ldexp(1.0, -1025)
    return math.copysign(value, place)


def by_hand(x: np.ndarray, y: np.ndarray, classes: int, asked: float, scale: Any = lambda value: value) -> list[float]:
    """The density of a number in each class, down the tree node by node; `scale` is log where the t is one of logs."""
    u = np.array([scale(value) for value in x])
    m, v = u.mean(), u.var()
    prior = Prior.of(by_class(u, y))
    ts = [stats.t(*prior.predictive(u[y == label])) for label in range(classes)] + [stats.t(*common(m, v))]
    share = [float((y == label).mean()) for label in range(classes)] + [0.0]
    keys = np.array([key(value) for value in x])
    factors = [1.0] * (classes + 1)

    def mass(t: Any, low: int, high: int) -> float:
        ends = [-math.inf if scale is math.log and edge(place) <= 0 else edge(place) for place in (low, high)]
        ends = [end if math.isinf(end) else scale(end) for end in ends]
        return t.cdf(ends[1]) - t.cdf(ends[0])

    low, high = -32768, 32768
    while high - low > 1 and ((keys >= low) & (keys < high)).sum() >= 20:
        middle = (low + high) // 2
        half = (middle, high) if key(asked) >= middle else (low, middle)
        inside, node = (keys >= half[0]) & (keys < half[1]), (keys >= low) & (keys < high)
        p = [mass(t, low, high) for t in ts]
        part = [mass(t, *half) for t in ts]
        mixed_p, mixed_part = np.dot(share, p), np.dot(share, part)
        r = mixed_part / mixed_p
        worth = (1 - np.log2(mixed_p)) ** 2
        clear = mixed_part > 1e-7 and mixed_p - mixed_part > 1e-7
        corrected = (inside.sum() + worth * r) / (node.sum() + worth) if clear else r
        for label in range(classes + 1):
            if min(part[label], p[label] - part[label]) <= 1e-7:
                continue
            q = part[label] / p[label]
            up, down = (q * corrected / r, (1 - q) * (1 - corrected) / (1 - r)) if clear else (q, 1 - q)
            rows = 16 * (1 - np.log2(p[label])) ** 2
            own = y == label
            factors[label] *= ((inside & own).sum() + rows * up / (up + down)) / ((node & own).sum() + rows) / q
        low, high = half
    heights = [t.pdf(scale(asked)) * factor for t, factor in zip(ts, factors, strict=True)]
    return [0.9 * height + 0.1 * heights[-1] for height in heights[:-1]]


def test_many_values_in_a_cell_raise_the_density_there() -> None:
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 300)
    humps = np.round(np.where(random.random(300) < 0.5, random.normal(-3, 0.3, 300), random.normal(3 + y, 0.3)), 1)
    family = fit(humps + 0.03, y)
    assert len(family.starts) > 5
    assert not family.is_log
    for asked in (-3.0, -0.01, 0.5, 3.2, 4.1, 55.0):
        expected = by_hand(humps + 0.03, y, 2, asked)
        np.testing.assert_allclose(np.exp(family.log_density(np.array([asked]))[0]), expected, rtol=1e-9)
    amounts = np.round(np.exp(random.normal(y, 0.8)) * 4 + 0.5)
    family = fit(amounts, y)
    assert family.is_log
    for asked in (0.02, 1.0, 3.0, 7.0, 300.0):
        t = np.array(by_hand(amounts, y, 2, asked, math.log)) / asked  # with logs of the numbers, not of their cells
        np.testing.assert_allclose(np.exp(family.log_density(np.array([asked]))[0]), t, rtol=0.1)


@pytest.mark.parametrize(("zeros", "apart"), [(1, False), (2, True)])
def test_more_than_one_in_a_hundred_is_common(zeros: int, apart: bool) -> None:
    x = np.linspace(-3, 5, 101)[: 100 - zeros] + 1e-3
    family = fit([*x, *[0.0] * zeros], np.arange(100) % 2)
    assert family.zero_apart == apart


def logs_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = edges(np.array(Grid.of(("a",), x, np.zeros(len(x), dtype=np.int32)).grid.cell))
    cell = np.searchsorted(low, x, side="right") - 1
    return (np.log(low) + np.log(high))[cell] / 2, (np.log(high / low) ** 2 / 12)[cell]


def column_evidence(parts: list[np.ndarray], inside: list[float] | None = None) -> float:
    """The log of the mean over k of the densities of all values; `inside`: squares that a class has besides."""
    more = inside or [0.0] * len(parts)
    prior = Prior.of(parts, sum(more))
    found = np.zeros(len(WEIGHTS))
    for own, besides in zip(parts, more, strict=True):
        n = len(own)
        for place, k in enumerate(WEIGHTS):
            b = 10 * prior.w + n * own.var() + besides + k * n * (own.mean() - prior.m) ** 2 / (n + k)
            found[place] += special.gammaln((n + 10) / 2) - special.gammaln(5) + 5 * np.log(10 * prior.w)
            found[place] -= (n + 10) / 2 * np.log(b) + n / 2 * np.log(np.pi) + np.log(n / k + 1) / 2
    return float(special.logsumexp(found) - np.log(len(WEIGHTS)))


def test_the_evidence_is_the_product_of_the_predictions() -> None:
    x, y = sample(40)
    parts = by_class(x, y)
    prior = Prior.of(parts)
    each = [sum(prior._replace(k=k).evidence(own) for own in parts) for k in WEIGHTS]
    expected = special.logsumexp(each) - np.log(len(WEIGHTS))
    n, mean, std = (np.array([function(own) for own in parts], dtype=float) for function in (len, np.mean, np.std))
    spreads = ClassSpreads(n, mean - x.mean(), std, float(x.std()))
    assert spreads.log_evidence() == pytest.approx(expected, rel=1e-12)
    assert column_evidence(parts) == pytest.approx(expected, rel=1e-12)


def test_squares_are_exact_fractions() -> None:
    """Three classes of 20, 45, 20, 25 and of 25, 25 and of 40: the column has the mean 200/7."""
    parts = [[20, 45, 20, 25], [25, 25], [40]]
    x = [Fraction(value) for part in parts for value in part]
    m = sum(x) / 7
    v = sum((value - m) ** 2 for value in x) / 7
    means = [Fraction(sum(part), len(part)) for part in parts]
    inside = [sum((value - a) ** 2 for value in part) for part, a in zip(parts, means, strict=True)]
    w = (v + sum(inside)) / (1 + 3 + 1 + 0)
    n = np.array([4.0, 2.0, 1.0])
    std = np.sqrt([float(each / len(part)) for each, part in zip(inside, parts, strict=True)])
    spreads = ClassSpreads(n, np.array([float(a - m) for a in means]), std, math.sqrt(v))
    squares = spreads.squares()
    for k in (Fraction(1, 10), Fraction(1), Fraction(100)):
        rows = zip(parts, means, inside, strict=True)
        exact = [(10 * w + s + k * len(part) * (a - m) ** 2 / (len(part) + k)) / v for part, a, s in rows]
        np.testing.assert_allclose(squares.within(float(k)), [float(each) for each in exact], rtol=1e-14)


def test_equal_means_are_shared_and_distant_ones_are_not() -> None:
    n, std = np.full(4, 50.0), np.full(4, 1.0)
    near, far = (ClassSpreads(n, np.arange(4) * step - 1.5 * step, std, math.hypot(1, step)) for step in (0.01, 30))
    assert near.mean_rows()[0] > 100
    assert near.students(near.mean_rows())[0][0] == pytest.approx(-0.015, abs=0.014)  # nearer to 0
    assert far.mean_rows()[0] < 0.1
    assert far.students(far.mean_rows())[0][0] == pytest.approx(-45, rel=1e-3)


def test_values_that_are_all_those_of_their_class_leave_a_scale() -> None:
    family = fit([-5.0] * 3 + [7.0] * 4 + [1.0] * 5, [0] * 3 + [1] * 4 + [2] * 5)
    assert (family.scale > 0).all()
    assert family.log_density(np.array([-5.0, 7.0, 1.0])).argmax(axis=1).tolist() == [0, 1, 2]


def test_the_evidence_chooses_the_scale() -> None:
    random = np.random.default_rng(4)
    y = random.integers(0, 2, 60)
    for x in (np.exp(random.normal(y, 1.0)), 20 + random.normal(y, 1.0)):
        middle, within = logs_of(x)
        plain = column_evidence(by_class(x, y))
        logs = column_evidence(by_class(middle, y), [within[y == label].sum() for label in (0, 1)]) - middle.sum()
        assert fit(x, y).is_log == (logs > plain + np.log(20))
    assert fit(np.exp(random.normal(y, 1.0)), y).is_log


def test_the_log_scale_must_be_20_times_as_likely() -> None:
    gains = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        y = np.arange(9) % 2
        x = np.exp(random.normal(y, 0.7))
        middle, within = logs_of(x)
        inside = [within[y == label].sum() for label in (0, 1)]
        gains.append(column_evidence(by_class(middle, y), inside) - middle.sum() - column_evidence(by_class(x, y)))
        assert fit(x, y).is_log == (gains[-1] > np.log(20))
    assert sum(0 < gain < np.log(20) for gain in gains) > 5
    assert sum(gain > np.log(20) for gain in gains) > 5


def test_the_density_of_logs_is_one_of_x() -> None:
    x, y = np.exp(sample(19, 5)[0]), sample(19, 5)[1]
    family = fit(x, y)
    assert family.is_log
    asked = np.array([1e-9, 0.3, 7.0])
    ts = [stats.t(family.df[k], family.base + family.shift[k], family.scale[k]).pdf(np.log(asked)) for k in range(4)]
    for label in range(3):
        expected = (0.9 * ts[label] + 0.1 * ts[3]) / asked
        np.testing.assert_allclose(np.exp(family.log_density(asked)[:, label]), expected, rtol=1e-12)
    assert not family.log_density(np.array([0.0, -2.0])).any()  # never seen: such a value says nothing
    zeros = fit([*x, 0.0], [*y, 0])
    assert zeros.is_log
    assert zeros.zero_apart
    share = Fraction(1, 20)
    exact = float(Fraction(9, 10) * (1 + 2 * share) / (int((y == 0).sum()) + 1 + 2) + share / 10)
    assert np.exp(zeros.log_density(np.zeros(1))[0, 0]) == pytest.approx(exact, rel=1e-14)


def test_moments_of_logs_are_near_the_true_ones() -> None:
    x = np.exp(np.random.default_rng(0).normal(2, 0.7, 4000))
    family = fit(x, np.zeros(4000))
    assert family.loc[0] == pytest.approx(np.log(x).mean(), abs=5e-3)
    assert family.scale[0] == pytest.approx(np.log(x).std(), rel=5e-3)


@pytest.mark.parametrize("share", [1e-6, 0.05, 0.3, 0.5, 0.77, 0.999])
@pytest.mark.parametrize("rows", [15, 300])
def test_quantiles_invert_the_distribution(share: float, rows: int) -> None:
    x, y = sample(rows)
    mostly_zero = np.where(np.arange(len(x)) % 3 > 0, 0.0, x)
    for values in (x, mostly_zero, np.exp(x), np.exp(x) * (mostly_zero == 0)):
        family = fit(values, y)
        found = family.quantile(share)
        draws = np.sort(family.sample(np.random.default_rng(7), np.repeat(np.arange(3), 1500)))
        assert np.isfinite(draws).all()
        classes = np.arange(3)
        assert (family._cumulative(np.nextafter(found, -np.inf), classes) <= share * (1 + 1e-9)).all()
        assert (family._cumulative(found, classes) >= share * (1 - 1e-9)).all()


def height(at: float, family: Robust) -> float:
    return float(np.exp(family.log_density(np.array([at]))[0, 0]))


def test_the_distribution_is_the_integral_of_the_density() -> None:
    x, y = sample(200)
    for values in (x, np.exp(x)):
        family = fit(values, y)
        low, high = family.quantile(0.2)[0], family.quantile(0.7)[0]
        edges_of_runs = edges_of(family.starts[1:])
        cuts = np.concatenate([[low], edges_of_runs[(edges_of_runs > low) & (edges_of_runs < high)], [high]])
        total = 0.0
        for start, end in itertools.pairwise(cuts.tolist()):
            inside = np.nextafter(start, np.inf), np.nextafter(end, -np.inf)
            total += integrate.quad(height, *inside, args=(family,))[0]
        assert total == pytest.approx(0.5, rel=1e-8)


def test_draws_have_the_shares_and_the_scale() -> None:
    x, y = sample()
    family = fit(np.exp(x) * (np.arange(len(x)) % 3 > 0), y)
    drawn = np.array(family.sample(np.random.default_rng(1), np.zeros(4000, dtype=np.int64)), dtype=np.float64)
    assert (drawn == 0).mean() == pytest.approx(np.exp(family.mixed_zero[0]), abs=0.03)
    positive = np.sort(drawn[drawn > 0])
    below = family._cumulative(positive, np.zeros(len(positive), dtype=np.int64))
    zero = np.exp(family.mixed_zero[0])
    assert stats.kstest((below - zero) / (1 - zero), "uniform").pvalue > 1e-3


def test_a_class_of_one_row_gets_no_needle() -> None:
    x = [*np.random.default_rng(0).normal(50, 10, 200), 50.0]
    family = fit(x, [0] * 200 + [1])
    assert family.scale[1] > 0.5 * family.scale[0]


@pytest.mark.parametrize("factor", [1e-300, 1e-3, 1.0, 1e300])
def test_scales_do_not_matter_to_the_t(factor: float) -> None:
    x, y = sample(19)
    one, other = fit(x / 64, y), fit(x / 64 * factor, y)
    asked = np.array([-0.5, 0.01, 0.7])
    np.testing.assert_allclose(
        other.log_density(asked * factor), one.log_density(asked) - np.log(factor), rtol=1e-9, atol=1e-9
    )


def test_a_large_offset_does_not_matter() -> None:
    x, y = np.round(sample(19)[0] * 16) / 16, sample(19)[1]
    far = fit(1e12 + x, y)
    assert not far.is_log
    np.testing.assert_allclose(far.log_density(1e12 + x), fit(x - 100, y).log_density(x - 100), rtol=1e-9)
    x, y = sample(300)
    far = fit(1e12 + np.round(x * 16) / 16, y)  # all in one cell, which says nothing
    assert len(far.starts) == 1


def test_a_constant_says_nothing_and_one_other_value_only_that_it_is_not_zero() -> None:
    assert Robust.fit("x", Grid.of(("a",), np.full(3, 7.0), np.zeros(3, dtype=np.int32)), OPTIONS) is None
    family = fit([0.0, 0.0, 7.0, 7.0, 0.0], [0, 0, 0, 1, 1])
    assert family.describe() == "robust: zero apart"
    shares = [(2 + Fraction(6, 5)) / 5, (1 + Fraction(6, 5)) / 4]
    shares = [Fraction(9, 10) * share + Fraction(1, 10) * Fraction(3, 5) for share in shares]
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
