"""Credible intervals of the probabilities in a table, and of an answer computed from them.

The interval of a probability is exact, from its beta distribution. That of an answer is found by simulation: every
counted probability is drawn from its posterior and the answer computed, many times; its quantiles are the limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.dist.dirichlet import SharePosterior
from bayesbox.dist.factor import Factor, log_of
from bayesbox.errors import BadOption, require_whole
from bayesbox.explain.steps import Cell, Row
from bayesbox.stat.beta import interval as beta_interval

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

Doubles = NDArray[np.float64]

LEVEL, DRAWS = 0.95, 10_000
FEWEST_DRAWS, MOST_DRAWS = 100, 10_000_000


class CredibleInterval(tuple[float, float]):
    """The limits of an interval, with the `estimate` inside and its probability `level`.

    >>> found = CredibleInterval(0.1, 0.4, estimate=0.25)
    >>> low, high = found
    >>> found, found.low, 0.3 in range(1) or low < 0.3 < high
    (0.25, 95 % interval 0.1 to 0.4, 0.1, True)
    """

    estimate: float
    level: float

    def __new__(cls, low: float, high: float, *, estimate: float, level: float = LEVEL) -> CredibleInterval:
        made = super().__new__(cls, (low, high))
        made.estimate, made.level = estimate, level
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float, float], dict[str, float]]:
        return (self.low, self.high), {"estimate": self.estimate, "level": self.level}

    @property
    def low(self) -> float:
        """The lower limit."""
        return self[0]

    @property
    def high(self) -> float:
        """The upper limit."""
        return self[1]

    def text(self) -> str:
        """The limits as text, in few digits."""
        return f"{self.low:.4g} to {self.high:.4g}"

    def __repr__(self) -> str:
        return f"{self.estimate:.7g}, {percent(self.level)} interval {self.text()}"

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


@dataclass(frozen=True, repr=False)
class IntervalTable(Result, Mapping[Any, CredibleInterval]):
    """A mapping from class, or from states of nodes, to the interval of its probability, from `draws` draws."""

    title: str
    heads: tuple[str, ...]
    intervals: Mapping[Any, CredibleInterval]
    draws: int
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: Any) -> CredibleInterval:
        return self.intervals[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.intervals)

    def __len__(self) -> int:
        return len(self.intervals)

    @property
    def level(self) -> float:
        """The probability of each interval."""
        return next(iter(self.intervals.values())).level

    def _headline(self) -> str:
        shown = ", ".join(f"{name}: {each.text()}" for name, each in self.intervals.items())
        return f"IntervalTable({shown})"

    def _title(self) -> str:
        return self.title

    def _blocks(self) -> Sequence[Block]:
        rows = [
            [*_names(name), f"{each.estimate:.7g}", f"{each.low:.4g}", f"{each.high:.4g}"]
            for name, each in self.intervals.items()
        ]
        width = len(self.heads)
        heads = [*self.heads, "probability", f"{percent(self.level)} from", "to"]
        table = TableBlock(heads, rows, right=[width, width + 1, width + 2])
        lines = [*self.notes, f"by {self.draws:,} draws"]
        return [table, TextBlock("\n".join(lines))]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        names = [_names(name) for name in self.intervals]
        columns: dict[str, list[Any]] = {head: [name[place] for name in names] for place, head in enumerate(self.heads)}
        for part in ("estimate", "low", "high"):
            columns[part] = [getattr(each, part) for each in self.intervals.values()]
        return columns

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        rows = [{"levels": _names(name), **each.to_dict()} for name, each in self.intervals.items()]
        return {"level": self.level, "draws": self.draws, "rows": rows, "notes": list(self.notes)}


def _names(name: object) -> list[str]:
    return [str(each) for each in name] if isinstance(name, tuple) else [str(name)]


def percent(level: float) -> str:
    """A level in percent, as text.

    >>> percent(0.95), percent(0.995)
    ('95 %', '99.5 %')
    """
    return f"{100 * level:.6g} %"


def require_level(level: object) -> float:
    """A probability between 0 and 1, exclusive."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise BadOption("the level of an interval must be between 0 and 1, such as 0.95", found=level)
    return float(level)


def require_draws(draws: int, seed: int) -> None:
    """Validate the number of draws and the seed."""
    require_whole("seed", seed)
    whole = isinstance(draws, int | np.integer) and not isinstance(draws, bool)
    if not whole or not FEWEST_DRAWS <= draws <= MOST_DRAWS:
        raise BadOption(f"draws must be an integer from {FEWEST_DRAWS} to {MOST_DRAWS:,}", found=draws)


def share_interval(share: SharePosterior, estimate: float, level: float) -> CredibleInterval:
    """The central interval of a probability; with the reference prior it begins at 0 if no row has the level."""
    low, high = beta_interval(level, share.alpha, share.beta)
    low, high = (0.0 if share.at_zero else low), (1.0 if share.at_one else high)
    return CredibleInterval(low, high, estimate=estimate, level=level)


@dataclass(frozen=True)
class IntervalCell(Cell):
    """An interval in a table: "0.1 to 0.4"."""

    low: float = 0.0
    high: float = 1.0

    def to_dict(self) -> Json:
        """For JSON, with both limits."""
        return {**super().to_dict(), "low": self.low, "high": self.high}


def interval_row(posteriors: Sequence[SharePosterior], values: Sequence[Any], level: float) -> Row:
    """The intervals of a row of probabilities, as the row below it."""
    found = [share_interval(each, float(value), level) for each, value in zip(posteriors, values, strict=True)]
    return Row(f"{percent(level)} interval", tuple(IntervalCell(each.text(), None, *each) for each in found))


def prior_notes(posteriors: Sequence[SharePosterior]) -> list[str]:
    """Notes that name the priors of the intervals, each once."""
    return [f"intervals by {prior}" for prior in dict.fromkeys(each.prior for each in posteriors)]


def posterior_draws(factors: Sequence[Factor], classes: int, *, draws: int, seed: int) -> Doubles:
    """P(class | x), draws x classes: counted probabilities are drawn from their posteriors, others are fixed.

    The class prior is drawn jointly: gamma variables, whose ratios follow a Dirichlet. The probabilities of levels are
    drawn by class and column, each with its own Dirichlet.
    """
    return normalised(drawn_logs(factors, classes, draws, np.random.default_rng(seed)))


def drawn_logs(factors: Sequence[Factor], classes: int, draws: int, random: np.random.Generator) -> Doubles:
    """log P(class, x) up to a constant, draws x classes; the first factor is the prior."""
    logs = np.zeros((draws, classes))
    for place, factor in enumerate(factors):
        for label in range(classes):
            if not factor.posteriors:
                logs[:, label] += log_of(factor.values[label])
                continue
            share = factor.posteriors[label]
            if place == 0:
                drawn = random.gamma(share.alpha, size=draws) if share.alpha > 0 else np.zeros(draws)
            else:
                drawn = _beta_draws(random, share, draws)
            with np.errstate(divide="ignore"):
                logs[:, label] += factor.exponent * np.log(drawn)
    return logs


def _beta_draws(random: np.random.Generator, share: SharePosterior, draws: int) -> Doubles:
    if share.alpha <= 0:
        return np.zeros(draws)
    return random.beta(share.alpha, share.beta, size=draws) if share.beta > 0 else np.ones(draws)


def normalised(logs: Doubles) -> Doubles:
    """Each row normalised to probabilities; rows in which every class is impossible are dropped."""
    possible = logs[np.isfinite(logs.max(axis=1))]
    if not len(possible):
        raise BadOption("the answer is impossible, or a point mass, in every draw, so it has no interval")
    shares = np.exp(possible - possible.max(axis=1, keepdims=True))
    found: Doubles = shares / shares.sum(axis=1, keepdims=True)
    return found


def intervals_of(
    names: Sequence[Any], estimates: Sequence[float], drawn: Doubles, level: float
) -> dict[Any, CredibleInterval]:
    """The central interval of each column of draws."""
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return {
        name: CredibleInterval(float(a), float(b), estimate=float(p), level=level)
        for name, p, a, b in zip(names, estimates, low, high, strict=True)
        if not math.isnan(a)
    }
