"""Mean field: the fully factorised distribution over the hidden variables that is nearest to the posterior.

It maximises a lower bound on log P(evidence), one variable at a time,

    bound = sum over tables of E[log table] + sum over variables of their entropy  <=  log P(evidence)

and keeps the best of several starts. Since variables are treated as independent, the posteriors are overconfident; the
bound holds nevertheless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesbox._core import mean_field
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, never_drawn
from bayesbox.network.exact.compiled import EvidenceCase


@register_inference("meanfield")
@dataclass(frozen=True)
class MeanField(InferenceAlgorithm):
    """The maximum number of sweeps, the relative change of the bound at which to stop, and the random seed."""

    sweeps: int = 1000
    tolerance: float = 1e-10
    seed: int = 0

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:  # noqa: ARG002
        """The posteriors of a case."""
        table, bound, change, _ = mean_field(
            *case.arguments, case.order, sweeps=self.sweeps, tolerance=self.tolerance, seed=self.seed
        )
        if table is None:
            raise never_drawn(200_000)
        note = f"log P(evidence) is at least {bound:.6g}"
        return Approximation(self.name, table, log_evidence=bound, residual=abs(change), notes=(note,))
