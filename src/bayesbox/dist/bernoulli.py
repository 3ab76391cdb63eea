"""A flag's distribution: P(true | class), for bools and for numbers that are 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Distribution, Doubles, Plan, UnseenNote, ignored_where_impossible
from bayesbox.dist.cells import Cells, LevelCounts, Ratio, log_ratio
from bayesbox.dist.fit import FitOptions, places_by
from bayesbox.dist.levels import LevelDistribution
from bayesbox.errors import UnseenLevel
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import encode
from bayesbox.schema.flags import FLAG_CODES, FLAG_DIGITS, FLAG_LEVELS
from bayesbox.tally.counts import Counts

FALSE, TRUE, UNSEEN, MISSING = range(4)
IS_UNSEEN = np.arange(4) == UNSEEN

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Bernoulli(LevelDistribution):
    """log P(false | class) and log P(true | class), and the rows for unseen and missing values."""

    fits_columns: ClassVar[bool] = True

    @classmethod
    def fit_columns(
        cls, columns: Sequence[str], tallies: Sequence[Any], options: Sequence[FitOptions]
    ) -> list[Distribution]:
        found: list[Any] = [None] * len(columns)
        for _, places in places_by(options, id):
            given, some = options[places[0]], [tallies[place] for place in places]
            counts = _many_flags(some, given) if cls is Bernoulli else None
            rows = None if counts is None else _rows_of_many(counts, given)
            if rows is None:
                for place in places:
                    found[place] = cls.fit(columns[place], tallies[place], given)
                continue
            levels = FLAG_DIGITS if some[0].of_numbers else FLAG_LEVELS
            shared = {"levels": levels, "unseen_is_error": given.unseen == "error"}
            each_row = zip(places, rows[:, :2], rows[:, UNSEEN], rows[:, MISSING], strict=True)
            for place, log_p, log_unseen, log_missing in each_row:
                found[place] = made = object.__new__(cls)  # the fields of a frozen class are set at once
                own = {"column": columns[place], "log_p": log_p, "log_unseen": log_unseen, "log_missing": log_missing}
                made.__dict__.update(own | shared)
        return found

    @property
    def rows(self) -> Doubles:
        """The rows of false, true, unseen and missing."""
        levels = len(self.log_p)
        rows = np.empty((levels + 2, self.classes))
        rows[:levels], rows[levels], rows[levels + 1] = self.log_p, self.log_unseen, self.log_missing
        return rows

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), one value per class."""
        index = MISSING if level is None else FLAG_CODES.get(level.lower(), UNSEEN)
        answer: Doubles = self.rows[index]
        return answer

    def unseen(self, level: str) -> UnseenNote | None:
        return None if level.lower() in FLAG_CODES else UnseenNote(self.levels, bool(self.log_unseen.any()))

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        if isinstance(column, np.ndarray) and column.dtype.kind in "iubf" and not self.unseen_is_error:
            plan.add_integers(column, 0, self.rows, IS_UNSEEN)
        else:
            codes = self._codes(column)
            if self.unseen_is_error and (codes == UNSEEN).any():
                raise UnseenLevel(f"column `{self.column}` has a value that is neither 0 nor 1", column=self.column)
            plan.tables.append((codes, self.rows))

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self) is not Bernoulli:
            return None
        return "flag", self.column, weight * self.rows, True, self.unseen_is_error

    def _codes(self, column: Column) -> NumberArray:
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            return flag_codes(column)
        codes, levels, _ = encode(column)
        place = np.array([FLAG_CODES.get(level.lower(), UNSEEN) for level in levels] + [MISSING], dtype=np.int8)
        return place[codes]

    def _index(self, counts: LevelCounts, level: str | None) -> int:
        return super()._index(counts, level if level is None else self._named(counts, level))

    def _named(self, counts: LevelCounts, level: str) -> str:
        """A level by its name in the counts: false and 0 are the same, and so are true and 1."""
        index = FLAG_CODES.get(level.lower())
        return level if index is None else counts.levels[index]

    def _lasting_levels(self, counts: LevelCounts, options: FitOptions) -> tuple[str, ...]:  # noqa: ARG002
        return counts.levels

    def _positions(self, counts: LevelCounts) -> dict[str, int]:
        return super()._positions(counts) | FLAG_CODES

    def _spelled(self, level: str) -> str:
        return level.lower()

    @property
    def integer_range(self) -> tuple[int, int]:
        return 0, 2

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadFlag

        position = ReadFlag(self.column, self.levels)
        return Lookup(position, self.log_p, self.log_missing, self.log_unseen, self.unseen_is_error)


def _many_flags(tallies: Sequence[Any], options: FitOptions) -> Doubles | None:
    """The counts of columns of flags, columns x classes x (false, true); None if there are other columns among them."""
    if options.missing_is_level:
        return None
    classes = len(tallies[0].classes)
    if all(tally.of_numbers for tally in tallies):
        return None if options.domain else _core.flag_counts([tally.sums for tally in tallies], classes)
    of_both = all(type(tally) is Counts and tally.levels == FLAG_LEVELS for tally in tallies)
    if not of_both or not {*options.domain} <= {*FLAG_LEVELS}:
        return None
    return np.array([tally.cells.to_doubles() for tally in tallies]).reshape(-1, classes, 2)


def _rows_of_many(counts: Doubles, options: FitOptions) -> Doubles | None:
    """The rows of such columns, columns x (false, true, unseen, missing) x classes.

    None if the rule looks at all classes: then each column is fitted alone.
    """
    if not vars(type(options.smoothing)).get("by_class", False):  # a subclass may look at all classes
        return None
    columns, classes = counts.shape[:2]
    cells = np.zeros((columns * classes, 3))
    cells[:, :2] = counts.reshape(-1, 2)
    over, under = options.smoothing.ratio(Cells(cells, cells[:, :2].sum(axis=1), 2, [*FLAG_DIGITS, None]))
    if not under.all():
        return None
    rows = np.zeros((columns, 4, classes))
    logs = log_ratio(Ratio(over, under)).reshape(columns, classes, 3)
    rows[:, :MISSING] = ignored_where_impossible(logs.transpose(0, 2, 1))
    if options.unseen == "ignore":
        rows[:, UNSEEN] = 0
    return rows


def flag_codes(values: NumberArray) -> NDArray[np.int8]:
    """Numbers as codes of false, true, unseen and missing."""
    codes = np.full(len(values), UNSEEN, dtype=np.int8)
    codes[values == 0] = FALSE
    codes[values == 1] = TRUE
    codes[np.isnan(values)] = MISSING
    return codes
