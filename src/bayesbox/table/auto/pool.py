"""The pool: all models that fit a budget, trained, evaluated on held-out rows and weighted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.errors import DataWarning
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.auto.budget import Budget, ProgressReport
from bayesbox.table.auto.counted_members import plan_counted
from bayesbox.table.auto.features import Design, View, sorted_order
from bayesbox.table.auto.members import mean_loss, plan_library
from bayesbox.table.auto.weighting import learned_powers, limited, pooled
from bayesbox.table.columns import class_codes, concat_column, takes_part

LEAST_POWER = 0.02  # a model with a smaller weight is dropped
MOST_ROWS = 60_000  # the most training rows; a sample is drawn from more
KNOTS, MOST_FEATURES = 5, 400
COUNTED = 0.15  # the minimum share of the budget for counting models


class TriedMember(NamedTuple):
    """A model that was tried: its held-out log loss, and its weight in the pool (0 if dropped)."""

    name: str
    log_loss: float
    accuracy: float
    power: float


@dataclass(frozen=True)
class Pool:
    """The fitted pool: the design, the kept models with their weights, and all evaluated models."""

    classes: tuple[str, ...]
    design: Design
    models: tuple[Any, ...]  # models over a view, or classifiers over rows
    powers: tuple[float, ...]  # one per model, then that of the class shares
    shares: tuple[float, ...]
    rows: int
    judged: tuple[TriedMember, ...] = field(compare=False, default=())
    pooled: TriedMember | None = field(compare=False, default=None)
    omitted: tuple[str, ...] = field(compare=False, default=())  # models that do not fit the budget

    def log_p(self, view: View, batch: Batch) -> Doubles:
        """log P(class | x), rows x classes."""
        prior, answers = functions.log(np.array(self.shares)), self.answers(view, batch)
        found = pooled([*answers, np.tile(prior, (view.rows, 1))], np.array(self.powers))
        return mixed(found, np.array(self.shares), self.rows)

    def answers(self, view: View, batch: Batch) -> list[Doubles]:
        """log P(class | x) of each model, rows x classes."""
        return [_answers(model, view, batch, self.classes) for model in self.models]


def words_of(schema: Schema) -> dict[str, Kind]:
    """The columns of free text, which only naive Bayes uses."""
    return {name: kind for name, kind in schema.kinds.items() if kind.is_text}


def mixed(log_p: Doubles, shares: Doubles, rows: int) -> Doubles:
    """The predictions mixed with the class shares, with the weight of one row."""
    found: Doubles = functions.log_sum(log_p + functions.log(rows / (rows + 1)), functions.log(shares / (rows + 1)))
    return found


def _answers(model: Any, view: View, batch: Batch, classes: tuple[str, ...]) -> Doubles:
    if not isinstance(model, TableClassifier):
        found: Doubles = model.log_p(view)
        return found
    assert model.schema is not None
    if set(batch.names) & set(model.schema.used):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            answers = model.log_posterior(batch)
    else:
        answers = np.tile(model.model.log_prior, (batch.rows, 1))
    return answers[:, [model.classes.index(name) for name in classes]]


def learn_pool(
    parts: Sequence[LabelledRows],
    schema: Schema,
    classes: tuple[str, ...],
    declared: object,
    *,
    budget: float,
    seed: int,
    report: ProgressReport | None = None,
) -> Pool | None:
    """Train, evaluate and pool all models that the budget allows; `report` is called with the progress."""
    kinds = {name: kind for name, kind in schema.kinds.items() if takes_part(kind)}
    draws = np.random.default_rng(seed)
    rows = [_known(part, {**kinds, **words_of(schema)}, draws) for part in parts]
    rows = [part for part in rows if part.batch.rows]
    if not rows:
        return None
    codes = np.concatenate([class_codes(part, classes) for part in rows])
    values = {name: concat_column(rows, name, kind) for name, kind in kinds.items()}
    numbers = sum(1 for value in values.values() if not isinstance(value, tuple))
    knots = max(1, min(KNOTS, MOST_FEATURES // max(numbers, 1) - 1))
    design = Design.of(values, knots=knots)
    whole = design.view(values, kinds, len(codes))
    order = places = sorted_order(whole, codes)
    if len(places) > MOST_ROWS:
        places = places[np.sort(draws.choice(len(places), MOST_ROWS, replace=False))]
    view, labels = whole.take(places), codes[places]
    shares = (np.bincount(labels, minlength=len(classes)) + 1) / (len(labels) + len(classes))
    if len(classes) < 2:
        return Pool(classes, design, (), (1.0,), tuple(shares.tolist()), len(labels))
    plan = Budget(budget, report)
    library = plan_library(view, labels, len(classes), seed=seed, budget=plan)
    cells = math.prod(len(axis.levels) for axis in design.axes if axis.levels)
    counted = plan_counted(
        rows,
        kinds,
        classes,
        declared,
        budget=plan,
        most=max(COUNTED * budget, plan.left),
        cells=cells,
        patterns=_patterns(values.values(), codes),
    )
    learned = [(each.name, each.model, each.answers) for each in library.learn(plan)]
    learned += [(name, model, answers[places]) for name, model, answers in counted.learn(order, classes, plan)]
    prior = np.tile(functions.log(shares), (len(labels), 1))
    found = replace(_pool(learned, prior, labels, classes, design, shares), omitted=tuple(plan.omitted))
    plan.close()
    return found


def _patterns(values: Iterable[Any], codes: NDArray[np.int64]) -> int:
    """The number of patterns of missing numbers, summed over the classes; the number of classes if none is missing."""
    gaps = [gap for value in values if not isinstance(value, tuple) and (gap := np.isnan(value)).any()]
    if not gaps:
        return len(np.unique(codes))
    packed = np.packbits(np.stack(gaps), axis=0)
    return len(np.unique(np.concatenate([packed, codes[None]]).T, axis=0))


def _pool(
    learned: list[tuple[str, Any, Doubles]],
    prior: Doubles,
    labels: NDArray[np.int64],
    classes: tuple[str, ...],
    design: Design,
    shares: Doubles,
) -> Pool:
    powers = learned_powers([*(answers for *_, answers in learned), prior], labels)
    kept = [place for place in range(len(learned)) if powers[place] >= LEAST_POWER]
    final = learned_powers([*(learned[place][2] for place in kept), prior], labels)
    by_place = dict(zip(kept, final.tolist(), strict=False))
    judged = [
        TriedMember(name, mean_loss(limited(answers), labels), _accuracy(answers, labels), by_place.get(place, 0.0))
        for place, (name, _, answers) in enumerate(learned)
    ]
    together = mixed(pooled([*(learned[place][2] for place in kept), prior], final), shares, len(labels))
    return Pool(
        classes,
        design,
        tuple(learned[place][1] for place in kept),
        tuple(final.tolist()),
        tuple(shares.tolist()),
        len(labels),
        tuple(sorted(judged, key=lambda each: each.log_loss)),
        TriedMember("pool", mean_loss(together, labels), _accuracy(together, labels), 1.0),
    )


def _accuracy(answers: Doubles, codes: NDArray[np.int64]) -> float:
    return float((answers.argmax(axis=1) == codes).mean())


def _known(part: LabelledRows, kinds: Mapping[str, Any], draws: np.random.Generator) -> LabelledRows:
    """The labelled rows with the columns in use; a row is repeated by its weight, a fraction at random."""
    columns = tuple(name for name in part.batch.names if name in kinds)
    rows = LabelledRows(part.batch.select(columns), part.labels)
    times = (part.labels.codes >= 0).astype(np.int64)
    if part.weights is not None:
        weights = np.asarray(part.weights, dtype=np.float64) * times
        times = np.floor(weights).astype(np.int64)
        if (times < weights).any():
            times += draws.random(len(weights)) < weights - times
    return rows if (times == 1).all() else rows.take(np.repeat(np.arange(len(times)), times))
