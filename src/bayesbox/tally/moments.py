"""Exact moments by class, the tally of a number: n, the number of fractional values, the sum, the sum of squares."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.display.result import Result
from bayesbox.schema.arrays import CountArray, NumberArray
from bayesbox.tally.base import Impossible, added, dyadic, numbers, positions, quoted, register, union
from bayesbox.tally.exact import ZERO, Dyadic, rounded_ratio, rounded_root

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

LEAST = math.ulp(0.0)
SEEN = 1, 2, 4  # the bits of `_core.seen_of_numbers`, in the order of `ClearlyDiffering`
PLAIN = 1 | 2  # of most columns of numbers: values that differ and are no flags


class InfiniteValue(NamedTuple):
    """The position of an infinite value: its column and its row."""

    column: int
    row: int


def infinite_value(error: ValueError) -> InfiniteValue | None:
    """The position of the infinite value in an error of the core; None for another error.

    The core raises a ValueError with a mark and two numbers.

    >>> infinite_value(ValueError("infinite", 3, 41)), infinite_value(ValueError("the columns differ in length"))
    (InfiniteValue(column=3, row=41), None)
    """
    match error.args:
        case ("infinite", int(column), int(row)):
            return InfiniteValue(column, row)
    return None


class Spread(NamedTuple):
    """The exact n, sum and sum of squares of some values; derived statistics are rounded once.

    >>> Spread(Dyadic(4, 0), Dyadic(110, 0), Dyadic(3450, 0)).variance
    106.25
    """

    n: Dyadic
    total: Dyadic
    squares: Dyadic

    @property
    def mean(self) -> float:
        return rounded_ratio(self.total, self.n)

    @property
    def rest_of_mean(self) -> float:
        """The rounding error of the mean: `mean + rest_of_mean` has twice the precision."""
        return rounded_ratio(self.total - Dyadic.of(self.mean) * self.n, self.n)

    @property
    def excess(self) -> Dyadic:
        """n * squares - total**2, which is n**2 times the population variance."""
        return self.n * self.squares - self.total * self.total

    @property
    def variance(self) -> float:
        return rounded_ratio(self.excess, self.n * self.n)

    @property
    def std(self) -> float:
        return rounded_root(self.excess, self.n * self.n)

    @property
    def unit(self) -> float:
        """The std as a unit of distance: never 0 if values differ."""
        return max(self.std, LEAST) if self.excess.m else 0.0

    def __add__(self, other: Spread) -> Spread:  # type: ignore[override]
        return Spread(self.n + other.n, self.total + other.total, self.squares + other.squares)


NO_SPREAD = Spread(ZERO, ZERO, ZERO)


@register
class Moments(Result):
    """n, sum and sum of squares of a column in each class.

    >>> age = Moments.of(("H", "L"), np.array([20.0, 45, 20, 25, 25, 25]), np.array([0, 0, 0, 0, 1, 1], dtype=np.int32))
    >>> age.n, age.mean, age.variance
    (array([4, 2]), array([27.5, 25. ]), array([106.25,   0.  ]))
    """

    form: ClassVar[str] = "moments"
    of_numbers: ClassVar[bool] = True  # not of levels
    members: ClassVar[tuple[str, ...]] = ("moments.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = False

    def __init__(self, classes: tuple[str, ...], sums: _core.Moments) -> None:
        self.classes = classes
        self.sums = sums

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        values: NumberArray,
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The moments of one column."""
        return cls(classes, _core.moments([values], target, len(classes), weights)[0])

    def _arrays(self) -> tuple[ExactArray, ...]:
        return self.sums.n, self.sums.fractional, self.sums.total, self.sums.squares

    @property
    def n(self) -> CountArray:
        """The rows of each class with a value."""
        return numbers(self.sums.n)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each class, rounded once; NaN for a class without a value."""
        return self._each("mean")

    @property
    def variance(self) -> NDArray[np.float64]:
        """The population variance of each class, rounded once; NaN for a class without a value."""
        return self._each("variance")

    @property
    def std(self) -> NDArray[np.float64]:
        """The root of the population variance, rounded once; NaN for a class without a value."""
        return self._each("std")

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The former name of `std`; works until 0.4."""
        warnings.warn("`deviation` is called `std`; the old name works until 0.4", FutureWarning, stacklevel=2)
        return self.std

    def _each(self, what: str) -> NDArray[np.float64]:
        spreads = self.spreads()
        return np.array([getattr(spread, what) if spread.n.m else np.nan for spread in spreads], dtype=np.float64)

    def spreads(self) -> list[Spread]:
        """The exact moments of each class."""
        n, _, total, squares = self._arrays()
        return [
            Spread(dyadic(n, cell), dyadic(total, cell), dyadic(squares, cell)) for cell in range(len(self.classes))
        ]

    def pooled(self) -> Spread:
        """The exact moments over all classes."""
        n, _, total, squares = (array.sum_rows(1) for array in self._arrays())
        return Spread(dyadic(n, 0), dyadic(total, 0), dyadic(squares, 0))

    @property
    def holds_only_flags(self) -> bool:
        """Whether every value is 0 or 1: none is fractional, and the sum equals the sum of squares.

        For integers x*x >= x, with equality only for 0 and 1, so equal sums leave nothing else.
        """
        return not self.sums.fractional.any() and self.sums.total == self.sums.squares

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels 0 and 1, for a column with only these values."""
        self._require_flags()
        return ("0", "1")

    @property
    def counts(self) -> CountArray:
        """The counts, classes x (0, 1), for a column with only these values."""
        self._require_flags()
        return numbers(self.flag_cells()).reshape(len(self.classes), 2)

    def _require_flags(self) -> None:
        if not self.holds_only_flags:
            raise AttributeError("a numeric column has levels only if its values are 0 and 1")

    @property
    def is_exact(self) -> bool:
        """Whether no value was rounded."""
        return True

    def range(self) -> tuple[float, float] | None:
        """The smallest and largest value, if these were counted."""
        return None

    def clipped(self, low: float, high: float) -> tuple[float, float]:
        """A range clipped to the known values; here unchanged."""
        return low, high

    def by_class(self) -> list[dict[str, Any]]:
        """The moments of each class, by name."""
        if self.holds_only_flags:
            return [dict(zip(self.levels, row, strict=True)) for row in self.counts.tolist()]
        per_class = zip(self.n.tolist(), self.mean.tolist(), self.std.tolist(), strict=True)
        return [{"n": n, "mean": mean, "deviation": std} for n, mean, std in per_class]

    def level_cells(self) -> tuple[tuple[str, ...], ExactArray, ExactArray]:
        """The same as for a tally of levels, if all values are 0 or 1."""
        return ("0", "1"), self.flag_cells(), self.sums.n

    def flag_cells(self) -> ExactArray:
        """Counts of 0 and of 1, class-major."""
        classes = len(self.classes)
        cells = ExactArray(2 * classes)
        zeros, ones = 2 * np.arange(classes), 2 * np.arange(classes) + 1
        cells.add(self.sums.n, zeros)
        cells.add(self.sums.total, zeros, sign=-1)
        cells.add(self.sums.total, ones)
        return cells

    def zero(self) -> Self:
        return self._built(self.classes, [ExactArray(len(self.classes)) for _ in range(4)])

    @classmethod
    def _built(cls, classes: tuple[str, ...], arrays: list[ExactArray]) -> Self:
        return cls(classes, _core.Moments(*arrays))

    def __add__(self, other: Moments) -> Self:
        return self._combined(other, sign=1)

    def __sub__(self, other: Moments) -> Self:
        return self._combined(other, sign=-1)

    def _combined(self, other: Moments, *, sign: int) -> Self:
        classes = union(self.classes, other.classes)
        pairs = zip(self.with_classes(classes)._arrays(), other.with_classes(classes)._arrays(), strict=True)
        return self._built(classes, [added(mine, theirs, sign=sign) for mine, theirs in pairs])

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        index = positions(classes, self.classes)
        return self._built(classes, [array.take(index) for array in self._arrays()])

    def is_empty(self) -> bool:
        return not self.sums.n.any()

    def is_possible(self) -> bool:
        return self.impossible() is None

    def impossible(self) -> Impossible | None:
        """The first class with impossible sums.

        No sum without a value; no more fractional values than values; n * squares >= total**2, since a variance is not
        negative; and without fractional values, squares >= |total|, since x * x >= |x| for integers.
        """
        sums = self.sums
        n, fractional, total, squares = (array.signs() for array in self._arrays())
        wrong = (n < 0) | (fractional < 0) | (squares < 0)
        wrong |= (n == 0) & ((fractional != 0) | (total != 0) | (squares != 0))
        wrong |= added(sums.n, sums.fractional, sign=-1).signs() < 0
        smaller = (added(sums.squares, sums.total, sign=sign).signs() < 0 for sign in (1, -1))
        for less in smaller:
            wrong |= (fractional == 0) & less
        for place, spread in enumerate(self.spreads()):
            if wrong[place] or spread.excess.m < 0:
                return Impossible(self.classes[place])
        return None

    def fits(self, rows: ExactArray) -> bool:
        return bool(np.all(added(rows, self.sums.n, sign=-1).signs() >= 0))

    def canonical(self) -> Iterator[bytes]:
        present = self.sums.n.signs() != 0
        classes = tuple(sorted(name for name, some in zip(self.classes, present, strict=True) if some))
        yield quoted(classes)
        for array in self.with_classes(classes)._arrays():
            yield array.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return b"".join(self.canonical()) == b"".join(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {"classes": self.classes, "arrays": self._arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.classes = state["classes"]
        self.sums = _core.Moments(*state["arrays"])

    def _headline(self) -> str:
        return f"Moments(classes={self.classes}, n={self.n.tolist()}, mean={self.mean.tolist()})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "class": list(self.classes),
            "n": self.n.tolist(),
            "mean": self.mean.tolist(),
            "variance": self.variance.tolist(),
            "deviation": self.std.tolist(),
        }

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.moments import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.moments import read

        return read(cls, tables, book)


class ClearlyDiffering(NamedTuple):
    """The numeric columns whose values clearly differ, and what is seen of them; others may differ too."""

    differ: frozenset[str]
    beyond_flags: frozenset[str]  # some values are neither 0 nor 1
    numbering: frozenset[str]  # integers whose number and sum may be those of row numbers


def clearly_differing(tallies: Mapping[str, object]) -> ClearlyDiffering:
    """The columns with clearly differing values, found by the core for all of them at once.

    >>> target = np.zeros(2, dtype=np.int32)
    >>> columns = {"age": [25.0, 40], "pay": [1.5, 2], "one": [3.0, 3]}
    >>> found = clearly_differing({name: Moments.of(("a",), np.array(x), target) for name, x in columns.items()})
    >>> [sorted(names) for names in found]
    [['age', 'pay'], ['age', 'pay'], []]
    """
    moments = {name: tally.sums for name, tally in tallies.items() if isinstance(tally, Moments)}
    found = _core.seen_of_numbers(list(moments.values()))
    if (found == PLAIN).all():
        every = frozenset(moments)
        return ClearlyDiffering(every, every, frozenset())
    named = list(zip(moments, found.tolist(), strict=True))
    return ClearlyDiffering(*(frozenset(name for name, each in named if each & bit) for bit in SEEN))
