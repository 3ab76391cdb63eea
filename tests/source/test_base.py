"""Batches are cut without a copy, and rows are taken out of any column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import bayesbox as bb
from bayesbox.source.base import OneBatch, taken
from bayesbox.source.frames import batch_of


def test_slice_and_select() -> None:
    batch = batch_of({"age": [25, 40, 31], "car": ["suv", "sports", None]})
    cut = batch.slice(1, 10).select(("car",))
    assert (cut.names, cut.rows, cut.first_row) == (("car",), 2, 1)
    assert cut["car"].to_pylist() == ["sports", None]
    assert next(OneBatch(batch).batches()) is batch


def test_rows_of_dictionaries_in_chunks_are_taken() -> None:
    """Tables of Arrow have columns in chunks, each of which may have a dictionary of its own."""
    chunks = [pa.array(["a", "b", None]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    for column in (pa.chunked_array(chunks), pa.chunked_array(chunks[:1]), pa.chunked_array([], chunks[0].type)):
        rows = np.arange(len(column))[::2]
        found = taken(column, rows)
        assert found.to_pylist() == column.to_pylist()[::2]
        assert set(found.dictionary.to_pylist()) == set(column.to_pylist()[::2]) - {None}


def test_a_table_of_dictionaries_goes_through_every_fold() -> None:
    cars = pa.array(["suv", "van", None, "suv"] * 10).dictionary_encode()
    table = pa.table({"car": cars, "age": np.arange(40) % 7 * 1.5})
    assert bb.AutoBayes().fit(table, ["y", "n"] * 20).predict(table).shape == (40,)
