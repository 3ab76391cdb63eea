"""All models of a table that a budget allows, learned, judged on rows they have not seen, and pooled."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.errors import BayesboxError, DataWarning
from bayesbox.learn.design import Design, View, sorted_order, takes_part
from bayesbox.learn.library import learn_library, mean_loss
from bayesbox.learn.pool import learned_powers, limited, pooled
from bayesbox.schema.kinds import Count, Kind, Number, Real
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.workflow.calibrated import answers_by_folds, unseen_answers
from bayesbox.workflow.classifier import Classifier
from bayesbox.workflow.joined import class_codes, joined_column
from bayesbox.workflow.rows import Rows

LEAST_POWER = 0.02  # a model below it is let go
MOST_ROWS = 60_000  # that the models learn from; of more a sample is drawn
KNOTS, MOST_FEATURES = 5, 400
COUNTED_FOLDS = 5
MOST_COUNTED = 75_000  # rows x columns^2 x classes a second of the budget, for models that learn each fold anew
MOST_SPARSE = 20  # cells of a joint table for each row
COUNTED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("naive", {}),
    ("naive", {"numeric": "mdl"}),
    ("naive", {"numeric": "kernel"}),
    ("naive", {"column_weights": "learned"}),
    ("aode", {}),
    ("kdb:2", {}),
    ("averaged", {"numeric": "student"}),
    ("full", {}),
)
"""Models that are their counts; those that there are take part."""
CALLED = {"column_weights": "column weights"}


class Judged(NamedTuple):
    """A model that was tried: how well it answered rows it had not seen, and its power in the pool (0: let go)."""

    name: str
    log_loss: float
    accuracy: float
    power: float


@dataclass(frozen=True)
class Pool:
    """What was learned: the design, the models that were kept and their powers, and all that were judged."""

    classes: tuple[str, ...]
    design: Design
    models: tuple[Any, ...]  # those that answer from a view, or classifiers that answer from rows
    powers: tuple[float, ...]  # one each, and that of the class shares last
    shares: tuple[float, ...]
    rows: int
    judged: tuple[Judged, ...] = field(compare=False, default=())
    pooled: Judged | None = field(compare=False, default=None)

    def log_p(self, view: View, batch: Batch) -> Doubles:
        """log P(class | x), rows x classes."""
        prior = np.log(np.array(self.shares))
        answers = [_answers(model, view, batch, self.classes) for model in self.models]
        found = pooled([*answers, np.tile(prior, (view.rows, 1))], np.array(self.powers))
        return mixed(found, np.array(self.shares), self.rows)


def mixed(log_p: Doubles, shares: Doubles, rows: int) -> Doubles:
    """The answers with the class shares mixed in, worth one row."""
    found: Doubles = np.logaddexp(log_p + np.log(rows / (rows + 1)), np.log(shares / (rows + 1)))
    return found


def _answers(model: Any, view: View, batch: Batch, classes: tuple[str, ...]) -> Doubles:
    if not isinstance(model, Classifier):
        found: Doubles = model.log_p(view)
        return found
    if batch.names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            answers = model.log_posterior(batch)
    else:
        answers = np.tile(model.model.log_prior, (batch.rows, 1))
    return answers[:, [model.classes.index(name) for name in classes]]


def learn_pool(
    parts: Sequence[Rows], schema: Schema, classes: tuple[str, ...], declared: Any, *, budget: float, seed: int
) -> Pool | None:
    """Learn, judge and pool all models that the budget allows."""
    kinds = {name: kind for name, kind in schema.kinds.items() if takes_part(kind)}
    draws = np.random.default_rng(seed)
    rows = [_known(part, kinds, draws) for part in parts]
    rows = [part for part in rows if part.batch.rows]
    if not rows:
        return None
    codes = np.concatenate([class_codes(part, classes) for part in rows])
    values = {name: joined_column(rows, name, kind) for name, kind in kinds.items()}
    numbers = sum(1 for value in values.values() if not isinstance(value, tuple))
    knots = max(1, min(KNOTS, MOST_FEATURES // max(numbers, 1) - 1))
    design = Design.of(values, knots=knots)
    whole = _view_of(design, values, len(codes))
    order = places = sorted_order(whole, codes)
    if len(places) > MOST_ROWS:
        places = places[np.sort(draws.choice(len(places), MOST_ROWS, replace=False))]
    view, labels = whole.take(places), codes[places]
    shares = (np.bincount(labels, minlength=len(classes)) + 1) / (len(labels) + len(classes))
    if len(classes) < 2:
        return Pool(classes, design, (), (1.0,), tuple(shares.tolist()), len(labels))
    learned = [
        (each.name, each.model, each.answers)
        for each in learn_library(view, labels, len(classes), seed=seed, budget=budget)
    ]
    cells = math.prod(len(axis.levels) for axis in design.axes if axis.levels)
    for name, model, answers in _counted(rows, kinds, classes, declared, order, budget, cells):
        learned.append((name, model, answers[places]))
    prior = np.tile(np.log(shares), (len(labels), 1))
    return _pool(learned, prior, labels, classes, design, shares)


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
        Judged(name, mean_loss(limited(answers), labels), _accuracy(answers, labels), by_place.get(place, 0.0))
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
        Judged("pool", mean_loss(together, labels), _accuracy(together, labels), 1.0),
    )


def _accuracy(answers: Doubles, codes: NDArray[np.int64]) -> float:
    return float((answers.argmax(axis=1) == codes).mean())


def _known(part: Rows, kinds: Mapping[str, Any], draws: np.random.Generator) -> Rows:
    """The rows with a label and the columns that take part; a weight repeats its row, a part of one by chance."""
    columns = tuple(name for name in part.batch.names if name in kinds)
    rows = Rows(part.batch.select(columns), part.labels)
    times = (part.labels.codes >= 0).astype(np.int64)
    if part.weights is not None:
        weights = np.asarray(part.weights, dtype=np.float64) * times
        times = np.floor(weights).astype(np.int64)
        if (times < weights).any():
            times += draws.random(len(weights)) < weights - times
    return rows if (times == 1).all() else rows.take(np.repeat(np.arange(len(times)), times))


def _view_of(design: Design, values: Mapping[str, Any], rows: int) -> View:
    columns = []
    for axis in design.axes:
        value = values[axis.name]
        if axis.levels is None:
            columns.append(value)
        else:
            place = {text: code for code, text in enumerate(axis.levels)}
            codes = np.array([*(place.get(text, -1) for text in value[1]), -1], dtype=np.int32)
            columns.append(codes[value[0]])
    return View(design, tuple(columns), rows)


def _counted(
    rows: list[Rows],
    kinds: Mapping[str, Kind],
    classes: tuple[str, ...],
    declared: Any,
    order: NDArray[np.int64],
    budget: float,
    cells: int,
) -> list[tuple[str, Classifier, Doubles]]:
    """The models that are their counts, with their answers to every row."""
    from bayesbox.workflow.models import MODELS, new_classifier

    found = []
    total, columns = sum(part.batch.rows for part in rows), len(rows[0].batch.names)
    numbers = any(isinstance(kind, (Real, Number, Count)) for kind in kinds.values())
    for name, options in COUNTED:
        kind = name.partition(":")[0]
        if kind == "naive" and "numeric" in options and not numbers:
            continue
        if kind not in MODELS or not columns:
            continue
        work = total * columns**2 * len(classes)
        if kind == "full" and cells > MOST_SPARSE * total:
            continue  # a joint table that is all but empty tells nothing
        if work > MOST_COUNTED * budget and (kind != "naive" or options):
            continue  # plain naive Bayes always takes part
        known = {key: value for key, value in (declared or {}).items() if str(key) in rows[0].batch.names}
        classifier = new_classifier(name, options, known)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classifier.learn_all(rows)
                if kind in ("naive", "full") and not options:  # these leave each row out in closed form
                    log_p, *_ = unseen_answers(classifier, rows, folds=COUNTED_FOLDS, order=order)
                else:
                    log_p = np.concatenate(answers_by_folds(classifier, rows, folds=COUNTED_FOLDS, order=order))
                log_p = log_p[:, [classifier.classes.index(each) for each in classes]]
        except BayesboxError:
            continue  # a model that refuses these rows takes no part
        if np.isnan(log_p).any():
            continue
        told = (CALLED.get(key, value) for key, value in options.items() if key != "numeric" or numbers)
        title = ", ".join([classifier.title, *told])
        found.append((title, copy.copy(classifier), log_p))
    return found
