"""Gibbs sampling: Markov chains in which one variable at a time is drawn given all others.

Each chain averages the distributions its variables were drawn from; the posterior is the mean over the chains, and its
error is estimated from the spread between them:

    error^2 = variance of the chains' means / chains + max(2 / n, 1 / least n)^2
    n = sum of p (1 - p) over the states of a variable / sum of the variances of their means

n is the effective sample size; the least n is the smallest over all variables, and at most the number of chains if
tables have zeros. The second term is the resolution: a region that no chain visited may have a probability of a few
times 1 / least n.

The chains of a Bayesian network start from weighted samples, drawn in proportion to their weights. So if zeros in
tables trap a chain in one region (which is common: a deterministic node cannot change unless its parents do), chains
that never mix still represent the regions in about the right proportions, and their spread reflects the uncertainty.
The case is detected by the ratio of the variance between chains to that within them (R-hat). Then only the starts carry
information, no more than the m effective samples they were drawn from: 1 / chains becomes 1 / chains + 1 / m.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import gibbs_means
from bayesbox.errors import BadOption, NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, never_drawn
from bayesbox.network.exact.compiled import EvidenceCase

APART = 1.5  # the potential scale reduction (R-hat) above which chains have not mixed


@register_inference("gibbs")
@dataclass(frozen=True)
class Gibbs(InferenceAlgorithm):
    """The total number of sweeps and the number of chains; each chain discards its first tenth as burn-in."""

    samples: int = 100_000
    chains: int = 256
    seed: int = 0

    counts_joints: ClassVar[bool] = True

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:
        """The posteriors of a case, and the joint of the target variables."""
        if self.chains < 2 or self.samples < self.chains:
            raise BadOption(
                "Gibbs sampling needs at least two chains, and one sweep for each", found=(self.samples, self.chains)
            )
        sweeps = self.samples // self.chains
        means, zeros, starts = gibbs_means(
            *case.arguments,
            case.order,
            np.array(wanted, dtype=np.int64),
            chains=self.chains,
            burn_in=sweeps // 10 + 1,
            sweeps=sweeps,
            seed=self.seed,
        )
        if means is None:
            raise never_drawn(self.samples)
        found = summary_of(case, means, self.samples, zeros=zeros, starts=starts)
        notes = _notes((found.ratio, found.apart), zeros=zeros)
        settled = found.ratio <= APART or case.compiled.order is not None  # whose chains start in the right proportions
        return found.approximation(self.name, self.samples, notes, settled=settled)


class ChainSummary(NamedTuple):
    """The means over all chains and their errors; the variable where chains differ most, and its R-hat."""

    p: NDArray[np.float64]
    errors: NDArray[np.float64]
    effective: float
    ratio: float
    apart: str
    width: int  # the number of states of all variables; the cells of a joint follow

    def approximation(self, method: str, samples: int, notes: tuple[str, ...], *, settled: bool) -> Approximation:
        """The answer of these chains; errors only if they have converged."""
        return Approximation(
            method,
            self.p[: self.width],
            self.errors[: self.width] if settled else None,
            self.p[self.width :],
            self.errors[self.width :] if settled else None,
            samples=samples,
            effective_samples=self.effective,
            notes=notes,
        )


def summary_of(
    case: EvidenceCase, means: NDArray[np.float64], samples: int, *, zeros: bool, starts: float = 0
) -> ChainSummary:
    """The mean of chains x (all states, and the cells of a joint), and its errors.

    `starts` is the effective sample size of what the chains started from; 0 if unknown.
    """
    width, chains = int(case.model.offsets[-1]), len(means)
    p = means.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    within = (means * (1 - means)).mean(axis=0)
    bounds = [*case.model.offsets.tolist(), *([len(p)] if len(p) > width else [])]
    open_parts = [
        (place, slice(start, end))
        for place, (start, end) in enumerate(pairwise(bounds))
        if place >= len(case.states) or (case.states[place] < 0 and case.model.cards[place] > 1)
    ]
    apart = max(
        ((_ratio(between[part], within[part]), case.model.names[k]) for k, part in open_parts if k < len(case.states)),
        default=(1.0, ""),
    )
    variance = between / chains
    if starts and apart[0] > APART:
        variance += between / starts
    floor, effective = np.zeros(len(p)), float(samples)
    for _, part in open_parts:
        spread = variance[part].sum()
        worth = (p[part] * (1 - p[part])).sum() / spread if spread > 0 else math.inf
        worth = min(max(float(worth), 1.0), float(samples))
        floor[part] = 2 / worth
        effective = min(effective, worth)
    floor[floor > 0] = np.maximum(floor[floor > 0], 1 / (min(effective, chains) if zeros else effective))
    return ChainSummary(p, np.sqrt(variance + floor**2), effective, *apart, width)


def _ratio(between: NDArray[np.float64], within: NDArray[np.float64]) -> float:
    """The potential scale reduction of Gelman and Rubin, pooled over the states of one variable."""
    apart, inside = float(between.sum()), float(within.sum())
    if apart < 1e-12:
        return 1.0
    return math.sqrt(1 + apart / inside) if inside > 0 else math.inf


def _notes(apart: tuple[float, str], *, zeros: bool) -> tuple[str, ...]:
    ratio, name = apart
    held = "zeros in the tables may keep the chains apart"
    if ratio > APART:
        much = "and none of them ever moves" if math.isinf(ratio) else f"{ratio:.3g} times as much as expected"
        text = f"the chains did not converge: at `{name}` they differ {much}"
        text += f" ({held})" if zeros else ""
        warnings.warn(
            text + ". Use more samples, or another method: blockgibbs or weighting",
            NotSettled,
            stacklevel=3,
        )
        return ()
    return (held,) if zeros else ()
