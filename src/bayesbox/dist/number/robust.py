"""The robust density of a number: zero apart where it is common, and a t of the other values, or of their logs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Doubles, log
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, register
from bayesbox.dist.leave_one_out import LeaveOneOutPlan, Others, leaves_only_flags, others_of
from bayesbox.dist.number.conjugate import ClassSpreads, spreads_of
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.log_cells import LogSums, log_cells, log_spreads, log_sums, sum_of_logs
from bayesbox.dist.number.special import GREATEST, apart
from bayesbox.dist.number.student import log_student, student_quantile
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.errors import NeverLearned
from bayesbox.tally.base import added
from bayesbox.tally.book import Book
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression

COMMON = Fraction(1, 100)  # zero is apart where more than this share of a column is zero
ZERO_ROWS = 2  # what the prior of the share of zero is worth
LOST = 1e-6  # the share of a column's squares that must be left, for doubles to tell it

Flags = NDArray[np.bool_]


@register("robust")
@dataclass(frozen=True)
class Robust(NumberDensity):
    """P(x = 0 | class), and (1 - P(x = 0 | class)) t(x) of other values, or with t(log x) / x in place of t(x).

    Zero is apart where more than 1 % of the column is zero: with z of the n values of a class and a share q of those of
    the column, under a Beta prior worth two rows of the column,

        P(x = 0 | class) = (z + 2 q) / (n + 2)

    The t is the posterior predictive of a normal under a normal-inverse-gamma prior at the mean and the variance of the
    column (`bayesbox.dist.number.conjugate`), of the values that are not zero where zero is apart: its moments are the
    exact ones, since zeros add nothing to a sum.

    Where no value is negative, log x may be normal instead. The evidence decides: that of the exact moments against
    that of the moments of log x, which are read off the grid, over x. On that scale zero is apart wherever it occurs,
    and a value below 0, or a zero where there was none, says nothing of the class.

    Where all values but zero are equal, only whether x is zero says something of the class.
    """

    tally: ClassVar[type] = Grid

    log_zero: Doubles  # -inf where zero is not apart
    log_rest: Doubles
    is_log: bool
    base: float  # loc is base + shift
    shift: Doubles
    scale: Doubles  # 0 where all values but zero are equal
    df: Doubles

    @classmethod
    def fit(cls, column: str, tally: Grid, options: FitOptions) -> Self | None:
        """None where all values are equal."""
        whole = tally.pooled()
        if whole.n.m == 0 or whole.excess.m == 0:
            return None
        shape = _Shape.of(tally)
        log_zero, log_rest = _shares(*shape.counts) if shape.apart else _no_shares(len(tally.classes))
        spreads = shape.spreads
        if spreads is None:
            nothing = np.zeros(len(tally.classes))
            base, loc, scale, df = shape.base, nothing, nothing, nothing
        else:
            base, loc, scale, df = shape.base, shape.low + spreads.loc, spreads.scale, spreads.df
        return cls(column, *options.presence(tally), log_zero, log_rest, shape.is_log, base, loc, scale, df)

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def zero_apart(self) -> bool:
        return not bool(np.isneginf(self.log_zero).all())

    @property
    def _has_t(self) -> bool:
        return bool(self.scale.any())

    @property
    def loc(self) -> Doubles:
        """The middle of the t of each class."""
        return apart(self.shift, -self.base)

    def parameters(self) -> dict[str, Doubles]:
        found = {"zero": np.exp(self.log_zero)} if self.zero_apart else {}
        return found | ({"loc": self.loc, "scale": self.scale, "df": self.df} if self._has_t else {})

    @property
    def free_parameters(self) -> int:
        return super().free_parameters - self.classes * self._has_t  # the degrees of freedom are those of the rows

    def describe(self) -> str:
        parts = ["zero apart"] if self.zero_apart else []
        parts += [f"t of {'log x' if self.is_log else 'x'}"] if self._has_t else []
        return f"robust: {' and '.join(parts)}"

    def special_values(self) -> Doubles:
        return np.zeros(1) if self.zero_apart else np.empty(0)

    # -- its values ------------------------------------------------------------------------------------------------

    def log_density(self, values: Doubles) -> Doubles:
        terms = self.log_rest + self._log_t(values)
        if self.is_log:
            terms[values <= 0] = 0.0
        if self.zero_apart:
            terms[values == 0] = self.log_zero
        return terms

    def _log_t(self, values: Doubles) -> Doubles:
        if not self._has_t:
            return np.zeros((len(values), self.classes))
        x = values
        if self.is_log:
            x = np.log(np.where(values > 0, values, 1.0))
        terms = log_student(apart(x, self.base)[:, None], self.shift, self.scale, self.df)
        return terms - x[:, None] if self.is_log else terms

    def curve(self, low: float, high: float, points: int) -> tuple[Doubles, Doubles]:
        """Without zero, which has a probability and no density."""
        x, heights = super().curve(low, high, points)
        if self.zero_apart:
            beside = np.exp(self.log_rest + self._log_t(np.full(1, math.ulp(0.0))))
            heights[x == 0] = beside
        return x, heights

    def quantile(self, share: float) -> Doubles:
        found = np.zeros(self.classes)
        for label in range(self.classes):
            zero, rest = math.exp(self.log_zero[label]), math.exp(self.log_rest[label])
            if not self.is_log and share < rest:  # below zero, if this much of the t is
                found[label] = min(self._t_quantile(label, share / rest), 0.0) if zero else 0.0
            if found[label] == 0 and share > zero:
                above = self._t_quantile(label, (share - zero) / rest)
                found[label] = max(above, 0.0) if zero else above
        return found

    def _t_quantile(self, label: int, share: float) -> float:
        if not self._has_t:
            return self.base
        t = student_quantile(float(self.df[label]), min(share, 1 - 2**-53))
        x = float(self.shift[label]) + float(self.scale[label]) * t
        return _exp(self.base + x) if self.is_log else float(apart(x, -self.base))

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        is_zero = random.random(len(classes)) < np.exp(self.log_zero)[classes]
        steps = np.zeros(len(classes))
        if self._has_t:
            steps = self.shift[classes] + self.scale[classes] * random.standard_t(self.df[classes])
        drawn = apart(steps, -self.base)
        if self.is_log and self._has_t:
            with np.errstate(over="ignore"):
                drawn = np.minimum(np.exp(drawn), GREATEST)
        found: list[Any] = np.where(is_zero, 0.0, drawn).tolist()
        return found

    # -- shown -----------------------------------------------------------------------------------------------------

    def formulas(self, value: float) -> list[str]:
        zero, rest = np.exp(self.log_zero).tolist(), np.exp(self.log_rest).tolist()
        if value == 0 and self.zero_apart:
            return [f"P(0) = {decimal(share)}" for share in zero]
        if self.is_log and value <= 0:
            return ["1"] * self.classes
        shares = [f"{decimal(share)} * " if self.zero_apart else "" for share in rest]
        if not self._has_t:
            return [f"P(not 0) = {decimal(share)}" for share in rest]
        x, over = (f"log {decimal(value)}", f" / {decimal(value)}") if self.is_log else (decimal(value), "")
        each = zip(shares, self.loc.tolist(), self.scale.tolist(), self.df.tolist(), strict=True)
        return [f"{share}t({x} | {decimal(m)}, {decimal(s)}, {decimal(v)} degrees){over}" for share, m, s, v in each]

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """By the counts and moments without the row's own value; a row that changes what is chosen, by a refit."""
        values = self.left_out_values(plan, columns, book, options)
        if values is None:
            return
        tally = book[self.column]
        refuse_infinite({self.column: values}, ~np.isnan(values), 0)
        _require_learned(tally, values, plan.target)
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True
        terms, doubtful = _LeftOut(tally, values, plan.target).terms(self)
        terms[np.isnan(values)] = 0.0
        plan.add_terms(terms)
        plan.doubtful |= doubtful & ~np.isnan(values)

    # -- exported --------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        """Without the factor 1 / x of the scale of logs, which is the same in every class."""
        from bayesbox.dist.expression import ReadNumber, case, constant, log1p, squared
        from bayesbox.dist.expression import log as logarithm

        x = ReadNumber(self.column)
        rest = constant(self.log_rest + self.log_observed)
        if self._has_t:
            at_loc = log_student(np.zeros((1, 1)), np.zeros(self.classes), self.scale, self.df)[0]
            distance = (logarithm(x) if self.is_log else x) - self.base - self.shift
            tail = log1p(squared(distance, self.scale) / self.df) * ((self.df + 1) / 2)
            rest = constant(at_loc + self.log_rest + self.log_observed) - tail
        cases = [(x.is_missing(), constant(self.log_missing))]
        if self.zero_apart:
            cases.append((x.equals(0.0), constant(self.log_zero + self.log_observed)))
        if self.is_log:
            cases.append((x <= 0.0, constant(self.log_observed)))
        return case(*cases, otherwise=rest)


class _Counts(NamedTuple):
    """The values of each class, and those of them that are zero."""

    n: Doubles
    zeros: Doubles


class _Shape(NamedTuple):
    """What is chosen for a column, and what it is fitted to."""

    apart: bool
    is_log: bool
    counts: _Counts
    base: float  # the mean of the column, on the scale that was chosen: base + low
    low: float
    spreads: ClassSpreads | None  # None where all values but zero are equal

    @classmethod
    def of(cls, tally: Grid) -> _Shape:
        zeros, n = tally.zeros(), tally.sums.n
        counts = _Counts(n.to_doubles(), zeros.to_doubles())
        common = is_common(Fraction(float(counts.zeros.sum())), Fraction(float(counts.n.sum())))
        rest = without_zeros(tally)
        apart = common
        if log_is_possible(tally) and rest.pooled().excess.m:
            by_class, whole = log_sums(tally)
            spreads = log_spreads(by_class, whole)
            if log_wins(spreads_of(rest).log_evidence(), spreads, whole):
                return cls(bool(counts.zeros.any()), True, counts, float(whole.mean[0]), 0.0, spreads)
        values = rest if apart else Moments(tally.classes, tally.sums)
        pooled = values.pooled()
        spread = spreads_of(values) if pooled.excess.m else None
        return cls(apart, False, counts, pooled.mean, pooled.rest_of_mean if spread else 0.0, spread)


def is_common(zeros: Fraction, n: Fraction) -> bool:
    """Whether zero is apart whatever the scale."""
    return zeros > COMMON * n


def without_zeros(tally: Grid) -> Moments:
    """The moments of the values that are not zero: zeros add nothing to a sum."""
    sums = tally.sums
    n = added(sums.n, tally.zeros(), sign=-1)
    return Moments(tally.classes, _core.Moments(n, sums.fractional, sums.total, sums.squares))


def log_is_possible(tally: Grid) -> bool:
    """Whether some values are above zero and none is below."""
    return len(tally.grid.cell) > 0 and bool((tally.grid.cell >= 0).all())


def log_wins(plain: Doubles, logs: ClassSpreads, whole: LogSums) -> Any:
    """Whether the evidence on the scale of logs is greater than the plain one; one answer, or one a row."""
    return logs.log_evidence() - sum_of_logs(whole)[..., 0] > plain


def _shares(n: Doubles, zeros: Doubles) -> tuple[Doubles, Doubles]:
    """log P(x = 0 | class) and log P(x != 0 | class); classes, or rows x classes."""
    share = zeros.sum(axis=-1, keepdims=True) / n.sum(axis=-1, keepdims=True)
    under = np.log(n + ZERO_ROWS)
    return log(zeros + ZERO_ROWS * share) - under, log(n - zeros + ZERO_ROWS * (1 - share)) - under


def _no_shares(classes: int) -> tuple[Doubles, Doubles]:
    return np.full(classes, -np.inf), np.zeros(classes)


def _exp(x: float) -> float:
    """exp(x), at most the greatest double."""
    return math.exp(x) if x < math.log(GREATEST) else float(GREATEST)


def _require_learned(tally: Grid, values: Doubles, target: NDArray[np.int32]) -> None:
    """Refuse rows whose cell has no count in their class."""
    cell = _core.grid_cells(values)
    there = np.flatnonzero(~np.isnan(values))
    known = tally.grid.label.astype(np.int64) << 16 | (tally.grid.cell + 32768)
    wanted = target[there].astype(np.int64) << 16 | (cell[there] + 32768)
    place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    counts = tally.grid.counts.to_doubles()
    unknown = (known[place] != wanted) | (counts[place] < 1) if len(known) else np.ones(len(there), dtype=bool)
    if unknown.any():
        raise NeverLearned(
            "some of these rows were never learned: a value has no count in its class",
            found=float(values[there[int(np.argmax(unknown))]]),
            remedy="Leave-one-out is for the rows a model was trained on",
        )


class _LeftOut:
    """The densities of rows, each under the counts and moments of all others."""

    def __init__(self, tally: Grid, values: Doubles, target: NDArray[np.int32]) -> None:
        self.tally = tally
        self.values = values
        self.target = target
        self.rows = np.arange(len(values))
        self.is_zero: Flags = values == 0

    def terms(self, family: Robust) -> tuple[Doubles, Flags]:
        """The log-densities, rows x classes, and which of them only a refit can tell."""
        doubtful = self._changes(family)
        terms = np.zeros((len(self.values), family.classes))
        if family._has_t:
            found, unsure = self._log_terms() if family.is_log else self._plain_terms(family.zero_apart)
            terms, doubtful = terms + found, doubtful | unsure
        if family.zero_apart:
            log_zero, log_rest = _shares(*self._counts())
            terms = np.where(self.is_zero[:, None], log_zero, terms + log_rest)
        return terms, doubtful

    def _counts(self) -> _Counts:
        """Those of the others, rows x classes."""
        n = np.tile(self.tally.sums.n.to_doubles(), (len(self.values), 1))
        zeros = np.tile(self.tally.zeros().to_doubles(), (len(self.values), 1))
        n[self.rows, self.target] -= 1
        zeros[self.rows, self.target] -= self.is_zero
        return _Counts(n, zeros)

    def _changes(self, family: Robust) -> Flags:
        """The rows without which another shape may be chosen."""
        zeros = float(self.tally.zeros().to_doubles().sum())
        n = float(self.tally.sums.n.to_doubles().sum())
        now = is_common(Fraction(zeros), Fraction(n))
        without = [is_common(Fraction(max(zeros - own, 0)), Fraction(n - 1)) for own in (0, 1)]
        changes: Flags = np.where(self.is_zero, without[1] != now, without[0] != now)
        changes |= self.is_zero & (zeros <= 1)
        negative = self.tally.grid.cell < 0
        if negative.any():
            changes |= (self.values < 0) & (self.tally.grid.counts.to_doubles()[negative].sum() <= 1)
            return changes
        if without_zeros(self.tally).pooled().excess.m == 0:  # all but zero are equal: there is one scale only
            changes |= ~self.is_zero & (n - zeros <= 1)
            return changes
        changes |= self._scale_changes(family.is_log)
        return changes

    def _scale_changes(self, is_log: bool) -> Flags:
        """Where the evidence of the others chooses the other scale."""
        others = self._others(zero_apart=True)
        spreads = ClassSpreads(others.n, others.distance, others.deviation, others.whole_deviation)
        plain = spreads.log_evidence() - others.n.sum(axis=1) * np.log(others.unit)
        logs, whole, unsure = self._log_spreads()
        changes: Flags = np.asarray(log_wins(plain, logs, whole)) != is_log
        changes &= ~self.is_zero
        changes |= others.doubtful | unsure
        return changes

    def _others(self, *, zero_apart: bool) -> Others:
        values = np.where(self.is_zero, np.nan, self.values) if zero_apart else self.values
        moments = without_zeros(self.tally) if zero_apart else Moments(self.tally.classes, self.tally.sums)
        return others_of(moments, values, self.target)

    def _plain_terms(self, zero_apart: bool) -> tuple[Doubles, Flags]:
        others = self._others(zero_apart=zero_apart)
        spreads = ClassSpreads(others.n, others.distance, others.deviation, others.whole_deviation)
        terms = log_student(others.x, spreads.loc, spreads.scale, spreads.df) - np.log(others.unit)
        return terms, others.doubtful

    def _log_spreads(self) -> tuple[ClassSpreads, LogSums, Flags]:
        by_class, whole = log_sums(self.tally)
        there = self.values > 0
        middle, within = log_cells(np.where(there, _core.grid_cells(self.values), 1).astype(np.int32))
        left = LogSums(*(np.tile(each, (len(self.values), 1)) for each in by_class))
        own = (self.rows[there], self.target[there])
        taken = LogSums(*(each[own] for each in left)).without(middle[there], within[there])
        for each, part in zip(left, taken, strict=True):
            each[own] = part
        rest = LogSums(*(np.tile(each, (len(self.values), 1)) for each in whole))
        gone = rest.without(middle[:, None], within[:, None])
        rest = LogSums(*(np.where(there[:, None], one, other) for one, other in zip(gone, rest, strict=True)))
        unsure: Flags = there & ((rest.squares[:, 0] < LOST * whole.squares[0]) | (rest.n[:, 0] < 1))
        safe = LogSums(rest.n, rest.mean, np.where(unsure[:, None], 1.0, rest.squares))
        return log_spreads(left, safe), safe, unsure

    def _log_terms(self) -> tuple[Doubles, Flags]:
        spreads, whole, unsure = self._log_spreads()
        x = np.log(np.where(self.values > 0, self.values, 1.0))[:, None]
        terms = log_student(x - whole.mean, spreads.loc, spreads.scale, spreads.df) - x
        return terms, unsure
