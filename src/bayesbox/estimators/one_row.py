"""Rows one at a time, under river's names: what every estimator over counted classifiers shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.one_row.scorer import CompiledScorer
from bayesbox.errors import BadData
from bayesbox.source.shapes import is_named_tuple

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.one_row.answers import RowAnswers


class OneRowAnswers:
    """The answers to one row: a dict, a row of a pandas frame or a named tuple.

    A column that the row lacks is missing, and a level that was never seen is what `unseen` says; neither warns. A row
    that says nothing gets the class prior.
    """

    classifier_: Any

    def predict_one(self, row: Any) -> Any:
        """The most probable class of one row.

        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.predict_one({"car": "suv"})
        'L'
        """
        return self._row_answers().predict(self._as_row(row))

    def predict_proba_one(self, row: Any) -> dict[Any, float]:
        """P(class | x) of one row by label.

        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.predict_proba_one({"car": "suv"})
        {'H': 0.18..., 'L': 0.81...}
        """
        return self._row_answers().by_label(self._as_row(row))

    def scorer(self) -> CompiledScorer:
        """The model as it is now, compiled: it never changes, threads may share it, and it is not pickled.

        `.proba(row)` and `.log_proba(row)` give a value a class, `.predict(row)` the label, `.proba_many(rows)` rows x
        classes, `.terms(row)` what each column adds, `.answer(row)` the probabilities with the numbers of columns that
        the row lacks and of levels that were never seen.

        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.scorer().answer({"car": "van"})
        RowAnswer(proba=array([0.333..., 0.666...]), absent=0, unseen=1)
        """
        return CompiledScorer(self._row_answers(), self._as_row, self._rows_asked)

    def _row_answers(self) -> RowAnswers:
        classifier: AnyClassifier = self.classifier_
        return classifier.row_answers()

    def _rows_asked(self, rows: Any) -> Any:
        """Rows as the classifier takes them, without a warning."""
        raise NotImplementedError

    def _as_row(self, row: Any) -> dict[str, Any]:
        """One row by the names of its columns."""
        if type(row) is dict:
            return row
        if isinstance(row, Mapping) and not hasattr(row, "shape"):
            return dict(row)
        if is_named_tuple(row):
            return dict(row._asdict())
        if getattr(row, "ndim", 0) == 1 and hasattr(row, "items"):
            return {str(name): value for name, value in row.items()}
        names = self.classifier_.feature_names
        if isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) == 1:
            if len(row) == len(names):
                return dict(zip(names, row, strict=True))
            raise BadData(f"a row of {len(row)} values, but the model has {len(names)} columns")
        raise BadData(
            "one row is a dict, a row of a pandas frame or a named tuple",
            found=type(row).__name__,
            remedy="For many rows call predict_proba",
        )
