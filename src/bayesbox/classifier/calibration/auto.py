"""Calibration `auto`: the best by the log loss of held-out rows, on a sample that follows from the rows alone."""

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

MOST_CELLS = 500_000  # that are computed to answer the sample: rows times `cells_per_row`


@dataclass(frozen=True)
class HeldOutAnswers:
    """Answers of a model to held-out rows, and answers that have learned more on the way.

    `bases` are named as `choose_calibration` has them; `column_weights` learns those of all rows.
    """

    bases: Mapping[str, Doubles]
    codes: NDArray[np.int64]
    weights: Doubles | None
    column_weights: Callable[[], dict[str, float]] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AutoCalibration:
    """What `auto` made of a classifier: the calibration, None if none is better, and by what it was chosen."""

    calibrated: Calibrated | None
    choice: CalibrationChoice | None  # None if there are too few rows


def auto_calibrated(classifier: AnyClassifier, kept: list[LabelledRows]) -> AutoCalibration:
    """The calibration that is best by the log loss of held-out rows, learned on a sample of the rows that were learned.

    `kept` are rows with a label. Below 50 of them, or two for each class, nothing is looked at: a class whose only row
    is held out cannot be answered.
    """
    rows = sum(part.batch.rows for part in kept)
    if rows < max(FEWEST_CALIBRATED, 2 * len(classifier.classes)) or len(classifier.classes) < 2:
        return AutoCalibration(None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # what is odd in these rows was reported when they were learned
        found = classifier.held_out_answers(kept)
    return auto_chosen(classifier, found)


def auto_chosen(classifier: AnyClassifier, found: HeldOutAnswers) -> AutoCalibration:
    """The same of held-out answers that were found otherwise."""
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
    """What to say where a classifier is worse on held-out rows than always predicting the same.

    It is evaluated on those by which its calibration was chosen, or on rows that it has learned and that are given.
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
    """How many rows `auto` looks at: a number that follows from the classes and columns."""
    from bayesbox.stat.choose_calibration import FEWEST, most_rows

    return max(FEWEST, min(most_rows(len(classifier.classes)), MOST_CELLS // max(classifier.cells_per_row(), 1)))


def held_out_answers(classifier: AnyClassifier, kept: list[LabelledRows]) -> HeldOutAnswers:
    """The answers of any classifier to a sample of the rows that it has learned, each held out."""
    from bayesbox.stat.choose_calibration import PLAIN

    log_p, codes, weights = unseen_answers(classifier, kept, sampled=True)
    return HeldOutAnswers({PLAIN: log_p}, codes, weights)


def held_out_as_it_is(classifier: AnyClassifier, kept: list[LabelledRows]) -> HeldOutAnswers:
    """The answers to rows that were never learned; those of classes that the model does not know are passed over."""
    from bayesbox.stat.choose_calibration import PLAIN

    place = {text: code for code, text in enumerate(classifier.classes)}
    codes = np.concatenate([codes_of(rows, place) for rows in kept])
    known = codes >= 0
    log_p = np.concatenate([classifier.plain_log_posterior(rows.batch) for rows in kept])[known]
    weights = None if kept[0].weights is None else np.concatenate([rows.weights for rows in kept])[known]
    return HeldOutAnswers({PLAIN: log_p}, codes[known], weights)
