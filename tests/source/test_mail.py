"""Mail as text: headers, decoded parts, no markup; and mail that is broken, which is text all the same."""

from __future__ import annotations

import base64
import html
import quopri
import re
import time
from html.entities import html5

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox._core import cut_mailbox
from bayesbox.source.files.mail import (
    is_mailbox,
    is_message,
    mail_reader,
    mail_texts,
    message_text,
    parsed_text,
    without_markup,
)

HELLO = "Grüße aus München"


def test_headers_and_parts_are_decoded() -> None:
    body = base64.b64encode(HELLO.encode("latin-1"))
    raw = (
        b"Subject: =?utf-8?b?" + base64.b64encode(HELLO.encode()) + b"?=\nFrom: Ann <ann@example.org>\n"
        b"Received: from somewhere\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=XX\n\n"
        b"--XX\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\n" + body + b"\n"
        b"--XX\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>100 =C2=A3 &amp; more</p><script>var hidden</script>\n"
        b"--XX\nContent-Type: application/pdf; name=bill.pdf\nContent-Disposition: attachment; filename=bill.pdf\n\n"
        b"JVBERi0=\n--XX--\n"
    )
    text = message_text(raw)
    assert text.count(HELLO) == 2
    assert "ann@example.org" in text
    assert "100 £ & more" in text
    assert "bill.pdf" in text
    for gone in ("somewhere", "hidden", "<p>", "JVBERi0"):
        assert gone not in text


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\0\0",
        b"Subject: \xff\xfe broken\n\nbody \x80\x81",
        b"Subject: =?utf-8?b?####?=\n\nbody",
        b"Subject: =?no-such-charset?q?abc?=\n\nbody",
        b"Content-Type: text/plain; charset=no-such\n\nbody",
        b"Content-Type: text/plain; charset=punycode\n\nbody",
        b"Content-Type: text/plain; charset=zlib\n\nbody",
        b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n!!! body",
        b"Content-Type: multipart/mixed\n\nbody without a boundary",
        b"Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: multipart/mixed; boundary=A\n\n--A\nbody",
        b"Content-Type: multipart/mixed; boundary=A\n\n--A\nnever closed body",
        b"Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\nSubject: inner\n\nbody",
        b"Content-Type: ;;;===\n\nbody",
        b"no header at all",
    ],
)
def test_broken_mail_is_text(raw: bytes) -> None:
    text = message_text(raw)
    assert isinstance(text, str)
    if b"body" in raw and b"base64" not in raw:
        assert "body" in text


def test_parts_nested_beyond_reason_are_text() -> None:
    depth = 3000
    head = b"".join(b"Content-Type: multipart/mixed; boundary=B%d\n\n--B%d\n" % (k, k) for k in range(depth))
    assert "needle" in message_text(b"Subject: deep\n" + head + b"\nneedle\n")


@given(st.binary(max_size=400))
def test_any_bytes_give_text(raw: bytes) -> None:
    assert isinstance(message_text(raw), str)
    assert isinstance(message_text(b"Content-Type: text/html\n\n" + raw), str)
    assert isinstance(message_text(b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n" + raw), str)


def core_text(raw: bytes) -> str | None:
    """The text by the core alone; None where it leaves a message to the full parser."""
    letters, _, unusual = mail_reader().texts(raw, np.array([0]), np.array([len(raw)]), np.ones(1, np.uint8))
    return None if unusual[0] else letters.tobytes().decode()


def full_text(raw: bytes) -> str:
    return parsed_text(raw).encode("utf-8", errors="replace").decode()


# -- messages in all their forms, most of them sound -------------------------------------------------------------------

TEXTS = st.one_of(
    st.text(alphabet="ab <>&;=_?-\t\n.\u00e9\u20ac\u3000", max_size=40),
    st.sampled_from(["plain words", "caf\u00e9 & <b>bold</b> &eacute;&#233;", "line\nFrom here\n", "a=b=\n=20", ""]),
)
CHARSETS = st.sampled_from(
    [
        "utf-8",
        "us-ascii",
        "iso-8859-1",
        "utf-8",
        "UTF-8",
        "us-ascii",
        "iso-8859-1",
        "windows-1252",
        "koi8-r",
        "gb2312",
        "no-such",
    ]
)
SPELLED = st.sampled_from(["{}", '"{}"', "{}", '"{}"', "{}", '"{}"', "{} ", "'{}'", '"{}', "{} (a comment)"])
NAMES = st.sampled_from(["Subject", "subject", "From", "To", "Cc", "Reply-To", "X-Mailer", "Received", "List-Id"])


@st.composite
def encoded_words(draw: st.DrawFn) -> str:
    text, charset = draw(TEXTS).replace("\n", ""), draw(CHARSETS)
    try:
        raw = text.encode(charset, errors="replace")
    except LookupError:
        raw = text.encode()
    if draw(st.booleans()):
        coded = base64.b64encode(raw).decode()[: None if draw(st.booleans()) else -1]
        return f"=?{charset}?{draw(st.sampled_from('bB'))}?{coded}?="
    coded = "".join(
        f"={byte:02X}" if byte > 126 or byte in b"=?_\n" else "_" if byte == 32 else chr(byte) for byte in raw
    )
    return f"=?{charset}?{draw(st.sampled_from('qQ'))}?{coded}?="


VALUES = st.one_of(
    st.sampled_from(
        ["hello", "hello", "  two  words ", "folded\n\tline", "folded\n  ", "", "a:b", "\u00e9", "tab\there", "x\x1cy"]
    ),
    st.lists(
        st.one_of(encoded_words(), st.sampled_from([" ", "Re: ", "\n ", " \n\t", "=?", "?=", ""])), max_size=5
    ).map("".join),
)


@st.composite
def parts(draw: st.DrawFn, depth: int = 0) -> tuple[str, bytes]:
    """(fields about the content, body) of one part, which may have parts of its own."""
    if depth < 3 and draw(st.integers(0, 2)) == 0:
        boundary = draw(st.sampled_from(["AAA", "AAA", "AAA", "b=_1", "AAA--", "x y", "=?q?"]))
        inside = [draw(parts(depth=depth + 1)) for _ in range(draw(st.integers(0, 3)))]
        gap = draw(st.sampled_from(["\n", "\n", "\n", "", "\n\n"]))
        body = draw(st.sampled_from([b"", b"preamble\n", b"--\n"]))
        for fields, content in inside:
            body += f"--{boundary}\n{fields}\n".encode(errors="surrogatepass") + content + gap.encode()
        body += draw(
            st.sampled_from(
                [f"--{boundary}--\n", f"--{boundary}--\n", f"--{boundary}--", f"--{boundary}-- \nafter", ""]
            )
        ).encode()
        kind = draw(st.sampled_from(["mixed", "alternative", "digest", "Related"]))
        return f"Content-Type: multipart/{kind}; boundary={draw(SPELLED).format(boundary)}\n", body
    kind = draw(
        st.sampled_from(
            [
                "text/plain",
                "text/html",
                "text/plain",
                "text/plain",
                "text/html",
                "TEXT/Plain",
                "image/png",
                "message/rfc822",
                "text",
                "a/b/c",
            ]
        )
    )
    charset, text = draw(CHARSETS), draw(TEXTS)
    try:
        raw = text.encode(draw(st.sampled_from([charset, "utf-8", "latin-1"])), errors="replace")
    except LookupError:
        raw = text.encode()
    coding = draw(
        st.sampled_from(
            [
                None,
                None,
                "base64",
                "quoted-printable",
                "7bit",
                "8bit",
                "quoted-printable",
                "BASE64",
                "base64 ",
                "x-uuencode",
            ]
        )
    )
    if coding == "quoted-printable":
        raw = draw(st.sampled_from([quopri.encodestring(raw), raw]))
    elif coding is not None and "64" in coding.lower():
        raw = draw(st.sampled_from([base64.encodebytes(raw), base64.b64encode(raw), raw, base64.b64encode(raw)[:-1]]))
    fields = draw(st.sampled_from(["", "Content-ID: 1\n", "Content-Disposition: attachment;\n filename=a.png\n"]))
    if draw(st.integers(0, 4)):
        suffix = draw(st.sampled_from(["; charset=" + draw(SPELLED).format(charset), "", ";", "; name=x.txt"]))
        fields += f"Content-Type: {kind}{suffix}\n"
    return fields + (f"Content-Transfer-Encoding: {coding}\n" if coding else ""), raw


@st.composite
def mail(draw: st.DrawFn) -> bytes:
    fields, body = draw(parts())
    head = [f"{draw(NAMES)}:{draw(st.sampled_from([' ', '']))}{draw(VALUES)}\n" for _ in range(draw(st.integers(0, 4)))]
    head.insert(draw(st.integers(0, len(head))), fields)
    head.insert(0, draw(st.sampled_from(["", "", "", " the end of a line that was cut off\n"])))
    raw = (
        "".join(head).encode(errors="surrogatepass") + draw(st.sampled_from([b"\n", b"\n", b"\n", b"", b" \n"])) + body
    )
    if draw(st.integers(0, 3)) == 0:
        raw = raw.replace(b"\n", b"\r\n")
    if raw and draw(st.integers(0, 4)) == 0:  # an accident on the way
        place, length = draw(st.integers(0, len(raw) - 1)), draw(st.integers(0, 3))
        raw = raw[:place] + draw(st.binary(max_size=3)) + raw[place + length :]
    return raw


@settings(max_examples=400)
@given(mail())
def test_the_core_reads_what_the_parser_reads(raw: bytes) -> None:
    text = core_text(raw)
    assert text is None or text == full_text(raw)
    assert message_text(raw) == full_text(raw)


COMMON = [
    (b"Subject: hello\n there\nFrom: a@b\n\nbody", "Subject: hello there\nFrom: a@b\n\nbody"),
    (b"Subject: x\nContent-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9", "Subject: x\n\ncaf\u00e9"),
    (b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>a=3D=\nb", "\n a=b"),
    (b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nw6kg\nYQ==\n", "\n\u00e9 a"),
    (b"Subject: =?utf-8?q?=C3=A9?= =?utf-8?b?YQ==?= b\n\nbody", "Subject: \u00e9a b\n\nbody"),
    (b"Subject: caf\xc3\xa9  au lait\n\nbody", "Subject: caf\u00e9 au lait\n\nbody"),
    (b"Subject: caf\xe9\n\nbody", "Subject: caf\u00e9\n\nbody"),
    (b" uunet!ann\nSubject: x\n\nbody", "Subject: x\n\nbody"),
    (
        b'Content-Type: multipart/alternative; boundary="b"\n\n--b\n\none\n--b\nContent-Type: text/html\n\n<b>two</b>\n'
        b"--b\nContent-Type: image/png; name=x.png\n\nzzz\n--b--\n",
        "\none\n two \nimage/png x.png",
    ),
]


@pytest.mark.parametrize(("raw", "text"), COMMON)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_common_forms_are_read_by_the_core(raw: bytes, text: str, end: bytes) -> None:
    raw = raw.replace(b"\n", end)
    found = core_text(raw)
    assert found is not None
    assert found.replace("\r", "") == text
    assert found == full_text(raw)


def test_what_is_unusual_is_left_to_the_parser() -> None:
    for raw in (
        b"no head",
        b"Subject: \xe9 =?utf-8?q?a?=\n\nbody",
        b"Content-Type: message/rfc822\n\nSubject: x\n\nbody",
    ):
        assert core_text(raw) is None


def test_markup_takes_time_in_its_length() -> None:
    started = time.process_time()
    for page in ("<" * 300_000, "<script>" * 100_000, "<!--" * 200_000, "<a " * 200_000, "&" * 300_000):
        without_markup(page)
    assert time.process_time() - started < 5


def test_markup() -> None:
    assert without_markup("1 < 2 and 3 > 2") == "1 < 2 and 3 > 2"
    assert without_markup("a<br/>b<STYLE>x{}</STYLE>c<!-- d -->e").split() == ["a", "b", "c", "e"]
    assert without_markup("<scripture>kept</scripture>").split() == ["kept"]
    assert without_markup("never <closed").split() == ["never"]


@given(
    st.text(alphabet="&#xX;0123456789abAmplteqgn\u00e9 <", max_size=30),
    st.sampled_from(["", *list(html5)]),
    st.text(max_size=3),
)
def test_references_are_resolved_as_the_standard_says(before: str, name: str, after: str) -> None:
    text = f"{before}&{name}{after}".replace("<", "< ")  # no markup
    assert without_markup(text) == html.unescape(text)


def test_every_reference_of_the_standard_is_known() -> None:
    page = " ".join(f"&{name}" for name in html5)
    assert without_markup(page) == html.unescape(page)


def cut_by_lines(data: bytes) -> list[bytes]:
    """The messages of a mailbox, line by line: a second way."""
    found: list[list[bytes]] = []
    after_empty = True
    for line in data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+\Z", data):
        if after_empty and re.match(rb"From [^\r\n]*\d:\d\d[^\r\n]*\d{4}", line):
            found.append([])
        else:
            found[-1].append(line)
        after_empty = not line.strip(b"\r\n")
    return [b"".join(lines) for lines in found]


SEPARATORS = (b"From ann@example.org Mon Jan  1 10:00:00 2001", b"From b 1:00 1999")
BOX_LINES = st.sampled_from(
    [*SEPARATORS, b"From here on", b"", b"\r", b"Subject: x", b"text 10:00 2001", b"From 1:000 123"]
)


@given(st.sampled_from(SEPARATORS), st.lists(BOX_LINES, max_size=12), st.booleans(), st.integers(0, 200))
def test_a_mailbox_is_cut_at_its_separators(first: bytes, lines: list[bytes], ended: bool, cut: int) -> None:
    data = b"\n".join([first, *lines]) + (b"\n" if ended else b"")
    starts, stops, used = cut_mailbox(data, True)
    whole = [data[start:stop] for start, stop in zip(starts, stops, strict=True)]
    assert whole == cut_by_lines(data)
    assert used == len(data)
    some, ends, used = cut_mailbox(data[:cut], False)  # a piece of it: what is sure, and where to go on
    begun = [data[start:stop] for start, stop in zip(some, ends, strict=True)]
    starts, stops, _ = cut_mailbox(data[used:], True)
    assert begun + [data[used:][start:stop] for start, stop in zip(starts, stops, strict=True)] == whole


def test_what_is_a_message() -> None:
    assert is_message(b"Return-Path: <a@b>\nReceived: x\n\tby y\n\nHello")
    assert not is_message(b"Dear Sir: this is a letter\nabout nothing\n")
    assert not is_message(b"")
    assert is_message(b"From: a@b\nSubject: " + b"x" * 9000)


FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:")
SEPARATOR = re.compile(rb"From [^\r\n]*\d:\d\d[^\r\n]*\d{4}")
KNOWN = {b"subject", b"to", b"x-mailer"}


def begins_like_a_message(data: bytes) -> bool:
    lines = data[:4096].splitlines()
    known = False
    for place, line in enumerate(lines[:-1] if len(data) > 4096 else lines):
        if not line.strip():
            return known
        if line[:1] in b" \t" and place:
            continue
        field = FIELD.match(line)
        if field is None:
            return False
        known = known or field[1].lower() in KNOWN
    return known


def begins_like_a_mailbox(data: bytes) -> bool:
    line, _, rest = data[:4096].partition(b"\n")
    return SEPARATOR.match(line) is not None and FIELD.match(rest) is not None


PIECES = [
    b"To",
    b"SUBJECT",
    b"X-Mailer",
    b"Other",
    b":",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\x0b",
    b"\x0c",
    b"\xff",
    b"\0",
]
PIECES += [b"From ", b"1:23", b" 2001", b"x" * 4080]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_the_core_tells_mail_by_its_beginning(data: bytes) -> None:
    assert is_message(data) == begins_like_a_message(data)
    assert is_mailbox(data) == begins_like_a_mailbox(data)
    line = b"From 1:23 2001\n"
    assert is_mailbox(line + data) == begins_like_a_mailbox(line + data)


def test_unusual_messages_stand_among_the_others() -> None:
    raws = [
        b"no head",
        b"Subject: one\n\nfirst",
        b"Subject: \xe9 =?utf-8?q?a?=\n\nbody",
        b"",
        b"Subject: two\n\nlast",
        b"x\xff",
    ]
    stops = np.cumsum([len(raw) for raw in raws])
    kinds = [True, True, True, False, True, True]
    texts = mail_texts(b"".join(raws), stops - [len(raw) for raw in raws], stops, kinds)
    assert texts.to_pylist() == [
        full_text(raw) if kind else raw.decode() for raw, kind in zip(raws, kinds, strict=True)
    ]
