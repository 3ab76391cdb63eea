"""Methods for one row at a time with river's names, which all counting estimators share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from bayesbox.classifier.one_row.scorer import CompiledScorer
from bayesbox.classifier.one_row.waiting import MOST_WAITING, WaitingRows
from bayesbox.classifier.one_writer import writing
from bayesbox.errors import BadData, MissingExtra
from bayesbox.source.shapes import is_named_tuple

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.one_row.answers import RowAnswers


class OneRowAnswers:
    """Training and predictions one row at a time: a dict, a row of a pandas DataFrame or a named tuple.

    An absent column is missing, and an unseen level is handled by `unseen`, both without a warning. A row without
    values gets the class prior.
    """

    if TYPE_CHECKING:
        classifier_: Any

        def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: object = None) -> Self: ...
        def forget(self, X: object, y: object, sample_weight: object = None) -> Self: ...

    _waiting: WaitingRows | None = None

    def learn_one(self, row: object, label: object, *, weight: float | None = None) -> Self:
        """Learn one row, as `partial_fit` with a table of one row does; `forget_one` subtracts it.

        Rows are buffered and counted together before the model is read, so the digest equals that of one fit. Naive
        Bayes with categories, flags and numbers (robust or gaussian) predicts single rows meanwhile without being
        rebuilt. Threads may call this, `forget_one` and the predictions concurrently.

        Parameters
        ----------
        row : dict, Series, named tuple, or X of one row; an absent column is missing
        label : the class of the row
        weight : float or None (default, 1)

        Returns
        -------
        the estimator itself

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes()
        >>> for car, risk in [("sports", "H"), ("suv", "L"), ("suv", "L")]:
        ...     _ = clf.learn_one({"car": car}, risk)
        >>> clf.predict_proba_one({"car": "suv"})
        {'H': 0.18..., 'L': 0.81...}
        """
        row = self._as_row(row)
        waiting = self._waiting
        if waiting is not None and weight is None and not waiting.outdated and waiting.core.learn(row, label):
            if waiting.core.waiting >= MOST_WAITING:
                self._count_waiting()
            return self
        with writing(self):
            if self._waiting is not None:
                self._waiting.core.close()  # another thread may be adding rows
            self.partial_fit([row], [label], sample_weight=None if weight is None else [weight])
            self._waiting = WaitingRows.of(self.classifier_)
        return self

    def forget_one(self, row: object, label: object, *, weight: float | None = None) -> Self:
        """Subtract one row exactly: the tallies are as if it had never been learned.

        Parameters
        ----------
        row : the row as it was learned
        label : the class it was learned with
        weight : float or None (default); the weight it was learned with

        Returns
        -------
        the estimator itself

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv"]}, ["H", "L"])
        >>> digest = clf.book_.digest()
        >>> clf.learn_one({"car": "van"}, "H").forget_one({"car": "van"}, "H").book_.digest() == digest
        True
        """
        row = self._as_row(row)
        waiting = self._waiting
        if waiting is not None and weight is None and waiting.is_live and waiting.core.forget_later(row, label):
            if waiting.core.waiting >= MOST_WAITING:
                self._count_waiting()
            return self
        with writing(self):
            self._count_waiting()
            waiting = self._waiting
            live = waiting is not None and waiting.is_live
            self.forget([row], [label], sample_weight=None if weight is None else [weight])
            if waiting is not None and live and weight is None:
                waiting.forgot(self.__dict__["classifier_"], row, label)
        return self

    def predict_one(self, row: Any) -> Any:
        """The most probable class of one row.

        Parameters
        ----------
        row : dict, Series, named tuple, or X of one row; an absent column is missing

        Returns
        -------
        the label

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.predict_one({"car": "suv"})
        'L'
        """
        row = self._as_row(row)
        waiting = self._waiting
        if waiting is not None and self._is_live(waiting):
            found = waiting.core.predict(row)
            if found is not None:
                return found
        return self._row_answers().predict(row)

    def predict_proba_one(self, row: Any) -> dict[Any, float]:
        """P(class | x) of one row by label.

        Parameters
        ----------
        row : dict, Series, named tuple, or X of one row; an absent column is missing

        Returns
        -------
        dict from label to probability

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.predict_proba_one({"car": "suv"})
        {'H': 0.18..., 'L': 0.81...}
        """
        row = self._as_row(row)
        waiting = self._waiting
        if waiting is not None and self._is_live(waiting):
            found = waiting.core.proba_by_label(row)
            if found is not None:
                return found
        return self._row_answers().by_label(row)

    def scorer(self) -> CompiledScorer:
        """The current model, compiled for fast predictions: immutable, safe to share between threads, and not
        picklable.

        `.proba(row)` and `.log_proba(row)` return one value per class, `.predict(row)` the label, `.proba_many(rows)`
        rows x classes, `.terms(row)` the term of each column, `.answer(row)` the probabilities with the numbers of
        absent columns and of unseen levels.

        Returns
        -------
        CompiledScorer

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "L"])
        >>> clf.scorer().answer({"car": "van"})
        RowAnswer(proba=array([0.333..., 0.666...]), absent=0, unseen=1)
        """
        return CompiledScorer(self._row_answers(), self._as_row, self._rows_asked)

    def to_river(self) -> Any:
        """The estimator as a river classifier, for its pipelines and `evaluate.progressive_val_score`.

        Both share the same model. river is installed by `pip install bayesbox[river]`.

        Returns
        -------
        a river classifier
        """
        try:
            from bayesbox.estimators.river import RiverClassifier
        except ImportError:
            raise MissingExtra("river", "river") from None
        return RiverClassifier(self)

    # -- buffered rows -----------------------------------------------------------------------------------------------

    def _is_live(self, waiting: WaitingRows) -> bool:
        """Whether a live model can predict; one is started if rows were learned since the model was made."""
        if waiting.is_live:
            return True
        if waiting.outdated or not waiting.may_live or not waiting.some:
            return False
        with writing(self):
            self._count_waiting()
            return waiting.go_live(self.__dict__["classifier_"])

    def _count_waiting(self) -> None:
        """Count the buffered rows; other threads wait until they are counted."""
        waiting = self._waiting
        if waiting is None or not waiting.some:
            return
        with writing(self):
            waiting.counting = True
            try:
                self.__dict__["classifier_"] = waiting.counted(self.__dict__["classifier_"])
            finally:
                waiting.counting = False

    def _changed_elsewhere(self) -> None:
        """Drop the live model after the classifier was replaced; buffered rows are counted into the new one."""
        if self._waiting is not None:
            self._waiting.outdated = True

    def _drop_waiting(self) -> None:
        """Discard the buffered rows before a refit."""
        self._waiting = None

    def __getstate__(self) -> Any:
        self._count_waiting()
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_waiting"} if state else state

    def __copy__(self) -> Self:
        self._count_waiting()  # the buffered rows belong to this estimator
        copied: Self = super().__copy__()  # type: ignore[misc]
        copied.__dict__.pop("_waiting", None)
        return copied

    # -- rows as given -----------------------------------------------------------------------------------------------

    def _row_answers(self) -> RowAnswers:
        classifier: AnyClassifier = self.classifier_
        return classifier.row_answers()

    def _rows_asked(self, rows: object) -> Any:
        """Rows as a batch for the classifier, without warnings."""
        raise NotImplementedError

    def _as_row(self, row: Any) -> dict[str, Any]:
        """One row as a dict by column name."""
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
            raise BadData(f"a row has {len(row)} values, but the model has {len(names)} columns")
        raise BadData(
            "a row must be a dict, a row of a pandas frame or a named tuple",
            found=type(row).__name__,
            remedy="For many rows call predict_proba",
        )
