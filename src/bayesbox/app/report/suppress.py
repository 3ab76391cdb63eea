"""Suppression of small cells: counts of fewer than k rows can identify people.

Levels with such a cell in some class are pooled as "(rare)", with further levels, the smallest first, until its own
cells are 0 or at least k; so no cell can be derived from the sum of the others either. A column for which that is
impossible is not shown at all. The engine's tables in the page are pooled too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.privacy.redact import POOLED, redact
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.errors import CannotRedact
from bayesbox.tally.counts import Counts

Flags = NDArray[np.bool_]


def suppressed(classifier: AnyTableClassifier, least: int) -> tuple[AnyTableClassifier, list[str]]:
    """The model with small cells pooled, and the columns that must not be shown."""
    few = [
        name for name, rows in zip(classifier.book.classes, classifier.book.n.tolist(), strict=True) if 0 < rows < least
    ]
    if few:
        raise CannotRedact(
            f"the class `{few[0]}` has fewer than {least} rows, so a report must not show it",
            remedy="Drop its rows and train again",
        )
    thinned = redact(classifier, least, choose=small_cells)
    hidden = [
        name
        for name, tally in thinned.book.columns.items()
        if (isinstance(tally, Counts) and (tally.levels == (POOLED,) or _small(_table(tally), least)))
        or _few_numbers(tally, least)
    ]
    return thinned, hidden


def small_cells(tally: Counts, least: int) -> Flags:
    """The levels to pool: those with a small cell, and the smallest others until the pool has none."""
    table = _table(tally)
    pool: Flags = np.any((table > 0) & (table < least), axis=0)
    if not pool.any():
        return pool
    for level in np.argsort(table.sum(axis=0), kind="stable").tolist():
        if pool.sum() > 1 and not _small(table[:, pool].sum(axis=1), least):
            break
        pool[level] = True
    return pool


def _table(tally: Any) -> NDArray[np.float64]:
    return np.asarray(tally.counts, dtype=np.float64)


def _small(cells: NDArray[np.float64], least: int) -> bool:
    return bool(((cells > 0) & (cells < least)).any())


def _few_numbers(tally: Any, least: int) -> bool:
    """Whether some class has so few values of a column that its density reveals them."""
    return _small(np.asarray(tally.n, dtype=np.float64), least)
