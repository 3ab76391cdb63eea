"""`predict`: the predictions of a trained model for the rows of any source, as a table."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.base import AnyClassifier, Classifier
from bayesbox.classifier.opened import EVERY, ReadingOptions
from bayesbox.classifier.predict import PredictionWriter, PredictOptions, answer_tables
from bayesbox.classifier.report.asked import missing_columns
from bayesbox.classifier.train import source_of
from bayesbox.errors import BadOption, CannotExport, UnknownChoice
from bayesbox.source.base import Source
from bayesbox.source.files.dialect import TextDialect
from bayesbox.source.shapes import is_pandas_frame, is_path, is_polars_frame
from bayesbox.source.spark import SparkSource
from bayesbox.source.wrapped import peek
from bayesbox.table.naive.export import spark_steps_of

ENGINES = ("auto", "sql", "arrow")


def predict(
    model: object,
    data: object,
    *,
    proba: bool = False,
    explain: int = 0,
    keep: Sequence[str] | None = None,
    threads: int = 1,
    na: Sequence[str] = (),
    format: str | None = None,
    follow_links: bool = False,
    encoding: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    delimiter: str | None = None,
    skip_rows: int = 0,
    comment: str | None = None,
    sheet: str | None = None,
    engine: str = "auto",
) -> Any:
    """Predict the class of each row of files, a DataFrame, a query or any other source; returns a table.

    The result is a pandas DataFrame with the same index for a pandas DataFrame, a polars DataFrame for a polars
    DataFrame, and an Arrow table otherwise.

    `proba` adds a column `P(class)` for each class, `explain=3` the three columns with the most evidence for the class
    against the runner-up, `keep` copies columns (`["*"]` copies all). For a Spark DataFrame the result is a lazy Spark
    DataFrame with all of its columns and the new ones, computed on the executors by `engine`. Links in folders of
    documents are skipped unless `follow_links` is true.

    Parameters
    ----------
    model : a fitted estimator
    data : name of a file, a glob, a folder, a frame, a table, or any source
    proba : bool, default False; add a column for the probability of each class
    explain : int, default 0; the number of columns with the most evidence to add
    keep : list of columns to copy, ["*"] for all; by default no columns, or all of a Spark DataFrame
    threads : int, default 1; the number of threads that predict
    na : list of str, () by default; additional texts that mean missing
    format : str or None (default); the format of the file, if its name does not tell
    follow_links : bool, default False; follow links in folders of documents
    encoding : str or None (default, UTF-8); the encoding of text files; a byte order mark takes precedence
    decimal : str, default "."; the decimal mark of numbers in text files
    thousands : str or None (default); the thousands separator of numbers
    delimiter : str or None (default); the separator of the fields
    skip_rows : int, default 0; the number of lines to skip at the start of a text file
    comment : str or None (default); the prefix of comment lines, which are skipped
    sheet : str or None (default, the first); the sheet of an Excel workbook
    engine : str, default "auto"; how to predict a Spark DataFrame: "sql" by expressions that Spark compiles, "arrow" by
        the core in Python on the executors; "auto" selects "sql" if possible

    Returns
    -------
    a pandas, polars or Spark DataFrame if `data` is one, else an Arrow table

    Examples
    --------
    >>> import bayesbox as bb
    >>> clf = bb.NaiveBayes().fit({"age": [25, 20, 45]}, ["L", "H", "H"])
    >>> bb.predict(clf, {"age": [44, 25]}, keep=["age"]).to_pydict()
    {'age': [44, 25], 'prediction': ['H', 'H']}
    """
    classifier = _classifier_of(model)
    asked = PredictOptions(proba=proba, explain=explain, keep=tuple(keep or ()))
    dialect = TextDialect(encoding, decimal, thousands, delimiter, skip_rows, comment, sheet)
    reading = ReadingOptions(tuple(na), format=format, follow_links=follow_links, dialect=dialect)
    source = _source(classifier, data, asked.keep, reading)
    if engine not in ENGINES:
        raise UnknownChoice("engine", engine, ENGINES)
    if isinstance(source, SparkSource):
        kept = None if keep is None else source.names if EVERY in keep else asked.keep
        return _on_spark(classifier, source, replace(asked, keep=()), kept, engine)
    first, rows = peek(source)
    names = source.names if first is None else first.names
    lacking = missing_columns(classifier, names)
    if lacking is not None:
        warnings.warn(lacking, stacklevel=2)
    answers = PredictionWriter(classifier, asked, names, where=source.name)
    tables = list(answer_tables(answers, rows, threads=threads))
    answers.unseen.warn()
    return like_frame(pa.concat_tables(tables) if tables else answers.no_rows(), data)


def _on_spark(
    classifier: AnyClassifier, source: SparkSource, asked: PredictOptions, keep: Sequence[str] | None, engine: str
) -> Any:
    """The rows of a Spark DataFrame with their answers: by expressions of Spark, or else by the core."""
    answers = PredictionWriter(classifier, asked, (), where=source.name)
    if engine != "arrow":
        try:
            if asked.explain:
                raise CannotExport("explanations are given by the core", remedy='Write engine="arrow"')
            steps = spark_steps_of(classifier, source.types(), proba=asked.proba)
        except CannotExport:
            if engine == "sql":
                raise
        else:
            return source.with_expressions(steps, answers.added_fields().names, keep)
    return source.with_columns(answers.of, answers.added_fields(), classifier.feature_names, keep)


def like_frame(table: pa.Table, data: Any) -> Any:
    """The table as a DataFrame of the same library as `data`, with the index of a pandas DataFrame; else as is."""
    if is_pandas_frame(data):
        frame = table.to_pandas()
        return frame.set_axis(data.index, axis=0) if len(frame) == len(data) else frame
    return sys.modules["polars"].from_arrow(table) if is_polars_frame(data) else table


def _classifier_of(model: object) -> AnyClassifier:
    if isinstance(model, str | os.PathLike):
        raise BadOption(
            "model must be a fitted estimator, not the name of a file",
            found=str(model),
            remedy=f"Load it first: bayesbox.load({str(model)!r})",
        )
    check_is_fitted(model)
    classifier = getattr(model, "classifier_", None)
    if not isinstance(classifier, Classifier):
        raise BadOption(
            "bayesbox.predict needs a model of tables",
            found=type(model).__name__,
            remedy="For other models call model.predict(...)",
        )
    return classifier


def _source(classifier: AnyClassifier, data: object, keep: tuple[str, ...], reading: ReadingOptions) -> Source:
    if not is_path(data):
        return source_of(data, **reading.of_file)
    return classifier.open_unlabelled(data, keep=keep, reading=reading).source
