"""`train` and `load`: a fitted estimator from any source, or from a model file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from sklearn.base import clone

from bayesbox.classifier.base import Classifier
from bayesbox.classifier.registry import kind_of
from bayesbox.classifier.train import source_of
from bayesbox.classifier.train import train as train_classifier
from bayesbox.errors import BadOption
from bayesbox.estimators.naive_bayes import NaiveBayes
from bayesbox.estimators.text_classifier import TextClassifier
from bayesbox.file.load import load as load_model
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.train import labelled_documents, train_documents


def train(
    data: Any,
    target: str | None = None,
    *,
    model: Any = None,
    text: str | None = None,
    weight: str | None = None,
    threads: int = 1,
    na: Sequence[str] = (),
    bad_rows: str = "error",
    format: str | None = None,
) -> Any:
    """A fitted estimator from files (a name, a glob, a folder, several of them), a frame, or any source.

    The rows stream through in one pass. Rows without a label are left out; `training_` says how many. A
    `TextClassifier` learns the column `text` of a table, or files of documents: a folder with one folder a class (text,
    mail, Maildir), or an mbox a class; the names of these are the classes then.

    >>> train({"age": [25, 20, 45], "class": ["L", "H", "H"]}, target="class").classes_
    array(['H', 'L'], dtype='<U1')
    """
    if model is not None and (isinstance(model, type) or not hasattr(model, "new_classifier")):
        raise BadOption(
            "a model to train is one of bayesbox's estimators", found=model, remedy="Write model=bayesbox.NaiveBayes()"
        )
    estimator = NaiveBayes() if model is None else clone(model)
    if isinstance(estimator, TextClassifier):
        labelled = labelled_documents(data, target, text, weight=weight, na=na, bad_rows=bad_rows, format=format)
        documents = estimator.new_classifier()
        training = train_documents(documents, labelled, weight=weight, threads=threads)
        estimator.adopt(documents)
        estimator.training_ = training
        return estimator
    if text is not None:
        raise BadOption("text= names the column of a TextClassifier", found=type(estimator).__name__)
    if target is None:
        raise BadOption("which column holds the classes is not said", remedy="Give target=")
    classifier = estimator.blank_classifier()
    source = source_of(
        data, target, estimator.columns, weight=weight, threads=threads, na=na, bad_rows=bad_rows, format=format
    )
    training = train_classifier(classifier, source, target, weight=weight, threads=threads)
    estimator.adopt(classifier)
    estimator.training_ = training
    estimator.warn_of_hints()
    return estimator


def load(path: str | PathLike[str]) -> Any:
    """The estimator in a model file; it goes on learning where it was saved."""
    model = load_model(path)
    if isinstance(model, DocumentClassifier):
        return TextClassifier.of_classifier(model)
    return estimator_of(model) if isinstance(model, Classifier) else model


def estimator_of(classifier: Any) -> Any:
    """The estimator that holds a classifier of tables."""
    return kind_of(classifier).load_estimator().of_classifier(classifier)
