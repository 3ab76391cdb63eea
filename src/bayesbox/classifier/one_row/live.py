"""The counts of a live naive Bayes model, read from the exact tallies."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.number.robust_shape import without_zeros
from bayesbox.rule.naive import fit_options
from bayesbox.tally.base import numbers
from bayesbox.tally.exact import Dyadic

if TYPE_CHECKING:
    from bayesbox._core import ExactArray
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.dist.fit import FitOptions
    from bayesbox.schema.schema import Schema
    from bayesbox.tally.book import Book
    from bayesbox.tally.grid import Grid
    from bayesbox.tally.moments import Moments, Spread

RULES = ("laplace", "lidstone")  # (n + a) / (N + a K)
MOST_CELLS = 1 << 24  # cells of a table of levels x classes


class LiveCounts(NamedTuple):
    """The rows of each class and, for each column, the argument of `_core.LiveRows.go_live` or None."""

    class_counts: NDArray[np.int64]
    columns: list[Any]


def live_counts(classifier: AnyClassifier, names: tuple[str, ...]) -> LiveCounts | None:
    """The counts of a classifier whose model depends on each column separately; None for any other."""
    schema, book = classifier.schema, classifier.book
    if schema is None or not classifier.answers_from_counts() or not schema.ignores_constants:
        return None
    if classifier.classes != book.classes or not book.class_counts.is_integral():
        return None
    columns = []
    for name in names:
        found = _column(schema, book, classifier.rules, name)
        if found is NOT_LIVE:
            return None
        columns.append(found)
    return LiveCounts(np.ascontiguousarray(book.n, dtype=np.int64), columns)


NOT_LIVE = object()


def _column(schema: Schema, book: Book, rules: Any, name: str) -> Any:
    kind = schema.kinds[name]
    if not kind.is_used or not kind.is_known:
        return None
    if kind.has_parts or kind.translates:
        return NOT_LIVE
    options = fit_options(schema, book, rules, name)
    if options.missing_is_level or (name in book and not _is_plain(book[name])):
        return NOT_LIVE
    if kind.has_levels:
        return _levels(book, name, options)
    if kind.is_number and name in book and options.density == "gaussian" and options.floor > 0:
        return _normal(book[name], options)
    if kind.is_number and name in book and options.density == "robust":
        return _robust(book[name])
    return NOT_LIVE


def _is_plain(tally: Any) -> bool:
    """Whether the counts of a tally are integers."""
    cells = tally.cells if tally.form == "counts" else tally.sums.n
    return bool(cells.is_integral())


def _levels(book: Book, name: str, options: FitOptions) -> Any:
    rule, kind = options.smoothing, options.kind
    weight = rule.weight
    if kind.group is not None or rule.name not in RULES or not weight or options.unseen == "error":
        return NOT_LIVE
    levels: tuple[str, ...] = ()
    counts = np.zeros((0, len(book.classes)), dtype=np.int64)
    if name in book:
        tally = book[name]
        if len(tally.levels) * len(book.classes) > MOST_CELLS:
            return NOT_LIVE
        levels, counts = tally.levels, np.ascontiguousarray(np.asarray(tally.counts).T, dtype=np.int64)
    domain = options.lasting or ()
    if kind.is_flag and len(levels) < 2 and not domain:
        return NOT_LIVE  # a flag with one unseen level is ignored until both are seen
    return "levels", weight, options.unseen == "smooth", domain, levels, counts


def _normal(tally: Moments, options: FitOptions) -> Any:
    whole = tally.pooled()
    if tally.form != "moments" or whole.excess.m == 0:
        return NOT_LIVE
    base = whole.mean
    sums = _sums(tally, base)
    return NOT_LIVE if sums is None else ("normal", base, options.floor, *sums)


def _robust(tally: Grid) -> Any:
    rest = without_zeros(tally)
    whole = rest.pooled()
    if whole.excess.m == 0 or len(tally.grid.cell) * len(tally.classes) > MOST_CELLS:
        return NOT_LIVE  # without a t, or too large
    base = whole.mean
    sums = _sums(rest, base)
    there = np.flatnonzero(tally.grid.cell)
    counts = tally.grid.counts.take(there)
    zeros = _integers(tally.zeros())
    if sums is None:
        return NOT_LIVE
    cells = tally.grid.label[there], tally.grid.cell[there], _integers(counts)
    return "robust", base, *sums, np.append(zeros, zeros.sum()), *cells


def _integers(counts: ExactArray) -> NDArray[np.int64]:
    return np.ascontiguousarray(numbers(counts), dtype=np.int64)


def _sums(tally: Moments, base: float) -> tuple[Any, ...] | None:
    """n, the number of fractional values, and the sums and sums of squares about a base, for each class and for the
    column; None if they do not fit in doubles."""
    sums = [*tally.spreads(), tally.pooled()]
    n = np.array([int(each.n.fraction) for each in sums], dtype=np.int64)
    fractional = _integers(tally.sums.fractional)
    total = np.array([_pair(_about(each, base)[0]) for each in sums])
    squares = np.array([_pair(_about(each, base)[1]) for each in sums])
    if not (np.isfinite(total).all() and np.isfinite(squares).all()):
        return None
    return n, np.append(fractional, fractional.sum()), total, squares


def _about(spread: Spread, base: float) -> tuple[Fraction, Fraction]:
    """The sum and the sum of squares of the differences from a base: s - n b and q - 2 b s + n b**2."""
    b = Dyadic.of(base)
    moved = spread.total - b * spread.n
    return moved.fraction, (spread.squares - b * spread.total - b * moved).fraction


def _pair(number: Fraction) -> tuple[float, float]:
    """A number as the sum of two doubles."""
    try:
        high = float(number)
    except OverflowError:
        return np.inf, 0.0
    return high, float(number - Fraction(high))
