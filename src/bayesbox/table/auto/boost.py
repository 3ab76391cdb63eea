"""Gradient boosting of trees on the log loss.

The number of trees is chosen by held-out log loss. The predictions for training rows are held-out predictions of
cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.schema.arrays import AnyArray
from bayesbox.stat.calibrate import normalised
from bayesbox.table.auto.features import View

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

ROUNDS, FEWEST_ROUNDS = 400, 40
LEAVES = 15
RATE = 0.1  # learning rate: the share of a Newton step
PULL = 1.0  # curvature added to a leaf: a normal prior of its values
SHARE = 0.7  # share of the rows that a tree is grown on


@dataclass(frozen=True)
class BoostedTrees:
    """The splits, the value of each leaf added to log P(class | x) (nodes x classes), and the initial value."""

    questions: _core.Forest
    values: Doubles
    start: Doubles

    def __reduce__(self) -> Any:
        return _again, (self.questions.arrays(), self.values, self.start)

    def log_p(self, view: View) -> Doubles:
        return normalised(self.start + self.questions.ask_values(view.core_codes, self.values))

    def first(self, trees: int) -> BoostedTrees:
        """The model of the first trees only."""
        arrays = self.questions.arrays()
        roots = arrays["root"]
        if trees >= len(roots):
            return self
        nodes = int(roots[trees])
        kept = {name: arrays[name][:nodes] for name in ("column", "threshold", "child", "missing_left")}
        return _again(arrays | kept | {"root": roots[:trees]}, self.values[:nodes], self.start)


def _again(arrays: dict[str, NDArray[np.int64]], values: Doubles, start: Doubles) -> BoostedTrees:
    return BoostedTrees(_core.Forest.of(**arrays), np.ascontiguousarray(values), start)


def boost_trees(view: View, codes: Labels, classes: int, *, rounds: int, seed: int) -> BoostedTrees:
    """A model of this many trees."""
    axes = view.design.axes
    start = functions.log((np.bincount(codes, minlength=classes) + 1) / (len(codes) + classes))
    questions, values = _core.boost_forest(
        view.core_codes,
        codes.astype(np.int32),
        start,
        np.array([axis.size for axis in axes], dtype=np.int64),
        np.array([axis.levels is None for axis in axes], dtype=np.uint8),
        rounds=rounds,
        leaves=LEAVES,
        rate=RATE,
        pull=PULL,
        share=SHARE,
        seed=seed,
    )
    return BoostedTrees(questions, values, start)


def learn_boosted(
    view: View,
    codes: Labels,
    classes: int,
    fold_of_row: AnyArray,
    folds: int,
    *,
    rounds: int,
    seed: int,
    step: Callable[[float], None] = lambda _share: None,
) -> tuple[BoostedTrees, Doubles]:
    """The number of trees with the least held-out log loss, and the held-out predictions."""
    losses = np.zeros(rounds)
    held = []
    for number in range(folds):
        inside, outside = np.flatnonzero(fold_of_row != number), np.flatnonzero(fold_of_row == number)
        if len(inside) and len(outside):
            model = boost_trees(view.take(inside), codes[inside], classes, rounds=rounds, seed=seed)
            asked = view.take(outside)
            target = codes[outside].astype(np.int32)
            losses += model.questions.sum_values(asked.core_codes, target, model.values, model.start)[1]
            held.append((model, asked, outside))
        step((number + 1) / (folds + 1))
    best = int(np.argmin(losses)) + 1
    answers = np.zeros((view.rows, classes))
    for model, asked, outside in held:
        answers[outside] = model.first(best).log_p(asked)
    return boost_trees(view, codes, classes, rounds=best, seed=seed), answers
