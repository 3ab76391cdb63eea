"""A classifier trained on a small table, as by `bayes train`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.registry import new_classifier
from bayesbox.classifier.train import train
from bayesbox.explain.steps import Work


def fitted(
    model: str, columns: Mapping[str, Sequence[object]], target: str, *, text: str | None = None, **options: Any
) -> AnyClassifier:
    """The fitted classifier of this kind; the options are those of the command."""
    blank = new_classifier(model, options)
    opened = blank.open_rows(columns, target=target, text=text)
    train(opened.classifier, opened.source, opened.target)
    classifier: AnyClassifier = opened.classifier
    return classifier


def exact(work: Work, step: str, place: int, row: int = -1) -> Fraction:
    """The fraction in a cell of a step."""
    value = work.step(step).rows[row].cells[place].value
    if not isinstance(value, Fraction):
        raise TypeError(f"{step}: {value!r} is not exact")
    return value
