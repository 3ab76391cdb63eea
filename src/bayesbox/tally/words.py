"""Counts of words by class: the tally of a group of count columns, such as a sparse document-term matrix."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar, Self

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.tally.base import register
from bayesbox.tally.counts import Counts

FEW = 64  # words are few where the vocabulary they go into has so many times as many


@register
class Words(Counts):
    """How often each word occurred in the rows of each class. `n` counts occurrences, where `Counts` counts rows."""

    form: ClassVar[str] = "words"

    def fits(self, rows: ExactArray) -> bool:
        """A row may hold any number of words, but there are none without a row."""
        return not np.any((rows.signs() == 0) & (self.totals().signs() != 0))

    def _combined(self, other: Counts, *, sign: int) -> Self:
        few = bool(other.levels) and len(other.levels) * FEW <= len(self.levels)
        if few and self.classes == other.classes:
            return self._with_few(other, sign=sign)
        return super()._combined(other, sign=sign)

    def _with_few(self, other: Counts, *, sign: int) -> Self:
        """The same for few words: each is looked up among the sorted ones, and the rest is not touched."""
        before = self.levels
        places = [bisect_left(before, word) for word in other.levels]
        new = [
            index
            for index, (place, word) in enumerate(zip(places, other.levels, strict=True))
            if place == len(before) or before[place] != word
        ]
        levels = list(before)
        for index in reversed(new):  # from the end, so that the places in front still hold
            levels.insert(places[index], other.levels[index])
        origin = np.insert(np.arange(len(before)), [places[index] for index in new], -1)
        rows = np.arange(len(self.classes), dtype=np.int64)[:, None]
        cells = self.cells.take(np.where(origin < 0, -1, rows * len(before) + origin).ravel())
        at = np.array(places) + np.searchsorted(new, np.arange(len(places)))
        touched = (rows * len(levels) + at).ravel()
        cells.add(other.cells, touched, sign=sign)
        gone = at[~cells.take(touched).signs().reshape(len(self.classes), len(at)).any(axis=0)]
        if len(gone):
            kept = np.delete(np.arange(len(levels)), gone)
            cells = cells.take((rows * len(levels) + kept).ravel())
            for place in sorted(gone.tolist(), reverse=True):
                del levels[place]
        return type(self)(self.classes, tuple(levels), cells)
