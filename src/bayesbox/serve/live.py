"""Counting events into a model: the store has a base, and events on top of it.

Counting is exact, so the order and batches of events do not matter, as long as every event counts as it would alone. So
columns with values of several types are counted event by event, and an undetermined kind of column is decided by one
event.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.train import RowsInMemory, count_rows
from bayesbox.errors import BadData, CannotForget, NoCounts
from bayesbox.schema.encode import encode
from bayesbox.schema.levels import label_values
from bayesbox.source.base import Batch
from bayesbox.source.cells import values_column
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.schema.kind import Kind
    from bayesbox.schema.schema import Schema
    from bayesbox.serve.store.events import StoredEvent

C = TypeVar("C", bound="AnyClassifier")


def require_counting(classifier: AnyClassifier) -> None:
    """Raise an error if a model cannot learn single events exactly."""
    if classifier.fixed:
        raise NoCounts("this model was made of given tables: it answers, but there are no counts to add to")
    if getattr(classifier.rules, "limit", None) is not None:
        raise CannotForget(
            "this model drops rare words beyond a limit, so that what it learns depends on the order of the events",
            remedy="Train it without a limit of words; top= and min_documents= keep the tallies whole",
        )
    if classifier.schema is None or not classifier.book.classes:
        raise BadData("a model that is served must have learned some rows", remedy="Train it, then serve it")


def derived_parts(classifier: AnyClassifier) -> tuple[str, ...]:
    """The derived parts of a model in words: events change them only when it is retrained."""
    if not counts_events(classifier):
        return (f"all of {classifier.title}: it is trained again as a whole",)
    lost = (f"the calibration ({classifier.calibrate}): none fits the classes",) if lost_calibration(classifier) else ()
    return classifier.irreversible_parts() + lost


def lost_calibration(classifier: AnyClassifier) -> bool:
    """Whether a model has lost its calibration because its classes changed."""
    return classifier.calibrate is not None and classifier.calibrated is None and counts_events(classifier)


def counts_events(classifier: AnyClassifier) -> bool:
    """Whether events can be added to the tallies; otherwise the model can only be retrained as a whole."""
    return bool(getattr(classifier, "counts_any_time", True))


def learned(classifier: C, events: Sequence[StoredEvent]) -> C:
    """The classifier with these events added."""
    return changed(classifier, events, forget=False)[0]


def changed(classifier: C, events: Sequence[StoredEvent], *, forget: bool) -> tuple[C, Book]:
    """The classifier with these events added or removed, and their tallies."""
    result = copy.copy(classifier)
    total = Book.empty(classifier.book.label_type)
    if not events or not counts_events(classifier):
        return result, total
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as a calibration lost with its class: the state has it
        for parts in _parts(classifier, events):
            pending = count_rows(result, RowsInMemory(parts), forget=forget)
            assert pending is not None  # there are rows
            if pending.counted.unlabelled:
                raise BadData("an event must have a label")
            pending.apply(result)
            total = total + pending.counted.book
    return result, total


def with_tallies(classifier: C, schema: Schema, book: Book) -> C:
    """The classifier with other tallies."""
    result = copy.copy(classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result.accept(schema, book)
    return result


def rows_of(classifier: AnyClassifier, events: Sequence[StoredEvent]) -> list[LabelledRows]:
    """Events as rows in memory, in as few batches as their types allow."""
    return [rows for parts in _parts(classifier, events) for rows in parts]


def rows_in(book: Book) -> int:
    """The number of rows in tallies, with rounded weights."""
    return round(float(np.sum(book.class_counts.to_doubles())))


def _parts(classifier: AnyClassifier, events: Sequence[StoredEvent]) -> Iterator[list[LabelledRows]]:
    """The events in lists of batches, counted in turn, each with the schema of the previous one."""
    assert classifier.schema is not None
    schema = classifier.schema
    names = [name for name in classifier.feature_names if name not in schema.kinds or schema.kinds[name].is_used]
    open_names = [name for name in names if name in schema.kinds and _is_open(schema.kinds[name])]
    alone = [event for event in events if any(name in event.row for name in open_names)] if open_names else []
    if alone:
        together = [event for event in events if not any(name in event.row for name in open_names)]
        if together:
            yield _uniform(classifier, names, together)
        for event in alone:
            yield _uniform(classifier, names, [event])
    else:
        yield _uniform(classifier, names, events)


def _is_open(kind: Kind) -> bool:
    """Whether the next values decide the kind of a column."""
    return not kind.is_known or kind.is_open


def _uniform(classifier: AnyClassifier, names: Sequence[str], events: Sequence[StoredEvent]) -> list[LabelledRows]:
    """The events as one batch, or one batch per event if a column has values of several types."""
    schema = classifier.schema
    assert schema is not None
    columns: dict[str, list[Any]] = {}
    for name in names:
        values = [event.row.get(name) for event in events]
        kind = schema.kinds.get(name)
        types = {type(value) for value in values}
        types.discard(type(None))
        if not types:
            continue
        if kind is not None and kind.is_number and not kind.translates and types <= {int, float}:
            values = [None if value is None else _double(value, name) for value in values]
        elif len(types) > 1:
            return [rows for event in events for rows in _uniform(classifier, names, [event])]
        columns[name] = values
    labels = [_label(classifier, event.label) for event in events]
    if len({type(label) for label in labels}) > 1:
        return [rows for event in events for rows in _uniform(classifier, names, [event])]
    found = {name: values_column(values, name) for name, values in columns.items()}
    if not found:  # rows without values count for the classes only
        found = {names[0]: pa.nulls(len(events))}
    weights = None
    if any(event.weight != 1.0 for event in events):
        weights = np.array([event.weight for event in events])
    batch = Batch(tuple(found), tuple(found.values()), len(events))
    return [LabelledRows(batch, encode(values_column(labels, "label")), weights)]


def _double(value: Any, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise BadData(f"column `{name}` holds a number that no double holds", found=str(value)[:80]) from None


def _label(classifier: AnyClassifier, label: Any) -> Any:
    """A label in the type of the model's labels; the bin of a number if the target was binned."""
    cuts = classifier.target_cuts
    if cuts is not None and type(label) in (int, float):
        from bayesbox.classifier.target.bins import binned_labels

        return binned_labels(np.array([float(label)]), cuts)[0].as_py()
    if isinstance(label, str) and classifier.book.label_type != "text" and label in classifier.classes:
        return label_values((label,), classifier.book.label_type).tolist()[0]
    return label
