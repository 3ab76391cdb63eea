"""`TextClassifier`, a scikit-learn estimator over the classifier of documents."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.one_writer import writing
from bayesbox.classifier.options import ledger_option
from bayesbox.classifier.report.size import Parameters
from bayesbox.errors import BadData
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.inputs import classes_from, counts_from, group_of, labels_from
from bayesbox.estimators.parameters import estimator, options_from, parameters_from
from bayesbox.rule.priors import given_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import label_type_of, level_text
from bayesbox.schema.tokens import Tokens, as_text_column
from bayesbox.source.base import Batch
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import exports_array, is_dask, is_sparse, shape_of
from bayesbox.text.classifier import TEXT, DocumentClassifier
from bayesbox.text.explained_documents import DocumentsExplanation
from bayesbox.text.model import parameters
from bayesbox.text.options import DocumentOptions, TextOptions

GIVE_TEXTS = "Pass a list, an array or a series of strings; join tokenised words with spaces"


@estimator
class TextClassifier(CountedEstimator[DocumentClassifier], DocumentOptions):
    """Naive Bayes for documents: words are counted by class, exactly, so documents can be added and forgotten, and
    models merged.

    Documents are a list, an array or a series of strings (or bytes in UTF-8), an Arrow column, or a matrix of counts.
    A word is a run of two or more word characters in lower case, as in scikit-learn's `CountVectorizer`.

    Examples
    --------
    >>> clf = TextClassifier().fit(
    ...     ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"], ["NZ", "NZ", "NZ", "DE"])
    >>> clf.predict(["Kiwi Kiwi Kiwi Munich Oktoberfest"])
    array(['NZ'], dtype='<U2')
    >>> clf.predict_proba(["Kiwi Kiwi Kiwi Munich Oktoberfest"]).round(7)
    array([[0.3102414, 0.6897586]])
    """

    ledger: bool = ledger_option()

    # -- learning ------------------------------------------------------------------------------------------------

    def _new_classifier(self) -> DocumentClassifier:
        """An untrained classifier with this estimator's parameters."""
        return DocumentClassifier(options_from(self, TextOptions), options_from(self, Tokens))

    @classmethod
    def _of_classifier(cls, classifier: DocumentClassifier) -> Self:
        """The estimator with this classifier's options, fitted with it."""
        given = parameters_from(classifier.rules) | parameters_from(classifier.tokens)
        return cls(**given)._adopt(classifier)

    def _adopt(self, classifier: DocumentClassifier) -> Self:
        """Adopt a classifier that was trained elsewhere."""
        self.classifier_ = classifier
        self.ledger = classifier.ledger
        return self

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Train on the documents X with the labels y.

        Parameters
        ----------
        X : list, array or series of strings or bytes in UTF-8, an Arrow column, or a matrix of counts
        y : the class of each document
        sample_weight : array of weights, one per document, or None (default, all 1)

        Returns
        -------
        the estimator itself
        """
        classifier = self._blank_classifier()
        batch = texts_from(X)
        classifier.learn(batch, labels_from(y, batch.rows), weights=sample_weight)
        if not classifier.book.classes:
            raise BadData("every sample weight is zero, so no document counts")
        if self.prior is not None:
            given_prior(self.prior, classifier.classes)  # raises an error if it does not fit the classes
        self.classifier_ = classifier
        self._loaded_from()  # refitted: it is not loaded from a file
        return self

    def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: object = None) -> Self:
        """Count more documents; equal to one fit on all of them. Classes may be declared, or appear later.

        Threads may call this and `forget` concurrently, as for tables.

        Parameters
        ----------
        X : documents, as for `fit`
        y : the class of each document
        classes : list of all classes that may occur, or None (default) for those found in y
        sample_weight : array of weights, one per document, or None (default, all 1)

        Returns
        -------
        the estimator itself
        """
        with writing(self):
            classifier = copy.copy(self.classifier_) if hasattr(self, "classifier_") else self._blank_classifier()
            batch = texts_from(X, classifier.text_column)
            labels = labels_from(y, batch.rows)
            if classes is not None:
                classifier = classifier.with_classes(classes_from(classes, label_type_of(labels.values)))
            classifier.learn(batch, labels, weights=sample_weight)
            self.classifier_ = classifier
        return self

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Subtract documents exactly: the tallies are as if they had never been counted.

        Parameters
        ----------
        X : training documents
        y : the classes they were trained with
        sample_weight : array of the weights they were trained with, or None (default)

        Returns
        -------
        the estimator itself
        """
        with writing(self):
            batch = self._asked(X)
            classifier = copy.copy(self.classifier_)
            classifier.forget(batch, labels_from(y, batch.rows), weights=sample_weight)
            self.classifier_ = classifier
        return self

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the matrix of counts in training; texts have none."""
        self._require_fitted()
        if self.classifier_.width is None:
            raise AttributeError("texts have no number of features")
        return self.classifier_.width

    @property
    def chosen_(self) -> dict[str, Any]:
        """The model in use: its `occurrence`, whether words count `once`, and its `phrases`."""
        self._require_fitted()
        rules = self.classifier_.rules
        return {"occurrence": rules.occurrence, "once": rules.once, "phrases": self.classifier_.tokens.phrases}

    @property
    def words_(self) -> tuple[str, ...]:
        """The words that the model uses."""
        self._require_fitted()
        return self.classifier_.model.conditional.words

    @property
    def word_weights_(self) -> NDArray[np.float64]:
        """The weight of each word in the score of each class, words x classes; for "count" log P(word | class)."""
        self._require_fitted()
        return self.classifier_.model.conditional.weights

    def parameters(self, occurrence: str | None = None, *, length: int | None = None) -> Parameters:
        """The number of probabilities of this model, and how many are free; or those of another model of these
        documents.

        `parameters("position", length=100)` is for a model with one table for each of 100 word positions.

        Parameters
        ----------
        occurrence : str or None (default) for that of this model
        length : int or None (default); the number of word positions, if occurrence is "position"

        Returns
        -------
        Parameters, a named tuple with `terms` and `free`
        """
        check_is_fitted(self)
        if occurrence is None:
            return self.classifier_.parameters()
        names = self.classifier_.model.conditional.words
        if self.classifier_.tokens.places:
            names = tuple({name.partition(" ")[2] for name in names})
        return parameters(occurrence, words=len(names), classes=len(self.classes_), length=length)

    def telling_words(self, label: object, number: int = 10) -> list[tuple[str, float]]:
        """The most informative words for a class, each with its lead: the difference in log-weight to the next class.

        Parameters
        ----------
        label : a class
        number : int, default 10; the number of words

        Returns
        -------
        list of (word, lead), the greatest lead first
        """
        check_is_fitted(self)
        text = level_text(label)
        if text not in self.classifier_.model.classes:
            raise BadData("unknown class", found=label, remedy=f"The classes are {', '.join(self.classifier_.classes)}")
        return self.classifier_.telling_words(number)[text]

    def explain(self, X: object) -> DocumentsExplanation:
        """Explain documents by their words: what each adds to each class; `print` shows one document with its counts.

        Parameters
        ----------
        X : documents, as for `fit`

        Returns
        -------
        DocumentsExplanation; `[i]` is document i
        """
        return self.classifier_.explain_rows(self._asked(X))

    def _as_row(self, row: Any) -> Any:
        """One document: a string, or a mapping with the document under the name of the text column."""
        if isinstance(row, (str, bytes)):
            return row
        found = super()._as_row(row)
        name = self.classifier_.text_column
        if name not in found:
            raise BadData(
                "a document must be a text", found=type(row).__name__, remedy=f"Pass the text, or {{{name!r}: text}}"
            )
        return found[name]

    def _rows_asked(self, rows: object) -> Batch:
        return self._asked(rows)

    def _asked(self, X: object) -> Batch:
        check_is_fitted(self)
        return texts_from(X, self.classifier_.text_column)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on random points, which are not counts
        return tags


def texts_from(X: object, name: str = TEXT) -> Batch:
    """Documents as a batch of one column, from a list, an array, a Series, an Arrow column, or a matrix of counts."""
    if isinstance(X, (str, bytes)):
        raise BadData("documents must be a list, not a single text", found=X, remedy="Pass a list: [text]")
    if is_dask(X):
        return texts_from(X.compute(), name)  # type: ignore[attr-defined]
    counts = _counts_of(X)
    if counts is not None:
        matrix = group_of(counts_from(counts))
        assert matrix is not None
        return _batch(name, matrix, matrix.rows)
    if isinstance(X, (list, tuple, pa.Array, pa.ChunkedArray)):
        return _batch_of_texts(name, X)
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "UOS":
        return _batch_of_texts(name, X)
    try:
        column = labels_of(X)
    except BadData as error:
        raise BadData("documents must be one column of texts", found=type(X).__name__, remedy=GIVE_TEXTS) from error
    if isinstance(column, np.ndarray):
        remedy = "Pass a column of strings. Reshape your data if these are the counts of one document: [counts]"
        raise BadData("documents must be text", found=str(column.dtype), remedy=remedy)
    return _batch_of_texts(name, column)


def _batch_of_texts(name: str, texts: object) -> Batch:
    column = as_text_column(texts)
    return _batch(name, column, len(column))


def _batch(name: str, column: object, rows: int) -> Batch:
    if rows == 0:
        raise BadData("Found array with 0 sample(s): there are no documents")
    return Batch((name,), (column,), rows)


def _counts_of(X: Any) -> Any:
    """X as a matrix of counts, dense or sparse; None if it holds texts."""
    if is_sparse(X):
        _require_finite(X.tocsr().data)
        return X
    if isinstance(X, (list, tuple)):
        if not X or not all(isinstance(row, (list, tuple, np.ndarray)) for row in X):
            return None
    elif shape_of(X) is None and not exports_array(X):
        return None
    try:
        array = np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise BadData(
            "a document must be a text, or a row with as many counts as all others", remedy=GIVE_TEXTS
        ) from error
    if array.ndim != 2 or (array.dtype.kind in "OUST" and array.shape[1] == 1 and _holds_text(array)):
        return None
    if array.dtype.kind == "c":
        raise BadData("Complex data not supported")
    if array.shape[1] == 0:
        raise BadData(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    try:
        array = array if array.dtype.kind in "biuf" else array.astype(np.float64)
    except ValueError as error:
        raise BadData(
            f"documents must be one column of texts, or a matrix of counts ({error})", remedy=GIVE_TEXTS
        ) from error
    _require_finite(array)
    return array


def _require_finite(counts: Any) -> None:
    if np.asarray(counts).dtype.kind == "f" and not np.isfinite(counts).all():
        raise BadData("Input X contains NaN or infinity: counts must be non-negative numbers")


def _holds_text(array: AnyArray) -> bool:
    return any(isinstance(value, (str, bytes)) for value in array[:, 0].tolist())
