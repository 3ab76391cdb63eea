"""`NaiveBayes`, a scikit-learn estimator over the naive Bayes classifier."""

from __future__ import annotations

import copy
import html
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesbox.errors import BadData, DataWarning
from bayesbox.estimators.inputs import GROUP, batch_from, counts_from, labels_from
from bayesbox.explain.evidence import Explanation
from bayesbox.model.naive import Rules
from bayesbox.rule.priors import given_prior
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.schema.encode import encode
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch
from bayesbox.source.frames import labels_of
from bayesbox.source.sparse import is_sparse
from bayesbox.tally.book import Book
from bayesbox.workflow.linear import LinearWeights, linear_weights
from bayesbox.workflow.naive import NaiveClassifier
from bayesbox.workflow.naive_network import network_of
from bayesbox.workflow.network import BayesianNetwork
from bayesbox.workflow.summary import summary_html
from bayesbox.workflow.tables import classifier_from_tables


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for tables as they are: categories, flags, numbers and counts side by side, missing values left out.

    Parameters
    ----------
    smoothing : rule or its name
        How counts become probabilities: "laplace", "mle", "lidstone:0.5", "m:2", or one of `bayesbox.rules`.
    prior_smoothing : rule, its name, or None
        The same for the class prior; None takes the shares as they are.
    prior : mapping of label to probability, or None
        The class prior, if it is to be given.
    numeric : "gaussian"
        The density of numbers.
    missing : "ignore" or "level"
        Leave missing values out, or count them as a level of their own.
    unseen : "smooth", "ignore" or "error"
        What a level that was never seen gets: the rule's answer to a count of 0, nothing, or an error.
    columns : mapping of column name or position to kind
        What a column is, where its type does not say it: `Category([...])`, `Real(floor=0)`, "flag".
    fold : mapping of a new name to a list of columns
        Flags of which each row sets one, to be taken as one category.

    Examples
    --------
    >>> clf = NaiveBayes(columns={"car": "category"}).fit(
    ...     {"age": [25, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]},
    ...     ["L", "H", "L", "H", "H", "H"])
    >>> clf.predict([{"age": 23, "car": "vintage"}])
    array(['H'], dtype='<U1')
    >>> clf.book_["age"].mean
    array([27.5, 25. ])
    """

    def __init__(
        self,
        *,
        smoothing: Any = "laplace",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        numeric: str = "gaussian",
        missing: str = "ignore",
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.columns = columns
        self.fold = fold

    # -- learning ------------------------------------------------------------------------------------------------

    def _rules(self) -> Rules:
        return Rules(
            smoothing=as_smoothing(self.smoothing),
            prior_smoothing=None if self.prior_smoothing is None else as_smoothing(self.prior_smoothing),
            prior=self.prior,
            numeric=self.numeric,
            missing=self.missing,
            unseen=self.unseen,
        )

    def new_classifier(self) -> NaiveClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        return NaiveClassifier(self._rules(), self.columns, self.fold)

    def adopt(self, classifier: NaiveClassifier) -> Self:
        """Take over a classifier that has learned elsewhere."""
        self.classifier_ = classifier
        names = classifier.feature_names
        self._name_features(names, named=names != tuple(str(index) for index in range(len(names))))
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows of X by the labels y."""
        batch = batch_from(X)
        self._require_rows(batch)
        labels = labels_from(y, batch.rows)
        classifier = self.new_classifier()
        classifier.learn(batch, labels, weights=sample_weight)
        if len(classifier.book.classes) == 0:
            raise BadData("every sample weight is zero, so no row counts")
        if self.prior is not None:
            given_prior(self.prior, classifier.classes)  # refuses one that does not fit the classes
        self._note_features(X, batch)
        self.classifier_ = classifier
        self.warn_of_hints()
        return self

    def warn_of_hints(self) -> None:
        """One warning for each thing that looks wrong in the rows."""
        for hint in self.classifier_.hints():
            warnings.warn(str(hint), DataWarning, stacklevel=3)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; equal to one fit on all of them. Classes may be declared, or turn up later."""
        if not hasattr(self, "classifier_"):
            batch = batch_from(X)
            self._require_rows(batch)
            classifier = self.new_classifier()
            labels = labels_from(y, batch.rows)
            classifier.learn(batch, labels, weights=sample_weight)
            self._note_features(X, batch)
            self.classifier_ = classifier
        else:
            batch = self._checked(X)
            self.classifier_.learn(batch, labels_from(y, batch.rows), weights=sample_weight)
        if classes is not None:
            schema = self.classifier_.schema
            assert schema is not None
            texts = tuple(sorted({level_text(value) for value in encode(labels_of(classes)).values}))
            self.classifier_.accept(schema.with_classes(texts), self.classifier_.book)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again: the tallies are as if these had never been learned."""
        check_is_fitted(self)
        batch = self._checked(X)
        self.classifier_.forget(batch, labels_from(y, batch.rows), weights=sample_weight)
        return self

    def __add__(self, other: NaiveBayes) -> NaiveBayes:
        """What one fit on the rows of both would give."""
        check_is_fitted(self)
        check_is_fitted(other)
        result = copy.copy(self)
        return result.adopt(self.classifier_.merged(other.classifier_))

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels in their own type, sorted."""
        self._require_fitted()
        return self.classifier_.model.labels

    @property
    def book_(self) -> Book:
        """The tallies."""
        self._require_fitted()
        classifier = self.classifier_
        return classifier.book.with_classes(classifier.classes)

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """The log of the class prior."""
        self._require_fitted()
        return self.classifier_.model.log_prior

    def _require_fitted(self) -> None:
        if not hasattr(self, "classifier_"):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        batch = self._asked(X)
        return self.classifier_.predict(batch)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | x), rows x classes."""
        batch = self._asked(X)
        return self.classifier_.posterior(batch)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class | x), rows x classes."""
        batch = self._asked(X)
        return self.classifier_.log_posterior(batch)

    def joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class, x), rows x classes."""
        batch = self._asked(X)
        return self.classifier_.joint_log(batch)

    def log_density(self, X: Any) -> NDArray[np.float64]:
        """log P(x), a value a row: how usual a row is under the model."""
        batch = self._asked(X)
        return self.classifier_.log_density(batch)

    def log_likelihood(self, X: Any, y: Any) -> float:
        """The sum over the rows of log P(class = y, x)."""
        batch = self._asked(X)
        joint = self.classifier_.joint_log(batch)
        labels = labels_from(y, batch.rows)
        place = {text: index for index, text in enumerate(self.classifier_.model.classes)}
        columns = np.array([place.get(text, -1) for text in labels.levels], dtype=np.int64)[labels.codes]
        rows = np.where(columns < 0, -np.inf, joint[np.arange(batch.rows), columns])
        return float(rows.sum())

    def leave_one_out(self, X: Any, y: Any) -> NDArray[np.float64]:
        """P(class | x) of each learned row under the model of all the other rows, without a refit."""
        batch = self._asked(X)
        return self.classifier_.leave_one_out(batch, labels_from(y, batch.rows))

    def explain(self, X: Any) -> Explanation:
        """How much each column says for each class."""
        batch = self._asked(X)
        return self.classifier_.explain(batch)

    def linear_weights(self, positive: Any = None) -> LinearWeights:
        """(w, a) such that the second class (or `positive`) is predicted where w.x + a > 0."""
        check_is_fitted(self)
        return linear_weights(self.classifier_, positive)

    def to_network(self, target: str | None = None) -> BayesianNetwork:
        """The same model as a Bayesian network: the class is the only parent of every column."""
        check_is_fitted(self)
        return network_of(self.classifier_, target)

    def with_prior(self, prior: Mapping[Any, float]) -> NaiveBayes:
        """The same likelihoods under another base rate."""
        check_is_fitted(self)
        result = copy.copy(self)
        result.prior = dict(prior)
        result.classifier_ = self.classifier_.with_prior(prior)
        return result

    @classmethod
    def from_tables(
        cls, prior: Mapping[Any, float], tables: Mapping[str, Mapping[Any, Mapping[Any, float]]]
    ) -> NaiveBayes:
        """A model of given probabilities, without data: prior[class], tables[column][class][level].

        >>> clf = NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables={"Radio1": {
        ...     "young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}}})
        >>> clf.predict([{"Radio1": "like"}])
        array(['young'], dtype='<U5')
        """
        return cls(prior=dict(prior)).adopt(classifier_from_tables(prior, tables))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file; `bayesbox.load` reads it, and it goes on learning."""
        from bayesbox.workflow.save import save

        check_is_fitted(self)
        save(self.classifier_, path)

    def _repr_html_(self) -> str:
        """The model as a small table: the classes with their counts, the columns with their kinds."""
        if not hasattr(self, "classifier_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        return summary_html(type(self).__name__, self.classifier_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -- scikit-learn --------------------------------------------------------------------------------------------

    def _asked(self, X: Any) -> Batch:
        check_is_fitted(self)
        return self._checked(X)

    def _checked(self, X: Any) -> Batch:
        """The rows of X under the names that were learned."""
        schema = self.classifier_.schema
        assert schema is not None
        names = tuple(schema.kinds)
        if names == (GROUP,):
            batch = counts_from(X)
        elif is_sparse(X):
            X = X.toarray()
            batch = batch_from(X)
        else:
            batch = batch_from(X)
        self._require_rows(batch)
        if names == (GROUP,):
            self._require_width(_width(batch))
            return batch
        if _has_own_names(X):
            return batch
        self._require_width(len(batch.names))
        return Batch(self._feature_names(), batch.columns, batch.rows)

    def _feature_names(self) -> tuple[str, ...]:
        """The columns as they were given, before any was folded."""
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(str(index) for index in range(self.n_features_in_))

    def _require_width(self, width: int) -> None:
        if width != self.n_features_in_:
            raise BadData(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )

    @staticmethod
    def _require_rows(batch: Batch) -> None:
        if not batch.names or _width(batch) == 0:
            raise BadData(f"0 feature(s) (shape=({batch.rows}, 0)) while a minimum of 1 is required.")
        if batch.rows == 0:
            raise BadData("Found array with 0 sample(s): there are no rows")

    def _note_features(self, X: Any, batch: Batch) -> None:
        if batch.names == (GROUP,):
            self.n_features_in_ = _width(batch)
            return
        self._name_features(batch.names, named=_has_own_names(X))

    def _name_features(self, names: tuple[str, ...], *, named: bool) -> None:
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _width(batch: Batch) -> int:
    return batch.columns[0].width if batch.names == (GROUP,) else len(batch.names)


def _has_own_names(X: Any) -> bool:
    """Whether the columns of X have names, rather than positions."""
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    if isinstance(X, (list, tuple)):
        return bool(X) and isinstance(X[0], Mapping)
    return True
