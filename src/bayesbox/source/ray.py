"""Ray Datasets: each block is counted by the task that computes it, and only tallies are returned.

The tallies are added as they arrive, so that only a few are in memory at a time. Ray may repeat a task on another node,
and blocks arrive in any order: the sum is the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from bayesbox.source.base import Batch, Source
from bayesbox.source.cells import plain
from bayesbox.source.files.reading import check_names
from bayesbox.source.partials import NOTHING, added, counted, total_of

TALLY = "tally"


class RaySource(Source):
    """The rows of a Ray Dataset, counted where its blocks are."""

    name = "the Ray dataset"
    remote = True

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        schema = dataset.schema()
        self.names = () if schema is None else tuple(schema.names)  # an empty dataset has no columns
        check_names(self.names, self.name)

    def batches(self) -> Iterator[Batch]:
        """The rows, fetched one block at a time."""
        first_row = 0
        for rows in self.dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            if rows.num_rows:
                yield _batch(rows, first_row, self.name)
                first_row += rows.num_rows

    def reduce(self, function: Callable[[Batch], Any], *, threads: int = 1) -> Any:  # noqa: ARG002
        """The sum of the tallies of all blocks; None if there are no rows."""
        count = _CountBlock(pickle.dumps(function), self.name)
        tallies = self.dataset.map_batches(count, batch_size=None, batch_format="pyarrow", zero_copy_batch=True)
        total = NOTHING
        for found in tallies.iter_batches(batch_size=None, batch_format="pyarrow"):
            for tally in found[TALLY].to_pylist() if found.num_rows else []:
                total = added(total, tally)
        return total_of(total)


class _CountBlock:
    """The tally of one block, as a table of one value."""

    def __init__(self, task: bytes, where: str) -> None:
        self.task = task
        self.where = where

    def __call__(self, rows: pa.Table) -> pa.Table:
        tally = counted(pickle.loads(self.task), self._batches(rows), self.where, "one of its blocks")
        return pa.table({TALLY: pa.array([tally], pa.large_binary())})

    def _batches(self, rows: pa.Table) -> Iterator[Batch]:
        if rows.num_rows:
            yield _batch(rows, 0, self.where)


def _batch(rows: pa.Table, first_row: int, where: str) -> Batch:
    names = tuple(rows.column_names)
    return Batch(names, tuple(plain(rows[name], name, where=where) for name in names), rows.num_rows, first_row)
