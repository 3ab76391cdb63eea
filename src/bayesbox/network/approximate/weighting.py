"""Likelihood weighting: samples of a Bayesian network, weighted by the likelihood of the evidence.

Variables are summed out of the product of all tables, one after another, and drawn in the opposite order, each from the
table it was summed out of. If these tables stay within `table_cells`, samples come from the posterior itself and all
weights are equal. A table that would be larger is kept as several factors, and three more proposals alternate with this
one: parents first from P(x | parents), from its product with the children's messages of loopy belief propagation, or
from its product with the square root of these. The weight of a sample is its joint probability with the evidence over
its probability under the mixture of proposals, so errors of the factors or messages affect the variance only.

With weights w the posterior of a state is p = sum of w over the samples that have it / W, W the sum of all, and

    error^2 = sum of w^2 ([has it] - p)^2 / W^2 + (2 / n)^2,    n = W^2 / sum of w^2  (Kish's effective sample size)

The second term is the resolution: a state that was never drawn may still have a probability of a few times 1 / n. If
the largest weights of a factor graph have too heavy a tail for this to be reliable (tail.py), no errors are reported.

A factor graph has no parents: its samples come from the tables of elimination only.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesbox._core import weighted_samples
from bayesbox.errors import NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, never_drawn
from bayesbox.network.approximate.tail import BELIEVED, tail_shape, tail_size
from bayesbox.network.exact.compiled import EvidenceCase

NETWORK_CELLS, GRAPH_CELLS = 2**14, 2**20  # of a table; a factor graph has no other way to draw
FEW = 100  # effective samples, below which the error is itself uncertain


@register_inference("weighting")
@dataclass(frozen=True)
class Weighting(InferenceAlgorithm):
    """The number of samples, the random seed, and the maximum cells of a precomputed table."""

    samples: int = 100_000
    seed: int = 0
    table_cells: int | None = None

    counts_joints: ClassVar[bool] = True

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:
        """The posteriors of a case, and the joint of the target variables."""
        sums = weighted_samples(
            *case.arguments,
            case.order,
            np.array(wanted, dtype=np.int64),
            samples=self.samples,
            seed=self.seed,
            kept=tail_size(self.samples),
            cells=self.table_cells or (GRAPH_CELLS if case.compiled.order is None else NETWORK_CELLS),
        )
        weights, squares, total, total_squares, log_scale, largest = sums
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
        bounded = case.compiled.order is not None  # weights are bounded by those of the parents-first proposal
        shape = 0.0 if bounded else tail_shape(largest)
        believed = bounded or (shape <= BELIEVED and effective >= FEW)
        if effective < FEW:
            _warn(
                f"the weights are so uneven that {self.samples:,} samples are worth {effective:.1f}: "
                + ("even the errors are uncertain" if believed else "how far the answers are off cannot be said")
            )
        elif not believed:
            _warn(
                f"the largest weights have a tail of shape {shape:.2f}, above {BELIEVED}: how far the answers are off "
                "cannot be said"
            )
        return Approximation(
            self.name,
            p[:width],
            errors[:width] if believed else None,
            p[width:],
            errors[width:] if believed else None,
            log_evidence=math.log(total / self.samples) + log_scale,
            log_evidence_error=math.sqrt(max(1 / effective - 1 / self.samples, 0)),
            samples=self.samples,
            effective_samples=effective,
        )


def _warn(what: str) -> None:
    remedy = "Try more samples, larger tables (table_cells), or another approximation"
    warnings.warn(f"{what}. {remedy}", NotSettled, stacklevel=3)
