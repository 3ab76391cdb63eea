"""The calibration of a classifier, learned on held-out predictions and stored with the model.

The held-out predictions are leave-one-out where these are exact. They come from folds if the rows have weights or if
something was derived from them, which each fold derives again. A calibration requested by name is learned on all rows,
`auto` on a sample determined by the rows alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows, common_codes, minus_rows, parts_of, refit_on
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.errors import DataWarning
from bayesbox.file.reader import Reader
from bayesbox.source.base import Batch
from bayesbox.stat.calibrate import (
    KINDS,
    NAMES,
    Calibration,
    ClassShares,
    Dirichlet,
    Isotonic,
    Temperature,
    calibration,
    normalised,
)
from bayesbox.stat.folds import stratified_folds

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json

FOLDS = 10
FEW_FOLDS, MANY_ROWS = 3, 500  # the folds of a larger sample: each fold makes a model
C = TypeVar("C", bound="AnyClassifier")


COLUMN_WEIGHTS = "column weights"


@dataclass(frozen=True)
class HeldOutLoss:
    """The mean log loss of held-out rows before and after a calibration."""

    before: float
    after: float
    rows: int


@dataclass(frozen=True)
class Calibrated:
    """A calibration with its classes and the class prior under which it was learned.

    `weights` are the exponents of the factors of naive Bayes, applied before the map; either may be absent. `asked` is
    the requested kind, `auto` or that of the map. Another prior is applied afterwards by Bayes' rule: the calibrated
    odds times the ratio of the priors.
    """

    calibration: Calibration | None
    classes: tuple[str, ...]
    log_prior: tuple[float, ...]
    weights: Mapping[str, float] | None = None
    asked: str = ""
    held_out: HeldOutLoss | None = None

    @property
    def name(self) -> str:
        """A description of the calibration."""
        kind = None if self.calibration is None else self.calibration.kind
        return " and ".join(part for part in ("" if self.weights is None else COLUMN_WEIGHTS, kind) if part)

    def fits(self, columns: Sequence[str]) -> bool:
        """Whether the weights belong to these columns."""
        return self.weights is None or (bool(columns) and set(self.weights) <= set(columns))

    def log_posterior(self, classifier: AnyClassifier, batch: Batch) -> Doubles:
        """The calibrated log P(class | x) of a classifier."""
        base, now = np.array(self.log_prior), np.asarray(classifier.model.log_prior)
        if np.array_equal(base, now):
            return self._applied(classifier, batch)
        found = self._applied(self._at_own_prior(classifier), batch)
        return normalised(found + self._shift(now))

    def compiled(self, classifier: C) -> tuple[C, tuple[object, ...]]:
        """(The uncalibrated classifier, the calibration in the form of `_core.RowScorer`.)"""
        base, now = np.array(self.log_prior), np.asarray(classifier.model.log_prior)
        shift = None
        if not np.array_equal(base, now):
            classifier, shift = self._at_own_prior(classifier), self._shift(now)
        weighed = classifier if self.weights is None else classifier.weighed(self.weights)
        kind = ("none", None, None) if self.calibration is None else self.calibration.compiled()
        return weighed, (*kind, shift)

    def _at_own_prior(self, classifier: C) -> C:
        """The classifier with the class prior under which the calibration was learned."""
        shares = functions.exp(np.array(self.log_prior))
        prior = dict(zip(self.classes, shares / shares.sum(), strict=True))
        return classifier.with_rules(replace(classifier.rules, prior=prior))

    def _shift(self, now: Doubles) -> Doubles:
        """What the current prior adds to the calibrated log-odds."""
        base = np.array(self.log_prior)
        known = np.isfinite(base)
        shift: Doubles = np.where(known, now - np.where(known, base, 0.0), 0.0)
        return shift

    def _applied(self, classifier: AnyClassifier, batch: Batch) -> Doubles:
        weighed = classifier if self.weights is None else classifier.weighed(self.weights)
        plain = weighed.plain_log_posterior(batch)
        return plain if self.calibration is None else self.calibration.applied(plain)

    def to_json(self) -> Json:
        """The calibration as JSON for the model file."""
        prior = [None if np.isneginf(value) else value for value in self.log_prior]
        kind = None if self.calibration is None else self.calibration.kind
        written: Json = {"kind": kind, "classes": list(self.classes), "log_prior": prior}
        if self.calibration is not None:
            written |= self.calibration.to_json()
        if self.weights is not None:
            written["weights"] = dict(sorted(self.weights.items()))
        if self.asked and self.asked != kind:
            written["asked"] = self.asked
        if self.held_out is not None:
            written["held_out"] = dict(vars(self.held_out))
        return written


def calibrated(classifier: AnyClassifier, parts: Sequence[LabelledRows]) -> Calibrated | None:
    """The calibration that the classifier requests by name, learned on its training rows."""
    assert classifier.calibrate in KINDS
    log_p, codes, weights = unseen_answers(classifier, parts)
    return calibrated_by(classifier, classifier.calibrate, log_p, codes, weights)


def calibrated_by(
    classifier: AnyClassifier, kind: str, log_p: Doubles, codes: NDArray[np.int64], weights: Doubles | None
) -> Calibrated | None:
    """A calibration of one kind, learned on held-out predictions of a classifier."""
    if len(classifier.classes) < 2 or not len(codes):
        return None
    return calibrated_of(classifier, kind, calibration(kind, log_p, codes, weights))


def calibrated_of(classifier: AnyClassifier, asked: str, found: Calibration | None, **more: Any) -> Calibrated:
    """A calibration with the classes and the prior of a classifier."""
    log_prior = tuple(np.asarray(classifier.model.log_prior).tolist())
    return Calibrated(found, classifier.classes, log_prior, asked=asked, **more)


def unseen_answers(
    classifier: AnyClassifier,
    parts: Sequence[LabelledRows],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    order: NDArray[np.int64] | None = None,
    sampled: bool = False,
) -> tuple[Doubles, NDArray[np.int64], Doubles | None]:
    """(log P(class | x), class, weight) of the labelled rows, each predicted by a model without it.

    The folds follow from the positions of the rows, or from a given `order`. The rows may be `sampled` from the
    training rows: then each fold of the sample is subtracted and the derived parts are kept, since a model refitted on
    the sample alone would differ.
    """
    kept = labelled(parts)
    place = {text: code for code, text in enumerate(classifier.classes)}
    codes = [codes_of(rows, place) for rows in kept]
    weights = None if not kept or kept[0].weights is None else np.concatenate([rows.weights for rows in kept])
    if not kept:
        return np.empty((0, len(place))), np.empty(0, dtype=np.int64), weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # problems of these rows were reported in training
        if weights is None and classifier.derived is None and not (sampled and classifier.slow_leave_one_out()):
            with np.errstate(divide="ignore"):
                answers = [functions.log(classifier.leave_one_out(rows.batch, rows.labels)) for rows in kept]
        else:
            few = int(classifier.book.n.sum()) <= 2 * sum(map(len, codes))
            folds = FEW_FOLDS if sampled and sum(map(len, codes)) > MANY_ROWS else folds
            subtract = sampled and not few and all(classifier.book[name].is_exact for name in classifier.book)
            answers = answers_by_folds(classifier, kept, folds=folds, seed=seed, order=order, subtract=subtract)
    return np.concatenate(answers), np.concatenate(codes), weights


def codes_of(rows: LabelledRows, place: dict[str, int]) -> NDArray[np.int64]:
    """The class codes of rows that are all labelled; levels without rows are ignored."""
    return np.array([place.get(text, -1) for text in rows.labels.levels], dtype=np.int64)[rows.labels.codes]


def labelled(parts: Sequence[LabelledRows]) -> list[LabelledRows]:
    """The labelled rows, with columns that can be sliced."""
    kept = [_labelled(rows) for rows in parts]
    return [rows for rows in kept if rows.batch.rows]


def _labelled(rows: LabelledRows) -> LabelledRows:
    whole, there = rows.viewed(), rows.counting()
    return whole if there.all() else whole.take(np.flatnonzero(there))


def answers_by_folds(
    classifier: AnyClassifier,
    kept: list[LabelledRows],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    order: object = None,
    subtract: bool = False,
) -> list[Doubles]:
    """log P(class | x) of the rows of each batch, each predicted by a model without its fold."""
    width, log_prior = len(classifier.classes), np.asarray(classifier.model.log_prior)
    answers = {id(rows): np.tile(log_prior, (rows.batch.rows, 1)) for rows in kept}
    place = {text: code for code, text in enumerate(classifier.classes)}
    for other, rows, chosen in held_out(classifier, kept, folds=folds, seed=seed, order=order, subtract=subtract):
        columns = [place[text] for text in other.classes]
        found = np.full((len(chosen), width), -np.inf)
        found[:, columns] = other.plain_log_posterior(rows.take(chosen).batch)
        answers[id(rows)][chosen] = found
    return [answers[id(rows)] for rows in kept]


def held_out(
    classifier: C,
    kept: list[LabelledRows],
    *,
    folds: int,
    seed: int = 0,
    order: Any = None,
    subtract: bool = False,
) -> Iterator[tuple[C, LabelledRows, NDArray[np.int64]]]:
    """For each fold: (the classifier without the fold, a batch, its rows in the fold).

    With `subtract`, derived parts are kept, even if they would otherwise be refitted.
    """
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
        if bare.needs_refit() and not subtract:
            others = [each for index, fold in enumerate(parts) if index != number for each in fold]
            other = refit_on(bare, [rows.take(chosen) for rows, chosen in others])
        else:
            other = minus_rows(bare, [rows.take(chosen) for rows, chosen in parts[number]])
        for rows, chosen in parts[number]:
            yield other, rows, chosen


# -- the model file --------------------------------------------------------------------------------------------------


def calibrated_from_json(written: Json) -> Calibrated:
    """The calibration from the JSON of a model file; ValueError if it is not valid."""
    reader = Reader(written, "the calibration")
    kind, classes = reader.take("kind", str, None), reader.texts("classes")
    prior = reader.take("log_prior", list)
    if len(classes) < 2 or len(prior) != len(classes):
        raise ValueError("the calibration does not have a prior for each class")
    log_prior = tuple(-np.inf if value is None else _number(value) for value in prior)
    found = None if kind is None else _map_from_json(kind, reader, len(classes))
    weights = reader.take_if_present("weights", dict)
    if weights is None and found is None:
        raise ValueError("the calibration has neither weights nor a kind")
    if weights is not None:
        weights = {name: _number(weight) for name, weight in weights.items()}
        if min(weights.values(), default=0.0) < 0:
            raise ValueError("a weight of the calibration is negative")
    asked = reader.take_if_present("asked", str) or kind
    if asked not in NAMES:
        raise ValueError(f"unknown calibration {asked!r}; choose one of: {', '.join(NAMES)}")
    loss = reader.take_if_present("held_out", dict)
    reader.done()
    return Calibrated(found, classes, log_prior, weights, asked, None if loss is None else _loss_from_json(loss))


def _map_from_json(kind: str, reader: Reader, classes: int) -> Calibration:
    if kind == Temperature.kind:
        temperature = Temperature(_number(reader.take("power", float)))
        if not temperature.power > 0:
            raise ValueError("the exponent of the calibration is not positive")
        return temperature
    if kind == Isotonic.kind:
        at, share = _table(reader.take("log_odds", list)), _table(reader.take("probability", list))
        if [len(each) for each in at] != [len(each) for each in share] or len(at) != classes:
            raise ValueError("the calibration curves do not match the classes")
        if not all(each and np.all(np.diff(each) > 0) for each in at):
            raise ValueError("a calibration curve is not increasing")
        if not all(0 <= value <= 1 for each in share for value in each):
            raise ValueError("a calibration curve leaves the interval from 0 to 1")
        return Isotonic(at, share)
    if kind == Dirichlet.kind:
        slopes, offsets = _table(reader.take("slopes", list)), _table([reader.take("offsets", list)])[0]
        if {len(slopes), len(offsets), *map(len, slopes)} != {classes}:
            raise ValueError("the calibration parameters do not match the classes")
        return Dirichlet(slopes, offsets)
    if kind == ClassShares.kind:
        shares = ClassShares(_number(reader.take("share", float)), _table([reader.take("log_shares", list)])[0])
        if not 0 < shares.share < 1:
            raise ValueError("the share of the calibration is not between 0 and 1")
        if len(shares.log_shares) != classes or not np.isclose(functions.exp(shares.log_shares).sum(), 1):
            raise ValueError("the class shares of the calibration do not match the classes")
        return shares
    raise ValueError(f"unknown calibration {kind!r}; choose one of: {', '.join(KINDS)}")


def _loss_from_json(written: Json) -> HeldOutLoss:
    reader = Reader(written, "the held-out loss")
    before, after = _number(reader.take("before", float)), _number(reader.take("after", float))
    rows = reader.take("rows", int)
    reader.done()
    if rows < 1:
        raise ValueError("the held-out loss has no rows")
    return HeldOutLoss(before, after, rows)


def _number(value: Any) -> float:
    if type(value) not in (float, int) or not np.isfinite(value):
        raise ValueError("a calibration parameter is not a number")
    return float(value)


def _table(rows: list[Any]) -> tuple[tuple[float, ...], ...]:
    if not all(type(row) is list for row in rows):
        raise ValueError("a calibration parameter is not a list")
    return tuple(tuple(_number(value) for value in row) for row in rows)
