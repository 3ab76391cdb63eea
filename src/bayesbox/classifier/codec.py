"""A table classifier as the members of a model file, including the tallies, so that it can be trained further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bayesbox.classifier.parts import parts_of
from bayesbox.classifier.registry import kind_in_file
from bayesbox.classifier.schema_json import (
    declared_from_json,
    declared_to_json,
    one_hot_from_json,
    schema_from_json,
    schema_to_json,
)
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.described import Remedy
from bayesbox.errors import BadData
from bayesbox.file.faults import require_members
from bayesbox.file.load import CLASSIFIER
from bayesbox.file.options_json import options_from_json, options_to_json
from bayesbox.file.reader import Json, Reader
from bayesbox.schema.flags import FLAG_LEVELS
from bayesbox.schema.levels import LABEL_TYPES, label_type_of, label_values, level_text
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book
from bayesbox.tally.codec.book import CLASSES, book_from_arrow, book_to_arrow, member_names
from bayesbox.tally.room import require_room_for_levels

IGNORED, MISSING = "ignored", "missing"

HOLDS = CLASSIFIER
LOADED_BY = Remedy("bayesbox.load", "bayes predict, such as: bayes predict MODEL DATA")


def write(classifier: AnyTableClassifier) -> tuple[Json, dict[str, bytes]]:
    """The JSON document of a classifier, and the other members of its file."""
    schema, book = classifier.schema, classifier.book
    if schema is None:
        raise BadData("the model is not trained yet, so there is nothing to save")
    label_type = label_type_of(classifier.model.labels.tolist()) if classifier.fixed else book.label_type
    written = {
        "digest": book.digest(),
        "fixed": classifier.fixed,
        "target": None if classifier.target is None else str(classifier.target),
        "label_type": label_type,
        "classes": sorted(schema.classes),
        "rules": options_to_json(classifier.rules),
        "fold": {name: list(classifier.one_hot[name]) for name in sorted(classifier.one_hot)},
        "declared": declared_to_json(classifier.declared),
        "columns": schema_to_json(schema),
    }
    if schema.ignores_constants:
        written["constants"] = IGNORED
    if classifier.absent != MISSING:
        written["absent"] = classifier.absent
    if classifier.ignore is not None:
        written["ignore"] = {"how": classifier.ignore, "columns": dict(sorted(classifier.ignored.items()))}
    derived = classifier.derived_to_json()
    if derived is not None:
        written["derived"] = derived
    if classifier.target_cuts is not None:
        written["target_bins"] = list(classifier.target_cuts)
    if classifier.calibrated is not None:
        written["calibration"] = classifier.calibrated.to_json()
    if classifier.stale:
        written["learned_at"] = classifier.learned_at
    if classifier.redacted is not None:
        written["redacted"] = classifier.redacted
    _require_consistent(schema, book, label_type)
    if classifier.fixed:
        tables = classifier.given_members()
    else:
        tables = book_to_arrow(book)
    return written, tables | classifier.derived_members()


def parts(classifier: AnyTableClassifier) -> Iterator[type]:
    """The classes used by a classifier that extensions may have registered."""
    yield from parts_of(vars(classifier.rules).values(), classifier.schema, classifier.book)
    yield _class(classifier.kind)


def read(kind: str, reader: Reader, members: dict[str, bytes]) -> AnyTableClassifier:
    """The classifier read from a file."""
    return _classifier(_class(kind), reader, members)


def _class(kind: str) -> type[AnyTableClassifier]:
    found = kind_in_file(kind)
    assert found is not None  # registering a kind of classifier also registers its codec
    assert issubclass(found, TableClassifier)  # and this one is that of tables
    return found


def _is_derived(member: str, kind: type[AnyTableClassifier]) -> bool:
    return bool(kind.derived_prefix) and member.startswith(kind.derived_prefix)


def _classifier(kind: type[AnyTableClassifier], reader: Reader, tables: dict[str, bytes]) -> AnyTableClassifier:
    digest, fixed = reader.take("digest", str), reader.take("fixed", bool)
    target, label_type = reader.take("target", str, None), reader.take("label_type", str)
    rules: Any = options_from_json(kind.options_type, reader.take("rules", dict))
    own = {name: tables.pop(name) for name in list(tables) if _is_derived(name, kind)}
    derived = kind.derived_from_members(reader.take_if_present("derived", dict), own)
    calibration = reader.take_if_present("calibration", dict)
    target_bins = reader.take_if_present("target_bins", list)
    learned_at = reader.take_if_present("learned_at", str)
    redacted = reader.take_if_present("redacted", int)
    one_hot = one_hot_from_json(reader.take("fold", dict))
    declared = declared_from_json(reader.take("declared", list, None))
    classes = reader.texts("classes")
    schema = schema_from_json(reader.take("columns", list), classes, numeric=kind.density_of_numbers(rules))
    schema = replace(schema, ignores_constants=_choice(reader, "constants", IGNORED) is not None)
    absent = _choice(reader, "absent", "error") or MISSING
    ignore, ignored = _ignored(reader.take_if_present("ignore", dict), schema)
    reader.done()
    if label_type not in LABEL_TYPES:
        raise ValueError(f"unknown label type {label_type!r}")
    if fixed:
        classifier = kind.from_given_members(tables, schema, label_type).changed(rules=rules)
    else:
        require_members(tables, known=member_names(tables), needed=(CLASSES,))
        classifier = kind(rules)
        classifier.accept(schema, book_from_arrow(tables, label_type, tuple(schema.kinds)))
        classifier = classifier.changed(derived=derived)
    classifier = classifier.changed(
        declared=declared,
        one_hot=one_hot,
        target=target,
        redacted=redacted,
        learned_at=learned_at,
        absent=absent,
        ignore=ignore,
        ignored=ignored,
    )
    if target_bins is not None:
        from bayesbox.classifier.target.bins import cuts_from_json

        classifier = classifier.changed(target_cuts=cuts_from_json(target_bins))
    _require_consistent(schema, classifier.book, label_type)
    if classifier.book.digest() != digest:
        raise ValueError("the digest does not match the tallies")
    if not fixed:
        classifier.require_consistent()
    if calibration is None:
        return classifier
    from bayesbox.classifier.calibrated import calibrated_from_json

    calibrated = calibrated_from_json(calibration)
    if calibrated.classes != classifier.classes:
        raise ValueError("the calibration has other classes")
    if not calibrated.fits(tuple(schema.kinds) if classifier.weighs_columns else ()):
        raise ValueError("the calibration has weights for other columns")
    return classifier.changed(calibrated=calibrated, calibrate=calibrated.asked)


def _choice(reader: Reader, name: str, only: str) -> str | None:
    """An optional text with a single valid value."""
    found: str | None = reader.take_if_present(name, str)
    if found not in (None, only):
        raise ValueError(f"{name} is {found!r}, but must be {only}")
    return found


def _ignored(written: Json | None, schema: Schema) -> tuple[str | None, dict[str, str]]:
    """The option `ignore`, and the ignored identifiers, each with the reason."""
    if written is None:
        return None, {}
    reader = Reader(written, "ignore")
    how, columns = _choice(reader, "how", "auto"), reader.take("columns", dict)
    reader.done()
    for name, reason in columns.items():
        if name not in schema.kinds or type(reason) is not str:
            raise ValueError(f"`{name}` is ignored, but it is not a column, or has no reason")
    return how, columns


def _require_consistent(schema: Schema, book: Book, label_type: str) -> None:
    """Raise an error unless the tallies match the types of their columns."""
    _require_labels((*book.classes, *schema.classes), label_type)
    forms = schema.tally_forms(name for name in book.columns if name in schema.kinds)
    for name, tally in book.columns.items():
        kind = schema.kinds.get(name)
        if kind is None:
            raise ValueError(f"there is a tally for the column `{name}`, which is not in the schema")
        if forms[name] not in (None, tally.form):
            raise ValueError(f"column `{name}` is a {kind.name}, but its tally is for {tally.form}")
        if kind.is_flag and not set(FLAG_LEVELS).issuperset(_levels(tally)):
            raise ValueError(f"column `{name}` is a flag, but its levels are not false and true")
    for name, kind in schema.kinds.items():
        if kind.width is not None:
            _require_width(name, kind.width, book)


def _levels(tally: Any) -> tuple[str, ...]:
    levels: tuple[str, ...] = tally.levels
    return levels


def _require_width(name: str, width: int, book: Book) -> None:
    if width < 0:
        raise ValueError(f"column `{name}` is a group of {width} columns")
    require_room_for_levels(len(book.classes), {name: width})
    if name in book:
        for level in _levels(book[name]):
            if not (level.isascii() and level.isdecimal() and str(int(level)) == level and int(level) < width):
                raise ValueError(f"column `{name}` is a group of {width} columns, and {level!r} is not one of them")


def _require_labels(texts: tuple[str, ...], label_type: str) -> None:
    try:
        again = [level_text(label) for label in label_values(texts, label_type).tolist()]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"a class is not a label of type {label_type}: {error}") from error
    if label_type not in ("text", "moment") and again != list(texts):  # a timestamp may be finer than Python's
        raise ValueError(f"the classes are not the texts of labels of type {label_type}")
