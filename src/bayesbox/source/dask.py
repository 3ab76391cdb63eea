"""Dask DataFrames: counted by the workers of a cluster, or read locally one partition at a time.

With an active `distributed` client, `reduce` counts each partition where it is computed, and the workers add the
tallies in a tree. Without one, partitions are computed locally one at a time, so that only one is in memory. The sum is
the same.
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

ADDED_TOGETHER = 8  # tallies added per task


def partitions_of(data: Any) -> Iterator[Any]:
    """The partitions of a Dask DataFrame or Series, each computed on demand."""
    for number in range(data.npartitions):
        yield data.partitions[number].compute()


class DaskSource(Source):
    """The rows of a Dask DataFrame, one batch per partition; each pass computes them again."""

    name = "the Dask frame"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = tuple(str(name) for name in frame.columns)
        self.remote = _has_cluster(frame)
        self._done = 0

    @property
    def progress(self) -> float | None:
        """The share of the partitions read so far."""
        return self._done / max(int(self.frame.npartitions), 1)

    def batches(self) -> Iterator[Batch]:
        """The rows by partition; empty partitions are skipped, unless all are empty."""
        first_row = self._done = 0
        for partition in partitions_of(self.frame):
            self._done += 1
            batch = batch_of(partition)
            if batch.rows or (not first_row and self._done == self.frame.npartitions):
                yield replace(batch, first_row=first_row)
                first_row += batch.rows

    def reduce(self, function: Callable[[Batch], Any], *, threads: int = 1) -> Any:
        """The sum of the tallies of all rows, counted by the workers of a cluster if there is one."""
        if not self.remote:
            return super().reduce(function, threads=threads)
        from dask import delayed

        task = pickle.dumps(function)  # each partition counts with its own copy, also in threads
        tallies = [
            delayed(_tally)(task, partition, self.name, f"partition {number}", pure=False)
            for number, partition in enumerate(self.frame.to_delayed())
        ]
        while len(tallies) > 1:
            groups = (tallies[first : first + ADDED_TOGETHER] for first in range(0, len(tallies), ADDED_TOGETHER))
            tallies = [delayed(_sum)(group, pure=False) for group in groups]
        return total_of(tallies[0].compute())


def _has_cluster(frame: Any) -> bool:
    """Whether Dask would compute this DataFrame with a `distributed` client rather than in this process."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(collections=[frame]), "__self__", None)
    return package_of(client) == "distributed"


def _tally(task: bytes, partition: Any, where: str, part: str) -> bytes:
    """The tally of one partition; none for an empty partition."""
    batch = batch_of(partition)
    return counted(pickle.loads(task), [batch] if batch.rows else [], where, part)


def _sum(tallies: list[bytes]) -> bytes:
    total = NOTHING
    for tally in tallies:
        total = added(total, tally)
    return total
