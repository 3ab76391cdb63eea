"""`train` and `load`: a fitted estimator from any source, or from a model file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from sklearn.base import clone

from bayesbox.classifier.base import Classifier
from bayesbox.classifier.opened import ReadingOptions
from bayesbox.classifier.registry import kind_of
from bayesbox.classifier.train import train as train_classifier
from bayesbox.display.progress import Progress, Reporter
from bayesbox.errors import BadOption
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.naive_bayes import NaiveBayes
from bayesbox.file.load import load_version
from bayesbox.file.version import FromFile
from bayesbox.limits import limit_context
from bayesbox.source.files.dialect import TextDialect


def train(
    data: object,
    target: str | None = None,
    *,
    model: object = None,
    text: str | None = None,
    weight: str | None = None,
    target_bins: int | None = None,
    classes_limit: int | None = None,
    threads: int = 1,
    na: Sequence[str] = (),
    bad_rows: str = "error",
    format: str | None = None,
    follow_links: bool = False,
    encoding: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    delimiter: str | None = None,
    skip_rows: int = 0,
    comment: str | None = None,
    sheet: str | None = None,
    progress: Progress | None = None,
) -> Any:
    """Train an estimator on files (a name, a glob, a folder, or a list of them), a DataFrame, or any source.

    The rows are streamed in one pass. Rows without a label are dropped; `training_` has their number. A
    `TextClassifier` is trained on the column `text` of a table, or on files of documents: a folder with one folder per
    class (text, mail, Maildir), or one mbox per class; their names are the classes. Links in such folders are skipped
    with a warning, `SkippedLinks`, unless `follow_links` is true.

    A numeric target that looks like a measurement is an error: `target_bins` cuts it into this many bins of about equal
    numbers of rows, which become the classes. `classes_limit` is the maximum number of classes, 10,000 by default;
    passing it declares that the numbers are classes.

    Parameters
    ----------
    data : name of a file, a glob, a folder, a list of these, a frame, a table, or any source
    target : str or None (default); the target column, not needed for folders of documents
    model : an unfitted estimator, or None (default) for `NaiveBayes()`
    text : str or None (default); the column of the documents, for a `TextClassifier`
    weight : str or None (default); the column of weights: a row counts as this many rows
    target_bins : int or None (default); cut a numeric target into this many classes
    classes_limit : int or None (default, 10,000); the maximum number of classes
    threads : int, default 1; the number of threads that read and count
    na : list of str, () by default; additional texts that mean missing
    bad_rows : "error" (default), or "skip" to skip malformed rows and count them
    format : str or None (default); the format of the file, if its name does not tell
    follow_links : bool, default False; follow links in folders of documents
    encoding : str or None (default, UTF-8); the encoding of text files; a byte order mark takes precedence
    decimal : str, default "."; the decimal mark of numbers in text files
    thousands : str or None (default); the thousands separator of numbers
    delimiter : str or None (default); the separator of the fields
    skip_rows : int, default 0; the number of lines to skip at the start of a text file
    comment : str or None (default); the prefix of comment lines, which are skipped
    sheet : str or None (default, the first); the sheet of an Excel workbook
    progress : function, or None (default); called while rows are read, with the share done, the seconds left (both None
        while unknown) and the number of rows so far

    Returns
    -------
    the fitted estimator

    Examples
    --------
    >>> train({"age": [25, 20, 45], "class": ["L", "H", "H"]}, target="class").classes_
    array(['H', 'L'], dtype='<U1')
    """
    if model is not None and (isinstance(model, type) or not hasattr(model, "_new_classifier")):
        raise BadOption("model must be a bayesbox estimator", found=model, remedy="Write model=bayesbox.NaiveBayes()")
    if target is not None and not isinstance(target, str):
        raise BadOption(
            "target must be the name of a column",
            found=type(target).__name__,
            remedy="With the labels apart from the rows, call fit(X, y) of an estimator, such as NaiveBayes()",
        )
    estimator: CountedEstimator[Any] = NaiveBayes() if model is None else clone(model)
    dialect = TextDialect(encoding, decimal, thousands, delimiter, skip_rows, comment, sheet)
    reading = ReadingOptions(na, bad_rows, format, threads, target_bins, follow_links, dialect)
    opened = estimator._blank_classifier().open_rows(data, target=target, weight=weight, text=text, reading=reading)
    estimator._watch(opened.classifier)
    report = Reporter(progress)
    progress_of_rows = report.rows(lambda: opened.source.progress)
    with limit_context(classes=classes_limit):
        training = train_classifier(
            opened.classifier, opened.source, opened.target, weight=weight, threads=threads, progress=progress_of_rows
        )
    opened.classifier.check()
    estimator._adopt(opened.classifier)
    estimator.training_ = training
    estimator._warn_of_hints()
    report.done()
    return estimator


def load(path: str | PathLike[str]) -> Any:
    """Load the estimator of a model file; it can be trained further.

    The file is not locked. `save` to the same name raises `ModelChanged` if another process has changed the file since.

    Parameters
    ----------
    path : str or path; the name of the file

    Returns
    -------
    the estimator
    """
    model, version = load_version(path)
    found = estimator_of(model) if isinstance(model, Classifier) else model
    return found._loaded_from(version) if isinstance(found, FromFile) else found


def estimator_of(classifier: Any) -> Any:
    """The fitted estimator of a classifier."""
    return kind_of(classifier).load_estimator()._of_classifier(classifier)
