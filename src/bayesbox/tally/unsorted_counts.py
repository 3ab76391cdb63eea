"""Counts of many levels while batches are added: the levels stay bytes, in order of appearance.

A column of 40,000 levels has all of them in every batch of a file. Sorting and looking them up as texts in every batch
takes several times longer than counting the rows. So the counts of a batch keep its dictionary; the sum of batches has
a dictionary in the core, which only grows; and levels become sorted texts on request, once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox._core import ExactArray, LevelDictionary, plain_text_bytes
from bayesbox.schema.arrays import IntegerArray
from bayesbox.schema.tokens import text_buffers
from bayesbox.tally.base import Index, positions, union
from bayesbox.tally.counts import MOST_DENSE, Counts

MANY_LEVELS = 512  # of a batch; fewer are sorted immediately

Buffers = tuple[NDArray[np.uint8], IntegerArray]  # the bytes of all levels, and where each begins


class UnsortedCounts(Counts):
    """The same as `Counts`, into which it turns when its levels or cells are requested.

    `by_level` has the cells level by level, so that a new level is appended.

    >>> cells = ExactArray.from_integers(np.array([1, 2, 2, 0]))
    >>> cars = UnsortedCounts.of_dictionary(("H", "L"), pa.array(["suv", "sports"]), cells)
    >>> (cars + cars).levels, (cars + cars).counts.tolist(), (cars + cars) - cars == cars
    (('sports', 'suv'), [[4, 2], [0, 4]], True)
    """

    unsorted: ClassVar[bool] = True

    def __init__(self, classes: tuple[str, ...], texts: LevelDictionary | Buffers, by_level: ExactArray) -> None:
        self.classes = classes
        self.by_level_first = by_level
        self._texts = texts  # a dictionary is shared with other sums, which may have extended it
        self._settled: Counts | None = None

    @classmethod
    def of_dictionary(cls, classes: tuple[str, ...], texts: pa.Array, by_level: ExactArray) -> Counts:
        """The counts of a batch, level by level: the levels in any order, possibly repeated."""
        return cls(classes, text_buffers(texts), by_level)

    @property
    def levels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The levels, sorted."""
        return self.settled().levels

    @property
    def cells(self) -> ExactArray:  # type: ignore[override]
        """The cells of the sorted levels, class-major."""
        return self.settled().cells

    @property
    def width(self) -> int:
        """The number of stored levels, an upper bound since some may have no rows."""
        return len(self.by_level_first) // max(len(self.classes), 1)

    def settled(self) -> Counts:
        """The tally with sorted levels, without those that never occurred."""
        if self._settled is None:
            alone = self if isinstance(self._texts, LevelDictionary) else self._with_dictionary()
            self._settled = alone._sorted()
        return self._settled

    def _sorted(self) -> Counts:
        assert isinstance(self._texts, LevelDictionary)
        classes = len(self.classes)
        present = self.by_level_first.signs().reshape(self.width, classes).any(axis=1)
        order = self._texts.sorted(np.flatnonzero(present))
        cells = self.by_level_first.take((order[None, :] * classes + np.arange(classes)[:, None]).ravel())
        return Counts(self.classes, tuple(self._texts.texts(order)), cells)

    def _with_dictionary(self) -> UnsortedCounts:
        """The tally with a dictionary of the core, in which every level occurs once."""
        dictionary = LevelDictionary()
        codes = self._codes_in(dictionary)
        cells = ExactArray(len(dictionary) * len(self.classes))
        cells.add(self.by_level_first, _spread(codes, len(self.classes)))
        return UnsortedCounts(self.classes, dictionary, cells)

    def _codes_in(self, dictionary: LevelDictionary) -> Index:
        """The codes of these levels in a dictionary, to which new ones are added."""
        if isinstance(self._texts, LevelDictionary):
            return dictionary.codes_of(self._texts)[: self.width]
        return dictionary.codes(*self._texts)

    def zero(self) -> Any:
        return Counts(self.classes, (), ExactArray(0))

    def _combined(self, other: Counts, *, sign: int) -> Any:
        classes = union(self.classes, other.classes)
        mine, theirs = self.with_classes(classes), _unsorted(other.with_classes(classes))
        if sign != 1 or not isinstance(mine, UnsortedCounts) or theirs is None or self._settled is not None:
            return self.settled()._combined(other, sign=sign)
        total = mine if isinstance(mine._texts, LevelDictionary) else mine._with_dictionary()
        assert isinstance(total._texts, LevelDictionary)
        if (len(total._texts) + theirs.width) * len(classes) <= MOST_DENSE:
            texts, counted = theirs._texts, theirs.by_level_first
            if isinstance(texts, LevelDictionary):
                cells = total._texts.sum_of(total.by_level_first, texts, counted, len(classes))
            else:
                cells = total._texts.sum(total.by_level_first, *texts, counted, len(classes))
            return UnsortedCounts(classes, total._texts, cells)
        codes = theirs._codes_in(total._texts)
        size, before = len(total._texts) * len(classes), len(total.by_level_first)
        if size > MOST_DENSE and size > 2 * max(before, len(theirs.by_level_first)):  # sparse may be better
            return self.settled()._combined(other, sign=sign)
        grown = np.arange(size) if size > before else None
        if grown is not None:
            grown[before:] = -1
        cells = total.by_level_first.copy() if grown is None else total.by_level_first.take(grown)
        cells.add(theirs.by_level_first, _spread(codes, len(classes)))
        return UnsortedCounts(classes, total._texts, cells)

    def with_classes(self, classes: tuple[str, ...]) -> Any:
        if classes == self.classes:
            return self
        place = positions(classes, self.classes)
        if (
            self._settled is not None
            or self.width * len(classes) > MOST_DENSE
            or np.sum(place >= 0) < len(self.classes)
        ):
            return self.settled().with_classes(classes)
        index = np.arange(self.width)[:, None] * len(self.classes) + place[None, :]
        index[:, place < 0] = -1
        return UnsortedCounts(classes, self._texts, self.by_level_first.take(index.ravel()))

    def is_empty(self) -> bool:
        return not self.by_level_first.any()

    def canonical(self) -> Iterator[bytes]:
        return self.settled().canonical()

    def __reduce__(self) -> tuple[Any, ...]:
        settled = self.settled()
        return Counts, (settled.classes, settled.levels, settled.cells)


def _unsorted(tally: Counts) -> UnsortedCounts | None:
    """A dense tally in this form; None if that is not possible."""
    if isinstance(tally, UnsortedCounts):
        return tally
    found = None if tally.sparse else plain_text_bytes(tally.levels)
    if found is None:
        return None
    classes, width = len(tally.classes), len(tally.levels)
    index = np.arange(width)[:, None] + width * np.arange(classes)[None, :]
    return UnsortedCounts(tally.classes, found, tally.cells.take(index.ravel()))


def _spread(codes: Index, classes: int) -> Index:
    """The positions of the cells of these levels, level by level."""
    return (codes[:, None] * classes + np.arange(classes)[None, :]).ravel()
