"""Credible intervals of a prediction, from draws of the posteriors of the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbox.explain.credible import Doubles, IntervalTable, intervals_of
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


def interval_of_draws(
    classifier: AnyClassifier,
    base: AnyClassifier,
    batch: Batch,
    drawn: Doubles,
    *,
    level: float,
    draws: int,
    notes: list[str],
) -> IntervalTable:
    """The intervals of P(class | x) from draws x classes, each draw calibrated like the predictions.

    `base` is the uncalibrated classifier that was drawn from, with its column weights if it has any.
    """
    calibrated = classifier.calibrated
    calibration = None if calibrated is None else calibrated.calibration
    shares = classifier.posterior(batch)[0]
    if calibrated is not None and calibration is not None:
        if np.array_equal(np.array(calibrated.log_prior), np.asarray(classifier.model.log_prior)):
            with np.errstate(divide="ignore"):
                drawn = np.exp(calibration.applied(np.log(drawn)))
            notes = [
                *notes,
                "each draw is calibrated like the prediction; the uncertainty of the calibration itself is not "
                "included",
            ]
        else:
            notes = [*notes, "before calibration, which was fitted under another prior"]
            shares = np.exp(base.plain_log_posterior(batch))[0]
    title = f"{classifier.case_title(batch)}: credible interval of P(class | x)"
    found = intervals_of(list(base.model.labels), shares, drawn, level)
    return IntervalTable(title, ("class",), found, draws, tuple(notes))
