"""Moments against fractions, whatever the dtype, stride, instruction set and number of threads."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesbox import _core
from bayesbox._core import ExactArray, Moments, moments

PATHS = _core.instruction_sets()
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_]


@pytest.fixture(params=PATHS)
def path(request):
    _core.use_instructions(request.param)
    yield request.param
    _core.use_avx2(True)


def value(array, cell):
    mantissa, exponent = array.parts(cell)
    return Fraction(mantissa) * Fraction(2) ** exponent


def check(found, column, target, classes, weights=None):
    column = [float(x) for x in column]
    weights = [1.0] * len(column) if weights is None else weights
    sums = [[Fraction(0)] * 4 for _ in range(classes)]
    for x, label, weight in zip(column, target, weights, strict=True):
        if x == x and 0 <= label < classes:
            x, w = Fraction(x), Fraction(weight)
            cell = sums[label]
            cell[0] += w
            cell[1] += w if x.denominator != 1 else 0
            cell[2] += w * x
            cell[3] += w * x * x
    arrays = (found.n, found.fractional, found.total, found.squares)
    assert [[value(a, c) for a in arrays] for c in range(classes)] == sums


def on_both_paths(*args):
    texts = []
    for on in PATHS:
        _core.use_instructions(on)
        found = moments(*args)
        texts.append([a.text() for m in found for a in (m.n, m.fractional, m.total, m.squares)])
    _core.use_avx2(True)
    assert texts.count(texts[0]) == len(texts)
    return found


reals = st.floats(allow_infinity=False)
scaled = st.builds(lambda m, e: float(m) * 2.0**e, st.integers(-(2**53), 2**53), st.integers(-40, 40))


@given(st.lists(st.tuples(st.one_of(reals, scaled), st.integers(-1, 2)), max_size=60))
def test_any_doubles(rows):
    column = np.array([x for x, _ in rows], float)
    target = np.array([y for _, y in rows], np.int32)
    check(on_both_paths([column], target, 3)[0], column, target, 3)


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.sampled_from([50, 300, 2500]),
    st.integers(1, 4),
    st.integers(-310, 490),
    st.integers(0, 60),
)
@example(1, 2500, 1, 480, 0)
@example(2, 2500, 1, -300, 0)
def test_blocks_of_any_scale_and_spread(seed, rows, classes, scale, spread):
    random = np.random.default_rng(seed)
    column = np.ldexp(random.normal(size=rows), scale + random.integers(-spread, spread + 1, rows))
    column[random.random(rows) < 0.05] = np.nan
    target = random.integers(-1, classes, rows).astype(np.int32)
    check(on_both_paths([column], target, classes)[0], column, target, classes)


@pytest.mark.parametrize(
    "column",
    [
        np.full(3000, 0.1),
        np.full(3000, -1e300),
        np.full(3000, 5e-324),
        np.full(3000, np.nextafter(2.0, 0)),
        np.zeros(3000),
        -np.zeros(3000),
        np.full(3000, np.nan),
        1e12 + np.linspace(0, 1, 3000),
        np.tile([1e16, 1.0, -1e16], 1000),
        np.arange(3000) - 1500.0,
        np.arange(3000) / 2,
        np.linspace(-1, 1, 3000) ** 9,
        np.where(np.arange(3000) % 2, 1e300, 1e-300),
        np.ldexp(1 - 2.0**-53, np.arange(3000) % 30),
        np.ldexp(1 + 2.0**-52, -(np.arange(3000) % 14)),
        2.0**52 + np.arange(3000) / 2,
    ],
    ids=str,
)
def test_hard_columns(path, column):
    target = (np.arange(len(column)) % 2).astype(np.int32)
    check(moments([column], target, 2)[0], column, target, 2)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_read_as_doubles(path, dtype):
    random = np.random.default_rng(1)
    target = random.integers(-1, 3, 3000).astype(np.int32)
    info = np.iinfo(dtype) if dtype is not np.bool_ else None
    narrow = random.integers(0, 2, 3000).astype(dtype)
    columns = [narrow]
    if info:
        columns.append(random.integers(info.min, info.max, 3000, dtype, endpoint=True))
        columns.append(np.full(3000, info.max))
        columns.append((info.max - random.integers(0, 100, 3000).astype(dtype)).astype(dtype))
    for column, found in zip(columns, moments(columns, target, 3), strict=True):
        check(found, column.astype(float), target, 3)


def test_single_precision_is_widened(path):
    column = np.random.default_rng(2).normal(size=2500).astype(np.float32)
    column[::9] = np.nan
    target = np.zeros(2500, np.int32)
    check(moments([column], target, 1)[0], column, target, 1)


def strided_views():
    random = np.random.default_rng(3)
    matrix = random.normal(size=(2100, 9))
    record = np.zeros(2100, np.dtype([("odd", "u1"), ("x", "f8")]))  # doubles at odd addresses
    record["x"] = matrix[:, 0]
    return {
        "rows": [matrix[:, j] for j in range(9)],
        "backwards": [matrix[::-1, j] for j in range(9)],
        "every third": [matrix[::3, j] for j in range(9)],
        "columns": [np.ascontiguousarray(matrix[:, j]) for j in range(9)],
        "right to left": [matrix[:, j] for j in range(8, -1, -1)],
        "one value": [np.broadcast_to(matrix[0, j], 2100) for j in range(9)],
        "misaligned": [record["x"]],
        "singles": [matrix.astype(np.float32)[:, j] for j in range(5)],
        "read-only": [np.frombuffer(matrix[:, 1].tobytes())],
    }


@pytest.mark.parametrize("layout", strided_views())
def test_any_stride(path, layout):
    columns = strided_views()[layout]
    labels = np.random.default_rng(4).integers(0, 5, (len(columns[0]), 2)).astype(np.int32)
    found = moments(columns, labels[:, 1], 5)
    for column, one in zip(columns, found, strict=True):
        check(one, column, labels[:, 1], 5)


@pytest.mark.parametrize("classes", [1, 40, 900, 2048, 2049, 5000])
def test_many_classes(path, classes):
    random = np.random.default_rng(5)
    column = random.normal(size=4000)
    target = random.integers(0, classes, 4000).astype(np.int32)
    check(moments([column], target, classes)[0], column, target, classes)


@settings(max_examples=50)
@given(st.lists(st.tuples(reals, st.integers(-1, 1), st.floats(allow_nan=False, allow_infinity=False)), max_size=30))
def test_weights(rows):
    column, weights = np.array([r[0] for r in rows], float), np.array([r[2] for r in rows], float)
    target = np.array([r[1] for r in rows], np.int32)
    check(on_both_paths([column], target, 2, weights)[0], column, target, 2, weights)


def test_integer_columns_take_weights():
    column, weights = np.arange(5, dtype=np.uint8)[::-1], np.array([0.1, 0, 3, 1e-300, 7])
    target = np.array([0, 1, 1, 0, -5], np.int32)
    check(moments([column], target, 2, weights)[0], column, target, 2, weights)


def test_nothing():
    assert moments([], np.zeros(3, np.int32), 2) == []
    (empty,) = moments([np.zeros(0)], np.zeros(0, np.int32), 2)
    assert empty.n.text() == b"0\n0\n"
    for column in (np.zeros(3), np.zeros(3, np.int64)):
        (none,) = moments([column], np.full(3, -1, np.int32), 0)
        assert len(none.squares) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("classes", [2, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_infinite_values_are_named(path, dtype, classes, weighted):
    columns = [np.ones(5000, dtype) for _ in range(3)]
    target = np.zeros(5000, np.int32)
    weights = np.ones(5000) if weighted else None
    columns[0][10], target[10] = np.inf, -1  # left out, so not looked at
    columns[2][3] = np.inf
    columns[1][4000] = -np.inf
    columns[1][4500] = np.inf
    with pytest.raises(ValueError) as error:
        moments(columns, target, classes, weights)
    assert error.value.args == ("infinite", 1, 4000)


def test_threads_give_the_same_bits():
    random = np.random.default_rng(6)
    matrix = random.normal(size=(40_000, 6))
    target = random.integers(0, 3, 40_000).astype(np.int32)
    columns = [matrix[:, j] for j in range(6)]

    def texts(_):
        return [m.squares.text() + m.total.text() for m in moments(columns, target, 3)]

    expected = texts(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(texts, range(12)))


def test_parts_add_up_to_the_whole():
    random = np.random.default_rng(7)
    column = random.normal(size=10_000) * 10.0 ** random.integers(-9, 9, 10_000)
    target = random.integers(0, 2, 10_000).astype(np.int32)
    (whole,) = moments([column], target, 2)
    sums = ExactArray(2)
    for start in range(0, 10_000, 777):
        (part,) = moments([column[start : start + 777]], target[start : start + 777], 2)
        sums.add(part.squares)
    assert sums == whole.squares
    assert sums.text() == whole.squares.text()


def test_moments_hold_their_arrays():
    arrays = [ExactArray.from_doubles(np.array([float(k), k + 0.5])) for k in range(4)]
    held = Moments(*arrays)
    assert [held.n, held.fractional, held.total, held.squares] == arrays
    held.n = arrays[3]
    assert held.n == arrays[3]
    held.total.add(arrays[1])
    assert held.total.to_doubles().tolist() == [3.0, 4.0]
    with pytest.raises(ValueError):
        Moments(arrays[0], arrays[1], arrays[2], ExactArray(3))


def test_bad_arguments():
    target = np.zeros(3, np.int32)
    for columns, error in [
        ([np.zeros(2)], ValueError),
        ([np.zeros((3, 1))], ValueError),
        ([np.zeros(())], ValueError),
        ([np.zeros(3, complex)], TypeError),
        ([np.zeros(3, np.float16)], TypeError),
        ([np.zeros(3, ">f8")], TypeError),
        ([np.zeros(3, "datetime64[s]")], TypeError),
        ([np.array(["a", "b", "c"])], TypeError),
        ([[1.0, 2.0, 3.0]], TypeError),
        ([None], TypeError),
        (None, TypeError),
    ]:
        with pytest.raises(error):
            moments(columns, target, 1)
    with pytest.raises(TypeError):
        moments([np.zeros(3)], np.zeros(3, np.int64), 1)
    with pytest.raises(ValueError):
        moments([np.zeros(3)], np.zeros((3, 1), np.int32), 1)
    for classes in (-1, 2**50):
        with pytest.raises(ValueError):
            moments([np.zeros(3)], target, classes)
    for weights in (np.ones(2), np.array([1, np.nan, 1]), np.array([1, 1, np.inf])):
        with pytest.raises(ValueError):
            moments([np.zeros(3)], target, 1, weights)
    with pytest.raises(TypeError):
        moments([np.zeros(3)], target, 1, np.ones(3, np.float32))
