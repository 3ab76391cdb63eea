"""The explanation methods of every classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

if TYPE_CHECKING:
    from bayesbox.classifier.answer.drifts import Drift
    from bayesbox.classifier.answer.flips import Flips
    from bayesbox.classifier.answer.importance import Importance
    from bayesbox.classifier.answer.questions import ColumnQuestions
    from bayesbox.classifier.answer.what_if import WhatIf
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.rows import LabelledRows
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.dist.base import Doubles
    from bayesbox.source.base import Batch


class CountsLosses(Protocol):
    """Sums the losses of rows with and without each column or word."""

    def add(self, rows: LabelledRows) -> None: ...
    def result(self) -> Importance: ...


class AnswersQuestions:
    """The explanation methods of `Classifier`: explain, what-if, next question, importance and drift."""

    columns_are_independent: ClassVar[bool] = False
    """Whether each column has its own term, independent of the others, as in naive Bayes."""
    answers_are_slow: ClassVar[bool] = False
    """Whether it combines several models, so that thousands of predictions are slow."""

    def counted(self) -> AnyTableClassifier:
        """The classifier that has counted the rows: itself, or the first of the models it combines."""
        return cast("AnyTableClassifier", self)

    def cut_points(self, name: str) -> tuple[float, ...] | None:  # noqa: ARG002
        """The cut points between which all numbers of a column give the same prediction; None without bins."""
        return None

    def counted_bins(self, name: str) -> tuple[tuple[float, ...], Doubles] | None:  # noqa: ARG002
        """The cut points of a numeric column with the counts of its bins, if bins were counted."""
        return None

    def explain_rows(self, batch: Batch) -> Any:
        """The explanation of the predictions for rows."""
        from bayesbox.classifier.answer.explanation import RowsExplanation

        return RowsExplanation.of(cast("AnyTableClassifier", self), batch)

    def what_if(self, batch: Batch, changes: Mapping[str, Any]) -> WhatIf:
        """The prediction for a batch of one row, and with other values of some columns."""
        from bayesbox.classifier.answer.what_if import what_if

        return what_if(cast("AnyClassifier", self), batch, changes)

    def flip(self, batch: Batch, to: object = None, fixed: Sequence[str] = ()) -> Flips:
        """The smallest changes of the one row of a batch that flip its prediction to `to`, or to any other class."""
        from bayesbox.classifier.answer.flip import flip

        return flip(cast("AnyClassifier", self), batch, to, fixed)

    def ask_next(self, batch: Batch, costs: Mapping[str, float] | None = None) -> ColumnQuestions:
        """The unknown columns in the one row of a batch, ranked by expected information."""
        from bayesbox.classifier.answer.ask_next import ask_next

        return ask_next(cast("AnyClassifier", self), batch, costs)

    def losses(self) -> CountsLosses:
        """The counter of the losses with and without each column."""
        from bayesbox.classifier.answer.importance import LossCounter

        return LossCounter(cast("AnyTableClassifier", self))

    def importance(self, parts: Iterable[LabelledRows] = ()) -> Importance:
        """The importance of each column: information about the class and, with labelled rows, the loss without it."""
        losses = self.losses()
        for rows in parts:
            losses.add(rows)
        return losses.result()

    def drift(self, batches: Iterable[Batch]) -> Drift:
        """The drift of rows from the training rows; the rows are counted and not stored."""
        from bayesbox.classifier.answer.drift import drift

        return drift(cast("AnyTableClassifier", self), batches)

    def drift_to(self, other: AnyClassifier) -> Drift:
        """The drift from the training rows of this model to those of another."""
        from bayesbox.classifier.answer.drift import drift_of_models

        return drift_of_models(self, other)
