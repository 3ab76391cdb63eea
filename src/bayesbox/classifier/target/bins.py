"""A numeric target cut into equal-frequency bins, which are its classes, each named by its interval.

The cut points are found in a first pass over the rows and stored in the model, which bins all later labels with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from bayesbox.described import Remedy
from bayesbox.dist.number.cuts import Doubles, bin_names, codes_of, equal_frequency
from bayesbox.errors import BadData, BadOption, KindContradiction, UnknownColumn, require_whole
from bayesbox.schema.arrays import text_array
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.source.base import Batch, Source
from bayesbox.source.wrapped import WrappedSource

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier

C = TypeVar("C", bound="AnyClassifier")

MOST_DISTINCT = 1 << 20  # distinct numbers kept to find the cut points; beyond that, neighbours are merged


@dataclass(frozen=True)
class DistinctNumbers:
    """Distinct numbers in ascending order with their counts; they can be added."""

    values: Doubles
    counts: Doubles

    @classmethod
    def of(cls, column: Doubles) -> DistinctNumbers:
        """The numbers of a column; NaN is missing."""
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        return cls(values, counts.astype(np.float64))

    def __add__(self, other: DistinctNumbers) -> DistinctNumbers:
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values))
        np.add.at(counts, place.reshape(-1), np.concatenate([self.counts, other.counts]))
        if len(values) > MOST_DISTINCT:
            first = np.arange(0, len(values), 2)
            values, counts = values[np.minimum(first + 1, len(values) - 1)], np.add.reduceat(counts, first)
        return DistinctNumbers(values, counts)


def numbers_of(column: Column, target: str, where: str | None) -> Doubles:
    """The numbers of a target; an error if some values are not finite numbers."""
    try:
        found = np.asarray(as_numbers(column, name=target, where=where), dtype=np.float64)
    except KindContradiction as error:
        raise BadData(
            f"the target `{target}` cannot be binned, since it has values that are not numbers",
            where=error.where,
            found=error.found,
            remedy="Train without " + Remedy("target_bins=", "--target-bins") + ", or correct the value",
            column=target,
        ) from None
    if np.isinf(found).any():
        raise BadData(f"the target `{target}` contains an infinite value (inf)", where=where, column=target)
    return found


def bin_cuts(source: Source, target: str, bins: int) -> tuple[float, ...]:
    """The cut points of bins of about equal numbers of rows, from one pass over the rows."""
    require_whole("target_bins", bins, least=2)
    if not source.rereadable:
        raise BadOption(
            "finding the bins of the target needs a pass over the rows, but they come from a pipe",
            where=source.name,
            remedy="Write them to a file first",
        )

    def distinct(batch: Batch) -> DistinctNumbers:
        if target not in batch.names:
            raise UnknownColumn(target, available=batch.names, where=source.name)
        return DistinctNumbers.of(numbers_of(batch[target], target, source.name))

    found = source.reduce(distinct)
    if found is None or len(found.values) < 2:
        raise BadData(f"the target `{target}` has fewer than two distinct numbers", where=source.name, column=target)
    return tuple(equal_frequency(found.values, found.counts[:, None], bins).tolist())


class BinnedTarget(WrappedSource):
    """A source with a binned target."""

    def __init__(self, source: Source, target: str, cuts: Sequence[float]) -> None:
        super().__init__(source)
        self.target = target
        self.cuts = tuple(cuts)

    @property
    def untyped(self) -> bool:  # type: ignore[override]  # as in `WrappedSource`
        """False: the names of bins are texts."""
        return False

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self.target not in batch.names:
                yield batch
                continue
            place = batch.names.index(self.target)
            binned = binned_labels(numbers_of(batch.columns[place], self.target, self.name), self.cuts)
            yield replace(batch, columns=(*batch.columns[:place], binned, *batch.columns[place + 1 :]))


def binned_labels(values: Doubles, cuts: Sequence[float]) -> pa.DictionaryArray:
    """The name of the bin of each number; null if it is missing.

    >>> binned_labels(np.array([1.0, 7.5, np.nan]), [2.5, 5.0]).to_pylist()
    ['up to 2.5', 'above 5', None]
    """
    edges = np.array(cuts, dtype=np.float64)
    codes = codes_of(values, edges)
    indices = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, text_array(bin_names(edges)))


def cuts_from_json(written: Sequence[object] | None) -> tuple[float, ...] | None:
    """The cut points from the JSON of a file; ValueError if they are not valid."""
    if written is None:
        return None
    found = tuple(each for each in written if type(each) is float)
    if len(found) != len(written) or not found or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise ValueError("the bins of the target are not increasing numbers")
    return found
