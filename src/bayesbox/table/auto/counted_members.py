"""The counting models of a pool that fit the budget, with their held-out predictions."""

from __future__ import annotations

import contextlib
import copy
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.calibrated import answers_by_folds, unseen_answers
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.dist.base import Doubles
from bayesbox.errors import BayesboxError
from bayesbox.schema.kinds import Kind
from bayesbox.table.auto.budget import Budget

FOLDS = 5
MOST_SPARSE = 20  # cells of a joint table per row
MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("naive", {}),
    ("kdb:2", {}),
    ("aode", {}),
    ("naive", {"numeric": "mdl"}),
    ("averaged", {"numeric": "student"}),
    ("full", {}),
    ("naive", {"column_weights": "learned"}),
    ("naive", {"numeric": "kernel"}),
)
"""The models in order of usefulness per second."""
CALLED = {"column_weights": "column weights"}


@dataclass(frozen=True)
class CountingCost:
    """What determines the training time: rows, columns, numeric columns, classes, and patterns of missing numbers."""

    rows: int
    columns: int
    numbers: int
    classes: int
    patterns: int

    def seconds(self, kind: str, options: Mapping[str, Any]) -> float:
        """The estimated seconds to train a model on all rows and without each fold, from measurements."""
        cells = self.rows * self.columns
        if kind == "naive" and not options:
            return 2e-8 * cells * self.classes
        if kind in ("aode", "kdb"):
            return self.columns**2 / 2 * (1.5e-3 + 3.5e-7 * self.rows + 3e-4 * self.classes)
        if "column_weights" in options:
            return 3.5e-6 * cells * self.classes + 5e-3 * self.columns
        if kind == "naive" and "numeric" in options:
            each = 9e-6 if options["numeric"] == "kernel" else 2.5e-6
            return self.numbers * (each * self.rows + 4e-3)
        if kind == "full":
            steps = 0.2 if self.patterns > self.classes else 0.0  # EM for missing numbers
            return self.columns**2 * (1e-4 + 5e-8 * self.rows + 1e-5 * self.classes) + steps * self.patterns
        return 1.5e-7 * cells * self.classes + 5e-3 * self.columns


class CountedStep(NamedTuple):
    """A model to train: its name, its kind, whether it has options, the unfitted classifier, and its rows."""

    title: str
    kind: str
    plain: bool
    classifier: AnyTableClassifier
    rows: list[LabelledRows]


@dataclass(frozen=True)
class CountedPlan:
    """The models that fit a budget, in order of usefulness per second."""

    steps: tuple[CountedStep, ...]

    def learn(
        self, order: NDArray[np.int64], classes: tuple[str, ...], budget: Budget
    ) -> Iterator[tuple[str, AnyTableClassifier, Doubles]]:
        """Each model with its name and its held-out predictions; a model that cannot use these rows is ignored."""
        for step in self.steps:
            budget.begin(step.title)
            log_p: Doubles | None = None
            with contextlib.suppress(BayesboxError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                log_p = _unseen(step, order)[:, [step.classifier.classes.index(each) for each in classes]]
            budget.finish(step.title)
            if log_p is not None and not np.isnan(log_p).any():
                yield step.title, copy.copy(step.classifier), log_p


def _unseen(step: CountedStep, order: NDArray[np.int64]) -> Doubles:
    """The held-out predictions for every row."""
    step.classifier.learn_all(step.rows)
    if step.kind in ("naive", "full") and step.plain:  # these have a closed-form leave-one-out
        log_p, *_ = unseen_answers(step.classifier, step.rows, folds=FOLDS, order=order)
        return log_p
    return np.concatenate(answers_by_folds(step.classifier, step.rows, folds=FOLDS, order=order))


def plan_counted(
    rows: list[LabelledRows],
    kinds: Mapping[str, Kind],
    classes: tuple[str, ...],
    declared: Any,
    *,
    budget: Budget,
    most: float,
    cells: int,
    patterns: int,
) -> CountedPlan:
    """The models that fit into `most` seconds of a budget; plain naive Bayes is always included.

    `cells` is the size of the joint table of the categories, `patterns` the number of patterns of missing numbers.
    Columns not in `kinds` are free text, which only naive Bayes uses.
    """
    from bayesbox.classifier.registry import new_classifier

    names = rows[0].batch.names
    plain = tuple(name for name in names if name in kinds)
    bare = [LabelledRows(part.batch.select(plain), part.labels) for part in rows]
    numbers = sum(kinds[name].is_number for name in plain)
    work = CountingCost(sum(part.batch.rows for part in rows), len(names), numbers, len(classes), patterns)
    known = {key: value for key, value in (declared or {}).items() if str(key) in names}
    steps = []
    for number, (name, options) in enumerate(MODELS):
        kind = name.partition(":")[0]
        taken = rows if kind == "naive" else bare
        if not taken[0].batch.names:
            continue
        if kind == "naive" and "numeric" in options and not numbers:
            continue
        if kind == "full" and cells > MOST_SPARSE * work.rows:
            continue  # a nearly empty joint table is useless
        classifier = new_classifier(name, options, known)
        assert isinstance(classifier, TableClassifier)
        named = [CALLED.get(key, value) for key, value in options.items() if key != "numeric" or numbers]
        title = f"{classifier.title} ({' '.join(named)})" if named else classifier.title
        seconds = work.seconds(kind, options)
        if budget.plan(title, seconds, most=most if number else math.inf):
            most -= seconds
            steps.append(CountedStep(title, kind, not options, classifier, taken))
    return CountedPlan(tuple(steps))
