"""Rows in partitions, such as a Dask DataFrame, counted and predicted one partition at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.train import CountedBook, TrainingRows
from bayesbox.errors import BadData
from bayesbox.estimators.inputs import batch_from, labels_from
from bayesbox.source.dask import partitions_of
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import is_dask


class PartitionedRows(TrainingRows):
    """A Dask DataFrame with its labels: a Series with the same partitions, or labels in memory, one per row."""

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        self.X, self.y = X, y
        if is_dask(weights):
            weights = weights.compute()
        self.weights = None if weights is None else np.asarray(weights)
        self.paired = is_dask(y) and y.npartitions == X.npartitions

    def parts(self) -> Iterator[LabelledRows]:
        """The non-empty partitions, each with its labels."""
        whole = None if self.paired else labels_of(self.y)
        first_row = 0
        for X, y in zip(partitions_of(self.X), partitions_of(self.y) if self.paired else repeat(None), strict=False):
            batch = batch_from(X)
            last = first_row + batch.rows
            labels = labels_from(y if whole is None else whole[first_row:last], batch.rows)
            weights = None if self.weights is None else self.weights[first_row:last]
            first_row = last
            if batch.rows:
                yield LabelledRows(batch, labels, weights)
        for given in (whole, self.weights):
            if given is not None and len(given) != first_row:
                raise BadData(
                    f"Found input variables with inconsistent numbers of samples: {first_row} rows, {len(given)} labels"
                )

    def reduce(self, count: Callable[[LabelledRows], CountedBook], *, threads: int = 1) -> CountedBook | None:  # noqa: ARG002
        total: CountedBook | None = None
        for part in self.parts():
            counted = count(part)
            total = counted if total is None else total + counted
        return total

    def again(self) -> list[LabelledRows]:
        return list(self.parts())

    def require_again(self) -> None:
        """Do nothing: partitions can be computed more than once."""
