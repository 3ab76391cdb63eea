"""Convert what a user passes to fit or predict to batches and codes, with scikit-learn's messages for common
mistakes."""

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

GROUP = "counts"  # the column name of a sparse matrix


def batch_from(X: object) -> Batch:
    """X as a batch; a sparse matrix becomes one group of counts."""
    if is_sparse(X):
        rows = csr_of(X)
        return Batch((GROUP,), (CountMatrix(rows.indptr, rows.indices, rows.data, rows.width),), rows.rows)
    return batch_of(_as_array(X))


def counts_from(X: object) -> Batch:
    """X, sparse or dense, as a batch of one group of counts."""
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
    """The group of counts of a batch made from a matrix; None for a table."""
    alone = batch.columns[0] if len(batch.columns) == 1 else None
    return alone if isinstance(alone, CountMatrix) else None


def one_row(row: Any) -> Any:
    """X of one row: a dict of values or a row of a DataFrame becomes a list of one; anything else is returned as is.

    >>> one_row({"age": 34, "car": "suv"}), one_row({"age": [34]})
    ([{'age': 34, 'car': 'suv'}], {'age': [34]})
    """
    if getattr(row, "ndim", 0) == 1:  # an array, or a row that a DataFrame returned with its names
        return [dict(row.items())] if hasattr(row, "items") else row.reshape(1, -1)
    is_mapping = isinstance(row, Mapping)
    if is_mapping and not any(holds_values(value) or isinstance(value, Mapping) for value in row.values()):
        return [dict(row)]
    return row


def row_of(X: Any, names: Collection[str]) -> Any:
    """X, or a list of one row if X is a single row: a dict of values, a named tuple, or a row of a pandas DataFrame.

    A pandas Series is a row if its index has any of the column `names`; otherwise it is a column.

    >>> row_of({"age": 34, "car": "suv"}, ["age"]), row_of({"age": [34]}, ["age"])
    ([{'age': 34, 'car': 'suv'}], {'age': [34]})
    """
    if is_named_tuple(X):
        return [X._asdict()]
    is_sparse = hasattr(X, "shape")  # a scipy dok_array is a dict of cells
    if isinstance(X, Mapping) and not is_sparse and X and not any(_has_several(value) for value in X.values()):
        return [dict(X)]
    if is_pandas_series(X) and hasattr(X, "items") and any(str(label) in names for label in X.index):
        return [{str(label): value for label, value in X.items()}]
    return X


def _has_several(value: object) -> bool:
    """Whether this is a column or a mapping rather than a single value."""
    return holds_values(value) or isinstance(value, Mapping)


def binned(column: Column, cuts: Sequence[float] | None) -> Column:
    """Numbers as the names of their bins if the model was trained on bins of its target; anything else as is."""
    if cuts is None or isinstance(column, CountMatrix):
        return column
    if isinstance(column, np.ndarray):
        numeric = column.dtype.kind in "iuf"
    else:
        numeric = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    return binned_labels(np.asarray(as_numbers(column), dtype=np.float64), cuts) if numeric else column


def labels_from(y: object, rows: int, cuts: Sequence[float] | None = None) -> Encoded:
    """The labels as codes, one per row, none missing. `cuts` bin numeric labels."""
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
    """Declared classes as texts; `label_type` is the type of the labels so far, None if there are none."""
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
    """All categories declared by the type of a pandas or polars column, used or not; None for other types.

    >>> import pandas as pd
    >>> categories_of(pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["a", "b", "c"])))
    ['a', 'b', 'c']
    """
    if is_dask(y):
        return None  # which may not know them
    categories: Any = getattr(getattr(y, "dtype", None), "categories", None)
    return list(categories) if hasattr(categories, "__len__") else None


def refuse_continuous(column: object) -> None:
    """Raise an error if the labels are fractional numbers, which are measurements rather than classes."""
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
    """A numpy array if the object is one only through `__array__`; anything else as is."""
    if isinstance(data, np.ndarray | Mapping) or not exports_array(data):
        return data  # including a lazy frame, whose column names are costly to compute
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
    """Warn, like scikit-learn, if the labels are a matrix of one column."""
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=4)
