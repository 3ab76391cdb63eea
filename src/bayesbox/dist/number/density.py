"""The base of distributions of a number: missing values, calculations, and leave-one-out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.dist.factor import Factor, Logged, NoFactor, decimal, observed
from bayesbox.dist.fit import FitOptions, ValueTable
from bayesbox.dist.leave_one_out import Flags, LeaveOneOutPlan, leaves_only_flags
from bayesbox.dist.levels import level_table
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.errors import NeverLearned
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments
from bayesbox.tally.values import Values

if TYPE_CHECKING:
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.dist.number.cumulative import Cumulative


@lru_cache(maxsize=16)
def no_terms(classes: int) -> Doubles:
    """The log terms of presence where missing values are ignored: zeros, in one array shared by all columns."""
    nothing = np.zeros(classes)
    nothing.flags.writeable = False
    return nothing


class NumberFamily(Distribution):
    """A distribution of one column of numbers.

    `log_observed` and `log_missing` are zeros unless missing is a level of its own.
    """

    is_scale: ClassVar[bool] = True
    least_values: ClassVar[int] = 2  # with fewer distinct values the column is not informative
    tally: ClassVar[type] = Moments  # what must be counted: Moments, or Values if each distinct value is needed

    column: str
    log_observed: Doubles
    log_missing: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.log_missing)

    @property
    def free_parameters(self) -> int:
        return super().free_parameters + bool(self.log_missing.any()) * self.classes

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Self | None:
        """The family fitted to a tally; None if the column is not informative about the class."""
        raise NotImplementedError

    @classmethod
    def fit_columns(
        cls, columns: Sequence[str], tallies: Sequence[Any], options: Sequence[FitOptions]
    ) -> list[Self | None]:
        """The fitted families of many columns with the same classes, one per column."""
        return [cls.fit(*each) for each in zip(columns, tallies, options, strict=True)]

    def log_density(self, values: Doubles) -> Doubles:
        """log P(x | class) of values that are present, values x classes; a row of zeros is ignored."""
        raise NotImplementedError

    def describe(self) -> str:
        return self.family

    def quantiles(self, shares: Sequence[float]) -> Doubles | None:
        """The quantiles of some probabilities, probabilities x classes; None if it has no quantiles."""
        found = [self.quantile(share) for share in shares]
        return None if any(each is None for each in found) else np.array(found)

    @cached_property
    def cumulative(self) -> Cumulative | None:
        """The cumulative distribution of values that are present, regardless of missing ones."""
        from bayesbox.dist.number.cumulative import Cumulative

        if not self.has_density:
            return None
        return Cumulative(self.exact_log_density, self.family or type(self).__name__, self.parameters().values())

    def support(self) -> Doubles | None:
        """The numbers that have a probability, up to a negligible tail; None if they have a density."""
        return None

    @cached_property
    def panels(self) -> Doubles:
        """The edges of intervals on which its densities are smooth."""
        from bayesbox.dist.number.panels import found_panels

        return found_panels(self)

    def numbers_of(self, columns: Columns) -> Doubles | None:
        """The values of its column, NaN if missing; None if the column is absent."""
        column = columns.get(self.column)
        return None if column is None else np.asarray(as_numbers(column, name=self.column), dtype=np.float64)

    def add_presence(self, plan: Plan, values: NumberArray) -> None:
        """Add the terms of observed and missing values, either of which may be impossible; the core adds no density to
        a missing value."""
        if not self.has_presence:
            return
        if values.dtype.kind != "f":
            plan.add_constant(self.log_observed)
        else:
            plan.tables.append((np.isnan(values).astype(np.int8), np.vstack([self.log_observed, self.log_missing])))

    @property
    def has_presence(self) -> bool:
        """Whether it says anything that a value is observed, or that it is missing."""
        nothing = no_terms(self.classes)
        if self.log_observed is nothing and self.log_missing is nothing:
            return False
        return bool(self.log_observed.any() or self.log_missing.any())

    def compiled_presence(self, weight: float) -> Doubles | None:
        """The same terms for the core; None if both are 0."""
        if not self.has_presence:
            return None
        return weight * np.vstack([self.log_observed, self.log_missing])

    # -- the work shown --------------------------------------------------------------------------------------------

    def formulas(self, value: float) -> list[str]:
        """The density of a value in each class as text: its name, the value and the parameters."""
        rows = zip(*(each.tolist() for each in self.parameters().values()), strict=True)
        name = self.describe() or type(self).__name__
        found = [f"{name}({decimal(value)} | {', '.join(map(decimal, row))})" for row in rows]
        return found or [f"{name}({decimal(value)})"] * self.classes

    def shown_value(self, value: float) -> str:
        """A value as text in the name of its factor."""
        return decimal(value)

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:  # noqa: ARG002
        """Mean and standard deviation, those of the rows if the density has others, and its own parameters."""
        from bayesbox.dist.learned import LearnedTable, parameter_rows

        own, counted = self.parameters(), {}
        if "mean" not in own and self.column in book:
            shown = book[self.column].by_class()
            if all({"mean", "deviation"} <= each.keys() for each in shown):
                counted = {
                    "mean": np.array([each["mean"] for each in shown], dtype=np.float64),
                    "std": np.array([each["deviation"] for each in shown], dtype=np.float64),
                }
        rows = parameter_rows(self.column, counted | own, self.classes)
        yield LearnedTable(self.column, rows, about=self.describe())

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:  # noqa: ARG002
        values = self.numbers_of(columns)
        terms = self.terms(columns, 1)[0].tolist()
        if values is None or math.isnan(values[0]):
            yield self._missing_factor(terms)
            return
        value = float(values[0])
        texts = zip(self.formulas(value), self.log_observed.tolist(), strict=True)
        formulas = tuple(text + observed(seen) for text, seen in texts)
        yield Factor(f"P({self.column}={self.shown_value(value)} | class)", formulas, tuple(map(Logged, terms)))

    def _missing_factor(self, terms: list[float]) -> Factor | NoFactor:
        if not any(terms):
            return NoFactor(self.column)
        values = tuple(map(Logged, terms))
        formulas = tuple(decimal(float(value)) for value in values)
        return Factor(f"P({self.column}=missing | class)", formulas, values)

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out_values(
        self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions
    ) -> Doubles | None:
        """The values of held-out rows, after adding the terms of having one; None without the column."""
        values = self.numbers_of(columns)
        if options.missing_is_level:
            counts = options.presence_counts(book[self.column])
            missing = np.ones(plan.rows, dtype=bool) if values is None else np.isnan(values)
            table = level_table(counts, options.smoothing, domain=("observed",))
            plan.add_left_out_table(table, missing.astype(np.int32), 2)
        return values

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """The density is fitted again to the tally without the value, once for each distinct class and value."""
        values = self.leave_one_out_values(plan, columns, book, options)
        if values is None:
            return
        again = self.refit_options(options)
        self.leave_out_each_value(
            plan, values, book[self.column], options, lambda tally: type(self).fit("", tally, again)
        )

    def refit_options(self, options: FitOptions) -> FitOptions:
        """The options for fitting it again to fewer values."""
        return options.without_missing()

    def leave_out_each_value(
        self,
        plan: LeaveOneOutPlan,
        values: Doubles,
        tally: Any,
        options: FitOptions,
        fit: Callable[[Any], NumberFamily | None],
    ) -> None:
        """Add the log-density of each value under a fit to the tally without it."""
        refuse_infinite({self.column: values}, ~np.isnan(values), 0)
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True
        there = ~np.isnan(values)
        pairs, place = np.unique(np.column_stack([values[there], plan.target[there]]), axis=0, return_inverse=True)
        terms = np.zeros((plan.rows, plan.classes))
        if len(pairs):
            by_value = issubclass(self.tally, Values)
            found, gone = (_without_values if by_value else _without_moments)(tally, pairs, fit)
            terms[there] = found[place.ravel()]
            plan.doubtful[there] |= gone[place.ravel()]
        plan.add_terms(terms)

    def exact_log_density(self, values: Doubles) -> Doubles:
        """The same as `log_density`, without precomputed tables for many values."""
        return self.log_density(values)


Fit = Callable[[Any], NumberFamily | None]


def _without_values(tally: Values, pairs: Doubles, fit: Fit) -> tuple[Doubles, Flags]:
    """The log-density of each value in all classes without one row of its class, and whether the column is then
    ignored."""
    values, counts = tally.table
    places = tally.places(pairs[:, 0])
    terms, gone = np.zeros((len(pairs), counts.shape[1])), np.zeros(len(pairs), dtype=bool)
    for index, (place, (value, label)) in enumerate(zip(places.tolist(), pairs.tolist(), strict=True)):
        if place < 0 or counts[place, int(label)] < 1:
            raise _never_learned(value)
        counts[place, int(label)] -= 1
        table = ValueTable(values, counts).present()
        without = fit(table) if len(table.values) > 1 else None
        counts[place, int(label)] += 1
        if without is not None:
            terms[index] = without.exact_log_density(np.array([value]))[0]
        gone[index] = without is None
    return terms, gone


def _without_moments(tally: Moments, pairs: Doubles, fit: Fit) -> tuple[Doubles, Flags]:
    """The same from the moments alone."""
    moments = Moments(tally.classes, tally.sums)
    terms, gone = np.zeros((len(pairs), len(tally.classes))), np.zeros(len(pairs), dtype=bool)
    for index, (value, label) in enumerate(pairs.tolist()):
        rest = moments - Moments.of(tally.classes, np.array([value]), np.array([int(label)], dtype=np.int32))
        if not rest.is_possible():
            raise _never_learned(value)
        without = fit(rest)
        if without is not None:
            terms[index] = without.exact_log_density(np.array([value]))[0]
        gone[index] = without is None
    return terms, gone


def _never_learned(value: float) -> NeverLearned:
    return NeverLearned(
        "some of these rows were never learned: a value has no count in its class",
        found=value,
        remedy="Leave-one-out needs the rows that the model was trained on",
    )


@dataclass(frozen=True)
class NumberDensity(NumberFamily):
    """The base class of families of numbers: a density of one column per class.

    A family defines `fit`, `log_density` and `parameters`; the rest is derived.
    """

    has_density: ClassVar[bool] = True
    tally: ClassVar[type] = Values

    column: str
    log_observed: Doubles
    log_missing: Doubles

    def log_prob(self, values: Column) -> Doubles:
        """log P, rows x classes; a missing value has the terms of missing."""
        numbers = np.asarray(as_numbers(values, name=self.column), dtype=np.float64)
        missing = np.isnan(numbers)
        if not missing.any():
            return self.log_density(numbers) + self.log_observed
        terms = np.tile(self.log_missing, (len(numbers), 1))
        terms[~missing] = self.log_density(numbers[~missing]) + self.log_observed
        return terms

    def add_to(self, plan: Plan, columns: Columns) -> None:
        values = self.numbers_of(columns)
        if values is None:
            plan.add_constant(self.log_missing)
            return
        self.enter(plan, values)
        forbid_infinite(plan, values)

    def compiled_density(self) -> tuple[object, ...] | None:
        """The density of values that are present for `_core.RowScorer`; None if the core does not support it."""
        return None

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        made = self.compiled_density()
        return None if made is None else ("density", self.column, made, weight, self.log_observed, self.log_missing)

    def enter(self, plan: Plan, values: Doubles) -> None:
        """Add the terms of these values, NaN if missing; a density with few distinct terms adds a table."""
        plan.add_terms(self.log_prob(values))


def forbid_infinite(plan: Plan, values: Doubles) -> None:
    """Make a row with an infinite value impossible in every class, so that it is an error."""
    infinite = np.isinf(values)
    if infinite.any():
        plan.add_terms(np.where(infinite[:, None], -np.inf, np.zeros(plan.classes)))
