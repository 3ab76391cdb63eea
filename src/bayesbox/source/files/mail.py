"""The text of a mail message: informative headers and the text parts, decoded and without markup.

Mail is untrusted, so nothing in it may stop the reader: what the parser of the standard library cannot parse is read as
plain text.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.schema.arrays import text_array
from bayesbox.schema.tokens import text_buffers

if TYPE_CHECKING:
    from email.message import Message

HEADERS = ("Subject", "From", "To", "Cc", "Reply-To", "List-Id", "Organization", "X-Mailer", "User-Agent")
"""The headers that are read. Received headers describe the servers, not the message."""

NOT_FOR_TEXT = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "unicode-escape"})
UTF8 = ("utf-8", "utf8")
BY_TABLE = {  # single-byte encodings by their Python names, with their names in mail
    "ascii": ("us-ascii", "ascii"),
    "latin-1": ("iso-8859-1", "latin1"),
    **{f"iso8859-{part}": (f"iso-8859-{part}",) for part in (2, 3, 4, 5, 7, 9, 10, 13, 14, 15, 16)},
    **{f"cp125{part}": (f"windows-125{part}", f"cp125{part}") for part in range(9)},
    "koi8-r": ("koi8-r",),
    "koi8-u": ("koi8-u",),
}


def is_mailbox(beginning: bytes) -> bool:
    """Whether a file begins like an mbox: a separator line, then a header.

    >>> is_mailbox(b"From ann@example.org Mon Jan  1 10:00:00 2001\\nSubject: Hello\\n")
    True
    """
    return _core.is_mailbox(beginning)


def is_message(beginning: bytes) -> bool:
    """Whether a file begins like a message: header lines, including a common one.

    >>> is_message(b"Subject: Hello\\nDate: Mon, 1 Jan 2001\\n\\nGood morning"), is_message(b"Note: Hello")
    (True, False)
    """
    return _core.is_message(beginning)


def message_text(raw: bytes) -> str:
    """The text of a message.

    >>> print(message_text(b"Subject: =?utf-8?q?caf=C3=A9?=\\nContent-Type: text/html\\n\\n<p>Free &amp; <b>easy</b>"))
    Subject: café
    <BLANKLINE>
      Free &   easy
    """
    text: str = mail_texts(raw, [0], [len(raw)], [True])[0].as_py()
    return text


def mail_texts(data: Any, starts: Any, stops: Any, are_messages: Any) -> pa.Array:
    """The texts of the messages in `data` between these offsets; plain text for anything that is not a message.

    The core reads the common forms of mail, and the parser of the standard library the others; both give the same
    result for what both can read.
    """
    starts, stops = np.asarray(starts, dtype=np.int64), np.asarray(stops, dtype=np.int64)
    kinds = np.asarray(are_messages, dtype=np.uint8)
    letters: Any
    letters, offsets, unusual = mail_reader().texts(data, starts, stops, kinds)
    rows = np.flatnonzero(unusual).tolist()
    if rows:
        raws = [bytes(memoryview(data)[starts[row] : stops[row]]) for row in rows]
        read = [(parsed_text if kinds[row] else plain_text)(raw) for row, raw in zip(rows, raws, strict=True)]
        letters, offsets = _with_texts(letters, offsets, rows, [_encoded(text) for text in read])
    return pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(letters))


def _with_texts(letters: Any, offsets: Any, rows: list[int], texts: list[bytes]) -> tuple[bytes, Any]:
    """A text column with these texts in rows that were empty."""
    places = [0, *offsets[rows].tolist(), len(letters)]
    between = [letters[start:stop] for start, stop in pairwise(places)]
    joined = b"".join([piece for pair in zip(between, [*texts, b""], strict=True) for piece in pair])
    lengths = np.diff(offsets, prepend=0)
    lengths[np.add(rows, 1)] = [len(text) for text in texts]
    return joined, np.cumsum(lengths)


def _encoded(text: str) -> bytes:
    """Text as UTF-8; half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", errors="replace")


@lru_cache(maxsize=1)
def mail_reader() -> _core.MailReader:
    """The reader of the core, with the encodings and the HTML references that Python knows."""
    every = bytes(range(256))
    tables = [[ord(letter) for letter in every.decode(name, errors="replace")] for name in BY_TABLE]
    aliases = [(alias, table) for name, table in zip(BY_TABLE, tables, strict=True) for alias in BY_TABLE[name]]
    charsets = [*UTF8, *(alias for alias, _ in aliases)]
    points = np.array([table for _, table in aliases], dtype=np.uint32).ravel()
    references = [text for pair in html5.items() for text in pair]
    heads, encodings, pairs = (text_buffers(text_array(texts)) for texts in (HEADERS, charsets, references))
    return _core.MailReader(*heads, *encodings, points, len(UTF8), *pairs)


def parsed_text(raw: bytes) -> str:
    """The text of any message by the parser of the standard library, which is imported on demand."""
    from email.parser import BytesParser
    from email.policy import compat32

    try:
        message = BytesParser(policy=compat32).parsebytes(raw)
        head = [f"{name}: {text}" for name in HEADERS for text in _header(message, name)]
        parts = [text for part in message.walk() for text in _part(part)]
    except Exception:  # the parser raises undocumented errors on malformed mail
        return plain_text(raw)
    return "\n".join([*head, "", *parts])


def plain_text(raw: bytes) -> str:
    """Bytes as text: UTF-8 if valid, else Latin-1."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _header(message: Message, name: str) -> Iterator[str]:
    from email.header import decode_header

    for own, value in message.raw_items():
        if own.lower() != name.lower():
            continue
        text = plain_text(value.encode("ascii", errors="surrogateescape"))
        try:
            pieces = decode_header(text)
        except Exception:  # an incorrectly encoded word
            yield text
            continue
        texts = (piece if isinstance(piece, str) else _decoded(piece, charset) for piece, charset in pieces)
        yield " ".join(" ".join(texts).split())


def _part(part: Message) -> Iterator[str]:
    """The text of one part; for an attachment, its name and type."""
    if part.is_multipart():
        return
    if part.get_content_maintype() not in ("text", "multipart"):  # a multipart without parts is text
        yield f"{part.get_content_type()} {part.get_filename() or ''}"
        return
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else str(payload).encode("utf-8", errors="surrogateescape")
    text = _decoded(raw, part.get_content_charset())
    yield without_markup(text) if part.get_content_subtype() == "html" else text


def _decoded(raw: bytes, charset: str | None) -> str:
    name = (charset or "").lower()
    if not name or name in NOT_FOR_TEXT or name.replace("-", "_") in NOT_FOR_TEXT:
        return plain_text(raw)
    try:
        return raw.decode(name, errors="replace")
    except (LookupError, ValueError):  # an unknown encoding, or not a text encoding
        return plain_text(raw)


def without_markup(text: str) -> str:
    """The text of an HTML page: tags and comments become spaces, scripts and styles are dropped, references resolved.

    >>> without_markup("<style>p {}</style><p>Win<!-- x -->ner &pound;100")
    '  Win ner £100'
    """
    return mail_reader().without_markup(_encoded(text)).decode("utf-8")
