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
    """What adds up the losses of rows with and without each column, or word."""

    def add(self, rows: LabelledRows) -> None: ...
    def result(self) -> Importance: ...


class AnswersQuestions:
    """Explanation, what-if, next question, importance and drift: a part of `Classifier`."""

    columns_are_independent: ClassVar[bool] = False
    """Whether each column has a term of its own, whatever the others are: naive Bayes."""
    answers_are_slow: ClassVar[bool] = False
    """Whether it is several models in one, so that thousands of answers take a while."""

    def counted(self) -> AnyTableClassifier:
        """The classifier that has counted the rows: itself, or of several in one the first that did."""
        return cast("AnyTableClassifier", self)

    def cut_points(self, name: str) -> tuple[float, ...] | None:  # noqa: ARG002
        """The cuts between which all numbers of a column get the same answer; None if each number may get another."""
        return None

    def counted_bins(self, name: str) -> tuple[tuple[float, ...], Doubles] | None:  # noqa: ARG002
        """The cuts of a column of numbers with the counts between them, where these are what was counted of it."""
        return None

    def explain_rows(self, batch: Batch) -> Any:
        """Why rows get their classes, as a result that prints and is drawn."""
        from bayesbox.classifier.answer.explanation import RowsExplanation

        return RowsExplanation.of(cast("AnyTableClassifier", self), batch)

    def what_if(self, batch: Batch, changes: Mapping[str, Any]) -> WhatIf:
        """The one row of a batch as it is, and with other values of some columns."""
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
        """What adds up the losses of rows with and without each column, a batch at a time."""
        from bayesbox.classifier.answer.importance import LossCounter

        return LossCounter(cast("AnyTableClassifier", self))

    def importance(self, parts: Iterable[LabelledRows] = ()) -> Importance:
        """How informative each column is about the class, and, with rows and their classes, what is lost without it."""
        losses = self.losses()
        for rows in parts:
            losses.add(rows)
        return losses.result()

    def drift(self, batches: Iterable[Batch]) -> Drift:
        """The drift of some rows since the model was trained; the rows are counted and not kept."""
        from bayesbox.classifier.answer.drift import drift

        return drift(cast("AnyTableClassifier", self), batches)

    def drift_to(self, other: AnyClassifier) -> Drift:
        """What differs in the rows that another model has learned."""
        from bayesbox.classifier.answer.drift import drift_of_models

        return drift_of_models(self, other)
