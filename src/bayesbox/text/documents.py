"""Documents from tables, files and folders: where the texts and their classes are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from bayesbox.classifier.opened import AS_IT_IS, EVERY, Opened, ReadingOptions
from bayesbox.described import Remedy, parameter
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.source.base import CLASS, TEXT, Batch, Source
from bayesbox.source.files.documents import is_table, open_documents
from bayesbox.source.files.mail import plain_text
from bayesbox.source.files.open import file_columns, open_source
from bayesbox.source.files.streams import STDIN, ByteStream
from bayesbox.source.registry import source_from
from bayesbox.source.shapes import is_path
from bayesbox.source.wrapped import WrappedSource

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

C = TypeVar("C", bound="DocumentClassifier")


def open_labelled(
    classifier: C,
    data: object,
    *,
    target: str | None = None,
    weight: str | None = None,
    text: str | None = None,
    label: str | None = None,
    reading: ReadingOptions = AS_IT_IS,
) -> Opened[C]:
    """Labelled documents from a source, a DataFrame, tables, or files and folders of documents.

    Paths are documents whose folders are the classes, unless they are tables by name, or both columns are named;
    `label` is the class of all documents. A classifier trained on a table reads the same columns of another.
    """
    if not is_path(data):
        if label is not None or not reading.is_plain:
            raise BadOption("na, bad_rows and format apply to files, but these data are not a file")
        source = source_from(data)
        target, column = _columns(source.names, target, text, weight)
        return _opened(classifier, source, target, column)
    table = is_table(data, reading.format)
    if table and classifier.schema is not None:
        target, text = target or classifier.target, text or classifier.column
    if table or (target is not None and text is not None):
        if label is not None:
            raise BadOption("the classes of a table are in its target column", found=label)
        names = () if _is_stdin(data) else tuple(file_columns(data, format=reading.format, dialect=reading.dialect))
        target, column = _columns(names, target, text, weight)
        columns = frozenset({target, column})
        number = frozenset(() if weight is None else (weight,))
        documents = frozenset({column})
        opened = open_source(
            data, text=columns, number=number, only=columns | number, documents=documents, **reading.of_file
        )
        return _opened(classifier, opened, target, column)
    for name, value in (("na", reading.na), ("format", reading.format), *_said(reading)):
        if value:
            raise BadOption(f"{name} applies to tables, but these are documents", found=value)
    if weight is not None:
        raise BadOption("documents in files have no weight column", found=weight)
    if target not in (None, CLASS):
        raise BadOption("the class of a document in a file is the name of its folder", found=target)
    source = open_documents(
        data, label=label, origins=False, bad_rows=reading.bad_rows, follow_links=reading.follow_links
    )
    return _opened(classifier, source, CLASS, TEXT)


def open_unlabelled(
    classifier: C, data: Any, *, keep: Sequence[str] = (), reading: ReadingOptions = AS_IT_IS
) -> Opened[C]:
    """Documents to predict: a table by its name or format, else files; standard input is one document."""
    if is_table(data, reading.format):
        column = classifier.text_column
        text, every = frozenset({column, *keep}), EVERY in keep
        only = None if every else text
        documents = frozenset({column})
        return Opened(
            classifier, open_source(data, text=text, documents=documents, only=only, as_text=every, **reading.of_file)
        )
    for name, value in (("na", reading.na), *_said(reading)):
        if value:
            said = parameter(name, "...")
            raise BadOption(f"{said} applies to tables, but these are documents", found=value)
    source = open_documents(data, classes=False, bad_rows=reading.bad_rows, follow_links=reading.follow_links)
    known = classifier.text_column
    return Opened(classifier, source if known == TEXT else Renamed(source, TEXT, known), in_files=True)


def _said(reading: ReadingOptions) -> list[tuple[str, object]]:
    """The options that apply only to tables."""
    return [(name, getattr(reading.dialect, name)) for name in reading.dialect.given]


def _opened(classifier: C, source: Source, target: str, column: str) -> Opened[C]:
    """The opened documents; the classifier takes the name of the column, a fitted one renames it to its own."""
    if column == classifier.text_column and (classifier.schema is not None or classifier.column == column):
        return Opened(classifier, source, target)
    if classifier.schema is None:
        return Opened(classifier.changed(column=column), source, target)
    return Opened(classifier, Renamed(source, column, classifier.text_column), target)


class Renamed(WrappedSource):
    """A source with one column renamed."""

    def __init__(self, source: Source, before: str, after: str) -> None:
        super().__init__(source)
        self._rename = {before: after}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._renamed(self.source.names)

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            yield replace(batch, names=self._renamed(batch.names))

    def _renamed(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._rename.get(name, name) for name in names)


def _columns(names: Sequence[str], target: str | None, text: str | None, weight: str | None) -> tuple[str, str]:
    """(the target column, the text column) of a table with these columns."""
    if target is None:
        listed = f". The columns are {', '.join(names[:12])}" if names else ""
        raise BadOption("no target column", remedy=f"Say it: -t COLUMN, target= in Python{listed}")
    if names and target not in names:
        raise UnknownColumn(target, available=names)
    return target, text or text_column_of(names, (target, weight))


def _is_stdin(data: Any) -> bool:
    return STDIN in ([data] if isinstance(data, (str, os.PathLike)) else list(data))


def text_column_of(names: Sequence[str], taken: Sequence[str | None]) -> str:
    """The default text column: the only remaining one, or the one named text."""
    others = [name for name in names if name not in taken]
    if TEXT in others:
        return TEXT
    if len(others) == 1:
        return others[0]
    listed = f", one of {', '.join(others[:12])}" if others else ""
    raise BadOption(
        "no text column",
        remedy=Remedy("Pass text='COLUMN'", "Pass --text COLUMN") + listed,
    )


def stop_words_in(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The stop words in the file passed to the command."""
    path = options.get("stop_words")
    if path is None:
        return None
    with ByteStream(path) as stream:
        return tuple(plain_text(stream.read(1 << 24)).split())
