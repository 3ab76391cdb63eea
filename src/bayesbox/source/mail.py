"""The text of a mail message: the headers that say something, and the parts that are text, decoded, without markup.

Mail comes from strangers, so nothing in it may stop the reading: what the parser of the standard library cannot take
apart is taken as it stands, as text.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterable, Iterator
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32

HEADERS = ("Subject", "From", "To", "Cc", "Reply-To", "List-Id", "Organization", "X-Mailer", "User-Agent")
"""What is read of the head of a message. The path it took (Received) tells of the server, not of the message."""

KNOWN = frozenset(
    b"subject from to cc date received return-path reply-to sender message-id mime-version delivered-to envelope-to "
    b"content-type newsgroups path xref x-mailer".split()
)
FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:")
SIMPLE = re.compile(rb"(?:[!-9;-~]+:[\t -~]*)(?:\n(?:[!-9;-~]+:[\t -~]*|[ \t][\t -~]*))*")
NOT_SIMPLE = re.compile(rb"=\?|^(?:content-|mime-)", re.IGNORECASE | re.MULTILINE)
UNFOLD = re.compile(rb"\n(?=[ \t])")
SEPARATOR = re.compile(rb"From [^\r\n]*\d:\d\d[^\r\n]*\d{4}")
NOT_FOR_TEXT = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "unicode-escape"})
HIDDEN = ("script", "style")
BEGINNING = 4096  # bytes in which a file shows whether it is mail


def is_mailbox(beginning: bytes) -> bool:
    """Whether a file begins like an mbox: the line that separates messages, and then a header.

    >>> is_mailbox(b"From ann@example.org Mon Jan  1 10:00:00 2001\\nSubject: Hello\\n")
    True
    """
    line, _, rest = beginning[:BEGINNING].partition(b"\n")
    return SEPARATOR.match(line) is not None and FIELD.match(rest) is not None


def is_message(beginning: bytes) -> bool:
    """Whether a file begins like a message: lines of headers, one of those that every message may have among them.

    >>> is_message(b"Subject: Hello\\nDate: Mon, 1 Jan 2001\\n\\nGood morning"), is_message(b"Note: Hello")
    (True, False)
    """
    lines = beginning[:BEGINNING].splitlines()
    if len(beginning) > BEGINNING:
        lines = lines[:-1]  # it may be cut
    known = False
    for place, line in enumerate(lines):
        if not line.strip():
            return known
        if line[:1] in b" \t" and place:
            continue
        field = FIELD.match(line)
        if field is None:
            return False
        known = known or field[1].lower() in KNOWN
    return known


def messages(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The messages of an mbox: each begins at a line `From ...` with a time, which follows an empty line.

    >>> lines = [b"From a 10:00 2001\\n", b"Subject: 1\\n", b"\\n", b"From b 11:00 2001\\n", b"Hello\\n"]
    >>> tuple(messages(lines))
    (b'Subject: 1\\n\\n', b'Hello\\n')
    """
    gathered: list[bytes] = []
    begun, after_empty = False, True
    for line in lines:
        if after_empty and SEPARATOR.match(line):
            if begun:
                yield b"".join(gathered)
            gathered, begun = [], True
        else:
            gathered.append(line)
        after_empty = not line.strip(b"\r\n")
    if begun or gathered:
        yield b"".join(gathered)


def message_text(raw: bytes) -> str:
    """The text of a message.

    >>> print(message_text(b"Subject: =?utf-8?q?caf=C3=A9?=\\nContent-Type: text/html\\n\\n<p>Free &amp; <b>easy</b>"))
    Subject: café
    <BLANKLINE>
      Free &   easy
    """
    simple = simple_text(raw)
    return parsed_text(raw) if simple is None else simple


def simple_text(raw: bytes) -> str | None:
    """The text of a message that is plain all through: ASCII headers without encoded words, and a body that is no MIME.

    It is what the parser finds, in a tenth of the time; None where there is more to a message.
    """
    head, separator, body = raw.partition(b"\n\n")
    if not separator or not SIMPLE.fullmatch(head) or NOT_SIMPLE.search(head):
        return None
    found: dict[str, list[str]] = {}
    for line in UNFOLD.sub(b" ", head).decode("ascii").split("\n"):
        name, _, value = line.partition(":")
        found.setdefault(name.strip().lower(), []).append(" ".join(value.split()))
    texts = [f"{name}: {text}" for name in HEADERS for text in found.get(name.lower(), ())]
    return "\n".join([*texts, "", plain_text(body)])


def parsed_text(raw: bytes) -> str:
    """The text of any message, by the parser of the standard library."""
    try:
        message = BytesParser(policy=compat32).parsebytes(raw)
        head = [f"{name}: {text}" for name in HEADERS for text in _header(message, name)]
        parts = [text for part in message.walk() for text in _part(part)]
    except Exception:  # the parser fails on broken mail in more ways than it names
        return plain_text(raw)
    return "\n".join([*head, "", *parts])


def plain_text(raw: bytes) -> str:
    """Bytes as text: UTF-8 if they are, else each byte a character of Latin-1."""
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
    for value in message.get_all(name, []):
        try:
            pieces = decode_header(str(value))
        except Exception:  # a word that is encoded wrongly
            yield str(value)
            continue
        texts = (piece if isinstance(piece, str) else _decoded(piece, charset) for piece, charset in pieces)
        yield " ".join(" ".join(texts).split())


def _part(part: Message) -> Iterator[str]:
    """The text of one part; of an attachment its name and type."""
    if part.is_multipart():
        return
    if part.get_content_maintype() not in ("text", "multipart"):  # a multipart that has no parts is text
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
    except (LookupError, ValueError):  # an encoding that is not there, or none of text
        return plain_text(raw)


def without_markup(text: str) -> str:
    """The text of an HTML page: tags and comments are gaps, scripts and styles are left out, references resolved.

    Every search goes on from where the last one ended, so that no page takes more than time in its length.

    >>> without_markup("<style>p {}</style><p>Win<!-- x -->ner &pound;100")
    '  Win ner £100'
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form is longer would shift what follows
        lowered = text
    pieces, place = [], 0
    while (start := text.find("<", place)) >= 0:
        pieces.append(text[place:start])
        place = _end_of_markup(lowered, start)
        if place == start:
            pieces.append("<")
            place += 1
        else:
            pieces.append(" ")
    pieces.append(text[place:])
    return html.unescape("".join(pieces))


def _end_of_markup(text: str, start: int) -> int:
    """Where the tag, comment or hidden element that begins at `start` ends; `start` where it is no markup."""
    if text.startswith("<!--", start):
        return _after(text, "-->", start + 4)
    following = text[start + 1 : start + 2]
    if not (following.isalpha() or following in ("/", "!", "?")):
        return start
    for name in HIDDEN:
        if text.startswith(name, start + 1) and not text[start + 1 + len(name) : start + 2 + len(name)].isalnum():
            closing = text.find(f"</{name}", start)
            return len(text) if closing < 0 else _after(text, ">", closing)
    return _after(text, ">", start)


def _after(text: str, mark: str, start: int) -> int:
    """The place behind the mark, the end of the text where there is none."""
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)
