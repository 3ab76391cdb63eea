"""The nomogram of a classifier, with the values of one row marked on request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesbox.classifier.case import value_text
from bayesbox.errors import BadOption
from bayesbox.explain.evidence import lead
from bayesbox.explain.nomogram import Mark, Nomogram, Ruler
from bayesbox.explain.rulers import MISSING, rulers_of
from bayesbox.schema.columns import CountMatrix, as_numbers
from bayesbox.schema.levels import class_position
from bayesbox.source.base import Batch
from bayesbox.table.naive.classifier import NaiveClassifier


def nomogram(
    classifier: object, label: object = None, against: object = None, batch: Batch | None = None, top: int = 10
) -> Nomogram:
    """The scales of the `top` columns with the most evidence between two classes, with the row of `batch` marked.

    `label` is by default the second class, `against` the other class with the highest prior.
    """
    if not isinstance(classifier, NaiveClassifier):
        raise BadOption(
            "a nomogram needs naive Bayes, whose columns add up",
            found=getattr(classifier, "title", "a model of documents"),
            remedy="Train naive Bayes",
        )
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 0:
        raise BadOption("top must be the number of columns to draw, a non-negative integer", found=top)
    model = classifier.model
    one, other = _classes(classifier, label, against)
    rulers = [_for_the_eye(ruler, classifier) for ruler in rulers_of(model, classifier.book, one, other)]
    total = None
    if batch is not None:
        if batch.rows != 1:
            raise BadOption("a nomogram marks one row", found=f"{batch.rows} rows")
        explained = classifier.explain_parts(batch)
        names = (model.labels[one], model.labels[other])
        total = float(explained.log_odds(*names)[0])
        odds = dict(zip(explained.columns, explained.column_odds(*names)[0].tolist(), strict=True))
        values = classifier.columns_of(batch)
        rulers = [_with_own(ruler, values.get(ruler.column), odds[ruler.column]) for ruler in rulers]
        rulers = [_for_the_eye(ruler, classifier) for ruler in rulers]
    return Nomogram(
        model.classes[one],
        model.classes[other],
        float(lead(model.log_prior[one], model.log_prior[other])),
        tuple(rulers[:top]),
        tuple(rulers[top:]),
        total,
        classifier.target,
        two_classes=len(model.classes) == 2,
        calibrated=classifier.calibrated is not None,
    )


def _classes(classifier: NaiveClassifier, label: object, against: object) -> tuple[int, int]:
    """The indices of the two classes."""
    model = classifier.model
    classes = list(model.classes)
    if len(classes) < 2:
        raise BadOption("a nomogram needs two classes", found=", ".join(classes))
    other = None if against is None else class_position(against, classes)
    if label is not None:
        one = class_position(label, classes)
    else:
        one = next(place for place in (1, 0) if place != other)
    if other is None:
        prior = np.where(np.arange(len(classes)) == one, -np.inf, model.log_prior)
        other = int(prior.argmax()) if np.isfinite(prior).any() else next(k for k in (0, 1) if k != one)
    if one == other:
        raise BadOption(
            f"`{classes[other]}` is the predicted class itself", remedy="Choose another class to compare with"
        )
    return one, other


def _for_the_eye(ruler: Ruler, classifier: NaiveClassifier) -> Ruler:
    """The scale of a date with dates as marks instead of seconds."""
    kind = classifier.schema.kinds.get(ruler.column) if classifier.schema else None
    if kind is None or not kind.has_parts:
        return ruler
    numbers = [mark.number for mark in ruler.marks if mark.number is not None]
    spread = max(numbers) - min(numbers) if numbers else 0.0

    def written(mark: Mark) -> Mark:
        return mark if mark.number is None else replace(mark, label=kind.number_text(mark.number, spread))

    own = None if ruler.own is None else written(ruler.own)
    return replace(ruler, marks=tuple(map(written, ruler.marks)), own=own)


def _with_own(ruler: Ruler, column: object, odds: float) -> Ruler:
    """The scale with the value of the row marked; an ignored missing value is not marked."""
    if isinstance(column, CountMatrix):
        return replace(ruler, own=Mark("these counts", odds))
    value = None if column is None else value_text(column)
    if value is None:
        return replace(ruler, own=Mark(MISSING, odds)) if odds else ruler
    number = float(as_numbers(column, name=ruler.column)[0]) if ruler.is_scale else None
    return replace(ruler, own=Mark(value, odds, number))
