"""From what a user passes to fit or predict to batches and codes, with scikit-learn's words for common mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesbox.errors import BadData, MissingTarget
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded, encode
from bayesbox.source.base import Batch
from bayesbox.source.frames import batch_of, labels_of
from bayesbox.source.sparse import csr_of, is_sparse

GROUP = "counts"  # the name under which a sparse matrix stands


def batch_from(X: Any) -> Batch:
    """The rows of X; a sparse matrix is one group of counts."""
    if is_sparse(X):
        rows = csr_of(X)
        return Batch((GROUP,), (CountMatrix(rows.indptr, rows.indices, rows.data, rows.width),), rows.rows)
    return batch_of(X)


def labels_from(y: Any, rows: int) -> Encoded:
    """The labels as codes: one a row, none missing."""
    if y is None:
        raise BadData("requires y to be passed, but the target y is None")
    column = labels_of(y)
    if len(column) != rows:
        raise BadData(f"Found input variables with inconsistent numbers of samples: {rows} rows, {len(column)} labels")
    refuse_continuous(column)
    labels = encode(column)
    missing = np.flatnonzero(labels.codes < 0)
    if len(missing):
        raise MissingTarget(
            "y contains NaN or None: every row needs a label",
            where=f"row {int(missing[0]) + 1}",
            remedy="Drop the rows without one; `bayesbox.train` does so and says how many",
        )
    return labels


def refuse_continuous(column: Any) -> None:
    """Labels are discrete: numbers with a fraction are measurements."""
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return
    finite = column[~np.isnan(column)]
    if np.isinf(finite).any():
        raise BadData("Input y contains infinity", remedy="Labels are discrete")
    if (finite != np.floor(finite)).any():
        raise BadData(
            "Unknown label type: continuous. A class label is discrete, but y holds numbers with a fraction",
            remedy="Cut y into classes first",
        )
