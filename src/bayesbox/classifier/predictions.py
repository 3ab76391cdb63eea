"""Counted predictions of rows or documents, and the evaluation made from them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayesbox.classifier.evaluation import ROWS, Evaluation
from bayesbox.errors import BadData, BadOption
from bayesbox.source.base import Source
from bayesbox.stat.metrics import Scored, measure


@dataclass(frozen=True)
class Predictions:
    """Counted predictions, and those before calibration if the classifier is calibrated."""

    found: Scored
    plain: Scored | None = None

    def __add__(self, other: Predictions) -> Predictions:
        plain = None if self.plain is None or other.plain is None else self.plain + other.plain
        return Predictions(self.found + other.found, plain)


def require_options(*, bins: int, folds: int = 2, repeats: int = 1) -> None:
    """Raise an error if the number of bins, folds or repeats is not valid."""
    if bins < 1:
        raise BadOption("the number of bins must be at least 1", found=bins)
    if repeats < 1:
        raise BadOption("the number of repeats must be at least 1", found=repeats)
    if folds < 2:
        raise BadOption("the number of folds must be at least 2", found=folds)


def held_out(
    source: Source,
    target: str,
    both: Predictions | None,
    *,
    how: str = ROWS,
    of: str = "row",
    absent: Sequence[str] = (),
) -> Evaluation:
    """The evaluation on given rows; `of` is the word for a row in messages."""
    if both is None or not both.found.rows:
        remedy = "The data have no rows, or the target column is empty: check the file and the name of the column"
        raise BadData(f"no {of} has a label", where=source.name, remedy=remedy)
    return Evaluation(
        how,
        source.name,
        target,
        measure(both.found),
        both.found,
        skipped=source.skipped.count,
        absent=tuple(dict.fromkeys(absent)),
        before=None if both.plain is None else measure(both.plain),
    )


def cross_validated(
    source: Source, target: str, by_repeat: Sequence[Predictions], *, unlabelled: int, folds: int, seed: int
) -> Evaluation:
    """The evaluation by cross-validation; each repeat covers all rows."""
    repeats, both = len(by_repeat), functools.reduce(operator.add, by_repeat)
    total = replace(both.found, rows=by_repeat[0].found.rows, unlabelled=unlabelled)
    return Evaluation(
        "cross-validation",
        source.name,
        target,
        measure(total, repeats=repeats),
        total,
        folds=folds,
        repeats=repeats,
        seed=seed,
        accuracy_by_repeat=tuple(measure(each.found).accuracy.value for each in by_repeat),
        skipped=source.skipped.count,
        before=None if both.plain is None else measure(both.plain, repeats=repeats),
    )


def left_one_out(source: Source, target: str, total: Scored, *, unlabelled: int) -> Evaluation:
    """The evaluation by leave-one-out."""
    total = replace(total, unlabelled=unlabelled)
    return Evaluation("leave-one-out", source.name, target, measure(total), total, skipped=source.skipped.count)
