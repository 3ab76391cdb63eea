"""What a model file reveals about its training rows: rare values, and values stored unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.classifier.privacy.redact import POOLED
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.counts import Counts
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.documents import DOCUMENTS, WORDS
from bayesbox.tally.grid import Grid, edges
from bayesbox.tally.moments import Moments
from bayesbox.tally.pairs import Pairs
from bayesbox.tally.values import Values
from bayesbox.tally.words import WordCounts

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json

CLASSES = "(classes)"
POINTS = "(points)"


@dataclass(frozen=True)
class Disclosure:
    """The number of rare levels, words, numbers or combinations of a `column`, out of `of` stored ones.

    `values` are the rare ones with their counts. If `what` is "mean of one row", the number is that row's value.
    """

    column: str
    what: str
    count: int
    of: int
    values: tuple[tuple[str, float], ...] = ()
    model: str | None = None

    def as_dict(self, *, values: bool) -> Json:
        """The disclosure for JSON, with the values themselves only if requested."""
        found: Json = {"model": self.model, "column": self.column, "what": self.what, "count": self.count}
        return found | {"of": self.of} | ({"values": [list(each) for each in self.values]} if values else {})


def disclosures(classifier: AnyClassifier, fewer_than: int) -> list[Disclosure]:
    """What a classifier, and the classifiers it contains, reveal: values of fewer rows than this."""
    found = [] if classifier.fixed else list(book_disclosures(classifier.book, fewer_than))
    points = classifier.kept_points()
    if points:
        found.append(Disclosure(POINTS, "rows kept as points", points, points))
    for each in classifier.inner():
        found += [replace(own, model=each.title) for own in disclosures(each, fewer_than)]
    return found


def book_disclosures(book: Book, fewer_than: int) -> Iterator[Disclosure]:
    """What the tallies of a book reveal, by column."""
    yield from _few(CLASSES, "classes", book.classes, book.class_counts.to_doubles(), fewer_than)
    for name, tally in book.columns.items():
        if isinstance(tally, WordCounts) and name == WORDS and isinstance(book.columns.get(DOCUMENTS), WordCounts):
            continue  # documents per word reveal more than occurrences
        if isinstance(tally, Counts):
            what = "words" if tally.form == "words" else "levels"
            yield from _few(name, what, tally.levels, tally.by_level().to_doubles(), fewer_than)
        elif isinstance(tally, Moments):
            yield from _of_numbers(name, tally, fewer_than)
    if book.joint is not None:
        counts = _together(book.joint)
        few = int(np.count_nonzero((counts > 0) & (counts < fewer_than)))
        if few:
            yield Disclosure(TOGETHER, "combinations", few, int(np.count_nonzero(counts)))


def _few(name: str, what: str, texts: Sequence[str], counts: np.ndarray, fewer_than: int) -> Iterator[Disclosure]:
    few = [
        (text, count)
        for text, count in zip(texts, np.asarray(counts, dtype=np.float64).tolist(), strict=True)
        if 0 < count < fewer_than and text != POOLED
    ]
    if few:
        yield Disclosure(name, what, len(few), len(texts), tuple(few))


def _of_numbers(name: str, tally: Moments, fewer_than: int) -> Iterator[Disclosure]:
    if isinstance(tally, Values):
        width = len(tally.values)
        counts = tally.cells.to_doubles().reshape(len(tally.classes), width).sum(axis=0)
        texts = [repr(value) for value in tally.values.tolist()]
        few = tuple((text, count) for text, count in zip(texts, counts.tolist(), strict=True) if 0 < count < fewer_than)
        yield Disclosure(name, "numbers kept", len(few), width, few)
    if isinstance(tally, Grid):
        low, high = edges(tally.cells)
        texts = [f"{start:.7g} to {end:.7g}" for start, end in zip(low.tolist(), high.tolist(), strict=True)]
        counts = np.asarray(tally.pooled_counts(), dtype=np.float64).tolist()
        few = tuple((text, count) for text, count in zip(texts, counts, strict=True) if 0 < count < fewer_than)
        yield Disclosure(name, "cells of numbers", len(few), len(texts), few)
    single = [
        (repr(mean), 1.0) for mean, n in zip(tally.mean.tolist(), np.asarray(tally.n).tolist(), strict=True) if n == 1
    ]
    if single:
        yield Disclosure(name, "means of one row", len(single), len(tally.classes), tuple(single))


def _together(tally: object) -> np.ndarray:
    """The number of rows of each combination in a joint tally."""
    if isinstance(tally, Pairs):
        return tally.cells.to_doubles()
    if isinstance(tally, Dependent):
        cells = [family.cells.to_doubles() for family in tally.families.values()]
        return np.concatenate([np.empty(0), *cells])
    return tally.cells.n.to_doubles() if isinstance(tally, CoMoments) else np.empty(0)
