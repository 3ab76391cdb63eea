"""Documents in files: a folder with one folder per class, mail (single messages, mbox, Maildir), and plain text.

The batches have three columns: the class (the name of the folder or of the mailbox), the text, and its origin. A source
without classes, such as a single message, has no class column.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.described import Remedy
from bayesbox.errors import BadData, BadOption, SkippedLinks, SourceUnavailable
from bayesbox.schema.arrays import numbers_array, text_array
from bayesbox.schema.encode import MISSING, Codes
from bayesbox.source.base import CLASS, FILE, TEXT, Batch, Skipped, Source
from bayesbox.source.files.mail import is_mailbox, is_message, mail_texts
from bayesbox.source.files.open import Paths, expand, format_of_name
from bayesbox.source.files.streams import CODECS, PIECE, STDIN, ByteStream, name_of

BATCH_BYTES = 4 << 20  # bytes of text per batch: few enough for the CPU cache
BATCH_DOCUMENTS = 65_536
FILES_AT_ONCE = 4096
WHOLE = 1 << 62  # more bytes than any document has
MAILBOXES = tuple(f"{ending}{codec}" for ending in (".mbox", ".mbx") for codec in ("", *CODECS))
OTHER = 2  # the core's mark for a file that is not one small document


class Group(NamedTuple):
    """Files with documents of one class, or of unknown class."""

    label: str | None
    paths: list[str]


def is_table(paths: Paths, format: str | None = None) -> bool:
    """Whether these are tables rather than documents, by their names or a given format."""
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
    paths: Paths,
    *,
    label: str | None = None,
    classes: bool = True,
    origins: bool = True,
    bad_rows: str = "error",
    follow_links: bool = False,
) -> DocumentSource:
    """The documents of files and folders.

    With `classes`, each folder or mailbox in a single folder is a class; with several paths, each path is a class.
    `label` is the class of all documents instead. With `classes=False` there is no class column, with `origins=False`
    no origin column. Links in folders may lead anywhere, so they are skipped with a warning, unless `follow_links` is
    true; a given path itself may be a link.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, text in (("ham", "See you at noon"), ("spam", "Win a prize")):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "1.txt").write_text(text)
    >>> [(batch["class"].to_pylist(), batch["text"].to_pylist()) for batch in open_documents(folder).batches()]
    [(['ham', 'spam'], ['See you at noon', 'Win a prize'])]
    """
    if bad_rows not in ("error", "skip"):
        raise BadOption("bad_rows must be 'error' or 'skip'", found=bad_rows)
    given = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not given:
        raise BadOption("no files: pass at least one")
    name = name_of(given[0]) if len(given) == 1 else f"{name_of(given[0])} and {len(given) - 1} more"
    walk = FolderWalk(follow_links=follow_links)
    if label is not None or not classes:
        groups = [Group(label, walk.files(path)) for path in given]
    else:
        groups = [Group(class_name(path), walk.files(path)) for path in _class_paths(given, walk)]
    if walk.skipped:
        warnings.warn(SkippedLinks(walk.skipped, name), stacklevel=2)
    if not any(group.paths for group in groups):
        raise BadData("there are no documents", where=name)
    return DocumentSource(groups, name=name, origins=origins, skip=bad_rows == "skip")


def class_name(path: str) -> str:
    """The class of the documents in a folder or mailbox: its name without the extension.

    >>> class_name("mail/spam/"), class_name("mail/ham.mbox.gz"), class_name("comp.graphics")
    ('spam', 'ham', 'comp.graphics')
    """
    name = os.path.basename(os.path.normpath(path))
    for ending in (*CODECS, ".mbox", ".mbx", ".txt"):
        name = name.removesuffix(ending)
    return name


def _class_paths(given: Sequence[str], walk: FolderWalk) -> list[str]:
    if len(given) > 1:
        return list(given)
    (folder,) = given
    if folder != STDIN and not os.path.exists(folder) and not glob.has_magic(folder):
        raise SourceUnavailable("file not found", where=folder)
    if not os.path.isdir(folder) or _is_maildir(folder):
        raise BadData(
            "the documents have no classes",
            where=name_of(folder),
            remedy=(
                "Pass a folder with one folder (or mailbox) per class, or several of these; for a table, name its "
                "columns: "
            )
            + Remedy("target=, text=", "-t COLUMN --text COLUMN"),
        )
    inside = [os.path.join(folder, name) for name in _listed(folder)]
    inside = [path for path in inside if os.path.isdir(path) or path.lower().endswith(MAILBOXES)]
    inside = [path for path in inside if walk.takes(is_link=os.path.islink(path))]
    if not inside:
        raise BadData(
            "the folder contains no folders or mailboxes, so its documents have no classes",
            where=folder,
            remedy="Put the documents of each class into a folder named after it",
        )
    return inside


def _is_maildir(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "cur")) and os.path.isdir(os.path.join(folder, "new"))


def _listed(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise _unreadable(folder, error) from None
    return sorted(name for name in names if not name.startswith("."))


def _unreadable(folder: str, error: OSError) -> SourceUnavailable:
    return SourceUnavailable(f"the folder cannot be read ({error.strerror})", where=folder)


class FolderWalk:
    """The files of folders, sorted by name; links are followed, or skipped and counted."""

    def __init__(self, *, follow_links: bool) -> None:
        self.follow_links = follow_links
        self.skipped = 0

    def takes(self, *, is_link: bool) -> bool:
        """Whether an entry of a folder is used; a skipped link is counted."""
        if is_link and not self.follow_links:
            self.skipped += 1
            return False
        return True

    def files(self, path: str) -> list[str]:
        """The files of a path: itself, or all files in and below a folder; for a Maildir, its messages."""
        return self._below(path, frozenset()) if os.path.isdir(path) else expand(path)

    def _below(self, folder: str, above: frozenset[str]) -> list[str]:
        """The files below a folder; `above` are its parents, since a link may lead back to one of them."""
        own = os.path.realpath(folder)
        if own in above:
            return []
        try:
            with os.scandir(folder) as entries:
                inside = sorted((each for each in entries if each.name[0] != "."), key=lambda entry: entry.name)
        except OSError as error:
            raise _unreadable(folder, error) from None
        unfinished = "tmp" if _is_maildir(folder) else None
        found: list[str] = []
        for entry in inside:
            is_file, is_folder = entry.is_file(), entry.is_dir() and entry.name != unfinished
            if (is_file or is_folder) and self.takes(is_link=entry.is_symlink()):
                found += [entry.path] if is_file else self._below(entry.path, above | {own})
        return found


class DocumentSource(Source):
    """The documents of files, in order; `skipped` lists the files that could not be read."""

    def __init__(self, groups: Sequence[Group], *, name: str, origins: bool = True, skip: bool = False) -> None:
        self.name = name
        self._skipped = Skipped()
        self._paths = [path for group in groups for path in group.paths]
        self._origins = origins
        self._skip = skip
        self._done = 0
        self._labels = sorted({group.label for group in groups if group.label is not None and group.paths})
        codes: dict[str | None, int] = {label: number for number, label in enumerate(self._labels)}
        own = [codes.get(group.label, MISSING) for group in groups]
        self._codes: Codes = np.repeat(np.array(own, dtype=np.int32), [len(group.paths) for group in groups])
        self.rereadable = STDIN not in self._paths
        classes = (CLASS,) if self._labels else ()
        self.names = (*classes, TEXT, *((FILE,) if origins else ()))

    @property
    def skipped(self) -> Skipped:
        return self._skipped

    @property
    def progress(self) -> float | None:
        """The share of the files that were read, from 0 to 1."""
        return self._done / len(self._paths) if self.rereadable else None

    def batches(self) -> Iterator[Batch]:
        """The documents in batches of some megabytes of text."""
        self._skipped = Skipped()
        self._done = 0
        gathered: list[tuple[Raw, Codes]] = []
        size = rows = first_row = 0
        for raw, codes in self._documents():
            gathered.append((raw, codes))
            size, rows = size + len(raw.data), rows + len(raw.starts)
            if size >= BATCH_BYTES or rows >= BATCH_DOCUMENTS:
                batch = self._batch(gathered, first_row)
                first_row += batch.rows
                gathered, size, rows = [], 0, 0
                yield batch
        if gathered:
            yield self._batch(gathered, first_row)

    def _batch(self, gathered: list[tuple[Raw, Codes]], first_row: int) -> Batch:
        raws = [raw for raw, _ in gathered]
        numbers = [len(raw.starts) for raw in raws]
        bases = np.repeat(np.cumsum([0, *(len(raw.data) for raw in raws[:-1])]), numbers)
        starts, stops = (
            np.concatenate(places) + bases for places in zip(*((r.starts, r.stops) for r in raws), strict=True)
        )
        data = raws[0].data if len(raws) == 1 else b"".join(raw.data for raw in raws)
        columns: list[object] = []
        if self._labels:
            codes = [np.broadcast_to(own, number) for (_, own), number in zip(gathered, numbers, strict=True)]
            coded = numbers_array(np.concatenate(codes))
            columns.append(pa.DictionaryArray.from_arrays(coded, text_array(self._labels)))
        columns.append(mail_texts(data, starts, stops, np.concatenate([raw.is_mail for raw in raws])))
        if self._origins:
            columns.append(pa.concat_arrays([raw.origins() for raw in raws]))
        return Batch(self.names, tuple(columns), len(starts), first_row)

    def _documents(self) -> Iterator[tuple[Raw, Codes]]:
        """The raw documents of the files, with their classes: one per document, or one per mailbox."""
        while self._done < len(self._paths):
            some = slice(self._done, self._done + FILES_AT_ONCE)
            paths, codes = self._paths[some], self._codes[some]
            small = read_small(paths)
            start = 0
            for place in [*np.flatnonzero(small.kinds == OTHER).tolist(), len(small.kinds)]:
                if place > start:
                    yield small.documents(start, place), codes[start:place]
                if place < len(small.kinds):
                    yield from ((raw, codes[place : place + 1]) for raw in self._large(paths[place]))
                start = place + 1
            self._done += len(small.kinds)

    def _large(self, path: str) -> Iterator[Raw]:
        try:
            yield from read_documents(path)
        except (BadData, SourceUnavailable) as error:
            if not self._skip:
                raise
            self._skipped.add(error)


class Raw(NamedTuple):
    """Raw documents: bytes, and the start and end of each document."""

    data: Any
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    is_mail: NDArray[np.bool_]
    names: Sequence[str]  # the path of each file, or of a single mailbox
    first: int | None = None  # the number of the first message of a mailbox

    def origins(self) -> pa.Array:
        """The origin of each document."""
        names = [
            name if name.isascii() else name.encode("utf-8", errors="replace").decode("utf-8") for name in self.names
        ]
        if self.first is None:
            return text_array(names)
        return text_array([f"{names[0]}, message {self.first + place}" for place in range(len(self.starts))])


class SmallFiles(NamedTuple):
    """Small files read at once: their bytes, offsets, and types, `OTHER` for a file that was not read."""

    paths: Sequence[str]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    kinds: NDArray[np.uint8]

    def documents(self, start: int, stop: int) -> Raw:
        """A range of the files, each of them one document."""
        names = self.paths[start:stop]
        first, last = self.ends[start], self.ends[stop]
        ends = self.ends[start : stop + 1] - first
        is_mail = self.kinds[start:stop].astype(bool)
        for place in np.flatnonzero(~is_mail).tolist():
            is_mail[place] = names[place].lower().endswith(".eml")
        return Raw(self.data[first:last], ends[:-1], ends[1:], is_mail, names)


def read_small(paths: Sequence[str]) -> SmallFiles:
    """The files of one batch; the core reads those that are small, uncompressed and not mailboxes."""
    joined = os.fsencode("".join(paths))
    plain = len(joined) == sum(map(len, paths))  # else it is not ASCII
    lengths = map(len, paths if plain else map(os.fsencode, paths))
    ends = np.cumsum([0, *lengths], dtype=np.int64)
    compressed = tuple(CODECS)
    passed = np.array([path == STDIN or path.lower().endswith(compressed) for path in paths], dtype=np.uint8)
    letters = np.frombuffer(joined, dtype=np.uint8)
    return SmallFiles(paths, *_core.read_small_files(letters, ends, passed, PIECE, BATCH_BYTES))


def read_documents(path: str) -> Iterator[Raw]:
    """The documents of one file: the messages of a mailbox, some megabytes at a time, a single message, or a text."""
    name = name_of(path)
    with ByteStream(path) as stream:
        if not is_mailbox(stream.peek()):
            whole = stream.read(WHOLE)
            is_mail = path.lower().endswith(".eml") or is_message(whole)
            yield Raw(whole, np.zeros(1, dtype=np.int64), np.array([len(whole)]), np.array([is_mail]), [name])
            return
        number = 1
        rest: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        while True:
            buffer = np.empty(len(rest) + BATCH_BYTES, dtype=np.uint8)
            buffer[: len(rest)] = rest
            got = stream.readinto(buffer.data[len(rest) :])
            data, last = buffer[: len(rest) + got], got < BATCH_BYTES
            starts, stops, used = _core.cut_mailbox(data, last)
            if len(starts):
                yield Raw(data, starts, stops, np.ones(len(starts), dtype=bool), [name], number)
            if last:
                return
            number, rest = number + len(starts), data[used:]
