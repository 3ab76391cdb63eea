"""How counts become probabilities: the smoothing rules, each one ratio of two formulas.

A rule sees n_cv (rows of class c with value v), n_c (rows of class c with any value), K (how many values there can be)
and n (rows of all classes), and gives a numerator and a denominator. It computes on doubles, or on fractions where the
work is to be shown exactly: the formula is the same.
"""

from __future__ import annotations

import dataclasses
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.extensions import Registry
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


class Smoothing(ABC):
    """A rule for counts: a frozen dataclass whose fields are its parameters, with `ratio`. The rest is derived."""

    name: ClassVar[str] = ""
    """What options and files call it: set by `register_rule`."""
    replaces: ClassVar[bool] = False
    """Whether it puts a number in the place of a count, rather than adding to it."""

    @abstractmethod
    def ratio(self, cells: Cells) -> Ratio:
        """Numerators and denominators of P(level | class). `cells.number(x)` is a parameter in their arithmetic."""

    @property
    def weight(self) -> float | None:
        """The number of rows that the rule's prior is worth in a mean; None where it has no such meaning."""
        return None

    @property
    def listed(self) -> tuple[str, ...]:
        """The levels that it names itself: they can occur, so they belong to the domain."""
        return ()

    def added(self, size: int) -> tuple[float, float] | None:  # noqa: ARG002
        """What it adds to every count and to every total over `size` levels; None where it adds no such numbers."""
        return None

    @classmethod
    def from_text(cls, text: str) -> Smoothing:
        """The rule of what follows its name after a colon: its parameters, between commas."""
        parameters = dataclasses.fields(cls)  # type: ignore[arg-type]
        given = text.split(",") if text else []
        if len(given) > len(parameters):
            raise TypeError("more parameters than the rule has")
        pairs = zip(given, parameters, strict=False)
        return cls(*(item if field.type == "str" else float(item) for item, field in pairs))

    def text(self) -> str:
        """The text that gives the rule back, where one does."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        if not all(isinstance(value, (str, numbers.Real)) for value in values):
            return repr(self)
        parameters = ",".join(value if isinstance(value, str) else repr(value) for value in values)
        return f"{self.name}:{parameters}" if parameters else self.name


RULES: Registry[type[Smoothing]] = Registry()
"""Every rule by the name that options use."""

R = TypeVar("R", bound=type[Smoothing])


def register_rule(name: str) -> Callable[[R], R]:
    """Make a rule known by a name: a decorator of its class.

    The name is then taken wherever a rule is: `smoothing="name"`, `--smoothing name:2`, and in model files.
    """

    def enter(rule: R) -> R:
        rule.name = name
        RULES.enter(name, rule, "smoothing rule")
        return rule

    return enter


def _non_negative(what: str, value: float) -> None:
    if not isinstance(value, numbers.Real) or not 0 <= value < float("inf"):
        raise BadOption(f"{what} is a finite number, 0 or more", found=value)


def _under(cells: Cells, extra: Any) -> Array:
    """n_c + extra in every column."""
    return np.broadcast_to(cells.by_column + extra, cells.counts.shape)


@register_rule("mle")
@dataclass(frozen=True)
class MaximumLikelihood(Smoothing):
    """n_cv / n_c."""

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts, _under(cells, 0))

    @property
    def weight(self) -> float:
        return 0.0

    def added(self, size: int) -> tuple[float, float]:  # noqa: ARG002
        return 0.0, 0.0


@register_rule("lidstone")
@dataclass(frozen=True)
class Lidstone(Smoothing):
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

    def added(self, size: int) -> tuple[float, float]:
        return self.a, self.a * size


@register_rule("laplace")
@dataclass(frozen=True)
class Laplace(Smoothing):
    """(n_cv + 1) / (n_c + K)."""

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts + 1, _under(cells, cells.size))

    @property
    def weight(self) -> float:
        return 1.0

    def added(self, size: int) -> tuple[float, float]:
        return 1.0, float(size)


@register_rule("m")
@dataclass(frozen=True)
class MEstimate(Smoothing):
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

    @property
    def listed(self) -> tuple[str, ...]:
        return () if self.prior is None else tuple(self.prior)

    def added(self, size: int) -> tuple[float, float] | None:
        return None if self.prior is not None else (self.m / max(size, 1), float(self.m))

    def text(self) -> str:
        return f"{self.name}:{self.m!r}" if self.prior is None else repr(self)


@register_rule("prior-counts")
@dataclass(frozen=True)
class PriorCounts(Smoothing):
    """(n_cv + P_v) / (n_c + sum of P_v): rows that are taken as seen beforehand. A value not listed has none."""

    counts: Mapping[Any, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _by_text("a prior count", self.counts))

    def ratio(self, cells: Cells) -> Ratio:
        listed = np.array([cells.number(self.counts.get(name, 0)) for name in cells.names], dtype=cells.counts.dtype)
        whole = sum((cells.number(count) for count in self.counts.values()), start=cells.number(0))
        return Ratio(cells.counts + listed[None, :], _under(cells, whole))

    @property
    def listed(self) -> tuple[str, ...]:
        return tuple(self.counts)

    @classmethod
    def from_text(cls, text: str) -> PriorCounts:
        pairs = (item.partition("=") for item in text.split(","))
        return cls({value: float(count) for value, _, count in pairs})


@register_rule("replace-zero")
@dataclass(frozen=True)
class ReplaceZero(Smoothing):
    """n_cv / n_c, but a zero becomes 0.5/n ("half") or P(c)/n ("prior"). Does not sum to one."""

    replaces: ClassVar[bool] = True

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


@register_rule("as-written")
@dataclass(frozen=True)
class AsWritten(Smoothing):
    """(n_cv + a) / (n_c + b), as some texts print it. Sums to one only if b = aK."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _non_negative("a", self.a)
        _non_negative("b", self.b)

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts + cells.number(self.a), _under(cells, cells.number(self.b)))


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
    if isinstance(given, Smoothing):
        return given
    raise BadOption("a smoothing rule is one of bayesbox.rules or a name such as 'laplace'", found=given)


def _from_text(text: str) -> Smoothing:
    name, _, arguments = text.partition(":")
    rule = RULES.get(name)
    if rule is None:
        raise BadOption(f"a smoothing rule is one of {', '.join(RULES)}", found=text)
    try:
        return rule.from_text(arguments)
    except (TypeError, ValueError) as error:
        if isinstance(error, BadOption):
            raise
        raise BadOption(
            f"the rule {name} cannot be made of this",
            found=text,
            remedy="Write laplace, mle, lidstone:0.5, m:2, prior-counts:red=2,blue=1, replace-zero:half, "
            "replace-zero:prior or as-written:1,2",
        ) from None
