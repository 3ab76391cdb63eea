"""Learning the requested calibration of a classifier, in its first training or again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from bayesbox.classifier.calibrated import calibrated, calibrated_by, labelled
from bayesbox.classifier.calibration.auto import auto_calibrated, auto_chosen, held_out_as_it_is, most_sampled_rows
from bayesbox.classifier.row_sample import KeyedRows, drawn, keyed
from bayesbox.classifier.rows import LabelledRows
from bayesbox.errors import BadData
from bayesbox.stat.calibrate import AUTO

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


class LearnedRows(Protocol):
    """The training rows of a classifier in memory: all of them, and a sample with keys."""

    def again(self) -> list[LabelledRows]: ...
    def sample(self) -> KeyedRows: ...


def learn_calibration(classifier: AnyClassifier, rows: LearnedRows) -> None:
    """Learn the requested calibration of a classifier on its training rows."""
    if classifier.calibrate != AUTO:
        classifier.calibrated = calibrated(classifier, rows.again())
    elif len(classifier.classes) > 1:
        _take_auto(classifier, rows.sample())


def _take_auto(classifier: AnyClassifier, parts: KeyedRows) -> None:
    found = auto_calibrated(classifier, drawn(parts, most_sampled_rows(classifier)))
    classifier.calibrated, classifier.chosen = found.calibrated, found.choice


def calibrate_again(
    classifier: AnyClassifier, parts: Sequence[LabelledRows], kind: str | None, *, held_out: bool = False
) -> int:
    """Refit the weights and the calibration of a classifier; returns the number of rows used.

    The rows are training rows, each held out in turn, or `held_out` rows, which the model predicts directly. The counts
    do not change.
    """
    classifier.require_counts("calibrate")
    kept = labelled(parts)
    rows = sum(part.batch.rows for part in kept)
    if not rows:
        raise BadData("no row has a label to calibrate on")
    classifier.calibrate, classifier.calibrated, classifier.chosen = kind, None, None
    if classifier.has_second_pass() and not held_out:
        classifier.refine(kept)
    if kind is not None and len(classifier.classes) > 1:
        if held_out:
            _by_new_rows(classifier, kind, kept)
        elif kind == AUTO:
            _take_auto(classifier, keyed(kept))
        else:
            classifier.calibrated = calibrated(classifier, kept)
    classifier.learned_at = None
    return rows


def _by_new_rows(classifier: AnyClassifier, kind: str, kept: list[LabelledRows]) -> None:
    if kind == AUTO:
        answers = held_out_as_it_is(classifier, drawn(keyed(kept), most_sampled_rows(classifier)))
        found = auto_chosen(classifier, answers)
        classifier.calibrated, classifier.chosen = found.calibrated, found.choice
    else:
        answers = held_out_as_it_is(classifier, kept)
        (log_p,) = answers.bases.values()
        classifier.calibrated = calibrated_by(classifier, kind, log_p, answers.codes, answers.weights)
