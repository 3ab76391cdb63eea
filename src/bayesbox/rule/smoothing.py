"""How counts become probabilities: the smoothing rules, each one ratio of two formulas.

A rule sees n_cv (rows of class c with value v), n_c (rows of class c with any value), K (how many values there can be)
and n (rows of all classes), and gives a numerator and a denominator. It computes on doubles, or on fractions where the
work is to be shown exactly: the formula is the same.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.schema.levels import level_text

Array = NDArray[Any]
UNSEEN = None  # the name of a level that was never seen
MISSING = ("missing",)  # the name of a missing value that counts as a level


class Cells(NamedTuple):
    """What a rule sees. `counts` may hold more columns than K, for levels that are not part of the domain."""

    counts: Array  # classes x levels: n_cv
    totals: Array  # classes: n_c; or classes x levels, where each column is a case of its own
    size: Any  # K; or one K a column
    names: Sequence[Any]  # of the levels: texts, UNSEEN, MISSING

    @property
    def by_column(self) -> Array:
        """n_c as classes x 1, or classes x levels."""
        return self.totals[:, None] if self.totals.ndim == 1 else self.totals

    @property
    def n(self) -> Array:
        """n, once or once a column."""
        n: Array = self.by_column.sum(axis=0)
        return n

    @property
    def exact(self) -> bool:
        return self.counts.dtype == object

    def number(self, value: float) -> Any:
        """A parameter in the arithmetic of the cells; 0.1 is one tenth where that is exact."""
        return Fraction(str(value)) if self.exact else value


class Ratio(NamedTuple):
    """Numerators and denominators, classes x levels."""

    numerator: Array
    denominator: Array


class Smoothing(Protocol):
    """A rule for counts."""

    def ratio(self, cells: Cells) -> Ratio: ...

    @property
    def weight(self) -> float | None:
        """The number of rows that the rule's prior is worth in a mean; None where it has no such meaning."""
        ...


def listed_levels(rule: Smoothing) -> tuple[str, ...]:
    """The levels a rule names itself: they can occur, so they belong to the domain."""
    if isinstance(rule, PriorCounts):
        return tuple(rule.counts)
    if isinstance(rule, MEstimate) and rule.prior is not None:
        return tuple(rule.prior)
    return ()


RULES: dict[str, type] = {}
"""Every rule by the name that options use."""


def _rule(name: str) -> Any:
    def enter(rule: type) -> type:
        RULES[name] = rule
        return rule

    return enter


def _non_negative(what: str, value: float) -> None:
    if not isinstance(value, numbers.Real) or not 0 <= value < float("inf"):
        raise BadOption(f"{what} is a finite number, 0 or more", found=value)


def _under(cells: Cells, extra: Any) -> Array:
    """n_c + extra in every column."""
    return np.broadcast_to(cells.by_column + extra, cells.counts.shape)


@_rule("mle")
@dataclass(frozen=True)
class MaximumLikelihood:
    """n_cv / n_c."""

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts, _under(cells, 0))

    @property
    def weight(self) -> float:
        return 0.0


@_rule("lidstone")
@dataclass(frozen=True)
class Lidstone:
    """(n_cv + a) / (n_c + aK)."""

    a: float

    def __post_init__(self) -> None:
        _non_negative("Lidstone's a", self.a)

    def ratio(self, cells: Cells) -> Ratio:
        a = cells.number(self.a)
        return Ratio(cells.counts + a, _under(cells, a * cells.size))

    @property
    def weight(self) -> float:
        return self.a


@_rule("laplace")
@dataclass(frozen=True)
class Laplace:
    """(n_cv + 1) / (n_c + K)."""

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts + 1, _under(cells, cells.size))

    @property
    def weight(self) -> float:
        return 1.0


@_rule("m")
@dataclass(frozen=True)
class MEstimate:
    """(n_cv + m p_v) / (n_c + m), with p_v given by value, or 1/K."""

    m: float
    prior: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        _non_negative("the m of an m-estimate", self.m)
        if self.prior is not None:
            object.__setattr__(self, "prior", _by_text("a prior probability", self.prior))
            if abs(sum(self.prior.values()) - 1) > 1e-9:
                raise BadOption("the prior of an m-estimate sums to 1", found=dict(self.prior))

    def ratio(self, cells: Cells) -> Ratio:
        m = cells.number(self.m)
        if self.prior is None:
            share = m * cells.number(1) / np.maximum(cells.size, 1)  # nothing is shared out where there is no level
            return Ratio(cells.counts + share, _under(cells, m))
        prior = np.array([cells.number(self.prior.get(name, 0)) for name in cells.names], dtype=cells.counts.dtype)
        return Ratio(cells.counts + (m * prior)[None, :], _under(cells, m))

    @property
    def weight(self) -> float:
        return self.m


@_rule("prior-counts")
@dataclass(frozen=True)
class PriorCounts:
    """(n_cv + P_v) / (n_c + sum of P_v): rows that are taken as seen beforehand. A value not listed has none."""

    counts: Mapping[Any, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _by_text("a prior count", self.counts))

    def ratio(self, cells: Cells) -> Ratio:
        listed = np.array([cells.number(self.counts.get(name, 0)) for name in cells.names], dtype=cells.counts.dtype)
        whole = sum((cells.number(count) for count in self.counts.values()), start=cells.number(0))
        return Ratio(cells.counts + listed[None, :], _under(cells, whole))

    @property
    def weight(self) -> None:
        return None


@_rule("replace-zero")
@dataclass(frozen=True)
class ReplaceZero:
    """n_cv / n_c, but a zero becomes 0.5/n ("half") or P(c)/n ("prior"). Does not sum to one."""

    by: str = "half"

    def __post_init__(self) -> None:
        if self.by not in ("half", "prior"):
            raise BadOption("a zero is replaced by 'half' (0.5/n) or 'prior' (P(c)/n)", found=self.by)

    def ratio(self, cells: Cells) -> Ratio:
        zero = (cells.counts == 0) & (cells.by_column != 0)
        if self.by == "half":
            over, under = cells.number(0.5), cells.n
        else:
            over, under = cells.by_column, cells.n * cells.n
        return Ratio(np.where(zero, over, cells.counts), np.where(zero, under, _under(cells, 0)))

    @property
    def weight(self) -> None:
        return None


@_rule("as-written")
@dataclass(frozen=True)
class AsWritten:
    """(n_cv + a) / (n_c + b), as some texts print it. Sums to one only if b = aK."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _non_negative("a", self.a)
        _non_negative("b", self.b)

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts + cells.number(self.a), _under(cells, cells.number(self.b)))

    @property
    def weight(self) -> None:
        return None


def _by_text(what: str, values: Mapping[Any, float]) -> dict[str, float]:
    if not isinstance(values, Mapping):
        raise BadOption(f"{what} is given for each value, in a dict", found=values)
    texts = {level_text(value): number for value, number in values.items()}
    for number in texts.values():
        _non_negative(what, number)
    return texts


def ratio(rule: Smoothing, cells: Cells) -> Ratio:
    """A rule's ratio; a class in which it gives 0/0 takes the column's pooled distribution n_v / n.

    Where no class has a value at all, every level is 0/1: impossible in every class, so it is left out.
    """
    over, under = rule.ratio(cells)
    same = under.ndim == 2 and under.shape[1] > 0 and under.strides[1] == 0  # in every column
    if not np.any((under[:, :1] if same else under) == 0):
        return Ratio(over, under)
    empty = under == 0
    pooled = np.broadcast_to(cells.counts.sum(axis=0)[None, :], cells.counts.shape)
    return Ratio(np.where(empty, pooled, over), np.where(empty, np.where(cells.n == 0, 1, cells.n), under))


def as_smoothing(given: Any) -> Smoothing:
    """A rule from what a user gives: a rule, its name such as "laplace" or "lidstone:0.5", or a mapping of counts.

    >>> as_smoothing("lidstone:0.5"), as_smoothing("replace-zero:prior"), as_smoothing("as-written:1,2")
    (Lidstone(a=0.5), ReplaceZero(by='prior'), AsWritten(a=1.0, b=2.0))
    """
    if isinstance(given, str):
        return _from_text(given)
    if hasattr(given, "ratio") and not isinstance(given, type):
        return given  # type: ignore[no-any-return]
    raise BadOption("a smoothing rule is one of bayesbox.rules or a name such as 'laplace'", found=given)


def _from_text(text: str) -> Smoothing:
    name, _, arguments = text.partition(":")
    rule = RULES.get(name)
    if rule is None:
        raise BadOption(f"a smoothing rule is one of {', '.join(RULES)}", found=text)
    try:
        return rule(*_arguments(rule, arguments))  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        if isinstance(error, BadOption):
            raise
        raise BadOption(
            f"the rule {name} cannot be made of this",
            found=text,
            remedy="Write laplace, mle, lidstone:0.5, m:2, prior-counts:red=2,blue=1, replace-zero:half, "
            "replace-zero:prior or as-written:1,2",
        ) from None


def _arguments(rule: type, text: str) -> list[Any]:
    if not text:
        return []
    if rule is ReplaceZero:
        return [text]
    if rule is PriorCounts:
        pairs = (item.partition("=") for item in text.split(","))
        return [{value: float(count) for value, _, count in pairs}]
    return [float(item) for item in text.split(",")]


def smoothing_text(rule: Smoothing) -> str:
    """The name that gives the rule back: the inverse of `as_smoothing` for the rules of this file."""
    name = next(name for name, kind in RULES.items() if type(rule) is kind)
    if isinstance(rule, (MaximumLikelihood, Laplace)):
        return name
    if isinstance(rule, Lidstone):
        return f"{name}:{rule.a!r}"
    if isinstance(rule, AsWritten):
        return f"{name}:{rule.a!r},{rule.b!r}"
    if isinstance(rule, ReplaceZero):
        return f"{name}:{rule.by}"
    if isinstance(rule, MEstimate) and rule.prior is None:
        return f"{name}:{rule.m!r}"
    return repr(rule)
