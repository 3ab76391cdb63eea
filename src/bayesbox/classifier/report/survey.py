"""A survey of data before training: the type, range and missing values of each column. One pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbox.classifier.training import split_columns
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch, Source
from bayesbox.tally.book import Book
from bayesbox.tally.count import count

ALL = "all rows"  # the single class if there is no target


@dataclass(frozen=True)
class Surveyed:
    """The tallies of some rows, and the range of each numeric column."""

    schema: Schema
    book: Book
    rows: int
    unlabelled: int
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __add__(self, other: Surveyed) -> Surveyed:
        ranges = dict(self.ranges)
        for name, (low, high) in other.ranges.items():
            before = ranges.get(name, (low, high))
            ranges[name] = (min(before[0], low), max(before[1], high))
        return Surveyed(
            self.schema.merged(other.schema),
            self.book + other.book,
            self.rows + other.rows,
            self.unlabelled + other.unlabelled,
            ranges,
        )


def survey(
    source: Source,
    target: str | None = None,
    *,
    declared: Mapping[Any, object] | None = None,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Surveyed | None:
    """Count every row of a source by its target, or as one class; None if there is no row."""
    first: list[Schema] = []

    def tally_of(batch: Batch) -> Surveyed:
        if target is None:
            columns = dict(zip(batch.names, batch.columns, strict=True))
            labels = Encoded(np.zeros(batch.rows, dtype=np.int32), [ALL], [ALL])
        else:
            columns, labels, _ = split_columns(batch, target, where=source.name)
        if first:
            schema = first[0].extended(columns, where=source.name)
        else:
            schema = Schema.of(columns, declared, where=source.name)
            first.append(schema)
        columns = schema.expanded(columns, where=source.name, first_row=batch.first_row)
        for name, kind in schema.translating.items():
            columns[name] = kind.read(columns[name], name=name, where=source.name, first_row=batch.first_row)
        book = count(columns, labels, schema, where=source.name, first_row=batch.first_row)
        if progress is not None:
            progress(batch.rows)
        ranges = {name: found for name in columns if (found := _range(columns[name], schema.kinds[name], name))}
        return Surveyed(schema, book, batch.rows, int((labels.codes < 0).sum()), ranges)

    return source.reduce(tally_of, threads=threads)


def _range(column: Any, kind: Kind, name: str) -> tuple[float, float] | None:
    if not kind.is_number:
        return None
    values = np.asarray(as_numbers(column, name=name), dtype=np.float64)
    values = values[~np.isnan(values)]
    return (float(values.min()), float(values.max())) if len(values) else None
