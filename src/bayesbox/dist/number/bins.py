"""A binned number: P(bin | class), a table by cut points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist import functions
from bayesbox.dist.averaging import level_shares, mixed_levels
from bayesbox.dist.base import Columns, Distribution, Doubles, LevelTable, Marks, Plan
from bayesbox.dist.cells import LevelCounts, log_levels
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, decimal, divided, formula, observed
from bayesbox.dist.fit import FitOptions, ValuesTally, register
from bayesbox.dist.functions import log
from bayesbox.dist.leave_one_out import LeaveOneOutPlan
from bayesbox.dist.number.cuts import bin_names, binned, binning, codes_of
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.special import unit_of
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.tally.values import Values

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression
    from bayesbox.dist.learned import LearnedTable


@register("width", "frequency", "mdl", "modl", "bins")
@dataclass(frozen=True)
class Bins(NumberDensity):
    """log P(bin | class), bins x classes. A value on a cut is in the lower bin; the first and the last bin are open.

    The terms are probabilities of bins, not densities, so `log_density` of a row is that of its bin.
    """

    cuts: Doubles
    levels: tuple[str, ...]
    log_bins: Doubles
    method: str
    low: float  # the smallest and largest value seen; for quantiles the open bins end there
    high: float

    @property
    def level_number(self) -> int:
        return len(self.levels) + bool(self.log_missing.any())

    @property
    def free_parameters(self) -> int:
        return (self.level_number - 1) * self.classes

    def parameters(self) -> dict[str, Doubles]:
        return dict(zip(self.levels, functions.exp(self.log_bins), strict=True))

    def level_table(self) -> LevelTable:
        return LevelTable(self.levels, self.log_bins + self.log_observed, self.log_missing)

    def describe(self) -> str:
        number = len(self.levels)
        return f"{self.method}, " + (f"{number} bins" if number > 1 else "a single bin, which is not informative")

    @cached_property
    def rows(self) -> Doubles:
        """The rows of all bins, then that of a missing value."""
        return np.vstack([self.log_bins + self.log_observed, self.log_missing[None, :]])

    def log_density(self, values: Doubles) -> Doubles:
        return self.log_bins[codes_of(values, self.cuts)]

    def quantile(self, share: float) -> Doubles:
        """The quantile, with values uniform within a bin."""
        return self._inverted(np.full(self.classes, share), np.arange(self.classes))

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        found: list[Any] = self._inverted(random.random(len(classes)), classes).tolist()
        return found

    def _inverted(self, wanted: Doubles, classes: NDArray[np.int64]) -> Doubles:
        shares = self.level_table().shares()
        sums = np.vstack([np.zeros(self.classes), np.cumsum(shares, axis=0)])
        sums /= sums[-1]
        edges = np.concatenate([[self.low], self.cuts, [self.high]])
        found = np.empty(len(wanted))
        for label in np.unique(classes):
            here = classes == label
            place = np.clip(np.searchsorted(sums[:, label], wanted[here]) - 1, 0, len(shares) - 1)
            within = (wanted[here] - sums[place, label]) / np.diff(sums[:, label])[place]
            found[here] = edges[place] * (1 - within) + edges[place + 1] * within
        return found

    def enter(self, plan: Plan, values: Doubles) -> None:
        plan.tables.append((codes_of(values, self.cuts), self.rows))

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self) is not Bins:
            return None
        return "bins", self.column, np.ascontiguousarray(self.cuts, dtype=np.float64), weight * self.rows

    @classmethod
    def fit(cls, column: str, tally: ValuesTally, options: FitOptions) -> Self:
        """P(bin | class) by the smoothing rule. Without a cut all values are in one bin, which is not informative."""
        values, counts = tally.table
        cuts = binning(options.density)(values, counts)
        names = bin_names(cuts)
        if len(cuts) == 0:
            log_bins = np.zeros((1, counts.shape[1]))
        else:
            log_bins = log_levels(binned(values, counts, cuts).T, names, options.smoothing)
        low, high = float(values[0]), float(values[-1])
        return cls(column, *options.presence(tally), cuts, names, log_bins, options.density, low, high)

    def counts_of(self, tally: Values) -> Counts:
        """The exact count of each bin in each class; the levels in the order of the bins."""
        classes, width, number = len(tally.classes), len(tally.values), len(self.levels)
        codes = codes_of(tally.table[0], self.cuts).astype(np.int64)
        index = (np.arange(classes)[:, None] * number + codes[None, :]).ravel()
        cells = tally.cells.sum_groups(index, classes * number) if width else ExactArray(classes * number)
        return Counts(tally.classes, self.levels, cells)

    def shown_tally(self, tally: Values) -> Counts:
        return self.counts_of(tally)

    # -- averaged over whether the class matters -------------------------------------------------------------------

    def averaged(self, tally: Values, options: FitOptions, inclusion: float) -> tuple[Distribution, float] | None:
        counts = np.asarray(self.counts_of(tally).counts, dtype=np.float64)
        return self._averaged(counts, options, inclusion)

    def _averaged(self, counts: Doubles, options: FitOptions, inclusion: float) -> tuple[Bins, float]:
        """The model-averaged bins, from counts of classes x bins; and w."""
        size = counts.shape[1]
        shares = level_shares(counts, options.smoothing, size, inclusion)
        mixed = mixed_levels(counts, options.smoothing, size, shares).T
        return replace(self, log_bins=log(mixed)), float(shares.inside)

    def leave_one_out_averaged(
        self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions, inclusion: float
    ) -> None:
        plan.doubtful |= (book.class_counts.to_doubles() <= 1)[plan.target]  # the cuts depend on the number of classes
        values = self.numbers_of(columns)
        if values is None:
            return
        if options.chosen:  # the density is chosen again
            plan.doubtful |= ~np.isnan(values)
            return
        again = self.refit_options(options)

        def fit(tally: ValuesTally) -> Bins:
            bins = self.fit("", tally, again)
            values, counts = tally.table
            return bins._averaged(binned(values, counts, bins.cuts).T, options, inclusion)[0]

        self.leave_out_each_value(plan, values, book[self.column], options, fit)

    def refit_options(self, options: FitOptions) -> FitOptions:
        return replace(options.without_missing(), density=self.method)

    # -- shown -----------------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """One value of each bin: a cut belongs to the bin below it, and the last bin begins just above its cut."""
        above = np.nextafter(self.cuts[-1], np.inf) if len(self.cuts) else 0.0
        return Marks(self.levels, np.concatenate([self.cuts, [above, np.nan]]))

    def curve(self, low: float, high: float, points: int) -> tuple[Doubles, Doubles]:  # noqa: ARG002
        """Each bin as a step: probability over width."""
        inner = self.cuts[(self.cuts > low) & (self.cuts < high)]
        edges = np.concatenate([[low], inner, [high]])
        middles = edges[:-1] / 2 + edges[1:] / 2
        widths = np.diff(edges * unit_of(low, high))
        shares = functions.exp(self.log_density(middles)) / widths[:, None]
        return np.repeat(edges, 2)[1:-1], np.repeat(shares, 2, axis=0)

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:
        """P(bin | class) of each bin as a count over a count."""
        from bayesbox.dist.learned import LearnedTable, counted_levels, level_rows, most_common_places

        places = most_common_places(functions.exp(self.log_bins).sum(axis=1), most)
        counted = None
        if not self.log_observed.any():
            tally, names = self.counts_of(book[self.column]), [self.levels[place] for place in places.tolist()]
            size = len(self.levels)
            counted = counted_levels(tally.cells, self.classes, size, places, size, names, options.smoothing)
        titles = [f"P({self.column} {self.levels[place]} | class)" for place in places.tolist()]
        rows = level_rows(titles, (self.log_bins + self.log_observed)[places], counted)
        yield LearnedTable(self.column, rows, len(self.levels) - len(places), self.describe())

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:
        values = self.numbers_of(columns)
        terms = self.terms(columns, 1)[0].tolist()
        if values is None or math.isnan(values[0]):
            yield self._missing_factor(terms)
        elif len(self.levels) == 1:
            yield NoFactor(self.column, f"{self.method} puts all its values into one bin")
        else:
            yield self._bin_factor(float(values[0]), terms, book, options)

    def _bin_factor(self, value: float, terms: list[float], book: Book, options: FitOptions) -> Factor | NoFactor:
        tally = self.counts_of(book[self.column])
        counts = LevelCounts(tally.levels, tally.cells, len(tally.classes))
        index = int(codes_of(np.array([value]), self.cuts)[0])
        cells, (over, under) = counts.as_cells(exact=True), counts.ratio(options.smoothing, exact=True)
        shares: list[Number] = [divided(over[c, index], under[c, index]) for c in range(counts.classes)]
        if not any(shares):
            return NoFactor(self.column, "its bin has probability 0 in every class")
        formulas = [
            formula(cells.counts[c, index], cells.totals[c], over[c, index], under[c, index], options.smoothing)
            + observed(self.log_observed[c])
            for c in range(counts.classes)
        ]
        shown = [Logged(term) for term in terms] if self.log_observed.any() else shares
        name = f"P({self.column}={decimal(value)}, {self.levels[index]} | class)"
        return Factor(name, tuple(formulas), tuple(shown))

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadBin

        position = ReadBin(self.column, tuple(self.cuts.tolist()))
        return Lookup(position, self.log_bins + self.log_observed, self.log_missing)
