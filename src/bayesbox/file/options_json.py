"""Options in the document of a model file, written and read by the fields of their dataclass.

Every value is read with its type, and a key that is not known is refused: nothing in a file is passed over.
"""

from __future__ import annotations

from typing import TypeVar

from bayesbox.file.reader import Json, Reader, made
from bayesbox.schema.options import GIVEN, NEVER, SINCE, options_of

T = TypeVar("T")


def options_to_json(given: object) -> Json:
    """The options of a dataclass by name, in the order of its fields."""
    written: Json = {}
    for name, each in options_of(type(given)).items():
        value = getattr(given, name)
        if each.in_file == NEVER or (each.in_file == GIVEN and value is None):
            continue
        written[name] = each.takes.to_json(f"`{name}`", value)
    for name, each in options_of(type(given)).items():
        if each.after is not None:
            written = _moved(written, name, each.after)
    return written


def _moved(written: Json, name: str, after: str) -> Json:
    """The same with one key behind another."""
    moved: Json = {}
    for key, value in written.items():
        if key != name:
            moved[key] = value
        if key == after:
            moved[name] = written[name]
    return moved


def options_from_json(cls: type[T], written: object, where: str = "rules") -> T:
    """The options that a file says; ValueError if it says none."""
    reader = Reader(written, where)
    found = options_from_reader(cls, reader)
    reader.done()
    return found


def options_from_reader(cls: type[T], reader: Reader) -> T:
    """The options that a reader is at; takes their keys."""
    given: Json = {}
    for name, each in options_of(cls).items():
        if each.in_file == NEVER:
            continue
        if each.in_file in (GIVEN, SINCE) and name not in reader.rest:
            continue
        types = each.takes.types if each.in_file != GIVEN else tuple(kind for kind in each.takes.types if kind)
        value = reader.take(name, *types)
        if each.refusal is None:
            given[name] = each.takes.from_json(f"`{name}` of {reader.where}", value)
        elif value != getattr(cls, name):
            raise ValueError(f"{reader.where}: {each.refusal}")
    found: T = made(lambda: cls(**given), reader.where)
    return found
