"""The counts that a smoothing rule receives, and the ratios that it returns.

A rule receives n_cv (rows of class c with value v), n_c (rows of class c with any value), K (the number of possible
values) and n (rows of all classes), and returns a numerator and a denominator. The same formula works on floats, and on
fractions for exact calculations.
"""

from __future__ import annotations

import dataclasses
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.functions import log
from bayesbox.errors import BadOption
from bayesbox.schema.arrays import AnyArray
from bayesbox.tally.base import dyadic, positions

Array = AnyArray
UNSEEN = None  # the name of an unseen level
MISSING = ("missing",)  # the name of a missing value that counts as a level


class Cells(NamedTuple):
    """The input of a rule. `counts` may have more columns than K, for levels outside the domain."""

    counts: Array  # classes x levels: n_cv
    totals: Array  # classes: n_c; or classes x levels, if each column is a separate case
    size: Any  # K; or one K per column
    names: Sequence[Any]  # of the levels: texts, UNSEEN, MISSING

    @property
    def by_column(self) -> Array:
        """n_c as classes x 1, or classes x levels."""
        return self.totals[:, None] if self.totals.ndim == 1 else self.totals

    @property
    def n(self) -> Array:
        """n, a number or one per column."""
        n: Array = self.by_column.sum(axis=0)
        return n

    @property
    def exact(self) -> bool:
        return self.counts.dtype == object

    def number(self, value: float) -> Any:
        """A parameter in the arithmetic of the cells; 0.1 is exactly one tenth in fractions."""
        return Fraction(str(value)) if self.exact else value


class Ratio(NamedTuple):
    """Numerators and denominators, classes x levels."""

    numerator: Array
    denominator: Array


class Smoothing(ABC):
    """A rule for counts: a frozen dataclass whose fields are its parameters, with `ratio`. The rest is derived."""

    name: ClassVar[str] = ""
    """Its name in options and files, set by `register_rule`."""
    replaces: ClassVar[bool] = False
    """Whether it replaces a count rather than adding to it."""
    by_class: ClassVar[bool] = False
    """Whether the ratios of a class follow from its counts and K alone: many columns are then smoothed at once."""

    @abstractmethod
    def ratio(self, cells: Cells) -> Ratio:
        """Numerators and denominators of P(level | class). `cells.number(x)` is a parameter in their arithmetic."""

    @property
    def weight(self) -> float | None:
        """The weight of the rule's prior in a mean, in rows; None if not applicable."""
        return None

    @property
    def listed(self) -> tuple[str, ...]:
        """The levels that the rule names: they belong to the domain."""
        return ()

    def added(self, size: int) -> tuple[float, float] | None:  # noqa: ARG002
        """The pseudo-counts of each cell and of the total over `size` levels; None if the rule has none."""
        return None

    @classmethod
    def from_text(cls, text: str) -> Smoothing:
        """The rule from its parameters as text, comma-separated, as they follow the colon."""
        parameters = dataclasses.fields(cls)  # type: ignore[arg-type]
        given = text.split(",") if text else []
        if len(given) > len(parameters):
            raise TypeError("more parameters than the rule has")
        pairs = zip(given, parameters, strict=False)
        return cls(*(item if field.type == "str" else float(item) for item, field in pairs))

    def text(self) -> str:
        """The text of the rule, if there is one that gives it back."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        if not all(isinstance(value, (str, numbers.Real)) for value in values):
            return repr(self)
        parameters = ",".join(value if isinstance(value, str) else repr(value) for value in values)
        return f"{self.name}:{parameters}" if parameters else self.name


def added_counts(rule: Smoothing, size: int) -> tuple[float, float]:
    """(a, b): the pseudo-counts of each cell and of the total over `size` levels, a Dirichlet prior.

    >>> from bayesbox.rules import Laplace, MEstimate
    >>> added_counts(Laplace(), 4), added_counts(MEstimate(2), 4)
    ((1.0, 4.0), (0.5, 2.0))
    """
    found = rule.added(size)
    if found is None:
        raise BadOption(
            "for columns that depend on each other, smoothing must be backoff, laplace, mle, lidstone:a or m:m",
            found=rule,
        )
    return found


def ratio(rule: Smoothing, cells: Cells) -> Ratio:
    """A rule's ratio; a class with 0/0 gets the column's pooled distribution n_v / n.

    If no class has any value, every level is 0/1: impossible in every class, so it is ignored.
    """
    over, under = rule.ratio(cells)
    same = under.ndim == 2 and under.shape[1] > 0 and under.strides[1] == 0  # equal in every column
    if not np.any((under[:, :1] if same else under) == 0):
        return Ratio(over, under)
    empty = under == 0
    pooled = np.broadcast_to(cells.counts.sum(axis=0)[None, :], cells.counts.shape)
    return Ratio(np.where(empty, pooled, over), np.where(empty, np.where(cells.n == 0, 1, cells.n), under))


@dataclass(frozen=True)
class LevelCounts:
    """The counts of a column for a rule: including declared levels, and missing as a level on request.

    `cells` is class-major over `levels`; `missing` has the rows of each class without a value, or None if missing
    values are ignored.
    """

    levels: tuple[str, ...]
    cells: ExactArray
    classes: int
    missing: ExactArray | None = None

    @classmethod
    def of(
        cls,
        levels: tuple[str, ...],
        cells: ExactArray,
        classes: int,
        *,
        domain: tuple[str, ...] = (),
        missing: ExactArray | None = None,
    ) -> LevelCounts:
        """Counts over the levels that occurred and those of the declared domain."""
        union = levels if not domain or set(domain) <= set(levels) else tuple(sorted({*levels, *domain}))
        return cls(union, spread(cells, classes, levels, union), classes, missing)

    @property
    def size(self) -> int:
        """K, the number of possible levels, including missing if it is a level."""
        return len(self.levels) + (self.missing is not None)

    @property
    def names(self) -> list[object]:
        """The columns of the cells: the levels, then missing if it is a level, then unseen."""
        return [*self.levels, *([MISSING] if self.missing is not None else []), UNSEEN]

    def with_missing(self) -> ExactArray:
        """The cells, class-major, with missing values after the levels of each class if they are a level."""
        if self.missing is None:
            return self.cells
        result, width = ExactArray(self.classes * self.size), len(self.levels)
        first = np.arange(self.classes, dtype=np.int64) * self.size
        result.add(self.cells, (first[:, None] + np.arange(width)[None, :]).ravel())
        result.add(self.missing, first + width)
        return result

    def as_cells(self, *, exact: bool = False) -> Cells:
        """The counts as floats, or as fractions."""
        shape = (self.classes, len(self.levels))
        blocks = [_numbers(self.cells, exact=exact).reshape(shape)]
        if self.missing is not None:
            blocks.append(_numbers(self.missing, exact=exact).reshape(-1, 1))
        totals = np.concatenate(blocks, axis=1).sum(axis=1)
        unseen = np.zeros((self.classes, 1), dtype=blocks[0].dtype)
        return Cells(np.concatenate([*blocks, unseen], axis=1), totals, self.size, self.names)

    def ratio(self, rule: Smoothing, *, exact: bool = False) -> Ratio:
        """Numerators and denominators, classes x names."""
        return ratio(rule, self.as_cells(exact=exact))


def spread(cells: ExactArray, classes: int, levels: tuple[str, ...], wanted: tuple[str, ...]) -> ExactArray:
    """The cells of the given levels in their order, zero for those that never occurred."""
    if wanted == levels:
        return cells
    place = positions(wanted, levels)
    index = np.arange(classes)[:, None] * len(levels) + place[None, :]
    return cells.take(np.where(place[None, :] < 0, -1, index).ravel())


def _numbers(array: ExactArray, *, exact: bool) -> np.ndarray:
    return exact_numbers(array) if exact else array.to_doubles()


def exact_numbers(array: ExactArray) -> np.ndarray:
    """The numbers as fractions."""
    values = np.empty(len(array), dtype=object)
    for cell in range(len(array)):
        values[cell] = dyadic(array, cell).fraction
    return values


def log_ratio(found: Ratio) -> Doubles:
    """The logs of a rule's probabilities, classes x levels."""
    over, under = found
    if under.ndim == 2 and under.shape[1] and under.strides[1] == 0:
        under = under[:, :1]  # equal in every column: one log is enough
    return log(over) - log(under)


def log_ratio_by_level(found: Ratio) -> Doubles:
    """The same as levels x classes, for many levels with mostly equal counts."""
    over, under = found
    if under.ndim == 2 and under.shape[1] and under.strides[1] == 0:
        return _core.log_shares(np.ascontiguousarray(over, dtype=np.float64), under[:, 0].astype(np.float64))
    return np.ascontiguousarray((log(over) - log(under)).T)


def log_table(counts: LevelCounts, rule: Smoothing) -> tuple[Doubles, Doubles, Doubles]:
    """(levels x classes, unseen, missing) in logs; a level that is impossible in every class is ignored."""
    log_p = ignored_where_impossible(log_ratio(counts.ratio(rule)).T)
    unseen = log_p[-1]
    missing = log_p[len(counts.levels)] if counts.missing is not None else np.zeros(counts.classes)
    return log_p[: len(counts.levels)], unseen, missing


def group_counts(counts: LevelCounts, groups: tuple[int, ...]) -> LevelCounts:
    """The counts of groups of levels, each named by its levels."""
    number = max(groups, default=-1) + 1
    members: list[list[str]] = [[] for _ in range(number)]
    for level, group in zip(counts.levels, groups, strict=True):
        if group >= 0:
            members[group].append(level)
    place = np.maximum(np.array(groups, dtype=np.int64), 0)  # levels that never occurred add nothing
    index = (np.arange(counts.classes)[:, None] * number + place[None, :]).ravel()
    cells = counts.cells.sum_groups(index, counts.classes * number)
    return LevelCounts(tuple(" or ".join(each) for each in members), cells, counts.classes, counts.missing)


def log_levels(counts: Doubles, names: tuple[str, ...], rule: Smoothing) -> Doubles:
    """log P(level | class), levels x classes, from counts of classes x levels."""
    cells = Cells(np.asarray(counts, dtype=np.float64), counts.sum(axis=1), len(names), list(names))
    over, under = ratio(rule, cells)
    return np.ascontiguousarray(ignored_where_impossible((log(over) - log(under)).T))
