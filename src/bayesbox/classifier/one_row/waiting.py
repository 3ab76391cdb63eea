"""Rows learned one at a time, buffered in the core until they are counted together.

The buffered rows are counted as `learn` counts a table of them, so the tallies and the digest are the same. Meanwhile a
live model may predict: the core updates the counts of all rows and takes logarithms on demand. After many predictions
without a row learned between them the model is rebuilt. Naive Bayes with categories, flags and numbers (robust or
gaussian) has a live model; other models are rebuilt at once.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.one_row.live import live_counts
from bayesbox.classifier.table import TableClassifier
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import Encoded
from bayesbox.schema.flags import FLAG_LEVELS
from bayesbox.schema.levels import label_values
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.schema.kind import Kind

MOST_WAITING = 8_192  # rows at which the buffer is counted
LABEL_TYPES = ("text", "integer", "flag")  # the types of labels that the core reads

C = TypeVar("C", bound="AnyClassifier")
Taken = tuple[int, NDArray[np.int32], list[Any]]


class WaitingRows:
    """The buffered rows of a table classifier: learned, but not counted yet."""

    def __init__(self, classifier: AnyTableClassifier) -> None:
        schema, book = classifier.schema, classifier.book
        assert schema is not None
        self.names = tuple(schema.columns)
        self.classes = classifier.classes
        self.labels: list[Any] = label_values(self.classes, book.label_type).tolist()
        kinds = {name: schema.kinds[name] for name in self.names}
        columns = [(name, *_column(kind, name, classifier)) for name, kind in kinds.items()]
        self.core = _core.LiveRows(columns, self.classes, tuple(self.labels), book.label_type)
        self.forms = [form for _, form, *_ in columns]
        self.outdated = False  # whether the classifier was changed elsewhere since
        self.counting = False  # whether rows are being counted now
        self.may_live = True  # whether to try a live model
        self._taken: list[tuple[Taken, bool]] = []  # rows that are being learned or forgotten

    @classmethod
    def of(cls, classifier: AnyClassifier) -> WaitingRows | None:
        """The buffer of a trained classifier; None if each row must be counted immediately."""
        if not isinstance(classifier, TableClassifier) or not classifier.counts_any_time:
            return None
        if classifier.schema is None or classifier.fixed or classifier.one_hot or classifier.ignore is not None:
            return None
        if classifier.target_cuts is not None or classifier.book.label_type not in LABEL_TYPES:
            return None
        return cls(classifier) if classifier.book.classes else None

    @property
    def some(self) -> bool:
        """Whether there are buffered rows."""
        return self.counting or bool(self._taken) or self.core.waiting > 0

    def counted(self, classifier: C) -> C:
        """The classifier with the buffered rows counted. If they cannot be counted, they stay in the buffer."""
        if self.core.waiting:
            learned, gone = self.core.take()
            self._taken += [(learned, False)] if learned[0] else []
            self._taken += [(gone, True)] if gone[0] else []
        result = copy.copy(classifier) if self._taken else classifier
        for (rows, labels, columns), forget in self._taken:
            given = zip(self.names, self.forms, columns, strict=True)
            present = {name: _arrow(form, column) for name, form, column in given if column is not None}
            batch = Batch(tuple(present), tuple(present.values()), rows)
            (result.forget if forget else result.learn)(batch, Encoded(labels, list(self.classes), self.labels))
        self._taken.clear()  # all or nothing
        return result

    def go_live(self, classifier: AnyClassifier) -> bool:
        """Start a live model, if possible; `classifier` has all rows so far."""
        found = live_counts(classifier, self.names) if self.classes == classifier.classes else None
        if found is None:
            self.may_live = False
            return False
        order = [self._levels_of(place, column) for place, column in enumerate(found.columns)]
        self.core.go_live(found.class_counts, order)
        return True

    @property
    def is_live(self) -> bool:
        """Whether the live model has all rows."""
        return self.core.is_live and not self.outdated

    def forgot(self, classifier: AnyClassifier, row: object, label: object) -> None:
        """Subtract a forgotten row from the live model too, unless the family of a column would change."""
        book = classifier.book
        numbers = [name for name, form in zip(self.names, self.forms, strict=True) if form == "number"]
        same = classifier.classes == self.classes and all(name in book for name in numbers)
        if same and not any(book[name].holds_only_flags for name in numbers) and self.core.forget(row, label):
            self.outdated = False

    def _levels_of(self, place: int, column: Any) -> Any:
        """The counts of levels in the order of their codes in the core."""
        if column is None or column[0] != "levels":
            return column
        form, added, smooths, domain, levels, counts = column
        codes = {level: code for code, level in enumerate(self.core.levels(place))}
        table = np.zeros((len(codes), counts.shape[1]), dtype=np.int64)
        for level, row in zip(levels, counts, strict=True):
            table[codes[level]] = row
        declared = np.array([codes[level] for level in domain], dtype=np.int64)
        return form, added, smooths, declared, table.ravel()


def _column(kind: Kind, name: str, classifier: AnyTableClassifier) -> tuple[str, tuple[str, ...], bool, bool]:
    """How the core reads a column: its form, the levels so far, and whether numbers and new levels are accepted."""
    schema, book = classifier.schema, classifier.book
    assert schema is not None
    if not kind.is_used:
        return "nothing", (), True, False
    if kind.translates or kind.has_parts or kind.is_text or kind.is_matrix or kind.is_count or not kind.is_known:
        return "nothing", (), False, False
    if kind.is_flag:
        return "flag", FLAG_LEVELS, False, False
    if kind.has_levels:
        seen = book[name].levels if name in book else ()
        return "levels", tuple(sorted({*seen, *kind.domain})), name in schema.declared, not kind.domain
    return ("number" if kind.is_number else "nothing"), (), False, False


def _arrow(form: str, column: Any) -> Column:
    if form == "number":
        return column
    codes, levels = column
    missing = codes < 0
    if form == "flag":
        return pa.array(codes == 1, mask=missing)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing), pa.array(levels, pa.string()))
