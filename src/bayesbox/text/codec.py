"""A document classifier as the members of a model file, including the tallies, so that it can be trained further."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayesbox.classifier.calibrated import calibrated_from_json
from bayesbox.classifier.parts import parts_of
from bayesbox.described import Remedy
from bayesbox.file.faults import MemberFault, require_members
from bayesbox.file.load import CLASSIFIER
from bayesbox.file.options_json import options_from_json, options_to_json
from bayesbox.file.reader import Json, Reader
from bayesbox.schema.kinds import CountGroup, Words
from bayesbox.schema.levels import LABEL_TYPES
from bayesbox.schema.schema import Schema
from bayesbox.schema.tokens import Tokens
from bayesbox.tally.book import Book
from bayesbox.tally.codec.book import CLASSES, book_from_arrow, book_to_arrow
from bayesbox.tally.documents import DOCUMENTS, THRICE, TWICE, WORDS
from bayesbox.tally.ledger import Ledger
from bayesbox.tally.words import WordCounts
from bayesbox.text.choice import Settled
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.model import Strength
from bayesbox.text.options import TextOptions

HOLDS = CLASSIFIER
LOADED_BY = Remedy("bayesbox.load", "bayes predict, such as: bayes predict MODEL DATA")


def write(classifier: DocumentClassifier) -> tuple[Json, dict[str, bytes]]:
    """The JSON document of a classifier, and the other members of its file."""
    strength = classifier.settled.strength
    written = {
        "digest": classifier.book.digest(),
        "target": classifier.target,
        "column": classifier.column,
        "width": classifier.width,
        "label_type": classifier.book.label_type,
        "classes": sorted(classifier.schema.classes if classifier.schema else ()),
        "tokens": options_to_json(classifier.tokens),
        "dropped": classifier.dropped,
        "strength": None if strength is None else [float(each) for each in strength],
        "rules": options_to_json(classifier.rules),
    }
    if classifier.redacted is not None:
        written["redacted"] = classifier.redacted
    if classifier.settled.chosen:
        written["chosen"] = list(classifier.settled.chosen)
    if classifier.calibrated is not None:
        written["calibration"] = classifier.calibrated.to_json()
    return written, book_to_arrow(classifier.book)


def parts(classifier: DocumentClassifier) -> Iterator[type]:
    """The classes used by a classifier that extensions may have registered."""
    return parts_of(vars(classifier.rules).values(), None, classifier.book)


def read(_kind: str, reader: Reader, tables: dict[str, bytes]) -> DocumentClassifier:
    """The classifier read from a file."""
    digest, label_type = reader.take("digest", str), reader.take("label_type", str)
    rules = options_from_json(TextOptions, reader.take("rules", dict))
    tokens = options_from_json(Tokens, reader.take("tokens", dict), "tokens")
    target, column = reader.take("target", str, None), reader.take("column", str, None)
    width, classes = reader.take("width", int, None), reader.texts("classes")
    dropped = reader.take("dropped", int)
    if dropped < 0:
        raise ValueError("the number of dropped words is negative")
    redacted = reader.take_if_present("redacted", int)
    strength = _strength(reader.take("strength", list, None))
    chosen = tuple(reader.take_if_present("chosen", list) or ())
    calibration = reader.take_if_present("calibration", dict)
    reader.done()
    if label_type not in LABEL_TYPES:
        raise ValueError(f"unknown label type {label_type!r}")
    require_members(tables, known=(CLASSES, *WordCounts.members, Ledger.member), needed=(CLASSES,))
    book = book_from_arrow(tables, label_type, (WORDS, DOCUMENTS, TWICE, THRICE))
    classifier = DocumentClassifier(rules, tokens, column=column, target=target)
    _require_consistent(book, width, often=classifier.often)
    if rules.occurrence == "position":
        _require_places(book)
    if book.digest() != digest:
        raise ValueError("the digest does not match the tallies")
    kind = Words() if width is None else CountGroup(width=width)
    if not all(each in ("occurrence", "phrases") for each in chosen):
        raise ValueError("an option was chosen that cannot be chosen")
    settled = Settled(strength=strength, chosen=chosen)
    classifier = classifier.changed(
        schema=Schema({classifier.text_column: kind}, classes=classes),
        book=book,
        derived=None if settled == Settled() else settled,
        dropped=dropped,
        redacted=redacted,
        ledger=book.ledger is not None,
    )
    if calibration is None:
        return classifier
    calibrated = calibrated_from_json(calibration)
    if calibrated.classes != classifier.classes:
        raise ValueError("the calibration has other classes")
    return classifier.changed(calibrated=calibrated)


def _require_consistent(book: Book, width: int | None, *, often: bool) -> None:
    several = [name for name in (TWICE, THRICE) if name in book]
    if set(book) - set(several) not in (set(), {WORDS, DOCUMENTS}) or (several and not often):
        raise MemberFault("words.arrow", f"the tallies are not {WORDS} and {DOCUMENTS}")
    if not len(book):
        return
    for name, fewer in ((TWICE, DOCUMENTS), (THRICE, TWICE)):
        if name in book and (fewer not in book or not (book[fewer] - book[name]).is_possible()):
            raise MemberFault("words.arrow", f"more documents are counted in {name} than in {fewer}")
    words, holders = book[WORDS], book[DOCUMENTS]
    if words.levels != holders.levels:
        raise MemberFault("words.arrow", "the words of the two tallies differ")
    if width is not None and any(
        not (word.isascii() and word.isdecimal() and str(int(word)) == word and int(word) < width)
        for word in words.levels
    ):
        raise MemberFault("words.arrow", f"a word is not one of {width} columns")


def _require_places(book: Book) -> None:
    """Check that words with positions are written like `1 kiwi`."""
    for level in book[WORDS].levels if WORDS in book else ():
        place, _, word = level.partition(" ")
        if not (word and place.isascii() and place.isdecimal() and len(place) < 10 and str(int(place)) == place != "0"):
            raise MemberFault("words.arrow", f"{level!r} is not a word with its position")


def _strength(value: list[Any] | None) -> Strength | None:
    if value is None:
        return None
    if len(value) != 2 or not all(type(each) is float and 0 <= each < float("inf") for each in value):
        raise ValueError("the strength of words must be two non-negative numbers")
    return Strength(*value)
