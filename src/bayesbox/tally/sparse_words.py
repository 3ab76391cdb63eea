"""Sparse counts of words by class, as in a model file with many classes.

Most words occur in few classes. A file lists the non-zero cells, and its tally stores no more; the memory of operations
on all cells, such as the weights of a model, is estimated first, with an error if it would be too much.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.tally.counts import Counts
from bayesbox.tally.sparse_counts import SparseCounts, combined, moved_to
from bayesbox.tally.words import FEW, WordCounts, require_cells

MOST_DENSE_CELLS = 1 << 22  # of all tallies of a model together; up to this they are dense, however empty
FILLED_WORDS = 8  # beyond it a tally is sparse if fewer than one cell in this many is not zero
MOST_SPREAD = 1 << 25  # cells; up to this a few words are added to a dense tally


class SparseWordCounts(SparseCounts, WordCounts):
    """The same as `WordCounts`, by non-zero cells: `place` has their positions, ascending and class-major.

    >>> some = ExactArray.from_integers(np.array([1, 2]))
    >>> words = SparseWordCounts(("DE", "NZ"), ("beer", "kiwi"), np.array([0, 3]), some)
    >>> words, words.counts
    (SparseWordCounts(2 classes, 2 words, 2 cells), array([[1, 0], [0, 2]]))
    >>> words + words - words == words == words.whole()
    True
    """

    sparse: ClassVar[bool] = True

    @property
    def cells(self) -> ExactArray:  # type: ignore[override]
        """All cells, class-major; an error if they would take too much memory."""
        require_cells(len(self.classes), len(self.levels))
        return self._piece(0, len(self.classes))

    def whole(self) -> WordCounts:
        """The tally with all its cells."""
        return WordCounts(self.classes, self.levels, self.cells)

    @classmethod
    def of(cls, classes: tuple[str, ...], levels: list[str], cells: ExactArray) -> Any:
        return WordCounts.of(classes, levels, cells)

    def only(self, places: NDArray[np.int64]) -> Self:
        width = len(self.levels)
        new = np.full(width, -1, dtype=np.int64)
        new[places] = np.arange(len(places))
        label, level = np.divmod(self.place, max(width, 1))
        there = np.flatnonzero(new[level] >= 0)
        levels = tuple(self.levels[place] for place in places.tolist())
        return type(self)(self.classes, levels, label[there] * len(places) + new[level[there]], self.some.take(there))

    def with_classes(self, classes: tuple[str, ...]) -> Any:
        return self if classes == self.classes else words_of(moved_to(self, classes))

    def _combined(self, other: Counts, *, sign: int) -> Any:
        few = len(other.levels) * FEW <= len(self.levels) and self.classes == other.classes
        if few and not other.sparse and len(self.classes) * len(self.levels) <= MOST_SPREAD:
            return self.whole()._combined(other, sign=sign)
        return words_of(combined(self, other, sign=sign))

    def _headline(self) -> str:
        return f"SparseWordCounts({len(self.classes):,} classes, {len(self.levels):,} words, {len(self.place):,} cells)"


def words_of(tally: Counts) -> WordCounts:
    """A table of levels as counts of words, sparse if it is."""
    if isinstance(tally, SparseCounts):
        return SparseWordCounts(tally.classes, tally.levels, tally.place, tally.some)
    return WordCounts(tally.classes, tally.levels, tally.cells)
