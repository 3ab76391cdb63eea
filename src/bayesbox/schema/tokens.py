"""The tokeniser: what a word is, and documents as buffers for the core.

By default, a word is a run of two or more word characters in lower case, exactly as in scikit-learn's
`CountVectorizer`. Python's `re` and `str.lower` define word characters and their lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.errors import BadData, BadOption
from bayesbox.schema.arrays import ArrowColumn, IntegerArray, PlainColumn, plain_texts
from bayesbox.schema.compute import pc
from bayesbox.schema.options import options
from bayesbox.schema.token_options import TokenOptions

CODE_POINTS = 0x110000
LAST_LETTER = 0x40000  # there are no letters, digits or spaces beyond it
SURROGATES = slice(0xD800, 0xE000)
FINAL_SIGMA = "\u03a3"  # its lower case depends on its neighbours, so Python converts texts with it
DOTTED_I = 0x130  # its lower case is an i and a combining dot, which is not a word character
ENDS_WORD = 1 << 31
ALONE = 1 << 30


@lru_cache(maxsize=3)
def letter_table(kind: str = "words") -> NDArray[np.uint32]:
    """The lower case of each code point, and 0 for ignored characters.

    "words" keeps the word characters; "punctuation" also keeps other characters except spaces, marked `ALONE`;
    "characters" keeps all except spaces.
    """
    points = np.arange(LAST_LETTER, dtype="<u4")
    points[SURROGATES] = 0
    points[DOTTED_I] = ord("i")
    points[ord(FINAL_SIGMA)] = ord("\u03c3")
    lowered = points.tobytes().decode("utf-32-le").lower()
    letters = np.frombuffer(lowered.encode("utf-32-le"), dtype="<u4")
    if kind == "characters":
        table = np.where(_where(r"\s+", lowered), 0, letters).astype(np.uint32)
        table[0] = ALONE  # also a character, with code 0
    else:
        word = _where(r"\w+", lowered)
        table = np.where(word, letters, 0).astype(np.uint32)
        if kind == "punctuation":
            table = np.where(word | _where(r"\s+", lowered), table, letters | ALONE).astype(np.uint32)
    table[DOTTED_I] |= ENDS_WORD
    beyond = (
        np.arange(LAST_LETTER, CODE_POINTS, dtype=np.uint32) | {"words": 0, "punctuation": ALONE, "characters": 0}[kind]
    )
    return np.concatenate([table, np.zeros_like(beyond) if kind == "words" else beyond])


def _where(pattern: str, text: str) -> NDArray[np.bool_]:
    found = np.zeros(len(text), dtype=bool)
    for run in re.finditer(pattern, text):
        found[run.start() : run.end()] = True
    return found


class Documents:
    """Texts concatenated in one buffer for the core; a missing text is empty.

    >>> documents = Documents.of(["Kiwi Sheep Kiwi", None])
    >>> len(documents), documents.offsets.tolist()
    (2, [0, 15, 15])
    """

    def __init__(self, data: NDArray[np.uint8], offsets: IntegerArray) -> None:
        self.data = data
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> int:
        return len(self)

    def take(self, rows: IntegerArray) -> Documents:
        """These documents, in this order, in a new buffer."""
        starts, stops = self.offsets[rows].tolist(), self.offsets[rows + 1].tolist()
        pieces = [self.data[start:stop] for start, stop in zip(starts, stops, strict=True)]
        lengths = np.array([0, *(len(piece) for piece in pieces)], dtype=np.int64)
        return Documents(np.concatenate(pieces) if pieces else self.data[:0], np.cumsum(lengths))

    @classmethod
    def as_written(cls, texts: Iterable[object] | PlainColumn) -> Documents:
        """The documents without conversion of special capital letters."""
        column = as_text_column(texts)
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else _joined(column)
        return cls(*text_buffers(_as_plain_text(column, None)))

    @classmethod
    def of(cls, texts: Iterable[object] | PlainColumn, *, where: str | None = None) -> Documents:
        """Documents from an Arrow column of text or bytes, or from a sequence of them; Arrow buffers are not copied."""
        column = as_text_column(texts, where)
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else _joined(column)
        return cls(*text_buffers(_lowered_sigma(_as_plain_text(column, where))))


def _joined(column: pa.ChunkedArray) -> pa.Array:
    """The chunks concatenated, with 64-bit offsets."""
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary(column.type):
        column = column.cast(pa.large_binary())
    return column.combine_chunks() if column.num_chunks else pa.array([], column.type)


def as_text_column(texts: Iterable[object] | PlainColumn, where: str | None = None) -> ArrowColumn:
    """An Arrow column of text or bytes, made from a sequence if necessary."""
    if isinstance(texts, (pa.Array, pa.ChunkedArray)):
        return texts
    values = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
    found = plain_texts(values)
    if found is not None:
        return found
    try:
        values = [None if isinstance(value, float) and value != value else value for value in values]
        return pa.array(values, type=pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        return pa.array([_as_bytes(value, row, where) for row, value in enumerate(values)], type=pa.large_binary())


def _as_bytes(value: object, row: int, where: str | None) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", errors="surrogatepass")  # half a surrogate pair is not a word character
    raise BadData(
        "a document must be text",
        where=f"{where + ', ' if where else ''}row {row + 1}",
        found=value,
        remedy="Give strings",
    )


def _as_plain_text(column: pa.Array, where: str | None) -> pa.Array:
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_null(kind):
        return column.cast(pa.large_string())
    if types.is_string_view(kind):
        return column.cast(pa.large_string())
    if types.is_binary_view(kind):
        return column.cast(pa.large_binary())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return column
    raise BadData("documents must be text", where=where, found=str(kind), remedy="Pass a column of strings")


def _lowered_sigma(column: pa.Array) -> pa.Array:
    """The column with texts that contain a capital sigma converted to lower case."""
    letters, offsets = text_buffers(column)
    if not _core.holds_pair(letters[offsets[0] : offsets[-1]], *FINAL_SIGMA.encode()):
        return column
    is_bytes = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
    found = pc.match_substring(column, FINAL_SIGMA.encode() if is_bytes else FINAL_SIGMA)
    values = column.to_pylist()
    for row in np.flatnonzero(found.fill_null(False).to_numpy(zero_copy_only=False)).tolist():
        text = values[row].decode("utf-8", errors="replace") if is_bytes else values[row]
        values[row] = text.lower().encode() if is_bytes else text.lower()
    return pa.array(values, type=pa.large_binary() if is_bytes else pa.large_string())


def text_buffers(column: pa.Array) -> tuple[NDArray[np.uint8], IntegerArray]:
    """The bytes of a text column, and the offset of each text; a missing text is empty."""
    if column.null_count:
        column = column.fill_null(b"" if "binary" in str(column.type) else "")
    wide = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    if offsets is None or offsets.size == 0:
        return np.empty(0, dtype=np.uint8), np.zeros(len(column) + 1, dtype=kind)
    places = np.frombuffer(offsets, dtype=kind)[column.offset : column.offset + len(column) + 1]
    letters = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.empty(0, dtype=np.uint8)
    return letters, places


def text_column(letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array:
    """Words as an Arrow column, from buffers of the core."""
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(letters))


@options
class Tokens(TokenOptions):
    """The compiled options of the tokeniser.

    `shortest` is the minimum number of characters of a word, `phrases` the minimum and maximum number of words in a
    phrase; `stop_words` are ignored, in any case. With `punctuation`, every character that is neither part of a word
    nor a space is a word. `characters` is the minimum and maximum length of character n-grams, which replace words: the
    whole text in lower case, with runs of spaces as one. With `places`, every word is counted with its position in the
    document.

    >>> Tokens().count("Kiwi, kiwi & a sheep")
    {'kiwi': 2, 'sheep': 1}
    >>> Tokens(phrases=(1, 2), stop_words=("and",)).count("sheep and kiwi")
    {'kiwi': 1, 'sheep': 1, 'sheep kiwi': 1}
    >>> Tokens(punctuation=True).count("Win 100!!"), Tokens(characters=(3, 3)).count("Kiwi")
    ({'!': 2, '100': 1, 'win': 1}, {'iwi': 1, 'kiw': 1})
    >>> Tokens(places=True).count("Kiwi, kiwi")
    {'1 kiwi': 1, '2 kiwi': 1}
    """

    places: bool = field(default=False, metadata={"option": None})

    def _check(self) -> None:
        super()._check()
        if self.places and (self.phrases != (1, 1) or self.characters):
            raise BadOption("the position model uses single words: phrases and characters do not apply")

    @property
    def compiled(self) -> _core.Phrases:
        """The options in the form of the core."""
        return _compiled(self)

    def count(self, text: str | bytes) -> dict[str, int]:
        """The words of one text, sorted, with their counts."""
        documents = Documents.of([text])
        target = np.zeros(1, dtype=np.int32)
        counted = _core.WordCounts()
        counted.count(documents.data, documents.offsets, target, 1, self.compiled)
        letters, ends, counts, _ = counted.counted(target.astype(np.int64), 1 << 40)
        return dict(zip(text_column(letters, ends).to_pylist(), counts.to_integers().tolist(), strict=True))


@lru_cache(maxsize=16)
def _compiled(tokens: Tokens) -> _core.Phrases:
    kind = "characters" if tokens.characters else "punctuation" if tokens.punctuation else "words"
    span: tuple[int, int] = tokens.characters or tokens.phrases
    return _core.Phrases(
        letter_table(kind),
        tokens.shortest,
        *span,
        tokens.stop_words,
        tokens.characters is not None,
        tokens.places,
    )
