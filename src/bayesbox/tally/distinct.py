"""The distinct values of numbers by class, temporary while cut points are derived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.schema.arrays import NumberArray
from bayesbox.tally.base import positions, quoted, union

Doubles = NDArray[np.float64]


class Distinct:
    """The distinct values of each column of numbers, ascending, and counts of values x classes.

    It is collected in a first pass over the rows and not kept; what is derived from it is.
    """

    form: ClassVar[str] = "distinct"

    def __init__(self, classes: tuple[str, ...], columns: Mapping[str, tuple[Doubles, Doubles]]) -> None:
        self.classes = classes
        self.columns = dict(columns)

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        columns: Mapping[str, NumberArray],
        target: NDArray[np.int32],
        weights: Doubles | None = None,
    ) -> Self:
        """The values of some rows; NaN is missing."""
        found = {}
        for name, column in columns.items():
            numbers = np.asarray(column, dtype=np.float64)
            there = ~np.isnan(numbers) & (target >= 0)
            if weights is not None:
                there &= weights > 0
            values, place = np.unique(numbers[there], return_inverse=True)
            cells = np.bincount(
                place * len(classes) + target[there],
                weights=None if weights is None else weights[there],
                minlength=len(values) * len(classes),
            )
            found[name] = values, cells.astype(np.float64).reshape(len(values), len(classes))
        return cls(classes, found)

    def zero(self) -> Self:
        return type(self)(self.classes, {})

    def __add__(self, other: Distinct) -> Self:
        classes = union(self.classes, other.classes)
        one, two = self.with_classes(classes), other.with_classes(classes)
        columns = dict(one.columns)
        for name, (values, counts) in two.columns.items():
            if name not in columns:
                columns[name] = values, counts
                continue
            mine, my_counts = columns[name]
            together, place = np.unique(np.concatenate([mine, values]), return_inverse=True)
            cells = np.zeros((len(together), len(classes)))
            np.add.at(cells, place, np.concatenate([my_counts, counts]))
            columns[name] = together, cells
        return type(self)(classes, columns)

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        place = positions(classes, self.classes)
        columns = {
            name: (values, np.where(place >= 0, counts[:, place], 0.0))
            for name, (values, counts) in self.columns.items()
        }
        return type(self)(classes, columns)

    def is_empty(self) -> bool:
        return not self.columns

    def canonical(self) -> Iterator[bytes]:
        for name in sorted(self.columns):
            yield quoted([name])
            yield from (array.astype("<f8").tobytes() for array in self.columns[name])
