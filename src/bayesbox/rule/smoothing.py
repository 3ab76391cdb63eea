"""The smoothing rules, which turn counts into probabilities; each is a ratio of two formulas.

A rule gets n_cv (rows of class c with value v), n_c (rows of class c with any value), K (the number of possible values)
and n (rows of all classes), and returns a numerator and a denominator. It computes with doubles, or with fractions for
an exact calculation: the formula is the same.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from bayesbox.dist.cells import Array, Cells, Ratio, Smoothing
from bayesbox.errors import BadOption
from bayesbox.extensions import Registry
from bayesbox.schema.levels import level_text

RULES: Registry[type[Smoothing]] = Registry()
"""Every rule by the name that options use."""

R = TypeVar("R", bound=type[Smoothing])


def register_rule(name: str) -> Callable[[R], R]:
    """A decorator that registers a rule class under a name.

    The name then works wherever a rule is accepted: `smoothing="name"`, `--smoothing name:2`, and in model files.
    """

    def enter(rule: R) -> R:
        rule.name = name
        RULES.enter(name, rule, "smoothing rule")
        return rule

    return enter


def _non_negative(what: str, value: float) -> None:
    if not isinstance(value, numbers.Real) or not 0 <= value < float("inf"):
        raise BadOption(f"{what} must be a finite non-negative number", found=value)


def _under(cells: Cells, extra: object) -> Array:
    """n_c + extra in every column."""
    return np.broadcast_to(cells.by_column + extra, cells.counts.shape)


@register_rule("mle")
@dataclass(frozen=True)
class MaximumLikelihood(Smoothing):
    """n_cv / n_c."""

    by_class: ClassVar[bool] = True

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

    by_class: ClassVar[bool] = True

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

    by_class: ClassVar[bool] = True

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
                raise BadOption("the prior of an m-estimate must sum to 1", found=dict(self.prior))

    def ratio(self, cells: Cells) -> Ratio:
        m = cells.number(self.m)
        if self.prior is None:
            share = m * cells.number(1) / np.maximum(cells.size, 1)  # there are no pseudo-counts without levels
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
    """(n_cv + P_v) / (n_c + sum of P_v): pseudo-counts P_v by value, 0 for a value that is not listed."""

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
            raise BadOption("zeros must be replaced by 'half' (0.5/n) or 'prior' (P(c)/n)", found=self.by)

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
    """(n_cv + a) / (n_c + b), as printed in some textbooks. Sums to one only if b = aK."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _non_negative("a", self.a)
        _non_negative("b", self.b)

    def ratio(self, cells: Cells) -> Ratio:
        return Ratio(cells.counts + cells.number(self.a), _under(cells, cells.number(self.b)))


def _by_text(what: str, values: Mapping[Any, float]) -> dict[str, float]:
    if not isinstance(values, Mapping):
        raise BadOption(f"{what} must be a dict from values to numbers", found=values)
    texts = {level_text(value): number for value, number in values.items()}
    for number in texts.values():
        _non_negative(what, number)
    return texts


def as_smoothing(given: object) -> Smoothing:
    """A smoothing rule from a rule, a name such as "laplace" or "lidstone:0.5", or a mapping of pseudo-counts.

    >>> as_smoothing("lidstone:0.5"), as_smoothing("replace-zero:prior"), as_smoothing("as-written:1,2")
    (Lidstone(a=0.5), ReplaceZero(by='prior'), AsWritten(a=1.0, b=2.0))
    """
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, Smoothing):
        return given
    raise BadOption("smoothing must be a rule of bayesbox.rules or a name such as 'laplace'", found=given)


def _from_text(text: str) -> Smoothing:
    name, _, arguments = text.partition(":")
    rule = RULES.get(name)
    if rule is None:
        raise BadOption(
            f"smoothing must be one of {', '.join(RULES)}",
            found=text,
            remedy="Pseudo-counts are written lidstone:0.5, an m-estimate m:2",
        )
    try:
        return rule.from_text(arguments)
    except (TypeError, ValueError) as error:
        if isinstance(error, BadOption):
            raise
        raise BadOption(
            f"invalid parameters of the rule {name}",
            found=text,
            remedy="Write laplace, mle, lidstone:0.5, m:2, prior-counts:red=2,blue=1, replace-zero:half, "
            "replace-zero:prior or as-written:1,2",
        ) from None
