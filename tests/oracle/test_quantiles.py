"""The quantiles of every family of numbers against those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from bayesbox.dist.averaging import Shares
from bayesbox.dist.number.averaged_number import AveragedNumber
from bayesbox.dist.number.bins import Bins
from bayesbox.dist.number.cumulative import Cumulative
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.dist.number.kernel import Curves, Kernel
from bayesbox.dist.number.lognormal import LogNormal
from bayesbox.dist.number.poisson import Poisson
from bayesbox.dist.number.rounded import Rounded, Rounding
from bayesbox.dist.number.student import Student

SHARES = (1e-6, 0.05, 0.3, 0.5, 0.9, 0.95, 0.9999)
NOTHING = np.zeros(3)
EXACT = 1e-9


def close(found: np.ndarray | None, wanted: np.ndarray, scale: float | np.ndarray = 1.0) -> None:
    assert found is not None
    np.testing.assert_allclose(found / scale, wanted / scale, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("share", SHARES)
def test_gaussian(share: float) -> None:
    mean, std = np.array([3.0, -1e6, 0.0]), np.array([2.0, 1e-3, 0.0])
    wanted = [*stats.norm.ppf(share, mean[:2], std[:2]), 0.0]  # the last is a point mass
    close(Gaussian("x", mean, NOTHING, std, NOTHING, NOTHING).quantile(share), np.array(wanted))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("df", [1.0, 1.3, 2.0, 7.5, 60.0, 999.0, 1001.0, 1e5, 1e9])
def test_student(df: float, share: float) -> None:
    shift, scale = np.array([0.5, -2.0, 0.0]), np.array([1.0, 1e-5, 1e100])
    found = Student("x", NOTHING, NOTHING, 7.0, shift, scale, np.full(3, df)).quantile(share)
    close(found, stats.t.ppf(share, df, 7.0 + shift, scale), np.maximum(scale, 1.0))


@pytest.mark.parametrize("share", SHARES)
def test_lognormal(share: float) -> None:
    mean, std = np.array([0.0, 3.0, -2.0]), np.array([1.0, 0.2, 4.0])
    never = np.full(3, -np.inf)
    found = LogNormal("x", NOTHING, NOTHING, mean, std, NOTHING, never).quantile(share)
    close(found, stats.lognorm.ppf(share, std, scale=np.exp(mean)))


def test_lognormal_with_values_of_0_or_below() -> None:
    """A quarter of the values is 0 or below, and counts as 0."""
    family = LogNormal("x", *np.zeros((2, 1)), np.array([1.0]), np.array([0.5]), np.log([0.75]), np.log([0.25]))
    for share in SHARES:
        wanted = 0.0 if share <= 0.25 else stats.lognorm.ppf((share - 0.25) / 0.75, 0.5, scale=np.e)
        close(family.quantile(share), np.array([wanted]))
    drawn = np.array(family.sample(np.random.default_rng(3), np.zeros(4000, dtype=np.int64)))
    assert stats.binomtest(int((drawn == 0).sum()), 4000, 0.25).pvalue > 1e-3
    assert stats.kstest(drawn[drawn > 0], stats.lognorm(0.5, scale=np.e).cdf).pvalue > 1e-3


@pytest.mark.parametrize("share", SHARES)
def test_poisson(share: float) -> None:
    rate = np.array([0.0, 1e-8, 0.1, 1.0, 5.5, 100.0, 1e4, 999_999.0, 2e6, 1e9])
    nothing = np.zeros(len(rate))
    found = Poisson("x", rate, nothing, nothing).quantile(share)
    close(found, stats.poisson.ppf(share, rate), np.maximum(rate, 1.0))
    np.testing.assert_array_equal(found[:8], stats.poisson.ppf(share, rate[:8]))


@pytest.mark.parametrize("rate", [0.0, 2.5, 1e14, 1e20])
def test_poisson_counts_that_are_drawn(rate: float) -> None:
    family = Poisson("x", np.array([rate]), *np.zeros((2, 1)))
    drawn = family.sample(np.random.default_rng(2), np.zeros(2000, dtype=np.int64))
    assert all(isinstance(each, int) for each in drawn)
    z = (np.array(drawn, dtype=float) - rate) / max(np.sqrt(rate), 1.0)
    assert abs(z.mean()) * np.sqrt(len(z)) < 4
    assert z.std() == pytest.approx(1.0 if rate else 0.0, abs=0.08)


@pytest.mark.parametrize("share", SHARES)
def test_kernel(share: float) -> None:
    values, weights = np.array([0.0, 1.0, 1.5, 9.0]), np.array([2.0, 1.0, 5.0, 0.5])
    many = np.random.default_rng(1).normal(50, 9, 3000)
    curves = (
        Curves(values, weights, 0.3),
        Curves(values, weights, 1e-3),
        Curves(np.sort(many), np.ones(3000), 0.7),
    )
    found = Kernel("x", NOTHING, NOTHING, curves).quantile(share)

    def wanted(each: Curves) -> float:
        def above(x: float) -> float:
            return float(np.average(stats.norm.cdf((x - each.values) / each.width), weights=each.weights)) - share

        return float(optimize.brentq(above, each.values[0] - 50, each.values[-1] + 50, xtol=1e-13, rtol=1e-14))

    close(found, np.array([wanted(each) for each in curves]))


@pytest.mark.parametrize("share", SHARES)
def test_rounded(share: float) -> None:
    """The cells of width 0.5 around multiples of it; the numbers of cells are normal before they are rounded."""
    mean, std = np.array([40.0, 3.25, -7.0]), np.array([6.0, 1 / 6, 2.0])
    family = Rounded("x", NOTHING, NOTHING, Rounding(0.0, 0.5, 0), -9.0, 60.0, mean, NOTHING, std)
    cells = np.arange(-200, 200)
    upto = stats.norm.cdf((cells[:, None] + 0.5 - mean) / std)
    close(family.quantile(share), cells[np.argmax(upto >= share, axis=0)] * 0.5)


@pytest.mark.parametrize("share", SHARES)
def test_bins(share: float) -> None:
    counts = np.array([[3, 1, 0, 6], [1, 1, 1, 1], [0, 5, 0, 5]]).T
    cuts = np.array([1.0, 2.5, 10.0])
    with np.errstate(divide="ignore"):
        log_bins = np.log(counts / counts.sum(axis=0))
    family = Bins("x", NOTHING, NOTHING, cuts, ("a", "b", "c", "d"), log_bins, "width", -2.0, 30.0)
    edges = np.array([-2.0, *cuts, 30.0])
    wanted = [stats.rv_histogram((each, edges), density=False).ppf(share) for each in counts.T]
    found = family.quantile(share)
    ends = np.cumsum(counts / counts.sum(axis=0), axis=0)
    inside = np.abs(ends - share).min(axis=0) > 1e-12  # at an end with an empty bin behind it there are many
    close(found[inside], np.array(wanted)[inside])
    upto = [stats.rv_histogram((each, edges), density=False).cdf(x) for each, x in zip(counts.T, found, strict=True)]
    close(np.array(upto), np.full(3, share))


@pytest.mark.parametrize("share", SHARES[1:-1])
def test_averaged(share: float) -> None:
    """An average of two normals, by the integral of its density alone."""
    zero = np.zeros(2)
    inner = Gaussian("x", np.array([5.0, -4.0]), zero, np.array([0.01, 2.0]), zero, zero)
    whole = Gaussian("x", np.array([1.0, 1.0]), zero, np.array([6.0, 6.0]), zero, zero)
    family = AveragedNumber("x", zero, zero, inner, whole, Shares(0.7, 0.3))

    def wanted(label: int) -> float:
        def above(x: float) -> float:
            parts = [stats.norm.cdf(x, each.mean[label], each.std[label]) for each in (inner, whole)]
            return float(0.7 * parts[0] + 0.3 * parts[1] - share)

        return float(optimize.brentq(above, -100, 100, xtol=1e-14))

    close(family.quantile(share), np.array([wanted(0), wanted(1)]))


def test_averaged_numbers_that_are_drawn() -> None:
    zero = np.zeros(1)
    inner = Gaussian("x", np.array([5.0]), zero, np.array([0.1]), zero, zero)
    whole = Gaussian("x", np.array([1.0]), zero, np.array([6.0]), zero, zero)
    family = AveragedNumber("x", zero, zero, inner, whole, Shares(0.7, 0.3))
    drawn = family.sample(np.random.default_rng(4), np.zeros(4000, dtype=np.int64))
    found = stats.kstest(drawn, lambda x: 0.7 * stats.norm.cdf(x, 5, 0.1) + 0.3 * stats.norm.cdf(x, 1, 6))
    assert found.pvalue > 1e-3


DENSITIES = [
    (stats.norm(0, 1), ()),
    (stats.laplace(3, 2), ()),
    (stats.cauchy(5, 0.1), ()),
    (stats.gamma(0.3), ()),
    (stats.expon(0, 1e200), ()),
    (stats.norm(-5e300, 1e290), ()),
    (stats.uniform(3, 1e-5), (3.0, 3 + 1e-5)),  # 0 but for a small part of the line: found by its parameters
]


@pytest.mark.parametrize(("density", "places"), DENSITIES, ids=lambda each: getattr(each, "args", None))
def test_a_density_that_is_known_point_by_point(density: stats.rv_continuous, places: tuple[float, ...]) -> None:
    found = Cumulative(lambda x: density.logpdf(x)[:, None], "test", [np.array(places)])
    shares = np.array(SHARES[1:])
    wanted = density.ppf(shares)
    scale = np.ptp(wanted)
    close(found.quantile(shares, np.zeros(len(shares), dtype=np.int64)), wanted, scale)
