"""Frames of Dask: counted by the workers of a cluster, or read here partition by partition.

With a client of `distributed` in force, `reduce` counts each partition where it is computed, and the tallies are added
up in a tree, on the workers too. Without one a partition is computed here when its turn comes, so that one of them is
in memory at a time. The sum is the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from bayesbox.source.base import Batch, Source
from bayesbox.source.frames import batch_of
from bayesbox.source.partials import NOTHING, added, counted, total_of
from bayesbox.source.shapes import package_of

ADDED_TOGETHER = 8  # tallies that one task adds up


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
        self.remote = _has_cluster(frame)
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

    def reduce(self, function: Callable[[Batch], Any], *, threads: int = 1) -> Any:
        """The sum of the tallies of all rows, counted by the workers if there is a cluster."""
        if not self.remote:
            return super().reduce(function, threads=threads)
        from dask import delayed

        task = pickle.dumps(function)  # each partition counts with a copy of its own, in threads too
        tallies = [
            delayed(_tally)(task, partition, self.name, f"partition {number}", pure=False)
            for number, partition in enumerate(self.frame.to_delayed())
        ]
        while len(tallies) > 1:
            groups = (tallies[first : first + ADDED_TOGETHER] for first in range(0, len(tallies), ADDED_TOGETHER))
            tallies = [delayed(_sum)(group, pure=False) for group in groups]
        return total_of(tallies[0].compute())


def _has_cluster(frame: Any) -> bool:
    """Whether Dask would compute this frame by a client of `distributed`, rather than in this process."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(collections=[frame]), "__self__", None)
    return package_of(client) == "distributed"


def _tally(task: bytes, partition: Any, where: str, part: str) -> bytes:
    """The tally of one partition; of one without a row, none."""
    batch = batch_of(partition)
    return counted(pickle.loads(task), [batch] if batch.rows else [], where, part)


def _sum(tallies: list[bytes]) -> bytes:
    total = NOTHING
    for tally in tallies:
        total = added(total, tally)
    return total
