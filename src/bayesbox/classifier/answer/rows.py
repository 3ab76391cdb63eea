"""Batches of one row, and copies of it with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.case import value_text
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch


def require_table(classifier: AnyClassifier, what: str) -> AnyTableClassifier:
    """The classifier if it is for tables; an error for a model of documents, which has no columns."""
    if not isinstance(classifier, TableClassifier):
        raise BadOption(f"{what} needs the columns of a table, but this is {classifier.title}")
    return classifier


def require_one_row(batch: Batch, what: str) -> None:
    """Raise an error unless the batch has exactly one row."""
    if batch.rows != 1:
        raise BadData(f"{what} takes one row", found=f"{batch.rows:,} rows", remedy="Pass one of them")


def given_values(classifier: AnyTableClassifier, batch: Batch) -> dict[str, str | None]:
    """The columns of the model under their original names, with the value of the row as text; None if it is missing."""
    assert classifier.schema is not None
    shown = classifier.shown_columns(batch)
    silent = {*classifier.model.ignored, *classifier.ignored}
    names = [name for name in classifier.schema.used_columns if name not in silent]
    return {name: value_text(shown.get(name)) for name in names}


def without_missing(classifier: AnyTableClassifier, batch: Batch) -> Batch:
    """The row with only the columns that the model knows and that have a value."""
    known = {name for name, value in given_values(classifier, batch).items() if value is not None}
    known |= {flag for name in known for flag in classifier.one_hot.get(name, ())}
    places = [place for place, name in enumerate(batch.names) if name in known]
    if not places:
        return nothing_known(classifier)
    return Batch(tuple(batch.names[k] for k in places), tuple(batch.columns[k] for k in places), batch.rows)


def nothing_known(classifier: AnyTableClassifier) -> Batch:
    """A row in which all values are missing."""
    return classifier.one_row({})


def repeated(batch: Batch, times: int) -> Batch:
    """Copies of a batch of one row."""
    return Batch(batch.names, tuple(_repeated(column, times) for column in batch.columns), times)


def _repeated(column: Column, times: int) -> Column:
    if isinstance(column, CountMatrix):
        size = len(column.indices)
        indptr = np.arange(times + 1, dtype=np.int64) * size
        return CountMatrix(indptr, np.tile(column.indices, times), np.tile(column.data, times), column.width)
    if isinstance(column, np.ndarray):
        return np.repeat(column[:1], times)
    return column.take(pa.array(np.zeros(times, dtype=np.int64)))


def with_column(classifier: AnyTableClassifier, batch: Batch, name: str, values: Sequence[Any]) -> Batch:
    """Copies of the row with these values in one column: numbers, or levels as text; None is missing."""
    columns = dict(zip(batch.names, batch.columns, strict=True))
    if name in classifier.one_hot:
        flags = classifier.one_hot[name]
        for flag in flags:
            columns[flag] = np.array([np.nan if value is None else float(value == flag) for value in values])
    else:
        columns[name] = column_of(classifier, name, values)
    return Batch(tuple(columns), tuple(columns.values()), batch.rows)


def column_of(classifier: AnyTableClassifier, name: str, values: Sequence[Any]) -> Column:
    """Values as a column of the type it has in the model."""
    assert classifier.schema is not None
    kind = classifier.schema.kinds[name]
    if kind.has_parts:  # a date is parsed from its text
        return pa.array([None if is_missing(value) else value for value in values])
    if kind.is_number and not kind.translates:
        return np.array([as_number(kind, name, value) for value in values], dtype=np.float64)
    texts = [None if is_missing(value) else level_text(_parsed(kind, name, value)) for value in values]
    return pa.array(texts, pa.string())


def _parsed(kind: Any, name: str, value: Any) -> Any:
    return kind.parse(value, name=name) if isinstance(value, str) else value


def as_number(kind: Any, name: str, value: Any) -> float:
    """A value of a column of numbers: a number, its text, or the level of a flag."""
    if is_missing(value):
        return float("nan")
    if isinstance(value, str):
        return float(FLAG_CODES[value.lower()] if value.lower() in FLAG_CODES else kind.parse(value, name=name))
    return float(value)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or an empty text."""
    return value is None or value == "" or bool(value != value)


def changed_row(classifier: AnyTableClassifier, batch: Batch, changes: Mapping[str, Any]) -> Batch:
    """The row with other values of some columns; a column that the model does not have is an error."""
    assert classifier.schema is not None
    known = classifier.schema.used_columns
    for name, value in changes.items():
        if name not in known:
            raise UnknownColumn(str(name), available=known)
        batch = with_column(classifier, batch, name, [value])
    return batch
