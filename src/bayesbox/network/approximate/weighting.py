"""Likelihood weighting: samples of a Bayesian network, each counted by how well it goes with the evidence.

Variables are summed out of the product of all tables, one after another, and drawn in the opposite order, each from the
table it was summed out of. Where these tables stay within `table_cells`, samples come from the posterior itself and all
count alike. Where one would be larger it is left in parts, and three more ways take turns with this one: parents first
from P(x | parents), or from its product with what the children tell by loopy belief propagation, or with the root of
that. A sample counts by its probability together with the evidence over that of being drawn in any of the ways, so what
the parts or the messages lack changes the variance only.

With weights w the posterior of a state is p = sum of w over the samples that have it / W, W the sum of all, and

    error^2 = sum of w^2 ([has it] - p)^2 / W^2 + (2 / n)^2,    n = W^2 / sum of w^2  (Kish's effective sample size)

The second term is the resolution: a state that never came up may still have a probability of a few times 1 / n.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesbox._core import weighted_samples
from bayesbox.errors import BadOption, NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, never_drawn
from bayesbox.network.exact.compiled import EvidenceCase

FEW = 100  # effective samples, below which the error is itself uncertain


@register_inference("weighting")
@dataclass(frozen=True)
class Weighting(InferenceAlgorithm):
    """How many samples, the seed that makes them the same every time, and the most cells of a table made beforehand."""

    samples: int = 100_000
    seed: int = 0
    table_cells: int = 2**14

    counts_joints: ClassVar[bool] = True

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:
        """The posteriors of a case, and the joint of the wanted variables."""
        if case.compiled.order is None:
            raise BadOption(
                "likelihood weighting samples parents before children, but a factor graph has no directions",
                remedy="Try another approximation: gibbs, loopy or meanfield",
            )
        sums = weighted_samples(
            *case.arguments,
            case.order,
            np.array(wanted, dtype=np.int64),
            samples=self.samples,
            seed=self.seed,
            cells=self.table_cells,
        )
        weights, squares, total, total_squares, log_scale = sums
        if not total > 0:
            raise never_drawn(self.samples)
        effective = total**2 / total_squares
        p = weights / total
        variance = np.maximum(squares * (1 - 2 * p) + p**2 * total_squares, 0) / total**2
        errors = np.sqrt(variance + (2 / effective) ** 2)
        width = int(case.model.offsets[-1])
        for variable in np.flatnonzero(case.states >= 0):
            start, end = case.model.offsets[variable], case.model.offsets[variable + 1]
            p[start:end] = np.arange(end - start) == case.states[variable]
            errors[start:end] = 0
        if effective < FEW:
            warnings.warn(
                f"the weights are very uneven: {self.samples:,} samples are worth {effective:.1f} independent "
                "ones, so even the standard errors are uncertain. Use more samples, or another approximation",
                NotSettled,
                stacklevel=2,
            )
        return Approximation(
            self.name,
            p[:width],
            errors[:width],
            p[width:],
            errors[width:],
            log_evidence=math.log(total / self.samples) + log_scale,
            log_evidence_error=math.sqrt(max(1 / effective - 1 / self.samples, 0)),
            samples=self.samples,
            effective_samples=effective,
        )
