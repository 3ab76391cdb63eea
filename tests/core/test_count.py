"""Counts against numpy, whatever the dtype, size and stride."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesbox import _core
from bayesbox._core import count_codes, count_codes_weighted, count_integers, count_sparse, factorize_integers

PATHS = _core.instruction_sets()
DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(params=PATHS)
def path(request):
    _core.use_instructions(request.param)
    yield request.param
    _core.use_avx2(True)


def counted(column, size, target, classes):
    counts = np.zeros((classes, size), np.int64)
    keep = (target >= 0) & (target < classes) & (column >= 0) & (column < size)
    np.add.at(counts, (target[keep], column[keep].astype(np.int64)), 1)
    return counts


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 9, 100, 300, 40_000])
def test_codes(path, dtype, size):
    random = np.random.default_rng(size)
    high = min(size + 3, np.iinfo(dtype).max)
    matrix = random.integers(-2 if np.iinfo(dtype).min < 0 else 0, high, (9001, 3)).astype(dtype)
    target = random.integers(-1, 3, 9001).astype(np.int32)
    columns = [matrix[:, 0], matrix[::-1, 1], np.ascontiguousarray(matrix[:, 2]), np.broadcast_to(matrix[0, 0], 9001)]
    for column, counts in zip(columns, count_codes(columns, [size] * 4, target, 3), strict=True):
        assert counts.dtype == np.int64
        assert counts.shape == (3, size)
        assert np.array_equal(counts, counted(column, size, target, 3))


@settings(max_examples=60)
@given(st.integers(1, 70), st.integers(0, 5), st.integers(0, 400), st.integers(0, 2**32))
def test_codes_of_different_sizes_together(size, classes, rows, seed):
    random = np.random.default_rng(seed)
    sizes = [size, 2 * size, 1, size]
    columns = [random.integers(-1, s + 1, rows).astype(np.int16) for s in sizes]
    target = random.integers(-2, classes, rows).astype(np.int32)
    for on in PATHS:
        _core.use_instructions(on)
        for column, s, counts in zip(columns, sizes, count_codes(columns, sizes, target, classes), strict=True):
            assert np.array_equal(counts, counted(column, s, target, classes))
    _core.use_avx2(True)


def test_flags_and_extreme_codes(path):
    flags = np.array([True, False, True, True])
    target = np.array([0, 0, 1, 1], np.int32)
    assert count_codes([flags], [2], target, 2)[0].tolist() == [[1, 1], [0, 2]]
    for dtype in DTYPES:
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
        zeros = 1 + (ends[0] == 0)
        assert count_codes([ends], [2], target * 0, 1)[0].tolist() == [[zeros, 1]]


def test_extreme_targets(path):
    target = np.array([-1, -(2**31), 0, -4, 2], np.int32)
    assert count_codes([np.zeros(5, np.uint8)], [1], target, 3)[0].ravel().tolist() == [1, 0, 1]


@pytest.mark.parametrize("rows", [0, 1, 50])
def test_weighted_codes(rows):
    random = np.random.default_rng(rows)
    codes, target = random.integers(-1, 4, (rows, 2)), random.integers(-1, 2, rows).astype(np.int32)
    weights = np.ldexp(random.normal(size=rows), random.integers(-900, 900, rows))
    columns = [codes[:, 0], codes[:, 1].astype(np.uint8)]
    for column, sums in zip(columns, count_codes_weighted(columns, [3, 3], target, 2, weights), strict=True):
        expected = [Fraction(0)] * 6
        for code, label, weight in zip(column.tolist(), target.tolist(), weights.tolist(), strict=True):
            if 0 <= code < 3 and 0 <= label < 2:
                expected[label * 3 + code] += Fraction(weight)
        parts = [sums.parts(cell) for cell in range(6)]
        assert [Fraction(m) * Fraction(2) ** e for m, e in parts] == expected


def check_integers(column, target, classes, limit):
    (found,) = count_integers([column], target, classes, limit)
    kept = column[(target >= 0) & (target < classes)]
    if len(kept) == 0:
        assert found[1].shape == (classes, 0)
        return
    low, high = int(kept.min()), int(kept.max())
    if high - low + 1 > limit:
        assert found is None
        return
    assert found[0] == low
    expected = np.zeros((classes, high - low + 1), np.int64)
    for v, label in zip(column.tolist(), target.tolist(), strict=True):
        if 0 <= label < classes:
            expected[label, v - low] += 1
    assert np.array_equal(found[1], expected)


@settings(max_examples=100)
@given(st.data())
def test_integers(data):
    dtype = data.draw(st.sampled_from([*DTYPES, np.bool_]))
    low, high = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    centre = data.draw(st.integers(low, high))
    spread = data.draw(st.sampled_from([1, 10, 300]))
    near = st.integers(max(low, centre - spread), min(high, centre + spread))
    rows = data.draw(st.lists(st.tuples(near, st.integers(-1, 2)), max_size=40))
    column, target = np.array([v for v, _ in rows], dtype), np.array([y for _, y in rows], np.int32)
    limit = data.draw(st.sampled_from([0, 1, 5, 100, 10_000]))
    for on in PATHS:
        _core.use_instructions(on)
        check_integers(column, target, 3, limit)
    _core.use_avx2(True)


@pytest.mark.parametrize("step", [1, -1, 3, -40])
def test_integers_whose_range_grows_block_by_block(path, step):
    rows = 20_000
    column = np.arange(rows) * step // 7
    target = (np.arange(rows) % 3 - 1).astype(np.int32)
    span = int(np.ptp(column[target >= 0])) + 1
    for limit in (1 << 20, 1000, *range(span - 3, span + 2)):
        check_integers(column, target, 2, limit)
    matrix = np.column_stack([column, column[::-1], column % 5, column // 2, -column, column % 3])
    for one, found in zip(matrix.T, count_integers([matrix[:, j] for j in range(6)], target, 2, 1 << 20), strict=True):
        kept = one[target >= 0]
        assert found[0] == kept.min()
        assert np.array_equal(
            found[1], [np.bincount(one[target == k] - kept.min(), minlength=np.ptp(kept) + 1) for k in (0, 1)]
        )


@given(st.data())
def test_doubles(data):
    """Whole numbers among doubles are counted like integers, NaN as missing; any other number is left to the caller."""
    rows, width = data.draw(st.integers(0, 40)), data.draw(st.integers(1, 9))
    number = st.one_of(st.integers(-3, 300).map(float), st.sampled_from([np.nan, -0.0, 0.5, 1e30]))
    cells = data.draw(st.lists(number, min_size=rows * width, max_size=rows * width))
    matrix = np.array(cells, dtype=data.draw(st.sampled_from([np.float64, np.float32]))).reshape(rows, width)
    target = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=rows, max_size=rows)), dtype=np.int32)
    found = count_integers([matrix[:, j] for j in range(width)], target, 2, 1000)
    for column, result in zip(matrix.T, found, strict=True):
        if not (np.isnan(column) | ((column == np.round(column)) & (np.abs(column) < 2**51))).all():
            assert result is None
            continue
        assert result is not None
        lowest, counts = result
        for label in range(2):
            values = column[(target == label) & ~np.isnan(column)].tolist()
            assert counts[label].tolist() == [values.count(lowest + k) for k in range(counts.shape[1])]
            assert counts[label].sum() == len(values)


def test_factorize():
    random = np.random.default_rng(8)
    for dtype in DTYPES:
        info = np.iinfo(dtype)
        wide = random.integers(info.min, min(info.max, 2**63 - 1), 3000, dtype, endpoint=True)
        for column in (wide, wide[::-3], wide % 7, wide[:0], np.broadcast_to(wide[0], 5), np.sort(wide)[:20]):
            codes, distinct = factorize_integers(column)
            expected, inverse = np.unique(column, return_inverse=True)
            assert codes.dtype == np.int32
            assert distinct.dtype == np.int64
            assert np.array_equal(distinct, expected.astype(np.int64))
            assert np.array_equal(codes, inverse)
    codes, distinct = factorize_integers(np.array([True, False, True]))
    assert codes.tolist() == [1, 0, 1]
    assert distinct.tolist() == [0, 1]
    with pytest.raises(OverflowError):
        factorize_integers(np.array([2**63], np.uint64))
    with pytest.raises(TypeError):
        factorize_integers(np.zeros(2))
    with pytest.raises(ValueError):
        factorize_integers(np.zeros((2, 2), int))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_factorize_any(numbers):
    codes, distinct = factorize_integers(np.array(numbers, np.int64))
    assert distinct.tolist() == sorted(set(numbers))
    assert distinct[codes].tolist() == numbers


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse(index, dtype, weighted):
    random = np.random.default_rng(9)
    dense = (random.normal(size=(60, 7)) * 3).astype(dtype) * (random.random((60, 7)) < 0.4)
    matrix = sparse.csr_array(dense.astype(dtype))
    target = random.integers(-1, 2, 60).astype(np.int32)
    weights = np.where(np.arange(60) % 2, 1.0, random.exponential(size=60)) if weighted else None
    sums = count_sparse(matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data, 7, target, 2, weights)
    expected = [Fraction(0)] * 14
    for row in range(60):
        for j in range(7):
            if 0 <= target[row] < 2:
                weight = 1 if weights is None else Fraction(float(weights[row]))
                expected[target[row] * 7 + j] += weight * Fraction(float(dense[row, j]))
    assert [Fraction(m) * Fraction(2) ** e for m, e in (sums.parts(c) for c in range(14))] == expected


def test_sparse_arguments():
    target = np.array([0, -1], np.int32)

    def sums(indptr=(0, 1, 2), indices=(0, 2), data=(1.0, 2.0), width=3, classes=1, **more):
        return count_sparse(np.array(indptr), np.array(indices), np.array(data), width, target, classes, **more)

    assert sums().to_doubles().tolist() == [1, 0, 0]
    for bad in [
        {"indptr": (0, 1)},
        {"indptr": (-1, 1, 2)},
        {"indptr": (0, 2, 1)},
        {"indptr": (0, 1, 3)},
        {"indices": (0, 3)},
        {"indices": (-1, 0)},
        {"data": (1.0,)},
        {"data": (1.0, np.nan)},
        {"data": (np.inf, 1.0)},
        {"width": -1},
        {"classes": -1},
        {"classes": 0},
        {"width": 2**40, "classes": 2**30},
        {"weights": np.ones(3)},
    ]:
        with pytest.raises(ValueError):
            sums(**bad)
    with pytest.raises(TypeError):
        sums(indices=(0.0, 1.0))
    with pytest.raises(TypeError):
        sums(indptr=(0.0, 1.0, 2.0))


def test_bad_arguments():
    target, codes = np.zeros(3, np.int32), np.zeros(3, np.uint8)
    for args, error in [
        (([codes], [], target, 1), ValueError),
        (([codes], [-1], target, 1), ValueError),
        (([codes], [2**40], target, 2**30), ValueError),
        (([codes], [1], target, -1), ValueError),
        (([codes[:2]], [1], target, 1), ValueError),
        (([codes.reshape(3, 1)], [1], target, 1), ValueError),
        (([np.zeros(3)], [1], target, 1), TypeError),
        (([codes], [1], target.astype(np.int64), 1), TypeError),
        (([codes], [1.5], target, 1), TypeError),
    ]:
        with pytest.raises(error):
            count_codes(*args)
        with pytest.raises(error):
            count_codes_weighted(*args, np.ones(3))
    with pytest.raises(ValueError):
        count_codes_weighted([codes], [1], target, 1, np.ones(2))
    with pytest.raises(ValueError):
        count_codes_weighted([codes], [1], target, 1, np.array([1, 2, np.nan]))
    with pytest.raises(TypeError):
        count_codes_weighted([codes], [1], target, 1, None)
    for args, error in [
        (([codes], target, 1, -1), ValueError),
        (([codes], target, -1, 5), ValueError),
        (([codes[:2]], target, 1, 5), ValueError),
        ((["abc"], target, 1, 5), TypeError),
    ]:
        with pytest.raises(error):
            count_integers(*args)
