"""The robust density of a number: a separate P(zero) if zeros are common, and a t of the other values or their logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, Plan
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, register
from bayesbox.dist.leave_one_out import LeaveOneOutPlan, leaves_only_flags
from bayesbox.dist.number.cell_density import CellDensity
from bayesbox.dist.number.cell_tree import LAST_KEY, Keys, StudentShape, edges_of, keys_of
from bayesbox.dist.number.density import NumberDensity, no_terms
from bayesbox.dist.number.robust_left_out import HeldOutCells, require_learned
from bayesbox.dist.number.robust_shape import FITTED, LOG_COMMON, LOG_OWN, HeightTerms, RobustColumns, Shapes, mixed
from bayesbox.dist.number.special import GREATEST, apart
from bayesbox.dist.number.student import log_student
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.limits import BYTES_A_RUN
from bayesbox.schema.columns import as_numbers
from bayesbox.tally.book import Book
from bayesbox.tally.grid import Grid
from bayesbox.tally.spread_table import SpreadTable

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression

HALVINGS = 65  # of all doubles, down to one
RUNS = ("starts", "log_ratios")  # the fields that the core may have
FAR = 1e150  # in scales, beyond which a square is not a double


@register("robust")
@dataclass(frozen=True)
class Robust(NumberDensity):
    """0.9 p(x | class) + 0.1 p(x | a class without rows), where p is a probability of zero and a t of the other values.

    Zero is modelled separately if more than 1 % of the column is zero: with z zeros among the n values of a class and a
    share q of zeros in the column, under a Beta prior worth two rows of the column,

        P(x = 0 | class) = (z + 2 q) / (n + 2)

    The t is the posterior predictive of a normal under a normal-inverse-gamma prior at the mean m of the column and the
    variance w within its classes, of the non-zero values if zero is separate: its moments are exact, since zeros add
    nothing to a sum. With the mean a and the variance s of the n values of a class,

        b = 10 w + n s + k n (a - m)**2 / (n + k)        df = n + 10
        loc = (k m + n a) / (n + k)        scale**2 = b (n + k + 1) / ((n + k) (n + 10))

    where k, the weight of the shared mean in rows, is learned from how far the means of the classes are apart
    (`bayesbox.dist.number.conjugate`). In the cells of the grid the t is scaled by the counts of the cells, if there
    are enough (`bayesbox.dist.number.cell_tree`).

    If no value is negative, log x may be normal instead: if the marginal likelihood of the moments of log x from the
    grid, over x, is 20 times that of the exact moments. On the log scale zero is separate wherever it occurs, and a
    negative value, or a zero if there was none, is not informative about the class.

    A class without rows has q as its probability of zero, and a t at the mean of the column with twice its variance and
    3 degrees of freedom. It has a weight of one in ten, so that no single value, such as an outlier, determines the
    class.

    If all non-zero values are equal, only whether x is zero is informative about the class.
    """

    tally: ClassVar[type] = Grid
    fits_columns: ClassVar[bool] = True

    log_zero: Doubles  # of each class and, last, of one without rows; -inf if zero is not separate
    log_rest: Doubles
    is_log: bool
    base: float  # loc is base + shift
    shift: Doubles
    scale: Doubles  # 0 if all non-zero values are equal
    df: Doubles
    mean_rows: float  # the weight of the shared mean; 0 without a t
    starts: Keys  # of the runs of cells with one ratio, ascending; the first starts at the smallest number
    log_ratios: Doubles  # runs x classes: the factor of the t

    @classmethod
    def fit(cls, column: str, tally: Grid, options: FitOptions) -> Self | None:
        """None if all values are equal."""
        return cls.fit_columns([column], [tally], [options])[0]

    @classmethod
    def fit_columns(
        cls, columns: Sequence[str], tallies: Sequence[Grid], options: Sequence[FitOptions]
    ) -> list[Self | None]:
        found: list[Self | None] = [None] * len(columns)
        table = SpreadTable.of(tallies)
        some = np.flatnonzero(table.has_spread())
        if not len(some):
            return found
        places = some.tolist()
        shapes = Shapes.of([tallies[place] for place in places], SpreadTable(*(each[some] for each in table)))
        has_t, (spread, mean_rows) = shapes.has_t, shapes.student()
        log_zero, log_rest = shapes.log_shares()
        at_loc = np.zeros(log_rest.shape)
        at_loc[has_t] = _at_loc(spread.scale[has_t], spread.df[has_t])
        added = HeightTerms(log_rest, at_loc, _own_terms(log_rest.shape[-1]), mixed(log_zero))
        runs = iter(shapes.cells([tallies[place] for place in places], spread, added))
        together = RobustColumns(
            log_zero, log_rest, shapes.is_log.tolist(), shapes.base.tolist(), *spread, mean_rows.tolist()
        )
        nothing = no_terms(len(tallies[0].classes))
        shared = {"log_observed": nothing, "log_missing": nothing, "fitted_together": together}
        distinct = dict(zip(map(id, options), options, strict=True)).values()  # thousands may be one
        plain = cls is Robust and not any(each.missing_is_level for each in distinct)
        for row, (place, with_t) in enumerate(zip(places, has_t.tolist(), strict=True)):
            if plain and with_t:
                found[place] = made = object.__new__(cls)  # with the runs of cells in the core: see `__getattr__`
                made.__dict__.update(shared, column=columns[place], row=row, _cells=next(runs))
                continue
            observed, missing, alone = nothing, nothing, cls is not Robust
            if options[place].missing_is_level:
                observed, missing = options[place].presence(tallies[place])
                alone = True
            if not with_t:
                starts, log_ratios = np.array([-LAST_KEY - 1]), np.zeros((1, log_rest.shape[-1]))
                given = together.fields(row)
                found[place] = cls(columns[place], observed, missing, **given, starts=starts, log_ratios=log_ratios)
                continue
            found[place] = made = object.__new__(cls)
            made.__dict__.update(
                {"column": columns[place], "log_observed": observed, "log_missing": missing, "_cells": next(runs)}
            )
            made.__dict__.update(together.fields(row) if alone else {"fitted_together": together, "row": row})
        return found

    def __getattr__(self, name: str) -> Any:
        """The fields that were fitted together with those of others, and the runs of cells that are in the core."""
        own = self.__dict__
        cells, together = own.get("_cells"), own.get("fitted_together")
        if name in RUNS and isinstance(cells, _core.CellRuns):
            own.update(starts=cells.starts, log_ratios=np.ascontiguousarray(cells.log_ratios.T))
        elif name in FITTED and together is not None:
            own.update(together.fields(own["row"]))
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return own[name]

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: the core makes the rest of them again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    # -- description -----------------------------------------------------------------------------------------------

    @property
    def zero_apart(self) -> bool:
        return not bool(np.isneginf(self.log_zero).all())

    @property
    def has_t(self) -> bool:
        return bool(self.scale.any())

    @property
    def _runs(self) -> int:
        """The number of runs of cells."""
        return self._cells.size if isinstance(self._cells, _core.CellRuns) else len(self.starts)

    @property
    def loc(self) -> Doubles:
        """The location of the t of each class."""
        return apart(self.shift[:-1], -self.base)

    @property
    def mixed_zero(self) -> Doubles:
        """log P(x = 0 | class)."""
        return mixed(self.log_zero)

    def parameters(self) -> dict[str, Doubles]:
        found = {"zero": functions.exp(self.mixed_zero)} if self.zero_apart else {}
        return found | ({"loc": self.loc, "scale": self.scale[:-1], "df": self.df[:-1]} if self.has_t else {})

    @property
    def free_parameters(self) -> int:
        return super().free_parameters - self.classes * self.has_t  # the degrees of freedom follow from the rows

    def table_bytes(self) -> int:
        return BYTES_A_RUN * self._runs * (self.classes + 1)

    def describe(self) -> str:
        parts = ["zero apart"] if self.zero_apart else []
        if self.has_t:
            parts.append(f"t of {'log x' if self.is_log else 'x'}, shared mean worth {self.mean_rows:.3g} rows")
        cells = f", in {self._runs} runs of cells" if self._runs > 1 else ""
        return f"robust: {' and '.join(parts)}{cells}"

    def special_values(self) -> Doubles:
        return np.zeros(1) if self.zero_apart else np.empty(0)

    # -- its values ------------------------------------------------------------------------------------------------

    @cached_property
    def _heights(self) -> Doubles:
        """Runs x classes: the log of all that (1 + z**2 / df)**-((df + 1) / 2) is multiplied by."""
        return _heights(self.log_ratios, self.log_rest, _at_loc(self.scale, self.df) if self.has_t else 0.0)

    @cached_property
    def _cells(self) -> CellDensity | _core.CellRuns:
        """The density for the core: with the runs that it has found, or those of the fields.

        Without a t only the heights count: all scales are infinite.
        """
        parameters = np.column_stack([self.shift, self.scale, self.df])
        if not self.has_t:
            parameters[:] = 0.0, np.inf, 3.0
        zeros = self.mixed_zero if self.zero_apart else None
        return CellDensity.of(self.starts, self._heights, parameters, self.base, is_log=self.is_log, zeros=zeros)

    def log_density(self, values: Doubles) -> Doubles:
        return self._run(np.clip(values, -GREATEST, GREATEST), self._cells)

    def _log_rest(self, values: Doubles) -> Doubles:
        """The log-density of non-zero values, if zero is separate."""
        cells = self._cells
        return self._run(
            values, cells._replace(zeros=None) if isinstance(cells, CellDensity) else cells.without_zeros()
        )

    def _run(self, values: Doubles, cells: CellDensity | _core.CellRuns) -> Doubles:
        plan = Plan(len(values), np.zeros(self.classes))
        plan.cells.append((values, cells, 1.0))
        terms: Doubles = plan.run(_core.JOINT)
        return terms

    def add_to(self, plan: Plan, columns: Columns) -> None:
        """An infinite value makes its row impossible in every class, which is an error."""
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        values = as_numbers(column, name=self.column)
        self.add_presence(plan, values)
        plan.cells.append((values, self._cells, 1.0))

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self) is not Robust:
            return None
        return "number", self.column, None, self._cells, weight, self.compiled_presence(weight)

    def curve(self, low: float, high: float, points: int) -> tuple[Doubles, Doubles]:
        """The curve without zero, which has a probability instead of a density."""
        x, heights = super().curve(low, high, points)
        if self.zero_apart:
            heights[x == 0] = functions.exp(self._log_rest(np.full(1, math.ulp(0.0))))
        return x, heights

    # -- quantiles -------------------------------------------------------------------------------------------------

    def _tails(self, x: Doubles, classes: NDArray[np.int64]) -> tuple[StudentShape, Doubles]:
        """The t of some classes, numbers x classes or 1 x classes, and its tails at numbers that may be infinite."""
        if self.is_log:
            with np.errstate(divide="ignore"):
                x = functions.log(np.maximum(x, 0.0))
        place = np.where(np.isinf(x), x, apart(x, self.base))
        spread = StudentShape(self.shift[classes], self.scale[classes], self.df[classes])
        return spread, spread.tail(place[:, None])

    @cached_property
    def _below_runs(self) -> tuple[Doubles, Doubles]:
        """The tails at the start of each run, and the cumulative probability of non-zero values up to there."""
        edges = np.concatenate([[-np.inf], edges_of(self.starts[1:]), [np.inf]])
        spread, starts = self._tails(edges, np.arange(self.classes + 1)[None])
        share = functions.exp(self.log_ratios) * spread.between(starts[:-1], starts[1:])
        return starts[:-1], np.vstack([np.zeros(self.classes + 1), np.cumsum(share, axis=0)])[:-1]

    def _cumulative(self, x: Doubles, classes: NDArray[np.int64]) -> Doubles:
        """P(X <= x | class) of some numbers, each with its class."""
        pair = np.column_stack([classes, np.full(len(classes), self.classes)])  # and the class without rows
        if self.has_t:
            tails, below = self._below_runs
            run = np.searchsorted(self.starts, keys_of(_core.grid_cells(x)), side="right")[:, None] - 1
            spread, ends = self._tails(x, pair)
            rest = below[run, pair] + functions.exp(self.log_ratios[run, pair]) * spread.between(tails[run, pair], ends)
        else:
            rest = np.where(x >= self.base, 1.0, 0.0)[:, None]
        whole = functions.exp(self.log_rest[pair]) * rest + np.where(x >= 0, 1.0, 0.0)[:, None] * functions.exp(
            self.log_zero[pair]
        )
        found: Doubles = math.exp(LOG_OWN) * whole[:, 0] + math.exp(LOG_COMMON) * whole[:, 1]
        return found

    def _quantiles(self, shares: Doubles, classes: NDArray[np.int64]) -> Doubles:
        """The quantiles, by bisection over all doubles in order."""
        high = np.full(len(shares), _order(np.array([GREATEST]))[0])
        low = -high
        for _ in range(HALVINGS):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            enough = self._cumulative(_number(middle), classes) >= shares
            low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
        return _number(high)

    def quantile(self, share: float) -> Doubles:
        return self._quantiles(np.full(self.classes, share), np.arange(self.classes))

    def quantiles(self, shares: Sequence[float]) -> Doubles:
        classes = np.tile(np.arange(self.classes), len(shares))
        return self._quantiles(np.repeat(np.asarray(shares), self.classes), classes).reshape(len(shares), self.classes)

    def support(self) -> Doubles | None:
        """Zero and the only other value, if there is only one."""
        return None if self.has_t else np.array([0.0, self.base])

    @cached_property
    def panels(self) -> Doubles:
        from bayesbox.dist.number.panels import SHARES, panels

        return panels(self.quantiles(SHARES.tolist()).ravel(), edges_of(self.starts[1:]))

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        found: list[Any] = self._quantiles(random.random(len(classes)), classes).tolist()
        return found

    # -- shown -----------------------------------------------------------------------------------------------------

    def formulas(self, value: float) -> list[str]:
        zero, rest = functions.exp(self.log_zero).tolist(), functions.exp(self.log_rest).tolist()
        if value == 0 and self.zero_apart:
            return [f"0.9 * {decimal(share)} + 0.1 * {decimal(zero[-1])}" for share in zero[:-1]]
        if self.is_log and value <= 0:
            return ["1"] * self.classes
        if not self.has_t:
            return [f"0.9 * {decimal(share)} + 0.1 * {decimal(rest[-1])}" for share in rest[:-1]]
        run = int(np.searchsorted(self.starts, keys_of(_core.grid_cells(np.array([value])))[0], side="right")) - 1
        ratios = functions.exp(self.log_ratios[run]).tolist()
        shares = [f"{decimal(share)} * " if self.zero_apart else "" for share in rest]
        cells = [f" * {decimal(ratio)}" if ratio != 1 else "" for ratio in ratios]
        x, over = (f"log {decimal(value)}", f" / {decimal(value)}") if self.is_log else (decimal(value), "")
        loc = apart(self.shift, -self.base).tolist()
        each = zip(shares, loc, self.scale.tolist(), self.df.tolist(), cells, strict=True)
        texts = [
            f"{share}t({x} | {decimal(m)}, {decimal(s)}, {decimal(v)} degrees){more}{over}"
            for share, m, s, v, more in each
        ]
        return [f"0.9 * {text} + 0.1 * {texts[-1]}" for text in texts[:-1]]

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """From the counts and moments without the row's value; a row that changes the chosen shape needs a refit."""
        values = self.leave_one_out_values(plan, columns, book, options)
        if values is None:
            return
        tally = book[self.column]
        refuse_infinite({self.column: values}, ~np.isnan(values), 0)
        require_learned(tally, values, plan.target)
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True
        cells = HeldOutCells(tally, values, plan.target)
        terms, doubtful = cells.terms(is_log=self.is_log, zero_apart=self.zero_apart, has_t=self.has_t)
        terms[np.isnan(values)] = 0.0
        plan.add_terms(terms)
        plan.doubtful |= doubtful & ~np.isnan(values)

    # -- exported --------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        """Omits terms that are equal in every class: the factor 1 / x of the log scale, and the density of a class
        without rows, if there is a t."""
        from bayesbox.dist.expression import ReadNumber, case, constant

        x = ReadNumber(self.column)
        cases = [(x.is_missing(), constant(self.log_missing))]
        if self.zero_apart:
            cases.append((x.equals(0.0), constant(self.mixed_zero + self.log_observed)))
        if self.is_log:
            cases.append((x <= 0.0, constant(self.log_observed)))
        if not self.has_t:
            return case(*cases, otherwise=constant(mixed(self.log_rest) + self.log_observed))
        limit = FAR * float(self.scale.min())
        if not self.is_log and math.isfinite(limit):  # squares overflow: clip the distance
            ends = self._log_rest(np.array([-GREATEST, GREATEST]))
            low, high = (ends - ends.max(axis=1, keepdims=True)) + self.log_observed
            away = x - self.base
            cases += [(away < -limit, constant(low)), (away > limit, constant(high))]
        return case(*cases, otherwise=self._rest_expression(x))

    def _rest_expression(self, x: Expression) -> Expression:
        """log(1 + exp(own - common)); exp does not overflow, since own - common is bounded."""
        from bayesbox.dist.expression import Lookup, ReadBin, constant, exp, log1p, squared
        from bayesbox.dist.expression import log as logarithm

        place = (logarithm(x) if self.is_log else x) - self.base

        def tail(shift: Doubles, scale: Doubles, df: Doubles) -> Expression:
            return log1p(squared(place - shift, scale) / df) * ((df + 1) / 2)

        every = np.ones(self.classes)
        common = tail(self.shift[-1] * every, self.scale[-1] * every, self.df[-1] * every)
        own = tail(self.shift[:-1], self.scale[:-1], self.df[:-1])
        above = self._heights[:, :-1] - self._heights[:, -1:]
        if len(self.starts) == 1:
            height = constant(above[0])
        else:
            position = ReadBin(self.column, tuple(_cuts(self.starts[1:]).tolist()))
            height = Lookup(position, above, np.zeros(self.classes))
        return constant(self.log_observed) + log1p(exp(height - own + common))


def _at_loc(scale: Doubles, df: Doubles) -> Doubles:
    """The log of each t at its location."""
    return log_student(np.zeros(1), np.zeros(1), scale, df)


def _heights(log_ratios: Doubles, log_rest: Doubles, at_loc: Doubles | float) -> Doubles:
    heights: Doubles = log_ratios + log_rest + at_loc + _own_terms(log_ratios.shape[-1])
    return heights


def _own_terms(densities: int) -> Doubles:
    """The log weights of a class and, last, of a class without rows."""
    own = np.full(densities, LOG_OWN)
    own[-1] = LOG_COMMON
    return own


def _cuts(keys: Keys) -> Doubles:
    """The largest number below each of these cells: a number on a cut belongs to the lower bin."""
    edges = edges_of(keys)
    return np.where(keys < 0, edges, np.nextafter(edges, -np.inf))


def _order(numbers: Doubles) -> NDArray[np.int64]:
    """The position of each double in the order of all doubles, 0 for zero."""
    bits = np.abs(numbers).view(np.int64)
    return np.where(numbers < 0, -bits, bits)


def _number(places: NDArray[np.int64]) -> Doubles:
    sizes = np.abs(places).view(np.float64)
    return np.where(places < 0, -sizes, sizes)
