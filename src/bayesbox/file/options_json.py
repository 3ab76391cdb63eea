"""Options in the JSON document of a model file, written and read by the fields of their dataclass.

Every value is checked for its type, and an unknown key is an error: nothing in a file is ignored.
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
    """The mapping with one key moved after another."""
    moved: Json = {}
    for key, value in written.items():
        if key != name:
            moved[key] = value
        if key == after:
            moved[name] = written[name]
    return moved


def options_from_json(cls: type[T], written: object, where: str = "rules") -> T:
    """The options in a file; ValueError if they are not valid."""
    reader = Reader(written, where)
    found = options_from_reader(cls, reader)
    reader.done()
    return found


def options_from_reader(cls: type[T], reader: Reader) -> T:
    """The options from a reader, consuming their keys."""
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
