"""Scipy sparse matrices, read without importing scipy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesbox.errors import BadData


class SparseRows(NamedTuple):
    """Compressed sparse rows: row i is at `indptr[i]:indptr[i + 1]` of the other arrays, with ascending columns."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    width: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1


def csr_of(data: Any) -> SparseRows:
    """A sparse matrix of numbers as compressed rows in canonical form; the given matrix does not change.

    >>> from scipy.sparse import coo_array
    >>> words = coo_array(([1, 2, 5], ([0, 0, 1], [3, 3, 0])), shape=(2, 4))
    >>> rows = csr_of(words)
    >>> rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist(), rows.width
    ([0, 1, 2], [3, 0], [3, 5], 4)
    """
    if len(data.shape) != 2:
        raise BadData("a sparse array must have two dimensions", found=data.shape)
    if data.dtype.kind == "c":
        raise BadData("Complex data not supported", found=data.dtype)
    if data.dtype.kind not in "biuf":
        raise BadData("a sparse array must hold numbers", found=str(data.dtype))
    rows = data.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.dtype.kind == "f" and not np.isfinite(rows.data).all():
        cell = int(np.flatnonzero(~np.isfinite(rows.data))[0])
        raise BadData(
            "a sparse array has a value that is not a finite number",
            where=f"row {int(np.searchsorted(rows.indptr, cell, side='right'))}, column {int(rows.indices[cell])}",
            found=float(rows.data[cell]),
            remedy="Remove it from the matrix: a value that is not stored counts as 0",
        )
    return SparseRows(rows.indptr, rows.indices, rows.data, int(rows.shape[1]))
