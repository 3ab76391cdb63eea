"""A summary of the data from a schema and a book: the type and values of each column, and what looks suspicious.

Everything comes from the tallies, so no second pass over the rows is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.hints import AUTO, Hint, Reason, are_dates, date_hint, hints, said_once
from bayesbox.classifier.report.size import ModelSize
from bayesbox.classifier.training import one_class
from bayesbox.described import declaring, ignoring, missing_mark
from bayesbox.dist.naive import NaiveModel
from bayesbox.schema.kinds import NOT_DECLARED, Kind
from bayesbox.schema.options import NEVER, options_of
from bayesbox.schema.schema import Schema
from bayesbox.source.files.reading import is_broken_number
from bayesbox.tally.base import dyadic
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.warned import is_missing_mark

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

FEW = 20  # rows below which coincidences are not reported
MANY_CLASSES = 100
MANY_ROWS = 100  # rows from which a column that determines the class is not a coincidence
DECIDES = 0.99


@dataclass(frozen=True)
class ColumnFacts:
    """A summary of one column; fields that do not apply to its type are None."""

    name: str
    kind: str
    declared: bool = False
    observed: float = 0
    missing: float = 0
    levels: tuple[str, ...] | None = None
    mean: float | None = None
    deviation: float | None = None
    words: int | None = None
    of: Kind | None = None
    parts: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """The values as a short text."""
        if self.words is not None:
            return f"{self.words:,} distinct words"
        if self.levels is not None:
            listed = ", ".join(self.levels[:4]) + (", ..." if len(self.levels) > 4 else "")
            return f"{len(self.levels)}: {listed}" if self.levels else ""
        if self.mean is not None and self.deviation is not None:
            of = self.of or NOT_DECLARED
            written = f"{of.written}; " if of.written else ""
            return f"{written}mean {of.number_text(self.mean, self.deviation)}, std {of.spread_text(self.deviation)}"
        return ""

    def as_dict(self) -> Json:
        """The facts that apply, for JSON."""
        facts: Json = {"name": self.name, "kind": self.kind, "declared": self.declared}
        if self.kind != "ignore":
            facts |= {"observed": self.observed, "missing": self.missing}
        if self.words is not None:
            facts["words"] = self.words
        if self.levels is not None:
            facts["levels"] = list(self.levels)
        if self.mean is not None:
            facts |= {"mean": self.mean, "deviation": self.deviation}
        if self.of is not None and self.of.has_parts:
            facts |= {"format": getattr(self.of, "format", None), "parts": list(self.parts)}
        return facts


def column_facts(schema: Schema, book: Book) -> list[ColumnFacts]:
    """The facts of all columns in the order of the schema."""
    rows = number(book.class_counts.sum_groups(np.zeros(len(book.classes), dtype=np.int64), 1)) if book.classes else 0
    found = [_facts(name, schema.kinds[name], name in schema.declared, book, rows) for name in schema.columns]
    return [replace(facts, parts=schema.parts.get(facts.name, ())) for facts in found]


def number(cells: Any) -> float:
    """The single cell of an exact array, as an integer if it is one."""
    value = dyadic(cells, 0).fraction
    return value.numerator if value.denominator == 1 else float(value)


def _facts(name: str, kind: Kind, declared: bool, book: Book, rows: float) -> ColumnFacts:
    if not kind.is_used:
        return ColumnFacts(name, "ignore", declared)
    domain = () if kind.is_flag else kind.domain
    if kind.is_text:
        words = book[name].levels if name in book else ()
        return ColumnFacts(name, kind.name, declared, rows, 0, words=len(words))
    if name not in book:
        return ColumnFacts(name, kind.shown(None), declared, 0, rows, levels=domain or None)
    tally = book[name]
    observed = np.sum(tally.n).item()
    base = {"declared": declared, "observed": observed, "missing": rows - observed}
    word = kind.shown(tally)
    if tally.of_numbers and word != "flag":
        spread = tally.pooled()
        return ColumnFacts(name, word, **base, mean=spread.mean, deviation=spread.std, of=kind)
    return ColumnFacts(name, word, **base, levels=tuple(sorted({*tally.levels, *domain})))


def remarks(schema: Schema, book: Book, ignored: Mapping[str, str] | None = None) -> list[Hint]:
    """Probable mistakes: the hints, and remarks on levels and the target; `ignored` identifiers are skipped."""
    schema = schema.without(ignored or {})
    found = hints(schema, book, ignored)
    rows = float(np.sum(book.n))
    for name, kind in schema.kinds.items():
        found.extend(_undeclared(name, kind, book))
    if rows < FEW:
        return [*said_once(found), *one_class(book.classes)]
    for facts in column_facts(schema, book):
        if facts.kind != "ignore":
            found.extend(_of_column(facts, book, rows))
    return [*said_once(found), *one_class(book.classes), *_of_target(book, rows)]


def _undeclared(name: str, kind: Kind, book: Book) -> Iterator[Hint]:
    """A remark on levels that were not declared."""
    tally: Any = book.columns.get(name)
    if kind.is_flag or not kind.domain or tally is None or tally.of_numbers:
        return
    places = [place for place, level in enumerate(tally.levels) if level not in kind.domain]
    if places:
        total = float(tally.by_level().to_doubles()[places].sum())
        rows = int(total) if total.is_integer() else round(total, 6)
        first = tally.levels[places[0]]
        which = f"{first!r}" if len(places) == 1 else f"{len(places):,} levels, the first {first!r}"
        what = f"column `{name}` has values that were not declared: {which}"
        text = f"{what}, in {rows:,} rows; they are counted as additional levels"
        yield Hint(Reason.UNDECLARED_LEVELS, (name,), text, found=(which, rows))


def _of_column(facts: ColumnFacts, book: Book, rows: float) -> Iterator[Hint]:
    name = facts.name
    if facts.observed == 0:
        yield Hint(Reason.NO_VALUES, (name,), f"column `{name}` has no values")
    elif facts.missing > 0.9 * rows:
        share = f"{facts.missing / rows:.0%}"
        what = f"column `{name}` is missing in {share} of the rows"
        yield Hint(Reason.MOSTLY_MISSING, (name,), what, found=(share,))
    tally: Any = book.columns.get(name)
    if tally is None or tally.of_numbers:
        return
    yield from _leak(facts, tally, book)
    if facts.kind == "category":
        yield from _of_levels(facts, tally)


def _leak(facts: ColumnFacts, tally: Counts, book: Book) -> Iterator[Hint]:
    """A remark on a column that alone determines the class: it may have been recorded after the class was known."""
    observed = float(np.sum(tally.n))
    if observed < MANY_ROWS or len(tally.levels) > observed / 10 or np.max(book.n) > 0.95 * np.sum(book.n):
        return
    right = tally.most_by_level().sum() / observed
    if right >= DECIDES:
        share = f"{right:.1%}"
        what = f"column `{facts.name}` alone determines the class in {share} of the rows"
        remedy = "If it is only known after the class, ignore it: " + ignoring(facts.name)
        yield Hint(Reason.LEAK, (facts.name,), what, remedy, found=(share,))


def _of_levels(facts: ColumnFacts, tally: Counts) -> Iterator[Hint]:
    name, levels = facts.name, facts.levels or ()
    if facts.observed > len(levels) > 0.5 * facts.observed and are_dates(levels):
        yield date_hint(name, f"has {len(levels):,} dates in {facts.observed:,} values")
        return
    if facts.observed > len(levels) > 0.5 * facts.observed:
        what = f"column `{name}` has {len(levels):,} levels in {facts.observed:,} values, like an identifier"
        found = (len(levels), facts.observed)
        yield Hint(Reason.IDENTIFIER, (name,), what, "Ignore it: " + ignoring(name) + ", or " + AUTO, found)
        return
    marks = [level for level in levels if is_missing_mark(level)]
    if marks:
        remedy = "If it means missing: " + missing_mark(marks[0])
        yield Hint(Reason.MISSING_MARK, (name,), f"column `{name}` has the level {marks[0]}", remedy, (marks[0],))
    others = [level for level in levels if level not in marks]
    if not facts.declared and len(others) > 2 and all(_is_number(level) for level in others):
        remedy = "If these are measurements: " + declaring(name, "real")
        yield Hint(Reason.NUMBERS_AS_LEVELS, (name,), f"column `{name}` is a category with numeric levels", remedy)
    yield from _of_spelling(name, levels)
    if len(levels) > 1 and _tells_the_class(tally):
        what = f"column `{name}` alone determines the class: is it known before the class is?"
        yield Hint(Reason.LEAK, (name,), what)


def few_texts(schema: Schema, book: Book) -> Iterator[Hint]:
    """Remarks on categories that are numbers except for a few texts, which training would reject."""
    for facts in column_facts(schema, book):
        tally: Any = book.columns.get(facts.name)
        if facts.declared or tally is None or not schema.kinds[facts.name].lists_levels:
            continue
        texts = [place for place, level in enumerate(tally.levels) if not _is_number(level)]
        rows = int(tally.by_level().to_doubles()[texts].sum()) if texts else 0
        if rows and is_broken_number(rows, int(facts.observed), len(tally.levels) - len(texts)):
            text = tally.levels[texts[0]]
            yield Hint(
                Reason.BROKEN_NUMBERS,
                (facts.name,),
                f"column `{facts.name}` is numeric except for {rows:,} of {facts.observed:,} values, such as "
                f"{text!r}: training reads it as numbers and refuses these",
                "If they mean missing: "
                + missing_mark(text)
                + "; if the numbers are labels: "
                + declaring(facts.name, "category"),
                found=(rows, facts.observed, text),
            )


def _of_spelling(name: str, levels: Sequence[str]) -> Iterator[Hint]:
    folded: dict[str, str] = {}
    for level in levels:
        key = " ".join(level.split()).casefold()
        if key in folded:
            what = f"column `{name}` has the levels {folded[key]!r} and {level!r}: are they the same?"
            yield Hint(Reason.SPELLING, (name,), what, found=(folded[key], level))
            return
        folded[key] = level


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _tells_the_class(tally: Counts) -> bool:
    """Whether each level occurs in only one class, although there are few levels and several classes."""
    if len(tally.levels) > 0.1 * np.sum(tally.n):
        return False
    place, some = tally.entries()
    place = place[some.signs() > 0]
    return bool((np.bincount(place % len(tally.levels)) == 1).all() and np.count_nonzero(tally.n) > 1)


def _of_target(book: Book, rows: float) -> Iterator[Hint]:
    if len(book.classes) > max(min(MANY_CLASSES, 0.5 * rows), 1):
        what = f"the target has {len(book.classes):,} classes in {rows:,.0f} rows: is it an identifier?"
        yield Hint(Reason.MANY_CLASSES, (), what)
        return
    rare = [name for name, count in zip(book.classes, book.n, strict=True) if count == 1]
    if rare:
        listed = ", ".join(rare[:4]) + (", ..." if len(rare) > 4 else "")
        yield Hint(Reason.RARE_CLASSES, (), f"some classes have a single row: {listed}")


def size_of_naive(model: NaiveModel) -> ModelSize:
    """The size of naive Bayes: |L| - 1 for the prior, (K - 1)|L| per category, 2|L| per normal density.

    The full joint: |L| times the product of all K, less 1.
    """
    labels = len(model.classes)
    by_column: dict[str, int] = {}
    cells: int | None = labels
    for conditional in model.conditionals:
        levels = conditional.level_number
        if levels is None:
            cells = None
        elif cells is not None:
            cells *= levels
        by_column[", ".join(conditional.columns)] = conditional.free_parameters
    total = sum(by_column.values()) + max(labels - 1, 0)
    return ModelSize(total, None if cells is None else cells - 1, by_column)


def rules_facts(rules: object) -> Json:
    """The rules of a model by name, with smoothing as text.

    >>> from bayesbox.rule.options import NaiveOptions
    >>> rules_facts(NaiveOptions())["smoothing"]
    'laplace'
    """
    found: Json = {}
    for name, each in options_of(type(rules)).items():
        if each.in_file == NEVER:
            continue
        value = getattr(rules, name)
        if hasattr(value, "ratio"):
            value = value.text()
        elif isinstance(value, Mapping):
            value = {str(label): each.text() if hasattr(each, "ratio") else each for label, each in value.items()}
        found[name] = list(value) if isinstance(value, tuple) else value
    return found
