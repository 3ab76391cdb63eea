"""The beta distribution against scipy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, betaincinv, betaln
from scipy.stats import beta as scipy_beta

from bayesbox.stat.beta import cumulative, interval, log_beta, quantile

PARAMETERS = st.floats(min_value=0.01, max_value=20_000)
SHARES = st.floats(min_value=1e-6, max_value=1 - 1e-6)


@settings(max_examples=300, deadline=None)
@given(PARAMETERS, PARAMETERS, SHARES)
def test_as_scipy_has_them(a: float, b: float, p: float) -> None:
    assert cumulative(p, a, b) == pytest.approx(float(betainc(a, b, p)), abs=1e-9)
    assert quantile(p, a, b) == pytest.approx(float(betaincinv(a, b, p)), abs=1e-9)
    assert log_beta(a, b) == pytest.approx(float(betaln(a, b)), rel=1e-11, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(PARAMETERS, PARAMETERS, st.floats(min_value=0.01, max_value=0.999))
def test_an_interval_holds_its_level_and_is_central(a: float, b: float, level: float) -> None:
    low, high = interval(level, a, b)
    assert 0 <= low <= high <= 1
    tail = (1 - level) / 2
    assert low == pytest.approx(float(scipy_beta.ppf(tail, a, b)), abs=1e-9)
    assert high == pytest.approx(float(scipy_beta.isf(tail, a, b)), abs=1e-9)
    other = interval(level, b, a)
    assert (1 - other[1], 1 - other[0]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("counts", [(1, 1), (0.5, 0.5), (0.5, 10.5), (3, 1e6), (1e6, 1e6), (1e-2, 1e-2), (1, 1e8)])
def test_the_ends_of_the_range(counts: tuple[float, float]) -> None:
    for p in (1e-9, 0.025, 0.5, 0.975):
        found = quantile(p, *counts)
        assert found == pytest.approx(float(betaincinv(*counts, p)), abs=1e-9)
    assert (quantile(0, *counts), quantile(1, *counts)) == (0, 1)
    assert (cumulative(-1, *counts), cumulative(2, *counts)) == (0, 1)


def test_the_uniform_and_a_power_are_exact() -> None:
    for p in np.linspace(0.01, 0.99, 23).tolist():
        assert quantile(p, 1, 1) == pytest.approx(p, rel=1e-13)
        assert quantile(p, 4, 1) == pytest.approx(p**0.25, rel=1e-13)
        assert quantile(p, 1, 4) == pytest.approx(-math.expm1(math.log1p(-p) / 4), rel=1e-12)


def test_no_parameters_are_refused() -> None:
    for wrong in ((0, 1), (1, -1), (math.nan, 1)):
        with pytest.raises(ValueError, match="positive"):
            cumulative(0.5, *wrong)
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(1.5, 1, 1)
    assert interval(0.95, 0, 3) == (0, 0)
    assert interval(0.95, 3, 0) == (1, 1)


def test_scipy_is_not_imported() -> None:
    code = "import sys, bayesbox.explain.credible; assert not {'scipy', 'sklearn', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
