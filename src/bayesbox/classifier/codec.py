"""Save a classifier to a file, and load it: the tallies with it, so that it goes on learning.

The same model gives the same bytes: neither a time nor a path nor the order of learning is in them. Loading runs
nothing that the file brings along; a file that is damaged, newer or crafted is refused with the place of the fault.
"""

from __future__ import annotations

import os
from typing import Any

import bayesbox
from bayesbox.classifier.base import Classifier
from bayesbox.classifier.calibrated import calibrated_from_json
from bayesbox.classifier.registry import kind_in_file
from bayesbox.classifier.schema_json import (
    declared_from_json,
    declared_to_json,
    fold_from_json,
    schema_from_json,
    schema_to_json,
)
from bayesbox.errors import BadData, BadModelFile, file_name
from bayesbox.file import container
from bayesbox.file import document as model_document
from bayesbox.file.atomic import replacing as replacing
from bayesbox.file.document import MODEL
from bayesbox.file.reader import Reader
from bayesbox.file.strict_json import document
from bayesbox.schema.kinds import Category, Count, CountGroup, Flag, Kind, Number, Real, Words
from bayesbox.schema.levels import LABEL_TYPES, label_values, level_text
from bayesbox.schema.schema import Schema
from bayesbox.table.naive import given_tables
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.book import Book
from bayesbox.tally.codec import book as tally_tables
from bayesbox.tally.codec import joint as joint_tables
from bayesbox.tally.codec import values as value_tables
from bayesbox.tally.codec.columns import MOST_CELLS
from bayesbox.tally.values import Values

FORMAT = 1
HIDDEN_MARKOV = "hidden-markov"  # the kind of another file


def save(classifier: Classifier, path: str | os.PathLike[str]) -> None:
    """Write a classifier to a file, whole or not at all."""
    model_document.write(to_bytes(classifier), path)


def load(path: str | os.PathLike[str]) -> Any:
    """The classifier of a file."""
    return from_bytes(container.read(path), name=file_name(path))


def to_bytes(classifier: Classifier) -> bytes:
    """A classifier as the bytes of a file."""
    schema, book = classifier.schema, classifier.book
    if schema is None:
        raise BadData("nothing was learned yet, so there is nothing to save")
    label_type = given_tables.label_type(classifier.model) if classifier.fixed else book.label_type
    written = {
        "format": FORMAT,
        "kind": classifier.kind,
        "bayesbox": bayesbox.__version__,
        "digest": book.digest(),
        "fixed": classifier.fixed,
        "target": None if classifier.target is None else str(classifier.target),
        "label_type": label_type,
        "classes": sorted(schema.classes),
        "rules": classifier.rules_to_json(),
        "fold": {name: list(classifier.fold[name]) for name in sorted(classifier.fold)},
        "declared": declared_to_json(classifier.declared),
        "columns": schema_to_json(schema),
    }
    derived = classifier.derived_to_json()
    if derived is not None:
        written["derived"] = derived
    if classifier.calibrated is not None:
        written["calibration"] = classifier.calibrated.to_json()
    try:
        _require_consistent(schema, book, label_type)
        if classifier.fixed:
            tables = given_tables.members(classifier.model, schema)
        else:
            tables = tally_tables.members(book) | value_tables.members(book) | joint_tables.members(book)
        members = {MODEL: document(written), **tables, **classifier.derived_members()}
        size = sum(len(content) for content in members.values())
        if size > container.LIMIT - (1 << 16):
            raise ValueError(f"it has {size} bytes, and a model file at most {container.LIMIT}")
        return container.pack(members)
    except UnicodeEncodeError as error:
        raise BadData("a name is not Unicode text, so the model cannot be saved", found=error.object) from None
    except ValueError as error:
        if isinstance(error, BadData):
            raise
        raise BadData(f"this model cannot be saved: {error}") from error


def from_bytes(data: bytes, *, name: str = "model") -> Any:
    """The classifier of the bytes of a file; `name` is the file's, for messages."""
    return model_document.read(
        data, lambda reader, members: _classifier(_kind(reader, name), reader, members), name=name
    )


def _kind(reader: Reader, name: str) -> type[Classifier]:
    """The kind of classifier that the file holds, in a format that is known."""
    version, kind = reader.take("format", int), reader.take("kind", str)
    if version > FORMAT:
        raise BadModelFile(
            f"the file has format {version}, and this version of bayesbox reads formats up to {FORMAT}",
            where=f"{name}, {MODEL}",
            found=f"format {version}, written by bayesbox {reader.rest.get('bayesbox')}",
            remedy="Upgrade bayesbox: pip install --upgrade bayesbox",
        )
    if version < 1:
        raise ValueError(f"there is no format {version}")
    classifier = kind_in_file(kind)
    if classifier is None or not issubclass(classifier, Classifier):
        raise BadModelFile(
            "the file holds no classifier of tables that is known here",
            where=f"{name}, {MODEL}",
            found=kind,
            remedy="`bayes hmm` takes it, and bayesbox.HiddenMarkovModel.load"
            if kind == HIDDEN_MARKOV
            else "Load it with the kind of model that it was saved from, or upgrade bayesbox",
        )
    return classifier


def _classifier(kind: type[Classifier], reader: Reader, tables: dict[str, bytes]) -> Classifier:
    reader.take("bayesbox", str)
    digest, fixed = reader.take("digest", str), reader.take("fixed", bool)
    target, label_type = reader.take("target", str, None), reader.take("label_type", str)
    rules = kind.rules_from_json(reader.take("rules", dict))
    more = {name: tables.pop(name) for name in list(tables) if name.startswith(("pool-", "hypothesis-"))}
    derived = kind.derived_from_members(reader.take_if_present("derived", dict), more)
    calibration = reader.take_if_present("calibration", dict)
    fold = fold_from_json(reader.take("fold", dict))
    declared = declared_from_json(reader.take("declared", list, None))
    classes = reader.texts("classes")
    schema = schema_from_json(reader.take("columns", list), classes, numeric=kind.density_of_numbers(rules))
    reader.done()
    if label_type not in LABEL_TYPES:
        raise ValueError(f"the label type {label_type!r} is unknown")
    _require_members(tables, given_tables.MEMBERS if fixed else _tally_members(), fixed)
    classifier: Classifier
    if fixed:
        if kind is not NaiveClassifier:
            raise ValueError(f"no {kind.title} is made of given tables")
        model = given_tables.model_of(tables, schema, label_type)
        classifier = NaiveClassifier.of_model(model, schema)
        classifier.rules = rules
    else:
        classifier = kind(rules)
        book = tally_tables.book_of(tables, label_type, tuple(schema.kinds))
        classifier.accept(schema, joint_tables.completed(value_tables.completed(book, tables), tables))
        classifier.derived = derived
    classifier.declared, classifier.fold, classifier.target = declared, fold, target
    _require_consistent(schema, classifier.book, label_type)
    if classifier.book.digest() != digest:
        raise ValueError("the digest is not that of the tallies")
    if calibration is not None:
        classifier.calibrated = calibrated_from_json(calibration)
        classifier.calibrate = classifier.calibrated.calibration.kind
        if classifier.calibrated.classes != classifier.classes:
            raise ValueError("the calibration is one of other classes")
    return classifier


def _tally_members() -> tuple[str, ...]:
    joint = (f"{form}.arrow" for form in sorted(joint_tables.FORMS))
    return (*tally_tables.member_names(), *joint, value_tables.MEMBER)


def _require_members(tables: dict[str, bytes], known: tuple[str, ...], fixed: bool) -> None:
    for member in tables:
        if member not in known:
            raise ValueError(member, "no such member belongs to this model")
    for member in known if fixed else known[:1]:
        if member not in tables:
            raise ValueError(member, "the member is not there")


_FORMS_OF: dict[type[Kind], str] = {
    Category: "counts",
    Flag: "counts",
    Real: "moments",
    Number: "moments",
    Count: "moments",
    CountGroup: "words",
    Words: "words",
}


def _require_consistent(schema: Schema, book: Book, label_type: str) -> None:
    """What a model needs beyond tables that are right in themselves: tallies that fit the kinds of their columns."""
    _require_labels((*book.classes, *schema.classes), label_type)
    for name, tally in book.columns.items():
        kind = schema.kinds.get(name)
        if kind is None:
            raise ValueError(f"there is a tally of the column `{name}`, which is not in the schema")
        form = Values.form if schema.needs_values(name) else _FORMS_OF.get(type(kind), tally.form)
        if form != tally.form:
            raise ValueError(f"column `{name}` is a {kind.name}, and its tally one of {tally.form}")
        if isinstance(kind, Flag) and not {"false", "true"}.issuperset(_levels(tally)):
            raise ValueError(f"column `{name}` is a flag with other levels than false and true")
    for name, kind in schema.kinds.items():
        if isinstance(kind, CountGroup):
            _require_width(name, kind.width, book)


def _levels(tally: Any) -> tuple[str, ...]:
    levels: tuple[str, ...] = tally.levels
    return levels


def _require_width(name: str, width: int, book: Book) -> None:
    if not 0 <= width * max(len(book.classes), 1) <= MOST_CELLS:
        raise ValueError(f"column `{name}` is a group of {width} columns, more than a model takes")
    if name in book:
        for level in _levels(book[name]):
            if not (level.isascii() and level.isdecimal() and str(int(level)) == level and int(level) < width):
                raise ValueError(f"column `{name}` is a group of {width} columns, and {level!r} is none of them")


def _require_labels(texts: tuple[str, ...], label_type: str) -> None:
    try:
        again = [level_text(label) for label in label_values(texts, label_type).tolist()]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"a class is no label of type {label_type}: {error}") from error
    if label_type not in ("text", "moment") and again != list(texts):  # a moment may be finer than Python's
        raise ValueError(f"the classes are not the texts of labels of type {label_type}")
