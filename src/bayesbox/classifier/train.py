"""Train from any source: frames, files, streams. One pass, a batch at a time, on as many threads as asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesbox.classifier.base import Classifier
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.training import Progress, Training, split_columns
from bayesbox.errors import BadData, BadOption
from bayesbox.schema.kinds import Category, Count, Flag, Ignore, Real, Words, kinds_by_key
from bayesbox.schema.levels import natural_label_type
from bayesbox.schema.one_hot import folded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch, Source
from bayesbox.source.registry import FRAME, kind_of_data
from bayesbox.source.shapes import is_path
from bayesbox.tally.book import Book


@dataclass(frozen=True)
class CountedBook:
    """What was counted of some rows: the tally that is added up."""

    schema: Schema
    book: Book
    rows: int = 0
    unlabelled: int = 0

    def __add__(self, other: CountedBook) -> CountedBook:
        return CountedBook(
            self.schema.merged(other.schema),
            self.book + other.book,
            self.rows + other.rows,
            self.unlabelled + other.unlabelled,
        )


def source_of(
    data: Any,
    target: str | None = None,
    declared: Mapping[Any, object] | None = None,
    *,
    weight: str | None = None,
    threads: int = 1,
    finite: bool | None = None,
    **options: Any,
) -> Source:
    """Rows from a source, a frame, or the name of a file, a glob or a folder.

    The target and declared categories are read as text exactly as they stand, declared numbers and the weight as
    numbers; columns that are ignored are not read. Rows with an infinite number count as broken where a target is to be
    learned, or where `finite` says so.
    """
    if not is_path(data):
        kind = kind_of_data(data)
        if kind.name == FRAME and any(options.values()) and options != {"na": (), "bad_rows": "error", "format": None}:
            raise BadOption(
                "na, bad_rows and format say how to read a file, but this is none", found=type(data).__name__
            )
        return kind.opener()(data)
    from bayesbox.source.files.open import open_source

    kinds = {str(name): kind for name, kind in kinds_by_key(declared).items()}
    text = {name for name, kind in kinds.items() if isinstance(kind, (Category, Flag, Words))}
    number = {name for name, kind in kinds.items() if isinstance(kind, (Real, Count))}
    unread = {name for name, kind in kinds.items() if isinstance(kind, Ignore)}
    if target is not None:
        text.add(target)
    if weight is not None:
        number.add(weight)
    return open_source(
        data,
        text=frozenset(text),
        number=frozenset(number),
        unread=frozenset(unread) - {target, weight},
        threads=threads,
        refuse_mixed=target is not None,
        finite=target is not None if finite is None else finite,
        weight=weight,
        **options,
    )


def train(
    classifier: Classifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    forget: bool = False,
) -> Training:
    """Learn (or forget) every row of a source; rows without a label are left out and counted.

    The classifier changes only when all rows were counted.
    """
    classifier.require_counts("forget" if forget else "learn")
    before, derived = classifier.schema, classifier.derived
    try:
        while True:
            counted = tally_source(classifier, source, target, weight=weight, threads=threads, progress=progress)
            if counted is None or counted.rows == counted.unlabelled:
                raise BadData("there is no row with a label", where=source.name)
            if before is not None or not classifier.derive(counted.schema, counted.book):
                break
            require_rereadable(source)
    except BaseException:
        classifier.derived = derived
        raise
    schema = counted.schema if before is None else before.merged(counted.schema)
    learned = counted.book
    if source.untyped:  # text such as 1, 2, 3 may stand for integers
        learned = learned.with_label_type(classifier.book.label_type if before else natural_label_type(learned.classes))
    book = classifier.book - learned if forget else classifier.book + learned
    classifier.accept(schema, book)
    classifier.target = target
    if before is None and (classifier.has_second_pass() or classifier.calibrate is not None):
        require_rereadable(source)
        classifier.finish(labelled_rows(source, target, weight))
    return Training(counted.rows, counted.unlabelled, source.skipped.count)


def labelled_rows(source: Source, target: str, weight: str | None = None) -> list[LabelledRows]:
    """The rows of a source in memory, the target and the weight apart."""
    kept = []
    for batch in source.batches():
        columns, labels, weights = split_columns(batch, target, weight, where=source.name)
        kept.append(
            LabelledRows(Batch(tuple(columns), tuple(columns.values()), batch.rows, batch.first_row), labels, weights)
        )
    return kept


def require_rereadable(source: Source) -> None:
    """Refuse a source whose rows are gone once they were read."""
    if not source.rereadable:
        raise BadOption(
            "this kind of model reads the rows more than once, but they come from a pipe",
            where=source.name,
            remedy="Write them to a file first",
        )


def tally_source(
    classifier: Classifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> CountedBook | None:
    """The tally of every row of a source under the classifier's schema."""
    counting = Counting(classifier.with_empty_counts(), target, weight, source.name)
    if progress is None or source.remote:
        return source.reduce(counting, threads=threads)

    def tally_of(batch: Batch) -> CountedBook:
        counted = counting(batch)
        progress(batch.rows)
        return counted

    return source.reduce(tally_of, threads=threads)


@dataclass
class Counting:
    """Counts a batch of rows. It knows nothing of where they come from, so that it can be sent to them."""

    classifier: Classifier
    target: str
    weight: str | None
    where: str
    first: Schema | None = None  # of the first batch that was counted here

    def __call__(self, batch: Batch) -> CountedBook:
        columns, labels, weights = split_columns(batch, self.target, self.weight, where=self.where)
        if self.classifier.fold:
            columns = folded(columns, self.classifier.fold, where=self.where)
        schema = self._schema(columns)
        book = self.classifier.count(
            columns, labels, schema, weights=weights, where=self.where, first_row=batch.first_row
        )
        return CountedBook(schema, book, batch.rows, int((labels.codes < 0).sum()))

    def _schema(self, columns: Mapping[str, Any]) -> Schema:
        if self.classifier.schema is None and self.first is not None:
            return self.first.extended(columns, where=self.where)
        self.first = self.classifier.schema_of(columns, where=self.where)
        return self.first
