"""The data of the audit view: the counts, the effect of forgetting rows, differences and drift.

Nothing here changes a model or writes a file: rows are subtracted from a copy in memory.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bayesbox.classifier.answer.drifts import Drift, p_text
from bayesbox.classifier.certificate import Certificate
from bayesbox.classifier.opened import AS_IT_IS, ReadingOptions
from bayesbox.classifier.report.difference import differences, rule_differences
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.classifier.train import RowsInMemory, count_into, labelled_rows
from bayesbox.errors import BadOption, BayesboxError, DataWarning
from bayesbox.file.history import HistoryEntry, history_gaps, read_history
from bayesbox.file.reader import Json
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch

MOST_ROWS = 200  # looked up individually
PANDAS = {  # what pandas calls the options of a text file
    "encoding": "encoding",
    "decimal": "decimal",
    "thousands": "thousands",
    "delimiter": "sep",
    "skip_rows": "skiprows",
    "comment": "comment",
    "sheet": "sheet_name",
}


@dataclass(frozen=True)
class NamedTable:
    """A table given on the command line: its path, its target, its weight, and how it is read."""

    path: str
    target: str | None = None
    weight: str | None = None
    reading: ReadingOptions = AS_IT_IS

    @property
    def name(self) -> str:
        """The name of its file."""
        return Path(self.path).name

    @property
    def reading_texts(self) -> Json:
        """The options for reading it, of the command, of `bb.train`, and of pandas."""
        dialect = {name: getattr(self.reading.dialect, name) for name in self.reading.dialect.given}
        na = list(self.reading.na)
        named = {PANDAS[name]: value for name, value in dialect.items()}
        return {
            "command": self.reading.command_words,
            "train": {**({"na": na} if na else {}), **dialect},
            "pandas": {**({"na_values": na} if na else {}), **named},
        }


def audit_found(
    classifier: AnyTableClassifier, table: NamedTable | None, peers: Sequence[str], history: Json | None = None
) -> Json:
    """The counts: digests, rows by class, the irreversible parts, and what the model can be compared with.

    `history` has the batches that were learned and forgotten, if known.
    """
    book = classifier.book
    return {
        "digest": book.digest(),
        "ledger": book.ledger_digest(),
        "classes": _by_class(classifier),
        "derived": list(classifier.irreversible_parts()),
        "table": None if table is None else table.name,
        "peers": list(peers),
        "history": history,
    }


def history_found(classifier: AnyTableClassifier, path: str) -> Json | None:
    """The batches of a model file, oldest first, and gaps in the history; None if it has none."""
    try:
        entries = read_history(path)
    except BayesboxError as error:
        return {"batches": [], "gaps": [str(error)]}
    if entries is None:
        return None
    return {"batches": [asdict(each) for each in entries], "gaps": history_gaps(entries, classifier.book.digest())}


def learned_here(classifier: AnyTableClassifier, table: NamedTable) -> Json:
    """The only batch of a table that the app was trained on."""
    book = classifier.book
    rows = float(book.n.sum())
    entry = HistoryEntry("learned here", (table.name,), round(rows), book.digest(), rows)
    return {"batches": [asdict(entry)], "gaps": []}


def _by_class(classifier: AnyTableClassifier) -> list[Json]:
    book = classifier.book
    return [{"name": name, "rows": rows} for name, rows in zip(book.classes, book.n.tolist(), strict=True)]


# -- forgetting --------------------------------------------------------------------------------------------------------


def row_numbers(text: str) -> list[int]:
    """Row numbers, from 1, from a text such as 3, 5-7.

    >>> row_numbers("7, 2-4")
    [2, 3, 4, 7]
    """
    found: set[int] = set()
    for part in re.split(r"[,;\s]+", re.sub(r"\s*-\s*", "-", text.strip())):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if first < 1 or last < first:
            raise BadOption("rows must be numbers from 1, such as 3, 5-7", found=part)
        if last - first >= MOST_ROWS or len(found | {*range(first, last + 1)}) > MOST_ROWS:
            raise BadOption(
                f"at most {MOST_ROWS} rows are looked up one by one",
                found=text,
                remedy="Use bayes forget for whole files",
            )
        found.update(range(first, last + 1))
    return sorted(found)


def forgetting(
    classifier: AnyTableClassifier, model: str | None, table: NamedTable, chosen: str, *, certify: bool
) -> Json:
    """Which of these rows can be forgotten, why others cannot, and the result of forgetting them.

    Rows are subtracted from the copy one after another, so a row that was counted once is found once.
    """
    try:
        numbers = row_numbers(chosen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return _forgetting(classifier, model, table, numbers, certify=certify)
    except BayesboxError as error:
        return {"error": str(error)}


def _forgetting(
    classifier: AnyTableClassifier, model: str | None, table: NamedTable, numbers: Sequence[int], *, certify: bool
) -> Json:
    left, shown, total = classifier.changed(), [], 0
    target = table.target or classifier.target
    opened = classifier.open_rows(table.path, target=target, weight=table.weight, reading=table.reading)
    for batch, first in _numbered(opened.source.batches()):
        total = first + batch.rows
        for number in (each for each in numbers if first < each <= total):
            row = batch.slice(number - first - 1, number - first)
            rows = labelled_rows(row, opened.target, table.weight, where=f"{table.name}, row {number}")
            why = _taken_out(left, rows, untyped=opened.source.untyped)
            shown.append({"number": number, "row": _texts(row), "why": why})
    if numbers[-1] > total:
        raise BadOption(f"{table.name} has {total:,} rows", found=f"row {numbers[-1]}")
    count = sum(each["why"] is None for each in shown)
    found: Json = {"shown": shown, "count": count, "target": opened.target}
    if not certify or not count:
        return found
    before, after = classifier.book, left.book
    certificate = Certificate.of(before, before - after, after, count, left.irreversible_parts())
    found["certificate"] = {
        "before": certificate.before,
        "rows": certificate.rows,
        "after": certificate.after,
        "derived": list(certificate.derived),
        "text": certificate.text(),
    }
    found["classes"] = _by_class(left)
    if model is not None:
        whole = count == total
        options = ["--weight", table.weight] if table.weight else []
        options += ["-t", table.target] if table.target and table.target != classifier.target else []
        options += table.reading.command_words
        data = table.path if whole else "ROWS.csv"
        words = ["bayes", "forget", model, data, *options, "--certificate", "certificate.json"]
        found["command"], found["whole"] = shlex.join(words), whole
    return found


def _numbered(batches: Iterator[Batch]) -> Iterator[tuple[Batch, int]]:
    first = 0
    for batch in batches:
        yield batch, first
        first += batch.rows


class OneRow(RowsInMemory):
    """One row of a source."""

    def __init__(self, rows: LabelledRows, untyped: bool) -> None:
        super().__init__([rows])
        self._untyped = untyped

    @property
    def untyped(self) -> bool:
        return self._untyped


def _taken_out(classifier: AnyTableClassifier, rows: LabelledRows, *, untyped: bool) -> str | None:
    """Subtract a row; the reason if that is impossible."""
    if rows.labels.codes[0] < 0:
        return "it has no class"
    try:
        count_into(classifier, OneRow(rows, untyped), forget=True)
    except BayesboxError as error:
        return str(error)
    return None


def _texts(row: Batch) -> dict[str, str]:
    """A row as texts by column; empty for a missing value."""
    columns: dict[str, Any] = dict(zip(row.names, row.columns, strict=True))
    values = {name: column[0] for name, column in columns.items()}
    plain = {name: value.as_py() if hasattr(value, "as_py") else value for name, value in values.items()}
    return {name: "" if value is None or value != value else level_text(value) for name, value in plain.items()}


# -- differences and drift ---------------------------------------------------------------------------------------------


def difference_found(one: AnyTableClassifier, other: AnyTableClassifier) -> Json:
    """The differences of two models, as in `bayes diff`, with a test for each column."""
    tests: Drift | None = None
    if not any(each.fixed or not each.book.classes for each in (one, other)):
        tests = one.drift_to(other)
    by_column: dict[str, Any] = {} if tests is None else {each.column: each.test for each in tests}
    if tests is not None and tests.class_test is not None:
        by_column["(classes)"] = tests.class_test
    found = []
    for each in differences(one.book, other.book):
        test = by_column.get(each.name)
        tested = {} if test is None else {"p": p_text(test.p_value), "psi": test.psi}
        found.append({**each.as_dict(), **tested})
    return {
        "digests": [one.book.digest(), other.book.digest()],
        "differences": found,
        "rules": {name: [_text(each) for each in both] for name, both in rule_differences(one, other).items()},
    }


def _text(value: object) -> str:
    return "none" if value is None else str(value)


def drift_found(classifier: AnyTableClassifier, table: NamedTable) -> Json:
    """The drift of a table since the model was trained, as in `bayes drift`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            source = classifier.open_unlabelled(table.path, reading=table.reading).source
            drift = classifier.drift(source.batches())
    except BayesboxError as error:
        return {"error": str(error)}
    found = drift.to_dict()
    for column, each in zip(found["columns"], drift, strict=True):
        column.update(p=p_text(each.p_value), word=each.word)
    return {**found, "title": drift._title()}
