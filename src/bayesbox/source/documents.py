"""Documents in files: a folder with one folder a class, mail (single messages, mbox, Maildir), and plain text.

A source of documents gives batches of three columns: the class (the name of the folder or of the mailbox), the text,
and where it is from. A source without classes, such as a single message, has no column of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.errors import BadData, BadOption, SourceUnavailable
from bayesbox.schema.arrays import numbers_array, text_array
from bayesbox.source.base import Batch
from bayesbox.source.files import Paths, expand, format_of_name
from bayesbox.source.mail import is_mailbox, is_message, mail_texts
from bayesbox.source.reading import Skipped
from bayesbox.source.streams import CODECS, MAGIC, PIECE, STDIN, ByteStream, name_of

CLASS, TEXT, FILE = "class", "text", "file"
MAILDIR = frozenset({"cur", "new", "tmp"})
BATCH_BYTES = 4 << 20  # of text, after which a batch is given: few enough to stay in the caches
BATCH_DOCUMENTS = 65_536
WHOLE = 1 << 62  # more bytes than a document has


class Place(NamedTuple):
    """A file with documents, and their class where it is known."""

    path: str
    label: str | None


def is_table(paths: Paths, format: str | None = None) -> bool:
    """Whether these are tables (their names say so, or a format is given), and not documents."""
    if format is not None:
        return True
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    for path in [os.fspath(each) for each in given]:
        if path == STDIN:
            continue
        if os.path.isdir(path):
            return any(format_of_name(name) for name in os.listdir(path) if not name.startswith((".", "_")))
        if format_of_name(path):
            return True
    return False


def open_documents(
    paths: Paths, *, label: str | None = None, classes: bool = True, bad_rows: str = "error"
) -> DocumentSource:
    """The documents of files and folders.

    With `classes`, one folder that holds folders or mailboxes has a class for each of them; of several paths each is a
    class. `label` is the class of all instead. With `classes=False` there are none.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, text in (("ham", "See you at noon"), ("spam", "Win a prize")):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "1.txt").write_text(text)
    >>> [(batch["class"].to_pylist(), batch["text"].to_pylist()) for batch in open_documents(folder).batches()]
    [(['ham', 'spam'], ['See you at noon', 'Win a prize'])]
    """
    if bad_rows not in ("error", "skip"):
        raise BadOption("bad_rows is 'error' or 'skip'", found=bad_rows)
    given = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not given:
        raise BadOption("no file was given")
    name = name_of(given[0]) if len(given) == 1 else f"{name_of(given[0])} and {len(given) - 1} more"
    if label is not None:
        places = [Place(file, label) for path in given for file in _files(path)]
    elif not classes:
        places = [Place(file, None) for path in given for file in _files(path)]
    else:
        places = [Place(file, class_name(path)) for path in _class_paths(given) for file in _files(path)]
    if not places:
        raise BadData("there are no documents", where=name)
    return DocumentSource(places, name=name, skip=bad_rows == "skip")


def class_name(path: str) -> str:
    """The class of the documents in a folder or a mailbox: its name without an ending.

    >>> class_name("mail/spam/"), class_name("mail/ham.mbox.gz"), class_name("comp.graphics")
    ('spam', 'ham', 'comp.graphics')
    """
    name = os.path.basename(os.path.normpath(path))
    for ending in (*CODECS, ".mbox", ".mbx", ".txt"):
        name = name.removesuffix(ending)
    return name


def _class_paths(given: Sequence[str]) -> list[str]:
    if len(given) > 1:
        return list(given)
    (folder,) = given
    if not os.path.isdir(folder) or _is_maildir(folder):
        raise BadData(
            "the documents have no classes",
            where=name_of(folder),
            remedy="Give a folder with one folder (or mailbox) a class, or several of these; "
            "a table has a column of classes: -t COLUMN --text COLUMN",
        )
    inside = [os.path.join(folder, name) for name in _listed(folder)]
    if not any(os.path.isdir(path) for path in inside):
        inside = [path for path in inside if path.lower().endswith((".mbox", ".mbx", *(f".mbox{c}" for c in CODECS)))]
    if not inside:
        raise BadData(
            "the folder holds no folders, so its documents have no classes",
            where=folder,
            remedy="Put the documents of each class into a folder of its name",
        )
    return [path for path in inside if os.path.isdir(path) or path.lower().endswith((".mbox", ".mbx", ".gz"))]


def _is_maildir(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "cur")) and os.path.isdir(os.path.join(folder, "new"))


def _listed(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise SourceUnavailable(f"the folder cannot be read ({error.strerror})", where=folder) from None
    return sorted(name for name in names if not name.startswith("."))


def _files(path: str) -> list[str]:
    """The files of a path: itself, or all in a folder and below it; of a Maildir its messages."""
    if not os.path.isdir(path):
        return expand(path)
    names = [name for name in _listed(path) if not (name == "tmp" and _is_maildir(path))]
    return [file for name in names for file in _files_below(os.path.join(path, name))]


def _files_below(path: str) -> list[str]:
    if os.path.islink(path) and os.path.isdir(path):
        return []  # a link may lead back up
    if os.path.isdir(path):
        return _files(path)
    return [path] if os.path.isfile(path) else []


class DocumentSource:
    """The documents of files, in their order; `skipped` tells which files could not be read."""

    untyped = False

    def __init__(self, places: Sequence[Place], *, name: str, skip: bool = False) -> None:
        self.name = name
        self.skipped = Skipped()
        self._places = tuple(places)
        self._skip = skip
        self._done = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the batches."""
        return (*((CLASS,) if self._places[0].label is not None else ()), TEXT, FILE)

    @property
    def progress(self) -> float | None:
        """How many of the files were read, from 0 to 1."""
        return self._done / len(self._places) if STDIN not in {place.path for place in self._places} else None

    def batches(self) -> Iterator[Batch]:
        """The documents, some megabytes of text at a time."""
        self.skipped = Skipped()
        gathered: list[tuple[Raw, str | None]] = []
        size = first_row = 0
        for done, place in enumerate(self._places):
            self._done = done
            for raw in self._documents(place.path):
                gathered.append((raw, place.label))
                size += len(raw.data)
                if size >= BATCH_BYTES or len(gathered) >= BATCH_DOCUMENTS:
                    batch = self._batch(gathered, first_row)
                    first_row += batch.rows
                    gathered, size = [], 0
                    yield batch
        if gathered:
            yield self._batch(gathered, first_row)

    def _batch(self, gathered: list[tuple[Raw, str | None]], first_row: int) -> Batch:
        raws = [raw for raw, _ in gathered]
        numbers = [len(raw.starts) for raw in raws]
        bases = np.repeat(np.cumsum([0, *(len(raw.data) for raw in raws[:-1])]), numbers)
        starts, stops = (
            np.concatenate(places) + bases for places in zip(*((r.starts, r.stops) for r in raws), strict=True)
        )
        data = raws[0].data if len(raws) == 1 else b"".join(raw.data for raw in raws)
        columns: list[Any] = []
        if gathered[0][1] is not None:
            labels, codes = np.unique([label for _, label in gathered], return_inverse=True)
            columns.append(text_array(labels.tolist()).take(numbers_array(np.repeat(codes, numbers))))
        columns.append(mail_texts(data, starts, stops, np.repeat([raw.is_mail for raw in raws], numbers)))
        columns.append(pa.concat_arrays([raw.origins() for raw in raws]))
        return Batch(self.names, tuple(columns), len(starts), first_row)

    def _documents(self, path: str) -> Iterator[Raw]:
        try:
            yield from read_documents(path)
        except (BadData, SourceUnavailable) as error:
            if not self._skip:
                raise
            self.skipped.add(error)


class Raw(NamedTuple):
    """Documents as they lie in a file: bytes, and where each begins and ends in them."""

    data: bytes
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    is_mail: bool
    name: str
    first: int | None = None  # the number of the first message of a mailbox

    def origins(self) -> pa.Array:
        """Where each document is from."""
        name = self.name.encode("utf-8", errors="replace").decode("utf-8")
        if self.first is None:
            return text_array([name])
        numbers = numbers_array(np.arange(self.first, self.first + len(self.starts))).cast(pa.string())
        return pc.binary_join_element_wise(f"{name}, message ", numbers, "")


def read_documents(path: str) -> Iterator[Raw]:
    """The documents of one file: all messages of a mailbox, some megabytes at a time, one message, or a text."""
    name = name_of(path)
    small = _small_file(path)
    if small is not None and not is_mailbox(small):
        yield _one(small, path, name)
        return
    with ByteStream(path) as stream:
        if not is_mailbox(stream.peek()):
            yield _one(stream.read(WHOLE), path, name)
            return
        number, rest = 1, b""
        while True:
            piece = stream.read(BATCH_BYTES)
            data, last = rest + piece if rest else piece, len(piece) < BATCH_BYTES
            starts, stops, used = _core.cut_mailbox(data, last)
            if len(starts):
                yield Raw(data, starts, stops, True, name, number)
            if last:
                return
            number, rest = number + len(starts), data[used:]


def _small_file(path: str) -> bytes | None:
    """The bytes of a small file that is not compressed; None for any other, which is read piece by piece."""
    try:
        if path == STDIN or os.path.splitext(path)[1].lower() in CODECS or os.stat(path).st_size > PIECE:
            return None
        with open(path, "rb", buffering=0) as file:
            data = file.read()
    except OSError:
        return None  # the stream says what is wrong
    return None if any(magic.match(data) for magic in MAGIC.values()) else data


def _one(data: bytes, path: str, name: str) -> Raw:
    is_mail = path.lower().endswith(".eml") or is_message(data)
    return Raw(data, np.zeros(1, dtype=np.int64), np.array([len(data)]), is_mail, name)
