"""Averaged trees of counts: the splits of a tree come from a sample of the rows, its counts from all rows.

The probability in a node is estimated from its counts with `weight` pseudo-rows distributed like its parent, up to the
root: a chain of Dirichlet priors. A training row is predicted by the trees that were not grown on it, with the row
subtracted from their counts, so that these predictions are held-out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.table.auto.features import View

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the parent; chosen by held-out log loss
SHARE = 0.632  # share of the rows that a tree is grown on
UNASKED = 1e-3  # the weight of the class shares, in trees, for a row that every tree was grown on


@dataclass(frozen=True)
class TreeForest:
    """The splits, the counts of every node (nodes x classes), and the weight of a parent."""

    questions: _core.Forest
    counts: NDArray[np.int64]
    weight: float

    def __reduce__(self) -> Any:
        return _again, (self.questions.arrays(), self.counts, self.weight)

    def log_p(self, view: View) -> Doubles:
        return functions.log(
            self.questions.ask(view.core_codes, self.counts, self.weight) / max(self.questions.trees, 1)
        )


def _again(arrays: dict[str, NDArray[np.int64]], counts: NDArray[np.int64], weight: float) -> TreeForest:
    return TreeForest(_core.Forest.of(**arrays), counts, weight)


def learn_forest(
    view: View, codes: Labels, classes: int, *, trees: int, tried: int, drawn: bool, most: int, seed: int
) -> tuple[TreeForest, Doubles]:
    """A forest and its held-out predictions, each by the trees that were not grown on the row.

    `tried` columns are tried per node, with the best threshold or a random one (`drawn`); a tree is grown on at most
    `most` rows.
    """
    target = codes.astype(np.int32)
    axes = view.design.axes
    questions = _core.grow_forest(
        view.core_codes,
        target,
        classes,
        np.array([axis.size for axis in axes], dtype=np.int64),
        np.array([axis.levels is None for axis in axes], dtype=np.uint8),
        trees=trees,
        tried=tried,
        sample=max(1, min(most, int(SHARE * len(codes)))),
        drawn=drawn,
        seed=seed,
    )
    counts = questions.count(view.core_codes, target, classes)
    shares = (np.bincount(codes, minlength=classes) + 1) / (len(codes) + classes)

    def judged(weight: float) -> tuple[float, float, Doubles]:
        total, asked = questions.ask_without(view.core_codes, target, counts, weight)
        answers = functions.log((total + UNASKED * shares) / (asked[:, None] + UNASKED))
        return -float(answers[np.arange(len(codes)), codes].mean()), weight, answers

    place = len(WEIGHTS) // 2
    best = judged(WEIGHTS[place])
    for step in (-1, 1):  # the loss has a single minimum
        while 0 <= place + step < len(WEIGHTS) and (other := judged(WEIGHTS[place + step]))[0] < best[0]:
            place, best = place + step, other
        if place != len(WEIGHTS) // 2:
            break
    return TreeForest(questions, counts, best[1]), best[2]
