"""The part of all classifiers that compiles the model once for predictions one row at a time."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from bayesbox import _core
from bayesbox.collector import collector_paused
from bayesbox.dist.base import Doubles
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.calibrated import Calibrated
    from bayesbox.classifier.one_row.answers import RowAnswers
    from bayesbox.dist.naive import ProductModel


class CodedScorer(NamedTuple):
    """A model with dependent columns in the form of `_core.RowScorer`."""

    prior: Doubles
    columns: list[tuple[Any, ...]]  # (codes, name, levels or a number or cuts, whether an unseen level is an error)
    families: tuple[tuple[Any, ...], ...]
    one_dependence: tuple[Any, ...] | None
    calibration: tuple[object, ...] | None
    joint: tuple[Any, ...] | None = None  # the joint table of all columns, and normals


class AnswersRows:
    """A part of `Classifier`; the compiled model is a cache, so it is not pickled or copied."""

    _model: Any
    model: Any
    calibrated: Calibrated | None
    feature_names: Any
    _row_answers: tuple[object, object, RowAnswers] | None = None  # cached for a model and its calibration

    def row_answers(self) -> RowAnswers:
        """The compiled predictions, made once for each model."""
        found = self._row_answers
        if found is not None and found[0] is self._model and found[1] is self.calibrated:
            return found[2]
        from bayesbox.classifier.one_row.answers import RowAnswers

        model = self.model  # made before the copy, so that the copy has it too
        with collector_paused():
            answers = RowAnswers(copy.copy(cast("AnyClassifier", self)))
        self._row_answers = model, self.calibrated, answers
        return answers

    def batch_of_row(self, row: object) -> Batch:
        """One row, a mapping, as a table; in an empty row all values are missing."""
        from bayesbox.source.frames import batch_of

        return batch_of([row]) if row else Batch(self.feature_names[:1], (pa.nulls(1),), 1)

    def product(self) -> tuple[ProductModel, tuple[object, ...] | None] | None:
        """The model as a prior and one factor per column, with its calibration, in the form of `_core.RowScorer`; None
        if it is not such a product."""
        return None

    def coded(self) -> CodedScorer | None:
        """A model of codes in the form of `_core.RowScorer`; None if it cannot be compiled."""
        return None

    def pool_scorer(self) -> _core.PoolScorer | None:
        """A pool of models in the form of the core; None if it cannot be compiled."""
        return None

    def answers_from_counts(self) -> bool:
        """Whether predictions depend only on the counts of each column, and not on derived parts."""
        return False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_row_answers": None}  # a cache, which is rebuilt on demand
