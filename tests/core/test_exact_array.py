"""Exact arrays against fractions: no sum, product or conversion may differ in a single bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayesbox._core import ExactArray

finite = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.integers(-2200, 2200)
dyadics = st.builds(lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(-(2**200), 2**200), exponents)


def value(array, cell):
    mantissa, exponent = array.parts(cell)
    assert (mantissa == 0 and exponent == 0) or mantissa % 2 == 1
    return Fraction(mantissa) * Fraction(2) ** exponent


def values(array):
    return [value(array, cell) for cell in range(len(array))]


def line(number):
    """The canonical text of a fraction whose denominator is a power of two."""
    if number == 0:
        return "0\n"
    mantissa, exponent = number.numerator, -(number.denominator.bit_length() - 1)
    while mantissa % 2 == 0:
        mantissa //= 2
        exponent += 1
    return f"{'-' if mantissa < 0 else ''}{abs(mantissa):x}p{exponent}\n"


def exact(numbers):
    return ExactArray.from_text("".join(map(line, numbers)).encode())


def to_double(number):
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


@given(st.lists(finite))
def test_doubles_come_back(numbers):
    array = ExactArray.from_doubles(np.array(numbers, float))
    assert values(array) == [Fraction(x) for x in numbers]
    assert np.array_equal(array.to_doubles(), numbers)
    assert array.text() == "".join(line(Fraction(x)) for x in numbers).encode()


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
@example([-(2**63), 2**63 - 1, 0, -1, 2**32, -(2**32)])
def test_integers_come_back(numbers):
    array = ExactArray.from_integers(np.array(numbers, np.int64))
    assert values(array) == numbers
    assert array.is_integral()
    assert array.to_integers().dtype == np.int64
    assert array.to_integers().tolist() == numbers


@given(st.lists(dyadics, max_size=8))
@example([Fraction(1, 2**1075), Fraction(3, 2**1075), Fraction(2**54 + 1), Fraction(2**54 + 3), Fraction(2) ** 1024])
@example([Fraction(2**1024 - 2**970 + 2**969), Fraction(2**1024 - 2**970 + 2**969 - 1), -(Fraction(2) ** 1023)])
def test_text_parts_and_rounding(numbers):
    array = exact(numbers)
    assert values(array) == numbers
    assert array.text() == "".join(map(line, numbers)).encode()
    assert array.to_doubles().tolist() == [to_double(x) for x in numbers]
    assert array.signs().tolist() == [(x > 0) - (x < 0) for x in numbers]
    assert array.signs().dtype == np.int8
    assert array.is_integral() == all(x.denominator == 1 for x in numbers)
    assert ExactArray.from_text(array.text()) == array


@given(st.integers(-(2**60), 2**60), st.integers(-1200, 1000), st.integers(-3, 3), st.integers(1, 300))
def test_rounding_next_to_ties(mantissa, exponent, nudge, distance):
    """A mantissa of more than 53 bits, and a bit of dust far below it on either side."""
    number = (Fraction(mantissa) + Fraction(nudge, 2**distance)) * Fraction(2) ** exponent
    assert exact([number]).to_doubles()[0] == to_double(number)


@given(st.lists(st.tuples(dyadics, dyadics), max_size=5), st.sampled_from([1, -1]))
def test_add_is_exact_and_undone_by_its_opposite(pairs, sign):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    array, other = exact(left), exact(right)
    array.add(other, sign=sign)
    assert values(array) == [a + sign * b for a, b in pairs]
    assert values(other) == right
    array.add(other, sign=-sign)
    assert array == exact(left)
    assert array.text() == exact(left).text()


@given(st.data())
def test_add_by_index_and_sum_groups(data):
    numbers = data.draw(st.lists(dyadics, max_size=8))
    size = data.draw(st.integers(1, 5))
    index = data.draw(st.lists(st.integers(0, size - 1), min_size=len(numbers), max_size=len(numbers)))
    expected = [sum((x for x, i in zip(numbers, index, strict=True) if i == cell), Fraction(0)) for cell in range(size)]
    places = np.array(index, np.int64)
    assert values(exact(numbers).sum_groups(places, size)) == expected
    array = exact([Fraction(1, 4)] * size)
    array.add(exact(numbers), places, sign=-1)
    assert values(array) == [Fraction(1, 4) - x for x in expected]


whole = st.builds(Fraction, st.integers(-(2**34), 2**34))


@given(st.integers(1, 3), st.integers(0, 4), st.sampled_from([dyadics, whole]), st.data())
def test_rows_and_columns_of_a_table(rows, width, kind, data):
    numbers = data.draw(st.lists(kind, min_size=rows * width, max_size=rows * width))
    table = exact(numbers)
    by_row = [numbers[row * width : (row + 1) * width] for row in range(rows)]
    totals = [sum(column, Fraction(0)) for column in zip(*by_row, strict=True)]
    assert values(table.sum_rows(rows)) == [sum(row, Fraction(0)) for row in by_row]
    assert values(table.others(rows)) == [total - x for row in by_row for total, x in zip(totals, row, strict=True)]
    first = data.draw(st.integers(0, width))
    last = data.draw(st.integers(first, width))
    expected = np.array([[to_double(x) for x in row[first:last]] for row in by_row])
    assert np.array_equal(table.columns(rows, first, last), expected.reshape(rows, last - first))


@given(st.lists(st.lists(whole, min_size=4, max_size=4), min_size=1, max_size=20))
def test_whole_numbers_keep_their_value_and_text_through_sums(additions):
    array = ExactArray(4)
    for numbers in additions:
        array.add(ExactArray.from_integers(np.array([int(x) for x in numbers], np.int64)))
    expected = [sum(column, Fraction(0)) for column in zip(*additions, strict=True)]
    assert values(array) == expected
    assert array.text() == "".join(map(line, expected)).encode()
    assert array.to_integers().tolist() == expected
    assert array.signs().tolist() == [(x > 0) - (x < 0) for x in expected]
    assert array == exact(expected)


@given(st.lists(dyadics, min_size=1, max_size=6), st.data())
def test_take(numbers, data):
    index = data.draw(st.lists(st.integers(-1, len(numbers) - 1), max_size=8))
    taken = exact(numbers).take(np.array(index, np.int64))
    assert values(taken) == [Fraction(0) if i < 0 else numbers[i] for i in index]


@given(st.lists(dyadics, max_size=4), st.lists(dyadics, max_size=4))
def test_equality_is_of_numbers(left, right):
    assert (exact(left) == exact(right)) == (left == right)
    assert (exact(left) != exact(right)) == (left != right)
    widened = exact(left)
    for extreme in (5e-324, 1e308):
        other = ExactArray.from_doubles(np.full(len(left), extreme))
        widened.add(other)
        widened.add(other, sign=-1)
    assert widened == exact(left)


def test_equality_with_other_things():
    assert ExactArray(2) != 3
    assert ExactArray(2) is not None
    assert (ExactArray(2) == None) is False  # noqa: E711
    with pytest.raises(TypeError):
        hash(ExactArray(2))


@given(st.lists(dyadics, max_size=5))
def test_copy_stands_alone(numbers):
    array = exact(numbers)
    copy = array.copy()
    copy.add(ExactArray.from_doubles(np.ones(len(numbers))))
    assert values(array) == numbers
    assert values(copy) == [x + 1 for x in numbers]


def test_adding_an_array_to_itself():
    array = ExactArray.from_doubles(np.array([0.1, -1e300, 0.0]))
    array.add(array)
    assert values(array) == [2 * Fraction(0.1), 2 * Fraction(-1e300), 0]
    array.add(array, np.array([2, 2, 2]))
    assert value(array, 2) == 2 * Fraction(0.1) + 2 * Fraction(-1e300)
    array.add(array, sign=-1)
    assert array == ExactArray(3)


def test_many_doublings_stay_exact():
    array = ExactArray.from_doubles(np.array([-(2.0**53 - 1), 0.3]))
    for _ in range(300):
        array.add(array)
    assert values(array) == [-Fraction(2**53 - 1) * 2**300, Fraction(0.3) * 2**300]


def test_empty():
    array = ExactArray(0)
    assert len(array) == 0
    assert array.text() == b""
    assert array.is_integral()
    assert array.to_doubles().shape == (0,)
    assert array == ExactArray.from_text(b"")
    array.add(ExactArray(0))
    assert len(array.take(np.array([], np.int64))) == 0
    assert values(array.sum_groups(np.array([], np.int64), 2)) == [0, 0]


REFUSED = """
1 | 0 | 00; | -0; | 0p0; | 2p0; | 01p0; | 1P0; | Ap0; | +1p0; | 1p+0; | 1p-0; | 1p00; | 1p; | p0; | 1p4001; | 1p-4001;
1p0 ; | 1p0;; | 1p99999999999999999999; | 1p0;1 | ;
"""


@pytest.mark.parametrize("text", [*REFUSED.replace("\n", "|").split("|")[1:-1], "1p0\r;", "f" * 2001 + "p0;", "\0;"])
def test_text_that_is_not_canonical_is_refused(text):
    with pytest.raises(ValueError, match="exact numbers"):
        ExactArray.from_text(text.strip(" ").replace(";", "\n").encode())


@pytest.mark.parametrize("numbers", [[0.5], [2.0**63], [-(2.0**63) - 2048.0], [1e300]])
def test_what_is_no_int64_overflows(numbers):
    with pytest.raises(OverflowError):
        ExactArray.from_doubles(np.array(numbers)).to_integers()


def test_bad_arguments():
    array = ExactArray(3)
    for size in (-1, 2**62):
        with pytest.raises(ValueError):
            ExactArray(size)
    with pytest.raises(ValueError):
        array.add(ExactArray(2))
    with pytest.raises(ValueError):
        array.add(ExactArray(3), sign=0)
    with pytest.raises(ValueError):
        array.add(ExactArray(3), np.array([0, 1]))
    for index in ([0, 1, 3], [-1, 0, 0]):
        with pytest.raises(ValueError):
            array.add(ExactArray(3), np.array(index))
    with pytest.raises(ValueError):
        array.take(np.array([3]))
    with pytest.raises(ValueError):
        array.take(np.array([-2]))
    with pytest.raises(ValueError):
        array.take(np.zeros((1, 1), np.int64))
    with pytest.raises(ValueError):
        array.sum_groups(np.array([0, 0, 0]), -1)
    for rows in (2, 0, -1):  # three cells are no two rows
        with pytest.raises(ValueError):
            array.sum_rows(rows)
        with pytest.raises(ValueError):
            array.others(rows)
    for first, last in ((0, 4), (-1, 1), (2, 1)):
        with pytest.raises(ValueError):
            array.columns(1, first, last)
    with pytest.raises(TypeError):
        array.take(np.array([0.0]))
    with pytest.raises(TypeError):
        array.add(3)
    for cell in (-1, 3):
        with pytest.raises(IndexError):
            array.parts(cell)
    with pytest.raises(ValueError):
        ExactArray.from_doubles(np.array([1.0, np.nan]))
    with pytest.raises(ValueError):
        ExactArray.from_doubles(np.array([np.inf]))
    with pytest.raises(ValueError):
        ExactArray.from_doubles(np.zeros((2, 2)))
    with pytest.raises(TypeError):
        ExactArray.from_doubles(np.array([1]))
    with pytest.raises(TypeError):
        ExactArray.from_integers(np.array([1.0]))
    with pytest.raises(TypeError):
        ExactArray.from_text("0\n")
