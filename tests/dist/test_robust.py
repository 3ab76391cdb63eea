"""The robust density against scipy and exact fractions, on the columns that it is for."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate, special, stats

from bayesbox.dist.fit import FitOptions
from bayesbox.dist.number.cell_tree import edges_of
from bayesbox.dist.number.conjugate import ClassSpreads
from bayesbox.dist.number.robust import Robust
from bayesbox.rule.smoothing import Laplace
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
