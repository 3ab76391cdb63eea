"""Exact sums of products against fractions, and the two instruction sets against each other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox import _core
from bayesbox._core import comoments, joint_normals

PATHS = [True, False] if _core.has_avx2() else [False]

DRAWS = {
    "normal": lambda random, n: random.normal(size=n),
    "offset": lambda random, n: 1e12 + random.normal(size=n),
    "integers": lambda random, n: random.integers(-5, 9, n),
    "singles": lambda random, n: random.normal(size=n).astype(np.float32),
    "scales": lambda random, n: random.normal(size=n) * 2.0 ** random.integers(-40, 40, n),
    "all scales": lambda random, n: random.normal(size=n) * 10.0 ** random.integers(-300, 300, n),
    "subnormal": lambda random, n: random.normal(size=n) * 1e-310,
    "missing": lambda random, n: np.where(random.random(n) < 0.3, np.nan, random.normal(size=n)),
    "mostly zero": lambda random, n: np.where(random.random(n) < 0.9, 0, random.normal(size=n) * 1e-9),
    "zeros": lambda _, n: np.zeros(n),
}


def number(array, cell):
    mantissa, exponent = array.parts(cell)
    return Fraction(mantissa) * Fraction(2) ** exponent


def exact(columns, target, groups, weights=None):
    """(sums, sums of products) as fractions."""
    width = len(columns)
    totals = [Fraction(0)] * (groups * width)
    products = [Fraction(0)] * (groups * width * (width + 1) // 2)
    for row, group in enumerate(target):
        if not 0 <= group < groups:
            continue
        weight = Fraction(1) if weights is None else Fraction(weights[row])
        values = [Fraction(float(column[row])) if column[row] == column[row] else Fraction(0) for column in columns]
        place = group * width * (width + 1) // 2
        for i in range(width):
            totals[group * width + i] += weight * values[i]
            for j in range(i, width):
                products[place] += weight * values[i] * values[j]
                place += 1
    return totals, products


def check(columns, target, groups, weights=None):
    totals, products = exact(columns, target, groups, weights)
    for on in PATHS:
        _core.use_avx2(on)
        found = comoments(columns, target, groups, weights)
        _core.use_avx2(True)
        assert [number(found[0], cell) for cell in range(len(found[0]))] == totals
        assert [number(found[1], cell) for cell in range(len(found[1]))] == products


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_sums_are_exact(kind, width):
    random = np.random.default_rng(len(kind) + width)
    columns = [DRAWS[kind](random, 300) for _ in range(width)]
    check(columns, random.integers(-1, 3, 300).astype(np.int32), 3)


def test_row_major_and_long_runs():
    random = np.random.default_rng(1)
    matrix = random.normal(50, 12, (1300, 6))
    check([matrix[:, j] for j in range(6)], np.zeros(1300, dtype=np.int32), 1)


@given(
    st.lists(
        st.tuples(st.integers(-1, 1), *[st.floats(allow_infinity=False)] * 3, st.sampled_from([0.0, 1.0, 0.1, 3.0])),
        max_size=20,
    )
)
@settings(max_examples=150)
def test_any_doubles(rows):
    target = np.array([row[0] for row in rows], dtype=np.int32)
    columns = [np.array([row[1 + j] for row in rows], dtype=np.float64) for j in range(3)]
    check(columns, target, 2)
    check(columns, target, 2, np.array([row[4] for row in rows]))


def test_an_infinite_value_is_named():
    target = np.array([0, -1, 0], dtype=np.int32)
    column = np.array([1.0, np.inf, -np.inf])
    with pytest.raises(ValueError, match="infinite") as caught:
        comoments([np.zeros(3), column], target, 1)
    assert caught.value.args == ("infinite", 1, 2)
    assert number(comoments([column], np.array([0, -1, -1], dtype=np.int32), 1)[1], 0) == 1


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 3), (300, 4), (513, 9)])
def test_quadratic_forms(rows, width):
    random = np.random.default_rng(rows)
    x = random.normal(size=(rows, width))
    mean, rest, constant = random.normal(size=(2, width)), 1e-20 * np.ones((2, width)), np.array([0.5, -2.0])
    factor = np.tril(random.normal(size=(2, width, width)))
    expected = np.stack(
        [constant[c] - 0.5 * (((x - mean[c]) @ factor[c].T) ** 2).sum(axis=1) for c in range(2)], axis=1
    )
    for columns in ([x[:, j] for j in range(width)], list(np.ascontiguousarray(x.T))):
        found = []
        for on in PATHS:
            _core.use_avx2(on)
            found.append(joint_normals(columns, rows, mean, rest, factor.reshape(-1, width), constant))
        _core.use_avx2(True)
        np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=1e-12)
        assert all(each.tobytes() == found[0].tobytes() for each in found)


def test_a_missing_value_has_no_quadratic_form():
    one = np.eye(1)
    assert joint_normals([np.array([1.0, np.nan])], 2, np.zeros((1, 1)), np.zeros((1, 1)), one, np.zeros(1)) is None
    far = joint_normals([np.array([np.inf])], 1, np.zeros((1, 1)), np.zeros((1, 1)), one, np.zeros(1))
    assert far is not None
    assert far[0, 0] == -np.inf
