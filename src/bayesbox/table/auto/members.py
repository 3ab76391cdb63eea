"""The models over a `View`, trained together with their held-out predictions.

What is trained depends on the size of the table and the budget, not on the clock: the same rows, seed and budget give
the same models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox.schema.arrays import AnyArray
from bayesbox.stat.calibrate import Temperature
from bayesbox.stat.folds import stratified_folds
from bayesbox.table.auto.boost import FEWEST_ROUNDS, ROUNDS, learn_boosted
from bayesbox.table.auto.budget import Budget
from bayesbox.table.auto.features import View
from bayesbox.table.auto.forest import learn_forest
from bayesbox.table.auto.joint_density import learn_joint_kernel, learn_joint_normals
from bayesbox.table.auto.logistic_nb import PRECISIONS, STEPS, LogisticNaiveBayes, learn_logistic

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

TREES, FEWEST_TREES = 100, 10
FOLDS, FEWER_FOLDS = 5, 3
MANY = 5000  # rows from which fewer folds are enough
MOST_KERNELS = 4000
BOOSTING = 0.25  # of the budget
CACHED = 6e6  # cells of a table from which the CPU cache is ineffective
AMPLE = 100  # rows for each weight
STRICT = 100.0  # an additional precision if there are more weights than rows
MOST_WIDTH = 600  # the most features whose covariances are computed
BOOSTED, WEIGHTED, NORMAL, KERNEL = (
    "boosted trees",
    "weighted naive Bayes",
    "joint normal density",
    "joint kernel density",
)


class MemberModel(Protocol):
    """A model that returns log P(class | x), rows x classes."""

    def log_p(self, view: View) -> Doubles: ...


class LearnedMember(NamedTuple):
    """A model, its name, and its held-out predictions for the training rows."""

    name: str
    model: Any
    answers: Doubles


@dataclass(frozen=True)
class CostInputs:
    """What determines the training time: rows, columns, features and classes."""

    rows: int
    columns: int
    features: int
    width: int
    classes: int

    def forest(self, tried: int, most: int) -> float:
        """The estimated seconds to grow a tree and predict with it, slower if the rows exceed the CPU cache."""
        sample = max(2, min(most, self.rows))
        grow = 1e-8 * sample * math.log2(sample) * max(tried, 1) * (1 + self.classes / 16)
        return grow + self.rows * (2e-7 + 2.2e-6 * min(1.0, self.rows * self.columns / CACHED))

    def round(self) -> float:
        """The estimated seconds to add a boosted tree, one per class if there are more than two."""
        trees = 1 if self.classes == 2 else self.classes
        return 3e-4 * trees + self.rows * self.columns * (5e-9 + 8e-9 * trees)

    @property
    def precisions(self) -> tuple[float, ...]:
        """The candidate precisions of the prior of the weights; with many rows per weight it matters little."""
        if self.rows < self.features:
            return STRICT, *PRECISIONS
        return PRECISIONS if self.rows < AMPLE * self.features else PRECISIONS[-1:]

    def weighted(self, folds: int) -> float:
        """The estimated seconds to fit the weights in all folds and on all rows."""
        return 8e-10 * self.rows * self.features * self.classes * STEPS * 2 * (folds + 1) * len(self.precisions)

    def normal(self, folds: int) -> float:
        return 1e-9 * (folds + 1) * self.width**2 * (self.rows * 5 + self.width * self.classes * 2)

    def kernel(self) -> float:
        return 1e-9 * self.rows**2 * (self.width + 13 * 10)


def size_of(view: View, classes: int) -> CostInputs:
    """The size of the training data."""
    axes = view.design.axes
    features = sum(axis.width for axis in axes)
    width = sum(1 if axis.levels is None else len(axis.levels) for axis in axes)
    return CostInputs(view.rows, len(axes), features, width, classes)


@dataclass(frozen=True)
class LibraryPlan:
    """The models that fit a budget, in training order, each with its training function."""

    steps: tuple[tuple[str, Callable[[], LearnedMember]], ...] = ()

    def learn(self, budget: Budget) -> Iterator[LearnedMember]:
        """Train the models one after another."""
        for name, learn in self.steps:
            budget.begin(name)
            yield learn()
            budget.finish(name)


def plan_library(view: View, codes: Labels, classes: int, *, seed: int, budget: Budget) -> LibraryPlan:
    """All models that fit the budget, the forests first; models unsuitable for the table are not tried."""
    size = size_of(view, classes)
    folds = min(FOLDS if view.rows <= MANY else FEWER_FOLDS, view.rows)
    if not view.design.axes:
        return LibraryPlan()
    steps = list(_forests(view, codes, classes, size, seed=seed, budget=budget))
    if folds < 2:
        return LibraryPlan(tuple(steps))
    fold_of_row = stratified_folds(codes, folds, seed=seed)
    rounds = min(ROUNDS, int(BOOSTING * budget.seconds / ((folds + 1) * size.round())))

    def boosted() -> LearnedMember:
        model, answers = learn_boosted(
            view, codes, classes, fold_of_row, folds, rounds=rounds, seed=seed, step=partial(budget.step, BOOSTED)
        )
        return LearnedMember(BOOSTED, model, answers)

    def kernel() -> LearnedMember:
        return LearnedMember(KERNEL, *learn_joint_kernel(view, codes, classes))

    half = budget.seconds / 2
    if budget.plan(BOOSTED, (folds + 1) * size.round() * max(rounds, FEWEST_ROUNDS), most=BOOSTING * budget.seconds):
        steps.append((BOOSTED, boosted))
    most = half * min(1.0, 2 * MANY / size.rows)  # with many rows the trees capture the same
    if budget.plan(WEIGHTED, size.weighted(folds), most=most):
        step = partial(budget.step, WEIGHTED)
        steps.append((WEIGHTED, lambda: weighted(view, codes, classes, fold_of_row, folds, size.precisions, step)))
    if size.width <= MOST_WIDTH and budget.plan(NORMAL, size.normal(folds), most=half / 2):
        steps.append((NORMAL, lambda: joint_normal(view, codes, classes, fold_of_row, folds)))
    if size.rows <= MOST_KERNELS and budget.plan(KERNEL, size.kernel(), most=half / 2):
        steps.append((KERNEL, kernel))
    return LibraryPlan(tuple(steps))


def _forests(
    view: View, codes: Labels, classes: int, size: CostInputs, *, seed: int, budget: Budget
) -> Iterator[tuple[str, Callable[[], LearnedMember]]]:
    third, root = max(1, round(size.columns / 3)), max(1, round(math.sqrt(size.columns)))
    most = 20_000
    for name, tried, drawn, share in (("trees", third, False, 0.3), ("random trees", root, True, 0.15)):
        one = size.forest(tried, most)
        trees = int(max(FEWEST_TREES, min(TREES, share * budget.seconds / one)))
        budget.plan(name, trees * one, most=math.inf)
        given: dict[str, Any] = {"trees": trees, "tried": tried, "drawn": drawn, "most": most, "seed": 2 * seed + drawn}

        def learn(name: str = name, given: dict[str, Any] = given) -> LearnedMember:
            return LearnedMember(name, *learn_forest(view, codes, classes, **given))

        yield name, learn


def held_out(
    view: View,
    codes: Labels,
    fold_of_row: AnyArray,
    folds: int,
    learn: Callable[[View, Labels], list[Any]],
    step: Callable[[float], None] = lambda _share: None,
) -> list[Doubles]:
    """The predictions of several models for each fold, trained on the other folds."""
    found: list[Doubles] = []
    for number in range(folds):
        inside, outside = np.flatnonzero(fold_of_row != number), np.flatnonzero(fold_of_row == number)
        if not len(outside):
            continue
        asked = view.take(outside)
        for place, ask in enumerate(learn(view.take(inside), codes[inside])):
            answers = ask(asked)
            if place == len(found):
                found.append(np.zeros((view.rows, answers.shape[1])))
            found[place][outside] = answers
        step((number + 1) / (folds + 1))
    return found


def mean_loss(answers: Doubles, codes: Labels) -> float:
    """The mean log loss of log-probabilities."""
    return -float(answers[np.arange(len(codes)), codes].mean())


def weighted(
    view: View,
    codes: Labels,
    classes: int,
    fold_of_row: AnyArray,
    folds: int,
    precisions: Sequence[float],
    step: Callable[[float], None],
) -> LearnedMember:
    """Weighted naive Bayes with the prior of the lowest held-out log loss."""

    def path(part: View, labels: Labels) -> list[LogisticNaiveBayes]:
        found: list[LogisticNaiveBayes] = []
        for precision in precisions:
            found.append(learn_logistic(part, labels, classes, precision, found[-1] if found else None))
        return found

    answers = held_out(view, codes, fold_of_row, folds, lambda part, y: [each.log_p for each in path(part, y)], step)
    best = min(range(len(answers)), key=lambda place: mean_loss(answers[place], codes))
    return LearnedMember(WEIGHTED, path(view, codes)[best], answers[best])


def joint_normal(view: View, codes: Labels, classes: int, fold_of_row: AnyArray, folds: int) -> LearnedMember:
    """The joint normal density with the lowest held-out log loss after calibration."""
    joints = held_out(
        view,
        codes,
        fold_of_row,
        folds,
        lambda part, y: [each.log_joint for each in learn_joint_normals(part, y, classes)],
    )
    even = np.ones(len(codes))
    powers = [Temperature.learned(joint - joint.max(axis=1, keepdims=True), codes, even).power for joint in joints]
    answers = [Temperature(power).applied(joint) for power, joint in zip(powers, joints, strict=True)]
    best = min(range(len(answers)), key=lambda place: mean_loss(answers[place], codes))
    model = replace(learn_joint_normals(view, codes, classes)[best], power=powers[best])
    return LearnedMember(NORMAL, model, answers[best])
