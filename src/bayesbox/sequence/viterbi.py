"""The most probable path of states (Viterbi, 1967), in logarithms; ties go to the first state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.sequence.forward_backward import arguments, threads_for
from bayesbox.sequence.model import ChainModel, Steps


def best_path(model: ChainModel, steps: Steps) -> tuple[Doubles, NDArray[np.int32]]:
    """log P(path, sequence), one per sequence, and the position of the state, one per step."""
    return _core.chain_best(*arguments(model, steps), threads=threads_for(model, steps))
