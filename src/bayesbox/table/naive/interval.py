"""How sure the answer of naive Bayes is: the shares behind it drawn from their posteriors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbox.described import Remedy
from bayesbox.errors import BadOption
from bayesbox.explain.credible import (
    Doubles,
    IntervalTable,
    intervals_of,
    posterior_draws,
    prior_notes,
    require_draws,
    require_level,
)
from bayesbox.explain.work import bayes_box
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.table.naive.classifier import NaiveClassifier

NAMED = 6  # columns that a note names


def posterior_interval(
    classifier: NaiveClassifier, batch: Batch, *, level: float, draws: int, seed: int
) -> IntervalTable:
    """The interval of P(class | x) of the one row of a batch."""
    level = require_level(level)
    require_draws(draws, seed)
    calibrated = classifier.calibrated
    weights = None if calibrated is None else calibrated.weights
    base = classifier if weights is None else classifier.weighed(weights)
    assert base.schema is not None
    columns = base.columns_of(batch)
    box = bayes_box(base.schema, base.book, base.rules, base.model, columns, every=True)
    counted = [factor for factor in box.factors if factor.posteriors]
    if not counted:
        raise BadOption(
            "an interval is of shares that were counted, and none of this answer was",
            remedy=Remedy(
                "Learn from rows: bayesbox.NaiveBayes().fit(X, y)", "Learn from rows: bayes train DATA -t TARGET"
            ),
        )
    drawn = posterior_draws(box.factors, len(box.classes), draws=draws, seed=seed)
    notes = prior_notes([share for factor in counted for share in factor.posteriors])
    fixed = [factor.name for factor in box.factors if not factor.posteriors]
    if fixed:
        more = f" and {len(fixed) - NAMED} more" if len(fixed) > NAMED else ""
        notes.append(f"taken as they were learned, without an error of their own: {', '.join(fixed[:NAMED])}{more}")
    if calibrated is not None and calibrated.calibration is not None:
        if np.array_equal(np.array(calibrated.log_prior), np.asarray(classifier.model.log_prior)):
            drawn = _calibrated(calibrated.calibration, drawn)
            notes.append("each draw is calibrated as the answer is; the calibration itself has no error here")
            shares = classifier.posterior(batch)[0]
        else:
            notes.append("before calibration, which was learned under another prior")
            shares = np.exp(base.plain_log_posterior(batch))[0]
    else:
        shares = classifier.posterior(batch)[0]
    names = list(base.model.labels)
    title = f"{classifier.case_title(batch)}: how sure is P(class | x)?"
    return IntervalTable(title, ("class",), intervals_of(names, shares, drawn, level), draws, tuple(notes))


def _calibrated(calibration: object, drawn: Doubles) -> Doubles:
    with np.errstate(divide="ignore"):
        found: Doubles = np.exp(calibration.applied(np.log(drawn)))  # type: ignore[attr-defined]
    return found
