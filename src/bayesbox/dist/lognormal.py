"""The log-normal density of a number above zero; zero and below are a level of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.gaussian import LOG_ROOT_2_PI
from bayesbox.dist.numbers import NumberDensity

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class LogNormal(NumberDensity):
    """P(x > 0 | class) N(log x | mean, std) / x by class, and P(x <= 0 | class).

    Where no row had a value of 0 or below, the two probabilities are 1 and 0, and such a value is left out.
    """

    mean: Doubles
    std: Doubles
    log_positive: Doubles
    log_nonpositive: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"mean": self.mean, "std": self.std}

    def describe(self) -> str:
        return "lognormal"

    def log_density(self, values: Doubles) -> Doubles:
        positive = values > 0
        terms = np.tile(self.log_nonpositive, (len(values), 1))
        if np.isneginf(self.log_nonpositive).all():
            terms = np.zeros_like(terms)
        logs = np.log(values[positive])[:, None]
        z = (logs - self.mean) / self.std
        terms[positive] = self.log_positive - 0.5 * z * z - np.log(self.std) - LOG_ROOT_2_PI - logs
        return terms

    def expression(self) -> Expression:
        """Without log x and the constant, which are the same in every class."""
        from bayesbox.dist.expression import ReadNumber, case, constant, log, squared

        x = ReadNumber(self.column)
        nothing = np.isneginf(self.log_nonpositive).all()  # seen in no class: such a value says nothing
        nonpositive = self.log_observed + (0.0 if nothing else self.log_nonpositive)
        height = constant(self.log_positive - np.log(self.std) + self.log_observed)
        density = height - squared(log(x) - self.mean, self.std) * 0.5
        return case((x.is_missing(), self.log_missing), (x <= 0.0, nonpositive), otherwise=density)
