"""The log-normal density of a positive number; zero and negative values are a separate level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import log_levels
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, ValuesTally, register
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.special import GREATEST, LOG_ROOT_2_PI, normal_quantile

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@register("lognormal")
@dataclass(frozen=True)
class LogNormal(NumberDensity):
    """P(x > 0 | class) N(log x | mean, std) / x by class, and P(x <= 0 | class).

    If no row had a value of 0 or below, the two probabilities are 1 and 0, and such a value is ignored.
    """

    silent: ClassVar[str] = "it has fewer than two positive values"

    mean: Doubles
    std: Doubles
    log_positive: Doubles
    log_nonpositive: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"mean": self.mean, "std": self.std}

    def describe(self) -> str:
        return "lognormal"

    @property
    def _nonpositive(self) -> Doubles:
        """P(x <= 0 | class); all such values count as 0."""
        return functions.exp(self.log_nonpositive - functions.log_sum(self.log_nonpositive, self.log_positive))

    def quantile(self, share: float) -> Doubles:
        below = self._nonpositive
        z = normal_quantile(np.clip((share - below) / np.where(below < 1, 1 - below, 1.0), 0.0, 1.0))
        with np.errstate(over="ignore"):
            return np.where(share <= below, 0.0, np.minimum(functions.exp(self.mean + self.std * z), GREATEST))

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        drawn = random.lognormal(self.mean[classes], self.std[classes])
        found: list[Any] = np.where(random.random(len(classes)) < self._nonpositive[classes], 0.0, drawn).tolist()
        return found

    def log_density(self, values: Doubles) -> Doubles:
        positive = values > 0
        terms = np.tile(self.log_nonpositive, (len(values), 1))
        if np.isneginf(self.log_nonpositive).all():
            terms = np.zeros_like(terms)
        logs = functions.log(values[positive])[:, None]
        z = (logs - self.mean) / self.std
        terms[positive] = self.log_positive - 0.5 * z * z - functions.log(self.std) - LOG_ROOT_2_PI - logs
        return terms

    def compiled_density(self) -> tuple[object, ...]:
        nothing = np.isneginf(self.log_nonpositive).all()  # no row had such a value, so it is ignored
        nonpositive = np.zeros_like(self.log_nonpositive) if nothing else self.log_nonpositive
        return "lognormal", self.mean, self.std, self.log_positive, nonpositive, LOG_ROOT_2_PI

    @classmethod
    def fit(cls, column: str, tally: ValuesTally, options: FitOptions) -> Self | None:
        """The normal density of log x for x > 0; P(x <= 0) is smoothed as one of two levels.

        The variance of log x is at least `floor` times that over all classes.
        """
        values, counts = tally.table
        positive = values > 0
        above = counts[positive]
        if positive.sum() < 2:
            return None
        logs = functions.log(values[positive])
        whole_mean, whole_variance = _moments_of(logs, above.sum(axis=1))
        n = above.sum(axis=0)
        mean, variance = np.full(len(n), whole_mean), np.full(len(n), whole_variance)
        for index in np.flatnonzero(n):
            mean[index], variance[index] = _moments_of(logs, above[:, index])
        floor = max(options.floor, np.finfo(float).eps) * whole_variance
        shares = np.column_stack([counts[~positive].sum(axis=0), n])
        if shares[:, 0].any():
            log_share = log_levels(shares, ("0 or below", "above 0"), options.smoothing)
        else:
            log_share = np.vstack([np.full(len(n), -np.inf), np.zeros(len(n))])
        std = np.sqrt(np.maximum(variance, floor))
        return cls(column, *options.presence(tally), mean, std, log_share[1], log_share[0])

    def formulas(self, value: float) -> list[str]:
        if value <= 0:
            return ["P(0 or below)" for _ in self.mean]
        pairs = zip(self.mean.tolist(), self.std.tolist(), strict=True)
        return [f"lognormal({decimal(value)} | {decimal(m)}, {decimal(s)})" for m, s in pairs]

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        """Omits log x and the constant, which are equal in every class."""
        from bayesbox.dist.expression import ReadNumber, case, constant, log, squared

        x = ReadNumber(self.column)
        nothing = np.isneginf(self.log_nonpositive).all()  # seen in no class: such a value is ignored
        nonpositive = self.log_observed + (0.0 if nothing else self.log_nonpositive)
        height = constant(self.log_positive - functions.log(self.std) + self.log_observed)
        density = height - squared(log(x) - self.mean, self.std) * 0.5
        return case((x.is_missing(), self.log_missing), (x <= 0.0, nonpositive), otherwise=density)


def _moments_of(values: Doubles, weights: Doubles) -> tuple[float, float]:
    """Mean and population variance of weighted values."""
    mean = float(np.average(values, weights=weights))
    return mean, float(np.average((values - mean) ** 2, weights=weights))
