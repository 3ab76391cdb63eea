"""Sparse matrices become compressed rows in canonical form, and the one given is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from tests.refusal import refusal

from bayesbox.errors import BadData
from bayesbox.source.frames import batch_of
from bayesbox.source.shapes import is_sparse
from bayesbox.source.sparse import csr_of

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]])
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_format(form: str, kind: str) -> None:
    data = getattr(scipy.sparse, f"{form}_{kind}")(DENSE)
    assert is_sparse(data)
    rows = csr_of(data)
    assert (rows.rows, rows.width) == DENSE.shape
    rebuilt = np.zeros_like(DENSE)
    for index in range(rows.rows):
        inside = slice(rows.indptr[index], rows.indptr[index + 1])
        assert (np.diff(rows.indices[inside]) > 0).all()
        rebuilt[index, rows.indices[inside]] = rows.data[inside]
    np.testing.assert_array_equal(rebuilt, DENSE)


def test_duplicates_are_summed_on_a_copy() -> None:
    data = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([3, 0, 3]), np.array([0, 3])), shape=(1, 4))
    rows = csr_of(data)
    assert (rows.indices.tolist(), rows.data.tolist()) == ([0, 3], [2.0, 5.0])
    assert data.indices.tolist() == [3, 0, 3]


def test_canonical_rows_are_not_copied() -> None:
    data = scipy.sparse.csr_array(DENSE)
    assert np.shares_memory(csr_of(data).data, data.data)


@pytest.mark.parametrize("data", [np.zeros((2, 2)), [[1]], None])
def test_dense_is_not_sparse(data: Any) -> None:
    assert not is_sparse(data)


def test_refusals() -> None:
    with refusal(BadData, what="Complex"):
        csr_of(scipy.sparse.csr_array(np.array([[1j]])))
    with refusal(BadData, found=(2,)):
        csr_of(scipy.sparse.coo_array(np.array([1, 2])))
    with refusal(BadData, what="sparse"):
        batch_of(scipy.sparse.csr_array(DENSE))
