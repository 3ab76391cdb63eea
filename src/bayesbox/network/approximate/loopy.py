"""Loopy belief propagation: the message passing of trees, iterated on any graph until the messages no longer change.

On a polytree (at most one path between any two nodes) the answers are exact. On other graphs they are the fixed point
of the messages, if these converge: the residual is the largest change of a message in the last sweep. log P(evidence)
is the Bethe approximation: exact on a polytree, on other graphs neither a lower nor an upper bound.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from bayesbox._core import loopy_posteriors
from bayesbox.errors import NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, proven_impossible
from bayesbox.network.exact.compiled import EvidenceCase


@register_inference("loopy")
@dataclass(frozen=True)
class Loopy(InferenceAlgorithm):
    """The maximum number of sweeps over all tables, and the residual at which to stop earlier."""

    sweeps: int = 1000
    tolerance: float = 1e-12

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:  # noqa: ARG002
        """The posteriors of a case."""
        table, log_evidence, residual, sweeps = loopy_posteriors(
            *case.arguments, sweeps=self.sweeps, tolerance=self.tolerance
        )
        if math.isinf(log_evidence):
            raise proven_impossible()
        if residual > self.tolerance:
            warnings.warn(
                f"no convergence: after {sweeps:,} sweeps the messages still change by {residual:.2g}",
                NotSettled,
                stacklevel=2,
            )
        return Approximation(self.name, table, log_evidence=log_evidence, residual=residual)
