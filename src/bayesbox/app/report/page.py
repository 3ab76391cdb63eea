"""The page of a report: sections of HTML, documents of the engine, one script and one style; nothing external."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from bayesbox.app.modules import joined, text_of
from bayesbox.file.reader import Json

NUMBER = re.compile(r"[-+]?[\d.,]+( ?%)?")
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


class Section(NamedTuple):
    """A part of a report under a heading; `body` is HTML."""

    title: str
    body: str


def page(title: str, sections: Sequence[Section], documents: Json) -> str:
    """The whole file. Its content security policy allows only this script, and no requests."""
    script = INDENT.sub("", joined("report"))
    style = INDENT.sub("", text_of("style.css"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    )
    held = "\n".join(
        f'<script type="application/json" id="{name}">{embedded(document)}</script>'
        for name, document in documents.items()
    )
    shown = "\n".join(
        f'<section class="bb bb-figure"><h2>{safe(each.title)}</h2>\n{each.body}\n</section>' for each in sections
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{safe(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n"
        f'<body class="bb-page"><header class="bb bb-header"><h1>{safe(title)}</h1></header>\n'
        f'<main class="bb bb-main-view">\n{shown}\n</main>\n{held}\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embedded(document: object) -> str:
    """JSON inside a page, escaped so that it cannot close its element.

    >>> embedded({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def safe(text: object) -> str:
    """A text escaped for HTML."""
    return html.escape(str(text))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """A table; the first cell of a row is its heading."""
    above = f"<caption>{safe(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col">{safe(each)}</th>' for each in heads)
    body = "".join(f'<tr><th scope="row">{safe(first)}</th>{"".join(map(_cell, rest))}</tr>\n' for first, *rest in rows)
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def _cell(value: object) -> str:
    text = str(value)
    kind = "" if NUMBER.fullmatch(text) else ' class="bb-text"'
    return f"<td{kind}>{safe(text)}</td>"
