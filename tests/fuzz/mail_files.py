"""Damaged mail: messages, mailboxes and folders of them, each learned as text."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.damage import damaged
from tests.fuzz.format import require, require_probabilities

import bayesbox as bb
from bayesbox.errors import BayesboxError
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.source.files.mail import message_text, parsed_text

MESSAGES = (
    b"""From: Ann <ann@example.org>
To: bob@example.org
Subject: =?utf-8?b?R3LDvMOfZQ==?= =?iso-8859-1?q?caf=E9_?=
 folded
Date: Mon, 1 Jan 2001 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="XX=_1"

preamble
--XX=_1
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: base64

R3L832UgYXVzIE38bmNoZW4sIGNoZWFwIHBpbGxz
--XX=_1
Content-Type: multipart/alternative; boundary=YY

--YY
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<html><head><style>p { color: red }</style></head><p class=3D"x">100 =C2=A3 &amp; m=
ore &eacute;&#233;&#x1F411;</p><script>var hidden</script><!-- not -->
--YY--
--XX=_1
Content-Type: application/pdf; name=bill.pdf
Content-Disposition: attachment; filename*=utf-8''bill%C3%A9.pdf

JVBERi0=
--XX=_1--
""",
    b"""Subject: the meeting
From: bob@example.org
Content-Type: text/plain; charset=windows-1252

caf\xe9 at noon, we meet \x80 there
>From here on
""",
    b"""Subject: fwd
Content-Type: message/rfc822

Subject: inner
Content-Type: text/html

<b>bold &lt; words</b>
""",
    b"just a text, without a head\nof two lines\n",
)


def _mailbox(messages: list[bytes], chance: random.Random) -> bytes:
    end = chance.choice([b"\n", b"\n", b"\r\n"])
    pieces = [b"From ann@example.org Mon Jan  1 10:00:00 2001\n" + message + b"\n" for message in messages]
    return b"".join(pieces).replace(b"\n", end)


@dataclass(frozen=True)
class MailFiles:
    """Two classes of mail, as two mailboxes, or as two folders of messages, which may be Maildirs."""

    name: str
    refusals: tuple[type[Exception], ...] = (BayesboxError,)

    def make(self, chance: random.Random, folder: Path) -> Path:
        path = folder / "mutant"
        shutil.rmtree(path, ignore_errors=True)
        self._write(path, [damaged(text, chance) for text in chance.choices(MESSAGES, k=3)], chance)
        return path

    def originals(self, folder: Path) -> list[Path]:
        path = folder / "whole"
        shutil.rmtree(path, ignore_errors=True)
        self._write(path, list(MESSAGES), random.Random(0))
        return [path]

    def _write(self, path: Path, messages: list[bytes], chance: random.Random) -> None:
        path.mkdir()
        for label, kept in (("ham", [MESSAGES[1]]), ("spam", messages)):
            if self.name == "mbox":
                box = _mailbox(kept, chance)
                (path / f"{label}.mbox").write_bytes(damaged(box, chance) if chance.random() < 0.3 else box)
                continue
            into = path / label
            if chance.random() < 0.5:
                for part in ("new", "tmp"):
                    (into / part).mkdir(parents=True)
                into /= "cur"
            into.mkdir(parents=True)
            for number, message in enumerate(kept):
                (into / f"{number}.eml").write_bytes(message)

    def feed(self, path: Path) -> None:
        for file in path.rglob("*"):
            if file.is_file() and self.name == "maildir":
                raw = file.read_bytes()
                whole = parsed_text(raw).encode("utf-8", errors="replace").decode()
                require(message_text(raw) == whole, "the core reads another text than the full parser")
        model = bb.train(str(path), model=bb.TextClassifier())
        texts = ["cheap pills", "the meeting at noon", ""]
        require_probabilities(model.predict_proba(texts))
        model.explain(texts)
        data = to_bytes(model.classifier_)
        require(to_bytes(from_bytes(data)) == data, "a model that was loaded is saved as other bytes")
