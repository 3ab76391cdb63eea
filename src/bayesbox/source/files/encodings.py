"""Text encodings other than UTF-8: decoding of streams, and detection of the likely encoding."""

from __future__ import annotations

import codecs
import re
import warnings
from typing import Any

from bayesbox.described import parameter
from bayesbox.errors import BadData, BadRow, SuspiciousData
from bayesbox.source.files.reading import place
from bayesbox.source.files.streams import ByteStream

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, which has the same prefix
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CHUNK = 1 << 18
SAMPLE = 1 << 16
HIGH_RUN = re.compile(rb"[\x80-\xff]+")
WIDE = ("shift_jis", "euc_kr", "gb18030", "big5", "cp1251")  # encodings in which bytes above 127 come in runs


class DecodedStream:
    """A stream converted to UTF-8, one piece at a time."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self.name = stream.name
        self.path = stream.path
        self.encoding = encoding
        self._stream = stream
        self._decoder: Any = codecs.getincrementaldecoder(encoding)()
        self._line = 1
        self._ready = b""
        self._finished = False

    def readinto(self, view: memoryview) -> int:
        """Fill the view; returns the number of bytes, which is less than its length only at the end."""
        done = 0
        while done < len(view):
            if not self._ready:
                if self._finished:
                    break
                self._ready = self._next()
            part = self._ready[: len(view) - done]
            view[done : done + len(part)] = part
            self._ready = self._ready[len(part) :]
            done += len(part)
        return done

    def _next(self) -> bytes:
        piece = self._stream.read(CHUNK)
        self._finished = not piece
        try:
            text = self._decoder.decode(piece, self._finished)
            encoded: bytes = text.encode("utf-8")
        except UnicodeError as error:
            raise self._undecodable(error, piece) from None
        self._line += encoded.count(b"\n")
        return encoded

    def _undecodable(self, error: UnicodeError, piece: bytes) -> BadData:
        bad, start = (error.object, error.start) if isinstance(error, UnicodeDecodeError) else (piece, 0)
        where = place(self.name, line=self._line + bytes(bad[:start]).count(b"\n"))
        return not_encoded(self.encoding, bytes(bad), where=where, found=bad[start : start + 20])


def decoded(stream: ByteStream, encoding: str | None) -> ByteStream | DecodedStream:
    """The stream as UTF-8, or itself if it is UTF-8 already. A byte order mark takes precedence."""
    beginning = stream.peek(SAMPLE if encoding not in (None, "utf-8") else 4)
    marked = next((name for mark, name in MARKS if beginning.startswith(mark)), None)
    if (marked or encoding or "utf-8") in ("utf-8", "ascii"):
        return stream
    if marked is None and encoding is not None:
        _require_wide(beginning, encoding, stream.name)
        _warn_of_utf8(beginning, encoding, stream.name)
    return DecodedStream(stream, marked or encoding or "utf-8")


def _require_wide(beginning: bytes, encoding: str, file: str) -> None:
    """Raise an error if a text cannot be UTF-16, whose delimiters and line ends contain zero bytes."""
    if encoding.startswith(("utf-16", "utf-32")) and beginning and 0 not in beginning:
        raise not_encoded(encoding, beginning, where=place(file, line=1), found=beginning[:20])


def _warn_of_utf8(beginning: bytes, encoding: str, file: str) -> None:
    """Warn if a text that is read in another encoding is valid UTF-8 beyond ASCII."""
    if not encoding.startswith("utf") and not beginning.isascii() and _is_utf8(beginning):
        what = f"{file} looks like UTF-8, but is read as {encoding}"
        warnings.warn(
            SuspiciousData(what, reason="encoding", columns=(), remedy="Omit " + parameter("encoding", encoding)),
            stacklevel=2,
        )


def _is_utf8(text: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)  # may be cut within a character
    except UnicodeDecodeError:
        return False
    return True


def likely_encoding(text: bytes) -> str | None:
    r"""The likely encoding of a text that is not UTF-8; None if there is no indication.

    >>> likely_encoding("Zürich;Genève".encode("cp1252")), likely_encoding("a,b\n1,2\n".encode("utf-16-le"))
    ('cp1252', 'utf-16-le')
    """
    sample = text[:SAMPLE]
    if sample.count(0) * 4 > len(sample):
        if sample.count(0) * 4 > len(sample) * 2.5:
            return "utf-32-le" if sample[:1] != b"\0" else "utf-32-be"
        return "utf-16-le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf-16-be"
    if _is_utf8(sample):
        return "utf-8"
    runs = [len(run) for run in HIGH_RUN.findall(sample)]
    if sum(length for length in runs if length > 2) * 2 > sum(runs):
        return next((name for name in WIDE if _decodes(sample, name)), None)
    return "cp1252" if _decodes(sample, "cp1252") else "latin-1"


def _decodes(text: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(text)
    except UnicodeDecodeError:
        return False
    return True


def not_encoded(encoding: str, text: bytes, *, where: str, found: bytes, what: str = "the text") -> BadRow:
    """The error for text that is not in the expected encoding, with the likely encoding."""
    likely = likely_encoding(text)
    remedy = (
        "Find out the encoding of the file: " + parameter("encoding", "NAME")
        if likely in (None, encoding)
        else f"It looks like {likely}: " + parameter("encoding", likely)
    )
    return BadRow(f"{what} is not {encoding.upper()}", where=where, found=found, remedy=remedy)
