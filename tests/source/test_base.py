"""Batches are cut without a copy, and a fold adds up the same total however it is cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bayesbox.source.base import Batch, OneBatch, fold, pieces
from bayesbox.source.frames import batch_of


class Numbers:
    """A source of several batches of one column."""

    name = "numbers"

    def __init__(self, batches: int, rows: int) -> None:
        self._sizes = [rows] * batches

    def batches(self) -> Iterator[Batch]:
        first = 0
        for size in self._sizes:
            yield Batch(("x",), (np.arange(first, first + size),), size, first)
            first += size


def total(batch: Batch) -> int:
    return int(batch["x"].sum())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_fold_adds_every_row_once(threads: int) -> None:
    assert fold(Numbers(7, 1000), total, threads=threads) == sum(range(7000))
    assert fold(Numbers(2, 100_000), total, threads=threads) == sum(range(200_000))


@pytest.mark.parametrize("threads", [1, 2])
def test_fold_of_nothing_is_none(threads: int) -> None:
    assert fold(Numbers(0, 0), total, threads=threads) is None


def test_fold_raises_what_the_tally_raises() -> None:
    def refuse(batch: Batch) -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fold(Numbers(7, 10), refuse, threads=2)


def test_pieces_keep_the_number_of_the_first_row() -> None:
    cut = list(pieces(Numbers(2, 5), rows=2))
    assert [(piece.first_row, piece["x"].tolist()) for piece in cut] == [
        (0, [0, 1]),
        (2, [2, 3]),
        (4, [4]),
        (5, [5, 6]),
        (7, [7, 8]),
        (9, [9]),
    ]


def test_slice_and_select() -> None:
    batch = batch_of({"age": [25, 40, 31], "car": ["suv", "sports", None]})
    cut = batch.slice(1, 10).select(("car",))
    assert (cut.names, cut.rows, cut.first_row) == (("car",), 2, 1)
    assert cut["car"].to_pylist() == ["sports", None]
    assert next(OneBatch(batch).batches()) is batch
