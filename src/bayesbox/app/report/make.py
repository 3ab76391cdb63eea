"""Make a report of a model with or without rows, of rows alone, or of a network."""

from __future__ import annotations

import itertools
import os
import warnings
from typing import Any

from bayesbox.app.report.build import classifier_report, network_report
from bayesbox.classifier.evaluate import cross_validate, evaluate_held_out
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.opened import AS_IT_IS, Opened, ReadingOptions
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.classifier.train import source_of, train
from bayesbox.errors import BadOption, DataWarning
from bayesbox.file.atomic import replacing
from bayesbox.file.reader import Json
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.levels import level_text

FOLDS = 10


def report_of_model(
    model: object,
    data: object = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    rows: int = 0,
    suppress: int = 0,
    name: str = "",
    reading: ReadingOptions = AS_IT_IS,
) -> str:
    """The report of a classifier of tables or of a network; `data` has rows with the target to evaluate it on."""
    _require(rows, suppress)
    if isinstance(model, BayesianNetwork):
        return network_report(model, name=name)
    if not isinstance(model, TableClassifier):
        raise BadOption("a report needs a classifier of tables or a network", found=type(model).__name__)
    evaluation, some = None, []
    if data is not None:
        opened = _opened(model, data, target or model.target, weight, reading)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            evaluation = evaluate_held_out(model, opened.source, opened.target, weight=weight)
        some = _rows_of(model, opened.source, rows)
    elif rows:
        raise BadOption("explaining rows needs data", found=rows, remedy="Pass the data as well")
    return classifier_report(model, evaluation, some, suppress=suppress, name=name)


def report_of_rows(
    classifier: AnyTableClassifier,
    data: object,
    target: str | None,
    *,
    weight: str | None = None,
    rows: int = 0,
    suppress: int = 0,
    name: str = "",
    threads: int = 1,
    reading: ReadingOptions = AS_IT_IS,
) -> str:
    """The report of a classifier trained and cross-validated on rows."""
    _require(rows, suppress)
    opened = classifier.open_rows(data, target=target, weight=weight, text=None, reading=reading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        training = train(opened.classifier, opened.source, opened.target, weight=weight, threads=threads)
        evaluation: Evaluation = cross_validate(
            opened.classifier.unfitted_clone(),
            opened.source,
            opened.target,
            folds=min(FOLDS, max(training.rows - training.unlabelled, 2)),
            weight=weight,
            threads=threads,
        )
    some = _rows_of(opened.classifier, opened.source, rows)
    return classifier_report(opened.classifier, evaluation, some, suppress=suppress, name=name)


def _opened(
    model: AnyTableClassifier, data: object, target: str | None, weight: str | None, reading: ReadingOptions
) -> Opened[Any]:
    """The rows to evaluate a model on: files as it reads them, or a DataFrame."""
    if target is None:
        raise BadOption("no target column: the model does not record one", remedy="Pass target=")
    names = data if isinstance(data, list | tuple) else [data]
    if all(isinstance(each, str | os.PathLike) for each in names):
        return model.open_rows(data, target=target, weight=weight, reading=reading)
    return Opened(model, source_of(data, target, None, weight=weight), target)


def write_report(text: str, path: str | os.PathLike[str]) -> None:
    """Write a report atomically."""
    with replacing(path) as file:
        file.write(text.encode())


def _require(rows: int, suppress: int) -> None:
    if rows < 0 or suppress < 0 or suppress == 1:
        raise BadOption("rows must be 0 or more, and suppress 0 or at least 2", found=(rows, suppress))
    if rows and suppress:
        raise BadOption("rows and suppress cannot be combined: rows show individual people", found=(rows, suppress))


def _rows_of(classifier: AnyTableClassifier, source: Any, number: int) -> list[Json]:
    """The first rows of a source, as the columns of the classifier."""
    if not number:
        return []
    assert classifier.schema is not None
    names = set(classifier.schema.used_columns)
    found: list[Json] = []
    for batch in source.batches():
        columns = {name: batch[name] for name in batch.names if name in names}
        cells = {
            name: column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
            for name, column in columns.items()
        }
        for row in range(batch.rows):
            values = {name: own[row] for name, own in cells.items()}
            found.append({name: _cell(value) for name, value in values.items() if value is not None and value == value})
            if len(found) == number:
                return found
    return list(itertools.islice(found, number))


def _cell(value: object) -> Any:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else level_text(value)
