"""From what a user passes to fit or predict to batches and codes, with scikit-learn's words for common mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.exceptions import DataConversionWarning

from bayesbox.classifier.target.bins import binned_labels
from bayesbox.errors import BadData, LabelContradiction, MissingTarget, NotClasses
from bayesbox.schema.columns import Column, CountMatrix, as_numbers
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.levels import label_type_of
from bayesbox.source.base import Batch
from bayesbox.source.frames import batch_of
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import (
    exports_array,
    exports_arrow_stream,
    has_columns,
    holds_values,
    is_dask,
    is_named_tuple,
    is_pandas_series,
    is_sparse,
    is_xarray_array,
)
from bayesbox.source.sparse import csr_of

GROUP = "counts"  # the name under which a sparse matrix stands


def batch_from(X: object) -> Batch:
    """The rows of X; a sparse matrix is one group of counts."""
    if is_sparse(X):
        rows = csr_of(X)
        return Batch((GROUP,), (CountMatrix(rows.indptr, rows.indices, rows.data, rows.width),), rows.rows)
    return batch_of(_as_array(X))


def counts_from(X: object) -> Batch:
    """The rows of X as one group of counts, whether X is sparse or dense."""
    batch = batch_from(X)
    if group_of(batch) is not None:
        return batch
    numbers = [as_numbers(column, name=name) for name, column in zip(batch.names, batch.columns, strict=True)]
    dense = np.column_stack([np.asarray(column, dtype=np.float64) for column in numbers])
    rows, columns = np.nonzero(np.nan_to_num(dense))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=batch.rows))])
    matrix = CountMatrix(indptr, columns, dense[rows, columns], len(batch.names))
    return Batch((GROUP,), (matrix,), batch.rows)


def group_of(batch: Batch) -> CountMatrix | None:
    """The group of counts that these rows are, None for a table of columns."""
    return next((column for column in batch.columns if isinstance(column, CountMatrix)), None)


def one_row(row: Any) -> Any:
    """One row as X: a dict of values, or a row of a frame, becomes a list of one; X of any other shape stays.

    >>> one_row({"age": 34, "car": "suv"}), one_row({"age": [34]})
    ([{'age': 34, 'car': 'suv'}], {'age': [34]})
    """
    if getattr(row, "ndim", 0) == 1:  # an array, or a row that a frame gave out with its names
        return [dict(row.items())] if hasattr(row, "items") else row.reshape(1, -1)
    is_mapping = isinstance(row, Mapping)
    if is_mapping and not any(holds_values(value) or isinstance(value, Mapping) for value in row.values()):
        return [dict(row)]
    return row


def row_of(X: Any, names: Collection[str]) -> Any:
    """X, or where it is one row, the list of that row: a dict of values, a named tuple, a row of a pandas frame.

    A Series of pandas is a row where some of its index are `names` of columns; else it is a column.

    >>> row_of({"age": 34, "car": "suv"}, ["age"]), row_of({"age": [34]}, ["age"])
    ([{'age': 34, 'car': 'suv'}], {'age': [34]})
    """
    if is_named_tuple(X):
        return [X._asdict()]
    is_sparse = hasattr(X, "shape")  # one of the formats of scipy is a dict of cells
    if isinstance(X, Mapping) and not is_sparse and X and not any(_has_several(value) for value in X.values()):
        return [dict(X)]
    if is_pandas_series(X) and hasattr(X, "items") and any(str(label) in names for label in X.index):
        return [{str(label): value for label, value in X.items()}]
    return X


def _has_several(value: object) -> bool:
    """Whether this is a column, or a mapping, rather than one value."""
    return holds_values(value) or isinstance(value, Mapping)


def binned(column: Column, cuts: Sequence[float] | None) -> Column:
    """Numbers as the names of their bins, where a model was trained on bins of its target; all else as it is."""
    if cuts is None or isinstance(column, CountMatrix):
        return column
    if isinstance(column, np.ndarray):
        numeric = column.dtype.kind in "iuf"
    else:
        numeric = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    return binned_labels(np.asarray(as_numbers(column), dtype=np.float64), cuts) if numeric else column


def labels_from(y: object, rows: int, cuts: Sequence[float] | None = None) -> Encoded:
    """The labels as codes: one per row, none missing. Numbers are put into the bins between the `cuts`."""
    if y is None:
        raise BadData("requires y to be passed, but the target y is None")
    warn_of_column_vector(y)
    column = binned(labels_of(_as_array(y)), cuts)
    if len(column) != rows:
        raise BadData(f"Found input variables with inconsistent numbers of samples: {rows} rows, {len(column)} labels")
    refuse_continuous(column)
    labels = encode(column)
    if labels.codes.min(initial=0) < 0:
        raise MissingTarget(
            "y contains NaN or None: every row needs a label",
            where=f"row {int(np.argmax(labels.codes < 0)) + 1}",
            remedy="Drop the rows without a label; `bayesbox.train` does so and reports how many",
        )
    return labels


def classes_from(classes: object, label_type: str | None) -> tuple[str, ...]:
    """The texts of classes that are declared beside labels of this type, None if no label was seen yet."""
    column = labels_of(classes)
    refuse_continuous(column)
    found = encode(column)
    declared = label_type_of(found.values) if found.values else label_type
    if label_type is not None and declared != label_type and {declared, label_type} != {"integer", "real"}:
        raise LabelContradiction(
            f"the declared classes have type {declared}, but the labels have type {label_type}",
            found=found.values,
            remedy="Declare them with the type of the labels",
        )
    return tuple(sorted(found.levels))


def categories_of(y: object) -> list[Any] | None:
    """The categories that the type of a pandas or polars column declares, in use or not; None for other types.

    >>> import pandas as pd
    >>> categories_of(pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["a", "b", "c"])))
    ['a', 'b', 'c']
    """
    if is_dask(y):
        return None  # which may not know them
    categories: Any = getattr(getattr(y, "dtype", None), "categories", None)
    return list(categories) if hasattr(categories, "__len__") else None


def refuse_continuous(column: object) -> None:
    """Labels are discrete: numbers with a fraction are measurements."""
    if isinstance(column, pa.Array | pa.ChunkedArray) and pa.types.is_floating(column.type):
        column = as_numbers(column)
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return
    finite = column[~np.isnan(column)]
    if np.isinf(finite).any():
        raise BadData("Input y contains infinity", remedy="Labels must be discrete")
    if (finite != np.floor(finite)).any():
        raise NotClasses(
            "Unknown label type: continuous. Class labels must be discrete, but y has fractional numbers",
            reason="fractions",
            classes=len(np.unique(finite)),
            remedy="Bin y first, for example with pandas.qcut, or use bayesbox.train(..., target_bins=5)",
        )


def _as_array(data: object) -> Any:
    """Objects that are arrays only by `__array__` as numpy arrays; everything else as it is."""
    if isinstance(data, np.ndarray | Mapping) or not exports_array(data):
        return data  # a lazy frame too, whose columns cost something to name
    known = exports_arrow_stream(data) or has_columns(data) or hasattr(data, "to_numpy")
    return data if known and not is_xarray_array(data) else np.asarray(data)


def has_own_names(X: object) -> bool:
    """Whether the columns of X have names, rather than positions."""
    if isinstance(_as_array(X), np.ndarray):
        return isinstance(X, np.ndarray) and X.dtype.names is not None
    if isinstance(X, (list, tuple)):
        return bool(X) and (isinstance(X[0], Mapping) or is_named_tuple(X[0]))
    return True


def warn_of_column_vector(y: object) -> None:
    """Labels in one column of a matrix are taken, with scikit-learn's warning."""
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=4)
