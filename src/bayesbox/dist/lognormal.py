"""The log-normal density of a number above zero; zero and below are a level of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.gaussian import LOG_ROOT_2_PI
from bayesbox.dist.numbers import NumberDensity


@dataclass(frozen=True)
class LogNormal(NumberDensity):
    """P(x > 0 | class) N(log x | mean, deviation) / x by class, and P(x <= 0 | class).

    Where no row had a value of 0 or below, the two probabilities are 1 and 0, and such a value is left out.
    """

    mean: Doubles
    deviation: Doubles
    log_positive: Doubles
    log_rest: Doubles

    def log_density(self, values: Doubles) -> Doubles:
        positive = values > 0
        terms = np.tile(self.log_rest, (len(values), 1))
        if np.isneginf(self.log_rest).all():
            terms = np.zeros_like(terms)
        logs = np.log(values[positive])[:, None]
        z = (logs - self.mean) / self.deviation
        terms[positive] = self.log_positive - 0.5 * z * z - np.log(self.deviation) - LOG_ROOT_2_PI - logs
        return terms
