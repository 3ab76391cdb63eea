"""Frames of Dask, read partition by partition: one of them is in memory at a time.

Dask is not imported: a partition is asked to compute itself, by whatever scheduler is in force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bayesbox.source.base import Batch, Source
from bayesbox.source.frames import batch_of


def partitions_of(data: Any) -> Iterator[Any]:
    """The partitions of a frame or series of Dask, each computed when its turn comes."""
    for number in range(data.npartitions):
        yield data.partitions[number].compute()


class DaskSource(Source):
    """The rows of a DataFrame of Dask, a batch for each partition; each pass computes them again."""

    name = "the Dask frame"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = tuple(str(name) for name in frame.columns)
        self._done = 0

    @property
    def progress(self) -> float | None:
        """The share of the partitions that were read."""
        return self._done / max(int(self.frame.npartitions), 1)

    def batches(self) -> Iterator[Batch]:
        """The rows, partition after partition; those without a row are passed over, unless all are."""
        first_row = self._done = 0
        for partition in partitions_of(self.frame):
            self._done += 1
            batch = batch_of(partition)
            if batch.rows or (not first_row and self._done == self.frame.npartitions):
                yield replace(batch, first_row=first_row)
                first_row += batch.rows
