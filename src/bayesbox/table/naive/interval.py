"""The credible interval of a naive Bayes prediction, by sampling the tables from their posteriors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.classifier.report.interval import interval_of_draws
from bayesbox.described import Remedy
from bayesbox.errors import BadOption
from bayesbox.explain.credible import IntervalTable, posterior_draws, prior_notes, require_draws, require_level
from bayesbox.explain.work import bayes_box
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.table.naive.classifier import NaiveClassifier

NAMED = 6  # columns named in a note


def posterior_interval(
    classifier: NaiveClassifier, batch: Batch, *, level: float, draws: int, seed: int
) -> IntervalTable:
    """The credible interval of P(class | x) for a batch of one row."""
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
            "a credible interval needs counts, and this answer has none",
            remedy=Remedy(
                "Train on rows: bayesbox.NaiveBayes().fit(X, y)", "Train on rows: bayes train DATA -t TARGET"
            ),
        )
    drawn = posterior_draws(box.factors, len(box.classes), draws=draws, seed=seed)
    notes = prior_notes([share for factor in counted for share in factor.posteriors])
    fixed = [factor.name for factor in box.factors if not factor.posteriors]
    if fixed:
        more = f" and {len(fixed) - NAMED} more" if len(fixed) > NAMED else ""
        notes.append(f"treated as known, without uncertainty: {', '.join(fixed[:NAMED])}{more}")
    return interval_of_draws(classifier, base, batch, drawn, level=level, draws=draws, notes=notes)
