"""Calibration of a classifier: what is learned of its answers to rows it has not seen, and kept with the model.

The answers are those of leaving one row out, where these are exact, and of folds where they are not: because the rows
have weights, or because something was derived from them, which the folds then derive anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows, common_codes, minus_rows, parts_of, refit_on
from bayesbox.dist.base import Doubles
from bayesbox.errors import DataWarning
from bayesbox.file.reader import Reader
from bayesbox.schema.columns import as_view
from bayesbox.source.base import Batch
from bayesbox.stat.calibrate import KINDS, Calibration, Dirichlet, Isotonic, Temperature, calibration, normalised
from bayesbox.stat.folds import stratified_folds

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json

FOLDS = 10
C = TypeVar("C", bound="AnyClassifier")


@dataclass(frozen=True)
class Calibrated:
    """A calibration with the classes it is of and the class prior under which it was learned.

    Another base rate is put in afterwards, as Bayes' rule says: the calibrated odds times the ratio of the priors.
    """

    calibration: Calibration
    classes: tuple[str, ...]
    log_prior: tuple[float, ...]

    def log_posterior(self, classifier: AnyClassifier, batch: Batch) -> Doubles:
        """log P(class | x) of a classifier, calibrated."""
        base, now = np.array(self.log_prior), np.asarray(classifier.model.log_prior)
        if np.array_equal(base, now):
            return self.calibration.applied(classifier.plain_log_posterior(batch))
        shares = np.exp(base)
        prior = dict(zip(self.classes, shares / shares.sum(), strict=True))
        plain = classifier.with_rules(replace(classifier.rules, prior=prior))
        found = self.calibration.applied(plain.plain_log_posterior(batch))
        known = np.isfinite(base)
        shift = np.where(known, now - np.where(known, base, 0.0), 0.0)
        return normalised(found + shift)

    def to_json(self) -> Json:
        """As the model file says it."""
        prior = [None if np.isneginf(value) else value for value in self.log_prior]
        return {
            "kind": self.calibration.kind,
            "classes": list(self.classes),
            "log_prior": prior,
            **self.calibration.to_json(),
        }


def calibrated(classifier: AnyClassifier, parts: Sequence[LabelledRows]) -> Calibrated | None:
    """The calibration of the kind that the classifier asks for, learned on the rows it has learned."""
    assert classifier.calibrate is not None
    log_p, codes, weights = unseen_answers(classifier, parts)
    classes = classifier.classes
    if len(classes) < 2 or not len(codes):
        return None
    found = calibration(classifier.calibrate, log_p, codes, weights)
    if found is None:
        return None
    return Calibrated(found, classes, tuple(np.asarray(classifier.model.log_prior).tolist()))


def unseen_answers(
    classifier: AnyClassifier,
    parts: Sequence[LabelledRows],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    order: NDArray[np.int64] | None = None,
) -> tuple[Doubles, NDArray[np.int64], Doubles | None]:
    """(log P(class | x), class, weight) of the rows with a label, each answered by a model that has not seen it.

    The folds follow from the places of the rows, or from their places in an `order` that is given.
    """
    kept = labelled(parts)
    place = {text: code for code, text in enumerate(classifier.classes)}
    codes = [_codes(rows, place) for rows in kept]
    weights = None if not kept or kept[0].weights is None else np.concatenate([rows.weights for rows in kept])
    if not kept:
        return np.empty((0, len(place))), np.empty(0, dtype=np.int64), weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # what is odd in these rows was told when they were learned
        if weights is None and classifier.derived is None:
            with np.errstate(divide="ignore"):
                answers = [np.log(classifier.leave_one_out(rows.batch, rows.labels)) for rows in kept]
        else:
            answers = answers_by_folds(classifier, kept, folds=folds, seed=seed, order=order)
    return np.concatenate(answers), np.concatenate(codes), weights


def _codes(rows: LabelledRows, place: dict[str, int]) -> NDArray[np.int64]:
    """The classes of rows that all have one; a level that no row has may be none of them."""
    return np.array([place.get(text, -1) for text in rows.labels.levels], dtype=np.int64)[rows.labels.codes]


def labelled(parts: Sequence[LabelledRows]) -> list[LabelledRows]:
    """The rows that have a label, their columns as they can be taken apart."""
    kept = [_labelled(rows) for rows in parts]
    return [rows for rows in kept if rows.batch.rows]


def _labelled(rows: LabelledRows) -> LabelledRows:
    batch = rows.batch
    weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    columns = tuple(as_view(column) for column in batch.columns)
    whole = LabelledRows(Batch(batch.names, columns, batch.rows, batch.first_row), rows.labels, weights)
    there = rows.labels.codes >= 0
    if weights is not None:
        there = there & (weights > 0)
    return whole if there.all() else whole.take(np.flatnonzero(there))


def answers_by_folds(
    classifier: AnyClassifier,
    kept: list[LabelledRows],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    order: Any = None,
) -> list[Doubles]:
    """log P(class | x) of the rows of each batch, each answered by a model that was learned without its fold."""
    width, log_prior = len(classifier.classes), np.asarray(classifier.model.log_prior)
    answers = {id(rows): np.tile(log_prior, (rows.batch.rows, 1)) for rows in kept}
    place = {text: code for code, text in enumerate(classifier.classes)}
    for other, rows, chosen in held_out(classifier, kept, folds=folds, seed=seed, order=order):
        columns = [place[text] for text in other.classes]
        found = np.full((len(chosen), width), -np.inf)
        found[:, columns] = other.plain_log_posterior(rows.take(chosen).batch)
        answers[id(rows)][chosen] = found
    return [answers[id(rows)] for rows in kept]


def held_out(
    classifier: C, kept: list[LabelledRows], *, folds: int, seed: int = 0, order: Any = None
) -> Iterator[tuple[C, LabelledRows, NDArray[np.int64]]]:
    """(the classifier without a fold, a batch, the rows of it in the fold), fold after fold."""
    codes = common_codes([rows.labels for rows in kept])
    folds = min(folds, len(codes))
    if folds < 2:
        return
    if order is None:
        order = np.arange(len(codes))
    fold_of_row = np.empty(len(codes), dtype=np.int32)
    fold_of_row[order] = stratified_folds(codes[order], folds, seed=seed)
    parts = parts_of(kept, fold_of_row, folds)
    bare = classifier.changed(calibrate=None, calibrated=None, _model=classifier.model)
    for number in range(folds):
        if not parts[number]:
            continue
        if bare.needs_refit():
            others = [each for index, fold in enumerate(parts) if index != number for each in fold]
            other = refit_on(bare, [rows.take(chosen) for rows, chosen in others])
        else:
            other = minus_rows(bare, [rows.take(chosen) for rows, chosen in parts[number]])
        for rows, chosen in parts[number]:
            yield other, rows, chosen


# -- the model file --------------------------------------------------------------------------------------------------


def calibrated_from_json(written: Json) -> Calibrated:
    """What the model file says; ValueError where that is no calibration."""
    reader = Reader(written, "the calibration")
    kind, classes = reader.take("kind", str), reader.texts("classes")
    prior = reader.take("log_prior", list)
    if len(classes) < 2 or len(prior) != len(classes):
        raise ValueError("the calibration has not a prior for each class")
    log_prior = tuple(-np.inf if value is None else _number(value) for value in prior)
    found: Calibration
    if kind == Temperature.kind:
        found = Temperature(_number(reader.take("power", float)))
        if not found.power > 0:
            raise ValueError("the power of the calibration is not above 0")
    elif kind == Isotonic.kind:
        at, share = _table(reader.take("log_odds", list)), _table(reader.take("probability", list))
        if [len(each) for each in at] != [len(each) for each in share] or len(at) != len(classes):
            raise ValueError("the curves of the calibration do not fit the classes")
        if not all(each and np.all(np.diff(each) > 0) for each in at):
            raise ValueError("a curve of the calibration does not rise")
        if not all(0 <= value <= 1 for each in share for value in each):
            raise ValueError("a curve of the calibration leaves the probabilities")
        found = Isotonic(at, share)
    elif kind == Dirichlet.kind:
        slopes, offsets = _table(reader.take("slopes", list)), _table([reader.take("offsets", list)])[0]
        if {len(slopes), len(offsets), *map(len, slopes)} != {len(classes)}:
            raise ValueError("the numbers of the calibration do not fit the classes")
        found = Dirichlet(slopes, offsets)
    else:
        raise ValueError(f"the calibration {kind!r} is unknown; there is {', '.join(KINDS)}")
    reader.done()
    return Calibrated(found, classes, log_prior)


def _number(value: Any) -> float:
    if type(value) not in (float, int) or not np.isfinite(value):
        raise ValueError("a number of the calibration is none")
    return float(value)


def _table(rows: list[Any]) -> tuple[tuple[float, ...], ...]:
    if not all(type(row) is list for row in rows):
        raise ValueError("a list of the calibration is none")
    return tuple(tuple(_number(value) for value in row) for row in rows)
