"""Batches are cut without a copy."""

from __future__ import annotations

from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of


def test_slice_and_select() -> None:
    batch = batch_of({"age": [25, 40, 31], "car": ["suv", "sports", None]})
    cut = batch.slice(1, 10).select(("car",))
    assert (cut.names, cut.rows, cut.first_row) == (("car",), 2, 1)
    assert cut["car"].to_pylist() == ["sports", None]
    assert next(OneBatch(batch).batches()) is batch
