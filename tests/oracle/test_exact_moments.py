"""Mean, variance and deviation are the exact ones, rounded once: ten thousand cases against fractions."""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.exact_normal import moments as exact_moments

import bayesbox as bb
from bayesbox.tally.moments import Moments


def rounded(exact: Fraction) -> float:
    """The nearest double: Python divides integers with one rounding."""
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def halfway(one: float, other: float) -> Fraction:
    return (Fraction(one) + Fraction(other)) / 2


def assert_root(found: float, square: Fraction) -> None:
    """`found` is the double nearest to the root: the square lies between those of the two half-way points."""
    assert found >= 0
    if found > 0:
        assert halfway(found, math.nextafter(found, 0)) ** 2 <= square
    if found < sys.float_info.max:
        assert square <= halfway(found, math.nextafter(found, math.inf)) ** 2


def check(values: Sequence[float], weights: Sequence[float] | None = None, *, rows: int | None = None) -> None:
    """Compare the tally of these values, taken in turn by two classes, with fractions.

    With `rows` the values are repeated until there are that many rows, so that the core's blocks are used.
    """
    length = rows or len(values)
    array = np.resize(np.array(values, dtype=np.float64), length)
    target = (np.arange(length) % len(values) % 2).astype(np.int32)
    repeated = None if weights is None else np.resize(np.array(weights, dtype=np.float64), length)
    tally = Moments.of(("even", "odd"), array, target, repeated)
    times = [len(range(place, length, len(values))) for place in range(len(values))]
    for c in (0, 1):
        places = [place for place in range(c, len(values), 2) if not math.isnan(values[place])]
        exact_weights = [Fraction(weights[i]) * times[i] if weights is not None else Fraction(times[i]) for i in places]
        if sum(exact_weights) == 0:
            assert math.isnan(tally.mean[c])
            continue
        mean, variance = exact_moments([Fraction(values[i]) for i in places], exact_weights)
        assert tally.mean[c] == rounded(mean)
        assert tally.variance[c] == rounded(variance)
        assert_root(float(tally.std[c]), variance)


def lists(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(values, min_size=1, max_size=10)


ANY = st.floats(allow_nan=True, allow_infinity=False)
SUBNORMAL = st.integers(-(2**52), 2**52).map(lambda m: m * 5e-324)
SCALED = st.builds(math.ldexp, st.floats(-1, 1), st.integers(-1000, 1000))

DRAWN = {
    "any double": lists(ANY),
    "offset 1e12": lists(st.floats(-10, 10).map(lambda x: 1e12 + x)),
    "offset 1e12, close": lists(st.integers(-8, 8).map(lambda x: 1e12 + x / 8192)),
    "scale 1e300": lists(st.floats(-1, 1).map(lambda x: x * 1e300)),
    "scale 1e-300": lists(st.floats(-1, 1).map(lambda x: x * 1e-300)),
    "largest": lists(st.sampled_from([sys.float_info.max, -sys.float_info.max, 1.0, 5e-324])),
    "subnormals": lists(SUBNORMAL),
    "integers": lists(st.integers(-(2**53), 2**53).map(float)),
    "small integers": lists(st.integers(-5, 5).map(float)),
    "mixed magnitudes": lists(SCALED),
    "cancelling": lists(SCALED).map(lambda x: [*x, *(-v for v in reversed(x))]),
    "decimals": lists(st.integers(0, 1000).map(lambda x: x / 10)),
    "with gaps": lists(st.one_of(st.just(math.nan), st.floats(0, 1))),
}
PLAIN, WEIGHTED, LONG, CONSTANT = 480, 1500, 1260, 1000
assert PLAIN * len(DRAWN) + WEIGHTED + LONG + CONSTANT == 10_000


@pytest.mark.parametrize("name", DRAWN)
def test_values(name):
    @given(values=DRAWN[name])
    @settings(max_examples=PLAIN)
    def each(values):
        check(values)

    each()


WEIGHTS = st.one_of(
    st.sampled_from([0.0, 0.1, 1.0, 2.0, 1e300, 1e-300, 5e-324]),
    st.floats(0, 10),
    st.integers(0, 2**53).map(float),
)


@given(pairs=st.lists(st.tuples(st.one_of(ANY, SCALED, st.floats(-10, 10)), WEIGHTS), min_size=1, max_size=8))
@settings(max_examples=WEIGHTED)
def test_weighted(pairs):
    values, weights = zip(*pairs, strict=True)
    check(values, weights)


@given(
    values=st.one_of(lists(st.floats(-10, 10).map(lambda x: 1e12 + x)), lists(SCALED), lists(st.floats(0, 1))),
    rows=st.sampled_from([100, 2047, 2048, 2049, 4099, 9000]),
    weight=st.sampled_from([None, None, 0.1]),
)
@settings(max_examples=LONG)
def test_more_rows_than_a_block(values, rows, weight):
    check(values, None if weight is None else [weight] * len(values), rows=rows)


@given(value=st.one_of(st.floats(allow_nan=False, allow_infinity=False), SUBNORMAL), rows=st.integers(1, 3000))
@settings(max_examples=CONSTANT)
def test_constants(value, rows):
    tally = Moments.of(("a",), np.full(rows, value), np.zeros(rows, dtype=np.int32))
    assert tally.mean.tolist() == [value]
    assert tally.variance.tolist() == [0.0]
    assert tally.std.tolist() == [0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_other_numbers(dtype):
    """A float32 is widened, an integer is taken exactly, whatever the stride."""
    random = np.random.default_rng(0)
    if dtype is np.float32:
        block = random.normal(size=(50, 3)).astype(dtype)
    else:
        info = np.iinfo(dtype)
        block = random.integers(info.min, info.max, size=(50, 3), dtype=dtype, endpoint=True)
    for column in (block[:, 1], block.T.copy()[1], block[::-3, 2]):
        tally = Moments.of(("a",), column, np.zeros(len(column), dtype=np.int32))
        values = [Fraction(value) for value in column.tolist()]
        mean, variance = exact_moments(values)
        assert tally.mean[0] == rounded(mean)
        assert tally.variance[0] == rounded(variance)
        assert_root(float(tally.std[0]), variance)


def test_counts_pass_two_to_the_53():
    """A weight of 2**53 and one of 1 are 2**53 + 1 rows, an odd number that no double holds."""
    clf = bb.NaiveBayes(columns={"car": "category"}).fit(
        {"car": ["suv", "suv", "van"], "age": [1.5, 2.5, 3.5]}, ["a", "a", "b"], sample_weight=[2.0**53, 1.0, 1.0]
    )
    assert clf.book_.n.tolist() == [2**53 + 1, 1]
    assert clf.book_["car"].counts.tolist() == [[2**53 + 1, 0], [0, 1]]
    assert clf.book_["age"].n.tolist() == [2**53 + 1, 1]


def test_by_the_public_name():
    ages = [1e12 + age / 10 for age in range(7)]
    clf = bb.NaiveBayes(numeric="gaussian").fit({"age": ages}, ["a"] * 7)
    mean, variance = exact_moments([Fraction(age) for age in ages])
    assert clf.book_["age"].mean.tolist() == [rounded(mean)]
    assert clf.book_["age"].variance.tolist() == [rounded(variance)]
