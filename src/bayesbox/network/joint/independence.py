"""Conditional independence of events or variables: exactly, in the counts, and by two statistical tests.

Independence in the table itself is an equality of fractions in every stratum c of the conditions:

    P(a, b | c) = P(a | c) P(b | c)    that is    n(a,b,c) n(c) = n(a,c) n(b,c)

A sample rarely satisfies it exactly, even if the variables are independent, so the difference is tested too: Pearson's
chi-square, the sum of (O - E)**2 / E, and G, twice the sum of O log(O / E), E = n(a,c) n(b,c) / n(c); both summed over
the strata, with (rows - 1)(columns - 1) degrees of freedom for the values that occur in each stratum. The tests treat
weights as numbers of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.network.joint.model import JointCounts
from bayesbox.network.joint.query import CountedRows
from bayesbox.network.joint.work import factors_text, verdict_work
from bayesbox.network.query.notation import Independence, Query, Term
from bayesbox.network.query.probability_table import decimal_text, fraction_text
from bayesbox.schema.arrays import AnyArray
from bayesbox.stat.chi_square import upper_tail

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work

Groups = NDArray[np.int64]


@dataclass(frozen=True)
class ChanceTest:
    """A test statistic, its degrees of freedom, and its p-value."""

    statistic: float
    degrees: int

    @property
    def p_value(self) -> float:
        """The upper tail of the chi-square distribution."""
        if self.degrees == 0 or self.statistic <= 0:
            return 1.0
        if self.degrees == 1:
            return math.erfc(math.sqrt(self.statistic / 2))
        return float(upper_tail(self.statistic, self.degrees))


class EventCounts(NamedTuple):
    """The rows with both events, with each event, and all rows that fit the conditions; with weights, their sums."""

    both: Fraction
    one: Fraction
    other: Fraction
    given: Fraction


@dataclass(frozen=True)
class Verdict:
    """Whether independence holds exactly, the two sides of the equation, and the tests.

    Its truth value is whether the equation holds. `joint` and `product` are P(a, b | c) and P(a | c) P(b | c) of the
    events, or of the values where they differ most; `witness` names these, `factors` are P(a | c) and P(b
    | c), and `counts` the rows behind them.
    """

    question: Independence
    independent: bool
    joint: Fraction
    product: Fraction
    factors: tuple[Fraction, Fraction]
    witness: Independence
    chi_square: ChanceTest
    g: ChanceTest
    counted: Fraction
    left_out: Fraction
    counts: EventCounts

    def __bool__(self) -> bool:
        return self.independent

    @property
    def parts(self) -> tuple[Query, Query, Query]:
        """P(a, b | c), P(a | c) and P(b | c) of the witness."""
        at = self.witness
        return Query(at.left + at.right, at.given), Query(at.left, at.given), Query(at.right, at.given)

    @property
    def equation(self) -> str:
        """Both sides of the equation with their values."""
        both, one, other = self.parts
        exact = fraction_text(self.joint) and fraction_text(self.product)
        left, right = (fraction_text(x) if exact else decimal_text(x) for x in (self.joint, self.product))
        factors = factors_text(self.factors) if exact else ""
        return f"{both} = {left}, {one} {other} = {f'{factors} = ' if factors else ''}{right}"

    def work(self) -> Work:
        """Both sides as counts over counts: prints as text, shows as HTML; `.latex()`, `.to_dict()`."""
        return verdict_work(self)

    def _repr_html_(self) -> str:
        return self.work()._repr_html_()

    def __repr__(self) -> str:
        if self.witness == self.question:
            return f"{'independent' if self.independent else 'not independent'}: {self.equation}"
        lead = (
            "independent for every value, such as"
            if self.independent
            else ("not independent, with the largest difference at")
        )
        return f"{lead} {self.equation}"


def verdict(table: JointCounts, question: Independence) -> Verdict:
    """The answer to a query of independence."""
    for side in (question.left, question.right):
        _require_one_sort(side)
    _require_apart(question)
    rows = CountedRows.of(table, question.names)
    holds = rows.fits(question.left), rows.fits(question.right)
    kept = np.flatnonzero(rows.fits(question.given))
    if not len(kept):
        raise rows.impossible(question.given)
    counts = rows.counts[kept]
    stratum = _values(rows, [term.name for term in question.given if term.value is None], kept)
    sides = [
        _Side(_values(rows, [term.name for term in side if term.value is None], kept), mask[kept])
        for side, mask in zip((question.left, question.right), holds, strict=True)
    ]
    whole = _Cells.of(stratum, sides[0].as_variable(), sides[1].as_variable(), counts)
    asked = _Cells.of(stratum, sides[0], sides[1], counts)
    worst = asked.furthest()
    row = int(kept[asked.row[worst]])
    joint, one, other = asked.probabilities(worst)
    return Verdict(
        question,
        whole.independent(),
        joint,
        one * other,
        (one, other),
        Independence(*(_valued(rows, terms, row) for terms in (question.left, question.right, question.given))),
        ChanceTest(whole.chi_square(rows.scale), whole.degrees()),
        ChanceTest(whole.g(rows.scale), whole.degrees()),
        counted=rows.family.n.fraction,
        left_out=rows.left_out,
        counts=asked.counts(worst, rows.scale),
    )


def _require_one_sort(side: Sequence[Term]) -> None:
    if len({term.value is None for term in side}) > 1:
        listed = ", ".join(str(term) for term in side)
        raise BadOption(
            "each side must consist of events, or of variables",
            found=listed,
            remedy="Give all of them a value, or none",
        )


def _require_apart(question: Independence) -> None:
    """Raise an error for a column that occurs on both sides."""
    sides = [{term.name for term in side} for side in (question.left, question.right, question.given)]
    for name in sorted((sides[0] & sides[1]) | (sides[0] & sides[2]) | (sides[1] & sides[2])):
        raise BadOption(f"`{name}` occurs twice", found=str(question), remedy="Name each column once")


def _values(rows: CountedRows, names: Sequence[str], kept: Groups) -> Groups:
    """The group number of each row by the levels of some columns; all 0 if there are no columns."""
    group = np.zeros(len(kept), dtype=np.int64)
    for name in names:
        group = _paired(group, rows.codes(name)[kept].astype(np.int64))
    return group


def _valued(rows: CountedRows, terms: Sequence[Term], row: int) -> tuple[Term, ...]:
    """The terms with the values of one combination; a term that has a value keeps it."""
    names = rows.family.names

    def level(name: str) -> str:
        place = names.index(name)
        return rows.family.levels[place][int(rows.family.codes[place, row])]

    return tuple(term if term.value is not None else Term(term.name, level(term.name)) for term in terms)


@dataclass(frozen=True)
class _Side:
    """One side of `_|_`: the values of its variables, and the rows in which its event holds (all, without an event)."""

    value: Groups
    holds: NDArray[np.bool_]

    def as_variable(self) -> _Side:
        """An event as a variable of two values: whether it holds."""
        return _Side(_paired(self.value, self.holds.astype(np.int64)), np.ones(len(self.holds), dtype=bool))


@dataclass(frozen=True)
class _Cells:
    """The occurring cells (a, b) of each stratum c, with their counts and margins, all integers."""

    row: Groups  # one of the rows in the cell
    n: AnyArray
    n_one: AnyArray
    n_other: AnyArray
    n_stratum: AnyArray
    stratum: Groups
    values: tuple[Groups, Groups]  # by stratum: how many a and how many b occur

    @classmethod
    def of(cls, stratum: Groups, one: _Side, other: _Side, counts: AnyArray) -> _Cells:
        """The cells, from the counts of rows."""
        left, right = _paired(stratum, one.value), _paired(stratum, other.value)
        cell = _paired(left, right)
        row = np.empty(int(cell.max()) + 1, dtype=np.int64)
        row[cell] = np.arange(len(cell))
        return cls(
            row,
            _summed(np.where(one.holds & other.holds, counts, 0), cell),
            _summed(np.where(one.holds, counts, 0), left)[left[row]],
            _summed(np.where(other.holds, counts, 0), right)[right[row]],
            _summed(counts, stratum)[stratum[row]],
            stratum[row],
            (_distinct_by(stratum, left), _distinct_by(stratum, right)),
        )

    def _apart(self) -> AnyArray:
        """n(a,b,c) n(c) - n(a,c) n(b,c): (O - E) n(c)."""
        apart: AnyArray = self.n * self.n_stratum - self.n_one * self.n_other
        return apart

    def furthest(self) -> int:
        """The cell where P(a, b | c) and P(a | c) P(b | c) differ most."""
        return int(np.argmax((abs(self._apart()) / self.n_stratum**2).astype(np.float64)))

    def probabilities(self, cell: int) -> tuple[Fraction, Fraction, Fraction]:
        """P(a, b | c), P(a | c) and P(b | c)."""
        under = int(self.n_stratum[cell])
        over = (int(counts[cell]) for counts in (self.n, self.n_one, self.n_other))
        joint, one, other = (Fraction(count, under) for count in over)
        return joint, one, other

    def counts(self, cell: int, scale: Fraction) -> EventCounts:
        """The rows of a cell, of its two margins and of its stratum."""
        found = (self.n, self.n_one, self.n_other, self.n_stratum)
        return EventCounts(*(int(counts[cell]) * scale for counts in found))

    def independent(self) -> bool:
        """Whether every cell is the product of its margins. Checking the cells that occur is enough: if a cell with a
        positive product did not occur, others would exceed theirs, since both sides have the same sum.
        """
        return bool((self._apart() == 0).all())

    def degrees(self) -> int:
        """The sum of (rows - 1)(columns - 1) over the strata."""
        rows, columns = self.values
        return int(((rows - 1) * (columns - 1)).sum())

    def chi_square(self, scale: Fraction) -> float:
        """The sum of (O - E)**2 / E; a cell that does not occur adds its E, and together these are n less the E of the
        others."""
        apart, expected = self._apart(), self.n_one * self.n_other
        terms = _doubles(apart, self.n_stratum, scale) * _doubles(apart, expected, Fraction(1))
        first = np.unique(self.stratum, return_index=True)[1]
        strata = self.n_stratum[first]
        lacking = _doubles(strata * strata - _summed(expected, self.stratum), strata, scale)
        return math.fsum([*terms.tolist(), *lacking.tolist()])

    def g(self, scale: Fraction) -> float:
        """Twice the sum of O log(O / E), over the cells that occur."""
        excess = _doubles(self._apart(), self.n_one * self.n_other, Fraction(1))  # (O - E) / E
        observed = _doubles(self.n, np.ones_like(self.n), scale)
        return max(0.0, 2 * math.fsum((observed * np.log1p(excess)).tolist()))


def _paired(one: Groups, other: Groups) -> Groups:
    """A number for each pair of numbers that occurs, starting at 0, in the order of the pairs."""
    width = int(other.max()) + 1 if len(other) else 1
    pairs: Groups = np.unique(one * width + other, return_inverse=True)[1]
    return pairs


def _summed(counts: AnyArray, group: Groups) -> AnyArray:
    """The sum of the counts of each group, exactly."""
    total = np.zeros(int(group.max()) + 1, dtype=counts.dtype)
    np.add.at(total, group, counts)
    return total


def _distinct_by(stratum: Groups, group: Groups) -> Groups:
    """The number of groups in each stratum; a group lies in one stratum."""
    first = np.unique(group, return_index=True)[1]
    return np.bincount(stratum[first])


def _doubles(numerator: AnyArray, denominator: AnyArray, scale: Fraction) -> NDArray[np.float64]:
    """numerator / denominator * scale; the integers may be of any size."""
    if numerator.dtype != object:
        return np.asarray(numerator / denominator * float(scale), dtype=np.float64)
    exact = [float(Fraction(int(a), int(b)) * scale) for a, b in zip(numerator, denominator, strict=True)]
    return np.array(exact, dtype=np.float64)
