"""Block Gibbs sampling: chains in which large sets of variables are drawn together, given the few others.

A block has all hidden variables except some that are excluded so that the tables of elimination have at most
`table_cells` cells; the next block contains those. Each draw of a block is exact, so chains cross between regions that
single-variable moves cannot leave. The posterior is the mean over the chains, and its error is estimated from their
spread, as in Gibbs sampling. Chains whose means differ by more than a third of the standard deviation within them
(R-hat above 1.05) have not converged, and then no errors are reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesbox._core import block_gibbs_means
from bayesbox.errors import BadOption, NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, never_drawn
from bayesbox.network.approximate.gibbs import summary_of
from bayesbox.network.exact.compiled import EvidenceCase

SETTLED = 1.05  # the potential scale reduction (R-hat) up to which chains agree


@register_inference("blockgibbs")
@dataclass(frozen=True)
class BlockGibbs(InferenceAlgorithm):
    """The total number of sweeps, the number of chains, and the maximum cells of a table used to draw a block."""

    samples: int = 3_200
    chains: int = 64
    seed: int = 0
    table_cells: int = 2**9

    counts_joints: ClassVar[bool] = True

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:
        """The posteriors of a case, and the joint of the target variables."""
        if self.chains < 2 or self.samples < self.chains:
            raise BadOption(
                "block Gibbs sampling needs at least two chains, and one sweep for each",
                found=(self.samples, self.chains),
            )
        sweeps = self.samples // self.chains
        means, blocks, largest = block_gibbs_means(
            *case.arguments,
            case.order,
            np.array(wanted, dtype=np.int64),
            chains=self.chains,
            burn_in=sweeps // 5 + 1,
            sweeps=sweeps,
            seed=self.seed,
            cells=self.table_cells,
        )
        if means is None:
            raise never_drawn(self.samples)
        found = summary_of(case, means, self.samples, zeros=False)
        settled = found.ratio <= SETTLED
        if not settled:
            warnings.warn(
                f"the chains did not converge: at `{found.apart}` they differ too much (R-hat {found.ratio:.3g}, above "
                f"{SETTLED}), so how far the answers are off cannot be said. Try more samples, or larger blocks "
                "(table_cells)",
                NotSettled,
                stacklevel=3,
            )
        hidden = int((case.states < 0).sum())
        notes = (_blocks_text(blocks, largest, hidden),) if hidden else ()
        return found.approximation(self.name, self.samples, notes, settled=settled)


def _blocks_text(blocks: int, largest: int, hidden: int) -> str:
    """
    >>> _blocks_text(1, 40, 40), _blocks_text(2, 33, 44)
    ('one block of all variables', '2 blocks, the largest of 33 of 44 variables')
    """
    return (
        "one block of all variables"
        if blocks == 1
        else f"{blocks} blocks, the largest of {largest:,} of {hidden:,} variables"
    )
