"""Train a classifier of documents from any source: a column of a table, or files and folders of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayesbox.classifier.training import Progress, Training, split_columns
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import natural_label_type
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.source.base import Batch, Source
from bayesbox.source.files.documents import CLASS, TEXT, is_table, open_documents
from bayesbox.source.files.open import file_columns, open_source
from bayesbox.source.files.streams import STDIN
from bayesbox.source.registry import source_from
from bayesbox.source.shapes import is_path
from bayesbox.source.wrapped import Recorded
from bayesbox.tally.book import Book
from bayesbox.tally.documents import DocumentCounter, count_documents
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.select_model import settle, unsettled


class LabelledColumns(NamedTuple):
    """The columns of the classes and of the texts, and where the rows are from."""

    target: str
    column: str
    name: str


@dataclass(frozen=True)
class Labelled:
    """Documents with classes: a source, and the columns of the classes and of the texts in it."""

    source: Source
    target: str
    column: str

    @property
    def columns(self) -> LabelledColumns:
        return LabelledColumns(self.target, self.column, self.source.name)


def labelled_documents(
    data: Any,
    target: str | None = None,
    column: str | None = None,
    *,
    label: str | None = None,
    weight: str | None = None,
    **reading: Any,
) -> Labelled:
    """Documents from a source, a frame, tables, or files and folders of documents.

    Without `target` and `column` paths are documents (unless their names are those of tables), whose folders say the
    class; `label` is the class of all.
    """
    if not is_path(data):
        if label is not None or any(value for name, value in reading.items() if (name, value) != ("bad_rows", "error")):
            raise BadOption("na, bad_rows and format say how to read a file, but this is none")
        source = source_from(data)
        return _of_table(source, source.names, target, column, weight)
    if is_table(data, reading.get("format")) or (target is not None and column is not None):
        if label is not None:
            raise BadOption("the classes of a table stand in one of its columns", found=label)
        names = () if _is_stdin(data) else tuple(file_columns(data, format=reading.get("format")))
        found = _of_table(None, names, target, column, weight)
        columns = frozenset({found.target, found.column})
        number = frozenset(() if weight is None else (weight,))
        opened = open_source(
            data,
            text=columns,
            number=number,
            only=columns | number,
            documents=frozenset({found.column}),
            **reading,
        )
        return Labelled(opened, found.target, found.column)
    for name in ("na", "format"):
        if reading.get(name):
            raise BadOption(f"{name} says how to read a table, but these are documents", found=reading[name])
    if weight is not None:
        raise BadOption("documents in files have no column of weights", found=weight)
    if target not in (None, CLASS):
        raise BadOption("documents in files have their folder's name as their class", found=target)
    documents = open_documents(data, label=label, origins=False, bad_rows=reading.get("bad_rows", "error"))
    return Labelled(documents, CLASS, TEXT)


def _is_stdin(data: Any) -> bool:
    return STDIN in ([data] if isinstance(data, str) else list(data))


def _of_table(
    source: Any, names: Sequence[str], target: str | None, column: str | None, weight: str | None
) -> Labelled:
    if target is None:
        listed = f". The columns are {', '.join(names[:12])}" if names else ""
        raise BadOption(
            "which column holds the classes is not said", remedy=f"Say it: -t COLUMN, target= in Python{listed}"
        )
    if names and target not in names:
        raise UnknownColumn(target, available=names)
    return Labelled(source, target, column or text_column_of(names, (target, weight)))


def text_column_of(names: Sequence[str], taken: Sequence[str | None]) -> str:
    """The column of the texts where it is not said: the only one left, or the one called text."""
    others = [name for name in names if name not in taken]
    if TEXT in others:
        return TEXT
    if len(others) == 1:
        return others[0]
    listed = f", one of {', '.join(others[:12])}" if others else ""
    raise BadOption(
        "which column holds the texts is not said", remedy=f"Say it: --text COLUMN, text= in Python{listed}"
    )


@dataclass(frozen=True)
class CountedDocuments:
    """What was counted of some documents: what is added up. The words may be in a counter instead of the book."""

    book: Book
    rows: int = 0
    unlabelled: int = 0

    def __add__(self, other: CountedDocuments) -> CountedDocuments:
        return CountedDocuments(self.book + other.book, self.rows + other.rows, self.unlabelled + other.unlabelled)


@dataclass(frozen=True)
class _Counting:
    """Counts a batch of documents by itself, wherever it is sent."""

    labelled: LabelledColumns
    tokens: Tokens
    often: bool
    weight: str | None

    def __call__(self, batch: Batch) -> CountedDocuments:
        texts, labels, weights = parts_of(batch, self.labelled, self.weight)
        book = count_documents(texts, labels, self.tokens, weights=weights, often=self.often)
        return CountedDocuments(book, batch.rows, int((labels.codes < 0).sum()))


def train_documents(
    classifier: DocumentClassifier,
    labelled: Labelled,
    *,
    weight: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    forget: bool = False,
) -> Training:
    """Learn (or forget) every document of a source; those without a label are left out and counted.

    The classifier changes only when all documents were counted.
    """
    source, where = labelled.source, labelled.source.name
    if forget:
        classifier.require_all_words()
    derives = not forget and unsettled(classifier)
    kept = Recorded(source) if derives else None  # documents are judged after all were counted
    source = kept or source
    limit = None if forget else classifier.rules.limit
    counter = DocumentCounter(classifier.tokens, limit=limit, often=classifier.often)
    free, others = [counter], []

    def tally_of(batch: Batch) -> CountedDocuments:
        texts, labels, weights = parts_of(batch, labelled.columns, weight)
        try:
            own = free.pop()
        except IndexError:
            own = counter.beside()
            others.append(own)
        own.add(texts, labels, weights)
        free.append(own)
        if progress is not None:
            progress(batch.rows)
        return CountedDocuments(Book.empty(), batch.rows, int((labels.codes < 0).sum()))

    counting = _Counting(labelled.columns, classifier.tokens, classifier.often, weight) if source.remote else tally_of
    # With a limit, what is dropped depends on the order of the batches: one thread keeps it the same every time.
    counted = source.reduce(counting, threads=threads if limit is None else 1)
    if counted is None or counted.rows == counted.unlabelled:
        raise BadData("there is no document with a label", where=where)
    for other in others:
        counter.merge(other)
    learned = counted.book if source.remote else counter.handed_over()
    if source.untyped:  # text such as 1, 2, 3 may stand for integers
        before = classifier.book
        learned = learned.with_label_type(before.label_type if before.classes else natural_label_type(learned.classes))
    classifier.accept(classifier.book - learned if forget else classifier.book + learned, dropped=counter.dropped)
    classifier.target, classifier.column = labelled.target, labelled.column
    if kept is not None:
        settle_on(classifier, kept.given, labelled, weight)
    return Training(counted.rows, counted.unlabelled, source.skipped.count)


def settle_on(
    classifier: DocumentClassifier, batches: Sequence[Batch], labelled: Labelled, weight: str | None = None
) -> None:
    """Choose and calibrate on batches of documents that were learned."""
    names = (labelled.target, labelled.column, *((weight,) if weight else ()))
    joined = [
        pa.chunked_array([plain_text_column(batch[name]) for batch in batches]).combine_chunks() for name in names
    ]
    whole = Batch(names, tuple(joined), sum(batch.rows for batch in batches))
    texts, labels, weights = parts_of(whole, labelled.columns, weight)
    settle(classifier, texts, labels, weights=weights)


def plain_text_column(column: Any) -> Any:
    """A column as one Arrow array, without a dictionary, whose offsets any amount of text fits."""
    array = pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    array = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
    return array.cast(pa.large_string()) if pa.types.is_string(array.type) else array


def parts_of(batch: Batch, labelled: LabelledColumns, weight: str | None = None) -> tuple[Any, Encoded, Any]:
    """(documents, labels, weights) of a batch."""
    columns, labels, weights = split_columns(batch, labelled.target, weight, where=labelled.name)
    if labelled.column not in columns:
        raise UnknownColumn(labelled.column, available=columns, where=labelled.name)
    return Documents.of(columns[labelled.column], where=labelled.name), labels, weights
