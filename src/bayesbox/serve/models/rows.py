"""Rows of requests checked against the schema of a model: errors name the row and the field."""

from __future__ import annotations

import contextlib
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.table import TableClassifier
from bayesbox.errors import BadData, BayesboxError
from bayesbox.schema.levels import is_missing, level_text
from bayesbox.serve.models.base import Row

MOST_NOTES = 10


class BadRowOf(Exception):
    """An error of the package with its row and field, if known."""

    def __init__(self, error: BayesboxError, row: int | None, *, field: str | None = None, at: str = "rows") -> None:
        super().__init__(str(error))
        self.error = error
        self.row = row
        found = field if field is not None else getattr(error, "column", None)
        self.field = None if found is None else str(found)
        self.at = at  # where the rows are: rows, events, row

    @property
    def pointer(self) -> str:
        """The position as a JSON pointer."""
        parts = [self.at] if self.row is None else [self.at, str(self.row)]
        parts += ["row"] if self.at == "events" and self.field is not None else []
        parts += [] if self.field is None else [self.field]
        if self.row is None and self.at == "rows":
            parts = parts[1:]
        return "#/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)


@contextlib.contextmanager
def read_row(place: int | None = None) -> Iterator[None]:
    """Add the row to errors of the package; `None` is the only row of a query about one."""
    try:
        yield
    except BayesboxError as error:
        raise BadRowOf(error, place, at="row" if place is None else "rows") from None


def as_rows(
    classifier: AnyClassifier, rows: Sequence[Row | str], *, field: str = "rows", learning: bool = False
) -> list[Row]:
    """The rows as the model reads them: numeric texts become numbers, a plain text is a document."""
    found = []
    for place, row in enumerate(rows):
        try:
            found.append(_as_row(classifier, row, learning=learning))
        except BayesboxError as error:
            raise BadRowOf(error, place, at=field) from None
    return found


def rows_of_columns(columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Columns of equal length as rows.

    >>> rows_of_columns({"age": [34, None], "car": ["van", "suv"]})
    [{'age': 34, 'car': 'van'}, {'age': None, 'car': 'suv'}]
    """
    return list(map(dict, map(zip, repeat(tuple(columns)), zip(*columns.values(), strict=True))))


def _as_row(classifier: AnyClassifier, row: Row | str, *, learning: bool) -> Row:
    if not isinstance(classifier, TableClassifier):
        name = classifier.feature_names[0]
        whole: Row = {name: row} if isinstance(row, str) else row
        if not isinstance(whole.get(name), str):
            raise BadData(f"`{name}` must be a text", column=name, found=whole.get(name))
        return whole
    if isinstance(row, str):
        raise BadData("a row must be an object of columns and values", found=row)
    schema = classifier.schema
    if schema is None:
        return row
    changed: Row = {}
    for name, value in row.items():
        kind = schema.kinds.get(name)
        if kind is None or value is None or not kind.is_used:
            continue
        if isinstance(value, str):
            if kind.is_number and not kind.translates:
                changed[name] = _number(value, name) if value else None
            elif not value:
                changed[name] = None  # an empty text is a missing value, as in a file
        elif learning and kind.reads_text and not isinstance(value, bool):
            changed[name] = level_text(value)  # as it is in a file
    return {**row, **changed} if changed else row


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadData(f"`{name}` must be a number", column=name, found=text)
    return value


def notes_of(classifier: AnyClassifier, rows: Sequence[Row]) -> list[str]:
    """Notes about unusual rows: unknown columns and unseen levels."""
    if not isinstance(classifier, TableClassifier):
        return []
    known, levels = classifier.feature_names, classifier.known_levels()
    places = frozenset(known)
    notes: dict[str, None] = {}
    for place, row in enumerate(rows):
        for name, value in row.items():
            if name not in places:
                near = difflib.get_close_matches(name, known, n=1)
                guess = f"; did you mean `{near[0]}`?" if near else ""
                if name != classifier.target:
                    notes.setdefault(f"the model has no column `{name}`: it is ignored{guess}")
            elif name in levels and not is_missing(value) and level_text(value) not in levels[name]:
                notes.setdefault(f"row {place}: `{name}` has the unseen level {level_text(value)[:80]!r}")
        if len(notes) >= MOST_NOTES:
            break
    return list(notes)[:MOST_NOTES]
