"""Detecting the type of a file from its first bytes, for messages about a file of the wrong kind."""

from __future__ import annotations

import codecs
import os
import re
from typing import NamedTuple

from bayesbox.described import Advice, Remedy, parameter, pasted
from bayesbox.errors import BadData

SEEN = 512  # bytes of the beginning of a file that decide
ZIP, MODEL_NAME = b"PK\3\4", b"model.json"  # how a model begins: a zip archive, whose first member has this name
NAME_START = 30  # where the name of the first member of a zip archive begins
MARK = b"\xef\xbb\xbf"  # of UTF-8
NETWORK = re.compile(
    rb"""\s*(?: \{\s*"format":\s*"bayesbox\ network"  # JSON
    | network\s+[^\s{,;]+\s*\{                         # BIF
    | net\s*\{\s                                       # Hugin
    | (?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE\s+BIF|<!--[^>]*-->\s*<BIF|<BIF[\s>]|<smile[\s>])
    )""",
    re.VERBOSE,
)
UAI = re.compile(rb"\s*(?:BAYES|MARKOV)\s+\d")
CERTIFICATE = re.compile(rb'\s*\{\s*"format":\s*"bayesbox (?:service )?certificate')
HMM_TABLES = re.compile(rb'\s*\{\s*"(?:start|states|symbols)":\s*[\[{].*"transition":', re.DOTALL)
HTML = re.compile(rb"\s*<(?:!doctype html|html)[\s>]", re.IGNORECASE)
SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]")
XML = re.compile(rb"\s*<\?xml\s")
PICTURE = re.compile(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP", re.DOTALL)
CERTIFICATE_FILE = "the certificate of a forget"
TABLE = "Pass a table: CSV, JSON lines, Parquet, Arrow or an Excel workbook"


class KnownFile(NamedTuple):
    """A kind of file: its name with an article, what to do with one if that is clear, and the format of a table."""

    what: str
    remedy: Advice | None = None
    format: str | None = None


def known_file(beginning: bytes, name: str) -> KnownFile | None:
    """The kind of a file that begins with these bytes; None if they are not typical of one.

    >>> known_file(b"network asia {\\n}", "asia.bif").what, known_file(b"age,car\\n25,suv\\n", "cars.csv")
    ('a Bayesian network', None)
    """
    return _bayesbox_file(beginning.removeprefix(MARK), name) or _other_file(beginning.removeprefix(MARK), name)


def _bayesbox_file(beginning: bytes, name: str) -> KnownFile | None:
    file = pasted(name)
    if is_model(beginning):
        shown = f"Pass the model first, then the data. To print a model: bayes show {file}"
        return KnownFile("a bayesbox model", Remedy("Pass the rows; `bayesbox.load` reads a model", shown))
    if NETWORK.match(beginning) or (name.lower().endswith(".uai") and UAI.match(beginning)):
        queried = f"Query it: bayes query {file} 'P(NODE)', or print it: bayes network show {file}"
        return KnownFile("a Bayesian network", Remedy("Read it with `bayesbox.read_network`", queried))
    if CERTIFICATE.match(beginning):
        return KnownFile(CERTIFICATE_FILE, f"Check it: bayes verify {file} MODEL")
    if HMM_TABLES.match(beginning):
        trained = f"Make a model of them: bayes hmm train --tables {file} -o MODEL"
        return KnownFile("the tables of a hidden Markov model", Remedy("Use `HiddenMarkovModel.from_tables`", trained))
    return None


def _other_file(beginning: bytes, name: str) -> KnownFile | None:
    if HTML.match(beginning):
        return KnownFile("an HTML page, such as a report", "Open it in a browser")
    if PICTURE.match(beginning) or SVG.match(beginning):
        return KnownFile("a picture")
    if XML.match(beginning):
        return KnownFile("an XML file")
    if beginning.startswith(b"%PDF-"):
        return KnownFile("a PDF document")
    if beginning.startswith(b"-----BEGIN "):
        return KnownFile("a key or certificate in PEM format")
    if beginning.startswith(b"\xd0\xcf\x11\xe0"):
        return KnownFile("an Excel workbook from before 2007", "Save it as .xlsx or CSV")
    if beginning.startswith(b"\xfd7zXZ"):
        return KnownFile("a file compressed with xz", f"Unpack it: xz -d -c {pasted(name)} | bayes ... -")
    if beginning.startswith(b"SQLite format 3"):
        queried = "Query it with " + Remedy("bb.sql", "--sql and --database")
        return KnownFile("a database", queried + ". The store of a service: bayes events DIR NAME writes its events")
    return _table_file(beginning, name)


def _table_file(beginning: bytes, name: str) -> KnownFile | None:
    """A table in a binary format, for a reader of something else."""
    if beginning.startswith(ZIP):
        return KnownFile("a zip archive, such as an Excel workbook", _trained(name), "excel")
    if beginning.startswith(b"PAR1"):
        return KnownFile("a table in Parquet format", _trained(name), "parquet")
    if beginning.startswith((b"ARROW1", b"FEA1")):
        return KnownFile("a table in Arrow format", _trained(name), "arrow")
    return None


def text_file(beginning: bytes, name: str) -> KnownFile | None:
    """A text in UTF-8, such as a table, for a reader of something else; None if the bytes are not text.

    >>> text_file("âge,car\\n25,suv\\n".encode(), "cars.csv").what, text_file(b"\\0\\1", "cars.csv")
    ('a text file, such as a table', None)
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(beginning)  # the last character may be cut
    except UnicodeDecodeError:
        return None
    if not text or not re.sub(r"[\r\n\t\ufeff]", " ", text).isprintable():
        return None
    return KnownFile("a text file, such as a table", _trained(name), "csv")


def is_model(beginning: bytes) -> bool:
    """Whether a file that begins with these bytes is a bayesbox model.

    >>> is_model(b"PK\\3\\4" + bytes(26) + b"model.json"), is_model(b"age,car")
    (True, False)
    """
    return beginning.startswith(ZIP) and beginning[NAME_START:].startswith(MODEL_NAME)


def kind_of_file(path: str) -> KnownFile | None:
    """The kind of a file that exists; None if it is not typical of one. OSError if it cannot be read."""
    with open(path, "rb") as file:
        return known_file(file.read(SEEN), path)


def refuse_others(beginning: bytes, name: str, *, text: bool = True) -> None:
    """Raise BadData if a file that is to be read as a table is of another kind, or is a table that is not `text`."""
    known = known_file(beginning, name)
    if known is None:
        return
    if known.format is None:
        raise BadData(f"this is {known.what}, not a table", where=name, remedy=known.remedy or TABLE)
    if text:
        remedy = "Pass the format: " + parameter("format", known.format)
        raise BadData(f"this is {known.what}, not a text table", where=name, remedy=remedy)


def require_table(path: str) -> None:
    """Raise BadData if a file exists and is known not to be a table."""
    if os.path.isfile(path):  # whoever opens a folder, a pattern or an address reports what is wrong
        with open(path, "rb") as file:
            refuse_others(file.read(SEEN), path, text=False)


def _trained(name: str) -> Remedy:
    return Remedy(
        f"Train a model on it: bayesbox.train({name!r}, target=...)",
        f"Pass the model first, then the data. To train a model: bayes train {pasted(name)} -t COLUMN",
    )
