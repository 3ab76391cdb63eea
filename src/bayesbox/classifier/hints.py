"""Suspicious columns of a table, found from its tallies: identifiers, constants, and one-hot groups."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from bayesbox._core import ExactArray
from bayesbox.described import Advice, Remedy, declaring, ignoring, parameter, pasted
from bayesbox.errors import SuspiciousData
from bayesbox.schema.schema import Schema
from bayesbox.source.files.numerals import Spelling, spelling_of
from bayesbox.tally.base import dyadic
from bayesbox.tally.book import Book
from bayesbox.tally.exact import Dyadic
from bayesbox.tally.moments import Spread
from bayesbox.warned import listed

MOST_ALIKE = 3  # columns with the same hint that each get their own sentence
FEW_ROWS = 10  # rows below which coincidences are common and there are no hints
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$")
SAMPLE = 100  # levels that are examined
AUTO = Remedy("ignore='auto'", "--ignore auto")
MANY_VALUES = 20  # rows from which distinct values are unlikely to be chance
MANY_FLAGS = 40  # above it, sums may agree by chance, so the names must agree as well


class Reason(StrEnum):
    """Why something is suspicious; hints are grouped and filtered by it."""

    CONSTANT = "constant"
    IGNORED = "ignored"
    NO_VALUES = "no-values"
    MOSTLY_MISSING = "mostly-missing"
    ROW_NUMBERS = "row-numbers"
    IDENTIFIER = "identifier"
    DATES = "dates"
    DECIMAL_COMMA = "decimal-comma"
    THOUSANDS = "thousands"
    MARKED_NUMBERS = "marked-numbers"
    BROKEN_NUMBERS = "broken-numbers"
    NUMBERS_AS_LEVELS = "numbers-as-levels"
    UNDECLARED_LEVELS = "undeclared-levels"
    MISSING_MARK = "missing-mark"
    SPELLING = "spelling"
    LEAK = "leak"
    ONE_HOT = "one-hot"
    SHRUNK = "shrunk"
    ONE_CLASS = "one-class"
    MANY_CLASSES = "many-classes"
    RARE_CLASSES = "rare-classes"


@dataclass(frozen=True)
class Hint:
    """Something suspicious about some columns, and what to do about it.

    `found` is the variable part of the sentence, such as a share: hints with the same reason and `found` differ only in
    the column. `others` are more columns with the same hint.
    """

    reason: str
    columns: tuple[str, ...]
    what: str
    remedy: Advice = ""
    found: tuple[object, ...] = ()
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}. {self.advice}" if self.advice else self.what

    @property
    def advice(self) -> Advice:
        """What to do about it, and the other columns it applies to."""
        also = self._also()
        return self.remedy + f". {also}" if self.remedy and also else self.remedy or also

    def _also(self) -> str:
        if not self.others:
            return ""
        listed = ", ".join(f"`{name}`" for name in self.others[:MOST_ALIKE])
        more = " ..." if len(self.others) > MOST_ALIKE else ""
        return f"{len(self.others)} more columns: {listed}{more}"

    def as_warning(self) -> SuspiciousData:
        """The warning of an estimator."""
        return SuspiciousData(
            self.what,
            reason=self.reason,
            columns=(*self.columns, *self.others),
            remedy=self.advice or None,
        )


def hints(schema: Schema, book: Book, ignored: Mapping[str, str] | None = None) -> list[Hint]:
    """All hints in the order of the columns; `ignored` are identifiers that are already ignored."""
    few = sum(_exact(book.class_counts)) < FEW_ROWS
    found: list[Hint] = []
    constant = []
    differ, beyond_flags, numbering = book.clearly_differing
    for name in [name for name in schema.used_columns if name not in beyond_flags or name in numbering]:
        tally: Any = book.columns.get(name)
        if tally is None:
            continue
        if name not in differ and has_one_value(schema, name, tally):
            if not few or (tally.of_numbers and not tally.holds_only_flags):
                constant.append(name)
        elif not few and (name not in differ or name in numbering):  # other numbers have no hint
            found.extend(_column_hints(name, schema.kinds[name], tally))
    if constant:
        found.insert(0, _constant_hint(constant))
    if ignored:
        found.append(_ignored_hint(ignored))
    return found if few else [*found, *_one_hot_groups(schema, book, beyond_flags)]


def has_one_value(schema: Schema, name: str, tally: Any) -> bool:
    """Whether a column has a single value, whatever its type."""
    if tally.of_numbers:
        return bool(tally.pooled().excess.m == 0)
    few = tally.form == "counts" and len(tally.levels) < 2
    return few and len({*tally.levels, *schema.lasting_levels(name)}) == 1


def _constant_hint(names: Sequence[str]) -> Hint:
    one = len(names) == 1
    columns = f"column `{names[0]}` has" if one else f"columns {listed(names)} have"
    what = f"{columns} a single value, so {'it is' if one else 'they are'} ignored"
    return Hint(Reason.CONSTANT, tuple(names), what)


def _ignored_hint(ignored: Mapping[str, str]) -> Hint:
    """The hint about columns that are ignored because they look like identifiers."""
    each = "; ".join(f"`{name}`, since {reason}" for name, reason in ignored.items())
    return Hint(Reason.IGNORED, tuple(ignored), f"ignored: {each}")


def identifiers(schema: Schema, book: Book) -> dict[str, str]:
    """The columns that look like identifiers, each with the reason; a declared column is never one."""
    found: dict[str, str] = {}
    if sum(_exact(book.class_counts)) < FEW_ROWS:
        return found
    for name in schema.used:
        if name in book and name not in schema.declared:
            reason = _names_rows(schema.kinds[name], book[name])
            if reason:
                found[name] = reason
    return found


def _names_rows(kind: Any, tally: Any) -> str:
    """Why the values of a column look like an identifier; "" if they do not."""
    if tally.of_numbers:
        whole = tally.pooled()
        if not kind.may_be_flag or whole.excess.m == 0 or tally.sums.fractional.signs().any():
            return ""
        return "it numbers the rows, like an identifier" if _numbers_the_rows(whole) else ""
    if tally.form != "counts" or not kind.lists_levels or are_dates(tally.levels):
        return ""
    if spelling_of(tally.levels) is not None:
        return ""
    levels, values = len(tally.levels), sum(_exact(tally.totals()))
    if levels == values:
        return "it has a different value in every row, like an identifier"
    if values >= MANY_VALUES and levels > values / 2:
        return f"it has {levels:,} levels in {values:,} values, like an identifier"
    return ""


def said_once(found: Iterable[Hint]) -> list[Hint]:
    """The hints, with those that differ only in the column merged if there are more than a few.

    >>> [str(hint) for hint in said_once(Hint("no-values", (name,), f"column `{name}` is empty") for name in "abcdef")]
    ['column `a` is empty. 5 more columns: `b`, `c`, `d` ...']
    """
    hints = list(found)
    alike: dict[tuple[str, tuple[object, ...]], list[str]] = {}
    for hint in hints:
        if len(hint.columns) == 1:  # a hint about several columns together, or about none, is never merged
            alike.setdefault((hint.reason, hint.found), []).append(hint.columns[0])
    said = []
    for hint in hints:
        names = alike[hint.reason, hint.found] if len(hint.columns) == 1 else []
        if len(names) <= MOST_ALIKE:
            said.append(hint)
        elif hint.columns[0] == names[0]:
            said.append(replace(hint, others=tuple(names[1:])))
    return said


def _column_hints(name: str, kind: Any, tally: Any) -> Iterator[Hint]:
    if tally.of_numbers:
        if kind.may_be_flag and not tally.sums.fractional.any() and _numbers_the_rows(tally.pooled()):
            what = f"column `{name}` numbers the rows, like an identifier"
            yield Hint(Reason.ROW_NUMBERS, (name,), what, _ignore_it(name))
    elif tally.form == "counts":
        if kind.lists_levels and (spelling := spelling_of(tally.levels)) is not None:
            yield spelling_hint(name, spelling)
        elif len(tally.levels) == sum(_exact(tally.totals())) and kind.lists_levels:
            if are_dates(tally.levels):
                yield date_hint(name, "has a different date in every row")
            else:
                what = f"column `{name}` has a different value in every row, like an identifier"
                yield Hint(Reason.IDENTIFIER, (name,), what, _ignore_it(name))


def _ignore_it(name: str) -> Advice:
    return "Ignore it: " + ignoring(name) + ", or " + AUTO


def spelling_hint(name: str, spelling: Spelling) -> Hint:
    """A hint about numbers read as text because of their format, with the options that parse them.

    >>> spelling_hint("price", spelling_of(["1,000", "20,500"])).reason
    <Reason.THOUSANDS: 'thousands'>
    """
    marks = [
        "a decimal comma" if spelling.numerals.decimal == "," else "",
        "thousands separators" if spelling.numerals.thousands else "",
        "a currency sign" if spelling.money else "",
        "a percent sign" if spelling.percent else "",
    ]
    written = " and ".join(filter(None, marks))
    reason = Reason.DECIMAL_COMMA if spelling.numerals.thousands is None else Reason.THOUSANDS
    meaning = "; 12% is 0.12 then" if spelling.percent else ""
    other = "; if the comma is the decimal separator: " + parameter("decimal", ",") if spelling.ambiguous else ""
    return Hint(
        Reason.MARKED_NUMBERS if spelling.is_marked else reason,
        (name,),
        f"column `{name}` has numbers with {written}, such as {spelling.example}, so each value counts as a "
        "separate category",
        "Read them as numbers: " + spelling.remedy(name) + meaning + other,
    )


def are_dates(levels: Sequence[str]) -> bool:
    """Whether levels are dates as text, with or without the time.

    >>> are_dates(["2024-02-29", "2024-03-01 10:15"]), are_dates(["2024"])
    (True, False)
    """
    return len(levels) > 0 and all(DATE.match(level) for level in levels[:SAMPLE])


def date_hint(name: str, what: str) -> Hint:
    """A hint about dates read as levels, each of which is a separate category."""
    return Hint(
        Reason.DATES,
        (name,),
        f"column `{name}` {what}, so each counts as a separate category",
        "Declare it a date: " + declaring(name, "date") + "; or ignore it: " + ignoring(name),
        found=(what,),
    )


def _numbers_the_rows(whole: Spread) -> bool:
    """Whether n, sum and sum of squares of integers are those of 0..n-1 or of 1..n; others rarely match both."""
    one, n = Dyadic(1, 0), whole.n
    for last in (n - one, n):
        product = last * (last + one)
        if (whole.total + whole.total - product).m == 0:
            return bool((Dyadic(6, 0) * whole.squares - product * (last + last + one)).m == 0)
    return False


def _one_hot_groups(schema: Schema, book: Book, beyond_flags: frozenset[str]) -> Iterator[Hint]:
    """Adjacent flags whose ones sum to the number of rows in every class, so that each row seems to set one."""
    rows = tuple(_exact(book.class_counts))
    for run in _runs_of_flags(schema, book, beyond_flags):
        ones = [_ones(book[name]) for name in run]
        sums: list[tuple[int | Fraction, ...]] = [(0,) * len(rows)]
        for column in ones:
            sums.append(tuple(before + one for before, one in zip(sums[-1], column, strict=True)))
        starts = {total: index for index, total in enumerate(sums)}
        taken = 0
        for end, total in enumerate(sums):
            start = starts.get(tuple(a - b for a, b in zip(total, rows, strict=True)), -1)
            if start >= taken and end - start >= 3 and (len(run) <= MANY_FLAGS or _named_alike(run, start, end)):
                taken = end
                yield _one_hot_hint(run[start:end])


def _named_alike(run: tuple[str, ...], start: int, end: int) -> bool:
    """Whether the names of a part of a run share a prefix that the adjacent names do not have."""
    same = _common_beginning(run[start:end])
    beside = [run[place] for place in (start - 1, end) if 0 <= place < len(run)]
    return bool(same) and not any(name.startswith(same) for name in beside)


def _one_hot_hint(names: tuple[str, ...]) -> Hint:
    listed, flags = ", ".join(names), ",".join(names)
    stem = _common_beginning(names).rstrip("_-=. ") or "group"
    times = len(names)
    return Hint(
        Reason.ONE_HOT,
        names,
        f"the columns {listed} look like one variable, one-hot encoded in {times} columns: naive Bayes would "
        f"count it {times} times",
        "Combine them: " + Remedy(f"one_hot={{{stem!r}: {list(names)}}}", f"--one-hot {pasted(f'{stem}={flags}')}"),
    )


def _common_beginning(names: tuple[str, ...]) -> str:
    first, last = min(names), max(names)
    same = (index for index, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, len(first))]


def _runs_of_flags(schema: Schema, book: Book, beyond_flags: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Runs of adjacent columns with only 0 and 1 and no missing values; those of `beyond_flags` have others."""
    run: list[str] = []
    if len(schema.used) - len(beyond_flags.intersection(schema.used)) < 3:
        return
    for name in schema.used:
        if name not in beyond_flags and name in book and _is_full_flag(schema.kinds[name], book[name], book):
            run.append(name)
            continue
        if len(run) >= 3:
            yield tuple(run)
        run = []
    if len(run) >= 3:
        yield tuple(run)


def _is_full_flag(kind: Any, tally: Any, book: Book) -> bool:
    if tally.of_numbers:
        return bool(tally.holds_only_flags and kind.shown(tally) == "flag" and tally.sums.n == book.class_counts)
    return bool(kind.is_flag and tally.totals() == book.class_counts)


def _ones(tally: Any) -> list[int | Fraction]:
    if tally.of_numbers:
        return _exact(tally.sums.total)
    width = len(tally.levels)
    if "true" not in tally.levels:
        return [0] * len(tally.classes)
    return _exact(tally.cells)[tally.levels.index("true") :: width]


def _exact(array: ExactArray) -> list[int | Fraction]:
    if array.is_integral():
        with contextlib.suppress(OverflowError):  # beyond 64 bits
            return list(array.to_integers().tolist())
    return [dyadic(array, cell).fraction for cell in range(len(array))]
