"""Redaction: the rare levels and words of a model are pooled into one, which keeps their sum.

    count(class, "(rare)") = sum over the levels of fewer than k rows of count(class, level)

So the other counts and the totals of the classes do not change. The number of levels of a category does not change
either: placeholder names are declared, so that every smoothing rule gives the other levels the same probability.
Pooling cannot be undone: rows with a pooled level can no longer be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.classifier.base import AnyClassifier
from bayesbox.described import Remedy
from bayesbox.errors import BadOption, CannotForget, CannotRedact
from bayesbox.schema.kinds import Kind
from bayesbox.schema.options import options_of
from bayesbox.tally.base import added
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.tally.documents import DOCUMENTS, WORDS
from bayesbox.tally.words import WordCounts

POOLED = "(rare)"
"""The name of the pooled level or word; because of the parentheses it cannot be a word."""

C = TypeVar("C", bound=AnyClassifier)
Flags = NDArray[np.bool_]


def redact(classifier: C, min_count: int, *, choose: Callable[[Counts, int], Flags] | None = None) -> C:
    """A copy of the model with the levels and words of fewer than `min_count` rows pooled; its ledger is dropped.

    `choose` selects the levels to pool, if these are more than the rare ones. CannotRedact is raised if the model
    stores more about its rows than pooling would remove.
    """
    if min_count < 2:
        raise BadOption("min_count must be at least 2", found=min_count)
    _require_counts_alone(classifier)
    schema, book, choose = classifier.schema, classifier.book, choose or rare_levels
    assert schema is not None
    kinds, columns = dict(schema.kinds), dict(book.columns)
    if WORDS in book and DOCUMENTS in book and classifier.unit == "document":
        rare = choose(book[DOCUMENTS], min_count)
        columns[WORDS] = pooled(book[WORDS], rare)
        columns[DOCUMENTS] = _no_more_than(pooled(book[DOCUMENTS], rare), book.class_counts)
    else:
        for name, tally in pooling_columns(book, kinds):
            rare = choose(tally, min_count)
            columns[name] = left = pooled(tally, rare)
            if rare.any() and "levels" in options_of(type(kinds[name])):
                kinds[name] = _with_as_many_levels(kinds[name], left.levels, len(tally.levels))
    thinned = classifier.changed(redacted=max(min_count, classifier.redacted or 0), ledger=False)
    thinned.accept(replace(schema, kinds=kinds), book.with_tallies(columns).with_ledger(None))
    return thinned


def _require_counts_alone(classifier: AnyClassifier) -> None:
    """Raise CannotRedact if a model stores more about its rows than counts of levels and sums of numbers."""
    reason = classifier.keeps_rows_by()
    if classifier.fixed:
        reason = "it was made from given tables and contains nothing about any row"
    elif classifier.schema is None or not classifier.book.classes:
        reason = "it is not trained yet"
    elif reason is None:
        reason = next((f"column `{name}` stores {what}" for name, what in _kept_whole(classifier)), None)
    if reason is not None:
        raise CannotRedact(
            f"this model cannot be redacted: {reason}",
            remedy=""
            if classifier.fixed
            else "Train a model that counts each column separately and stores no numbers: "
            + Remedy("NaiveBayes(numeric='gaussian')", "--model naive --numeric gaussian"),
        )


def _kept_whole(classifier: AnyClassifier) -> Iterator[tuple[str, str]]:
    for name, tally in classifier.book.columns.items():
        if tally.form == "values":
            yield name, "every distinct number"


def pooling_columns(book: Book, kinds: dict[str, Kind]) -> Iterator[tuple[str, Counts]]:
    """The columns whose levels can be pooled: not flags, matrices, or columns with declared levels."""
    for name, tally in book.columns.items():
        kind = kinds.get(name)
        if isinstance(tally, Counts) and kind is not None and not kind.is_matrix and not kind.is_flag:
            declared = set(kind.levels or ())
            if not declared or POOLED in declared:
                yield name, tally


def rare_levels(tally: Counts, min_count: int) -> Flags:
    """For each level, whether it has at least one row but fewer than `min_count`."""
    total = tally.by_level().to_doubles()
    found: Flags = total < min_count
    return found


def pooled(tally: Counts, rare: Flags) -> Counts:
    """The tally with these levels, and those pooled before, merged into one."""
    pool = rare | np.array([level == POOLED for level in tally.levels], dtype=bool)
    if not rare.any():
        return tally
    kept = [level for level, gone in zip(tally.levels, pool.tolist(), strict=True) if not gone]
    place = np.where(pool, len(kept), np.cumsum(~pool) - 1)
    at, cells = tally.entries()
    label, level = np.divmod(at, len(tally.levels))
    width = len(kept) + 1
    total = ExactArray(len(tally.classes) * width)
    total.add(cells, label * width + place[level])
    form = WordCounts if isinstance(tally, WordCounts) else Counts
    return form.of(tally.classes, [*kept, POOLED], total)


def _no_more_than(documents: Counts, rows: ExactArray) -> Counts:
    """The document counts, capped: a document with several rare words counts only once for the pooled word."""
    if POOLED not in documents.levels:
        return documents
    width, place = len(documents.levels), documents.levels.index(POOLED)
    at = np.arange(len(documents.classes)) * width + place
    beyond = added(documents.cells.take(at), rows, sign=-1)
    over = np.flatnonzero(beyond.signs() > 0)
    cells = documents.cells.copy()
    cells.add(beyond.take(over), at[over], sign=-1)
    return WordCounts(documents.classes, documents.levels, cells)


def _with_as_many_levels(kind: Kind, levels: tuple[str, ...], number: int) -> Kind:
    """The category with the remaining levels, and placeholders for the pooled ones, so that smoothing is unchanged."""
    declared = len(kind.levels or ())
    names = (f"{POOLED[:-1]} {place})" for place in range(2, max(number, declared) - len(levels) + 2))
    found: dict[str, Any] = {"levels": tuple(sorted([*levels, *names]))}
    return replace(kind, **found)


def require_not_pooled(book: Book, rows: Book) -> None:
    """Raise an error if rows to forget have a level that may have been pooled by a redaction."""
    for name, tally in rows.columns.items():
        mine = book.columns.get(name)
        if isinstance(tally, Counts) and isinstance(mine, Counts) and POOLED in mine.levels:
            known = set(mine.levels) - {POOLED}
            for level in tally.levels:
                if level not in known:
                    raise CannotForget(
                        f"the rare levels of column `{name}` were pooled, so rows with one of them cannot be forgotten",
                        where=f"column `{name}`",
                        found=level,
                        remedy="Forget them in the model as it was before redaction, and redact it again",
                    )
