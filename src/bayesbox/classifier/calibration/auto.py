"""Calibration `auto`: the best by held-out log loss, on a sample determined by the rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.calibrated import (
    COLUMN_WEIGHTS,
    Calibrated,
    HeldOutLoss,
    calibrated_of,
    codes_of,
    unseen_answers,
)
from bayesbox.classifier.options import AUTO_CALIBRATION as AUTO
from bayesbox.classifier.options import FEWEST_CALIBRATED
from bayesbox.classifier.rows import LabelledRows
from bayesbox.dist.base import Doubles
from bayesbox.errors import DataWarning, WorseThanBaseline

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.stat.choose_calibration import CalibrationChoice

MOST_CELLS = 500_000  # computed to predict the sample: rows times `cells_per_row`


@dataclass(frozen=True)
class HeldOutAnswers:
    """Held-out predictions of a model, and those of variants with learned column weights.

    The names of `bases` are those of `choose_calibration`; `column_weights` learns the weights on all rows.
    """

    bases: Mapping[str, Doubles]
    codes: NDArray[np.int64]
    weights: Doubles | None
    column_weights: Callable[[], dict[str, float]] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AutoCalibration:
    """The result of `auto`: the calibration, or None if none is better, and the losses that decided."""

    calibrated: Calibrated | None
    choice: CalibrationChoice | None  # None if there are too few rows


def auto_calibrated(classifier: AnyClassifier, kept: list[LabelledRows]) -> AutoCalibration:
    """The calibration with the lowest held-out log loss, learned on a sample of the training rows.

    `kept` are labelled rows. With fewer than 50 of them, or fewer than two per class, nothing is tried: a class whose
    only row is held out cannot be predicted.
    """
    rows = sum(part.batch.rows for part in kept)
    if rows < max(FEWEST_CALIBRATED, 2 * len(classifier.classes)) or len(classifier.classes) < 2:
        return AutoCalibration(None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # problems of these rows were reported in training
        found = classifier.held_out_answers(kept)
    return auto_chosen(classifier, found)


def auto_chosen(classifier: AnyClassifier, found: HeldOutAnswers) -> AutoCalibration:
    """The same for given held-out predictions."""
    from bayesbox.stat.choose_calibration import PLAIN, choose, learned

    choice = choose(found.bases, found.codes, found.weights)
    if choice is None or (choice.base == PLAIN and choice.kind is None):
        return AutoCalibration(None, choice)
    taken = learned(choice, found.bases[choice.base], found.codes, found.weights)
    column_weights = None
    if choice.base == COLUMN_WEIGHTS:
        assert found.column_weights is not None
        column_weights = found.column_weights()
    loss = HeldOutLoss(choice.before, choice.after, choice.rows)
    return AutoCalibration(calibrated_of(classifier, AUTO, taken, weights=column_weights, held_out=loss), choice)


def worse_than_baseline(classifier: AnyClassifier, kept: list[LabelledRows] | None = None) -> WorseThanBaseline | None:
    """A warning if a classifier is worse on held-out rows than a constant prediction; else None.

    It is evaluated on the rows that chose its calibration, or on the given training rows, each held out.
    """
    choice = classifier.chosen
    if kept is not None and sum(part.batch.rows for part in kept) >= FEWEST_CALIBRATED and len(classifier.classes) > 1:
        from bayesbox.stat.choose_calibration import judged_as_it_is

        choice = judged_as_it_is(*unseen_answers(classifier, kept, sampled=True))
    if choice is None:
        return None
    base = choice.baseline
    if choice.accuracy >= base.accuracy and choice.after <= base.log_loss:
        return None
    return WorseThanBaseline(
        classifier.classes[base.answer],
        accuracy=choice.accuracy,
        log_loss=choice.after,
        baseline_accuracy=base.accuracy,
        baseline_log_loss=base.log_loss,
        rows=choice.rows,
    )


def most_sampled_rows(classifier: AnyClassifier) -> int:
    """The number of rows that `auto` uses, from the number of classes and columns."""
    from bayesbox.stat.choose_calibration import FEWEST, most_rows

    return max(FEWEST, min(most_rows(len(classifier.classes)), MOST_CELLS // max(classifier.cells_per_row(), 1)))


def held_out_answers(classifier: AnyClassifier, kept: list[LabelledRows]) -> HeldOutAnswers:
    """The predictions of any classifier for a sample of its training rows, each held out."""
    from bayesbox.stat.choose_calibration import PLAIN

    log_p, codes, weights = unseen_answers(classifier, kept, sampled=True)
    return HeldOutAnswers({PLAIN: log_p}, codes, weights)


def held_out_as_it_is(classifier: AnyClassifier, kept: list[LabelledRows]) -> HeldOutAnswers:
    """The predictions for rows that were not used in training; rows of unknown classes are skipped."""
    from bayesbox.stat.choose_calibration import PLAIN

    place = {text: code for code, text in enumerate(classifier.classes)}
    codes = np.concatenate([codes_of(rows, place) for rows in kept])
    known = codes >= 0
    log_p = np.concatenate([classifier.plain_log_posterior(rows.batch) for rows in kept])[known]
    weights = None if kept[0].weights is None else np.concatenate([rows.weights for rows in kept])[known]
    return HeldOutAnswers({PLAIN: log_p}, codes[known], weights)
