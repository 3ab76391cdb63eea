"""Mail as text: headers, decoded parts, no markup; and mail that is broken, which is text all the same."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.source.mail import (
    is_mailbox,
    is_message,
    message_text,
    messages,
    parsed_text,
    simple_text,
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


FIELDS = st.sampled_from(["Subject", "from", "To", "X-Spam", "Received", "reply-to", "Content-Type", "Organization"])
VALUES = st.sampled_from(
    ["", " hello", "  two  words ", " text/html", " =?utf-8?q?x?=", " folded\n\tline", "\u00e9", " a:b"]
)
LINES = st.lists(st.tuples(FIELDS, VALUES).map(lambda pair: f"{pair[0]}:{pair[1]}\n"), min_size=1, max_size=6)


@given(LINES.map("".join), st.sampled_from(["\n", "", "\r\n", "From here\n", " \n"]), st.text(max_size=20))
def test_simple_messages_are_read_as_the_parser_reads_them(head, gap, body) -> None:
    raw = (head + gap + body).encode("utf-8", errors="surrogatepass")
    simple = simple_text(raw)
    assert simple is None or simple == parsed_text(raw)


def test_plain_messages_are_simple() -> None:
    assert simple_text(b"Subject: hello\n there\nFrom: a@b\n\nbody") == "Subject: hello there\nFrom: a@b\n\nbody"
    assert simple_text(b"Subject: hello\nContent-Type: text/html\n\nbody") is None


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


def test_a_mailbox_is_cut_at_its_separators() -> None:
    lines = [
        b"From ann@example.org Mon Jan  1 10:00:00 2001\n",
        b"Subject: one\n",
        b"\n",
        b"From here on all is well\n",
        b"\n",
        b"From bob@example.org Mon Jan  1 11:00:00 2001\n",
        b"Subject: two\n",
    ]
    assert is_mailbox(b"".join(lines))
    one, two = messages(lines)
    assert b"From here on" in one
    assert two == b"Subject: two\n"


def test_what_is_a_message() -> None:
    assert is_message(b"Return-Path: <a@b>\nReceived: x\n\tby y\n\nHello")
    assert not is_message(b"Dear Sir: this is a letter\nabout nothing\n")
    assert not is_message(b"")
    assert is_message(b"From: a@b\nSubject: " + b"x" * 9000)
