"""The schema in `model.json`: the columns and their types, the declarations.

The type of every value is checked, and an unknown key is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbox.file.options_json import options_from_reader, options_to_json
from bayesbox.file.reader import Json, Reader
from bayesbox.schema.kinds import BY_NAME, CountGroup, DatePart, Kind, Number, Unknown, as_kind
from bayesbox.schema.schema import Schema

INFERRED: dict[str, type[Kind]] = {
    "number": Number,
    "count-group": CountGroup,
    "unknown": Unknown,
    "date-part": DatePart,
}
"""The kinds that are only detected, not declared."""
_INFERRED_NAMES = {kind: name for name, kind in INFERRED.items()}


def kind_to_json(kind: Kind) -> Json:
    """The JSON of a kind: its name and options; `missing` only if it is not the model's default."""
    return {"kind": _INFERRED_NAMES.get(type(kind)) or kind.name} | options_to_json(kind)


def kind_from_json(reader: Reader) -> Kind:
    """The kind at the reader's position; consumes its keys."""
    name = reader.take("kind", str)
    kind = INFERRED.get(name) or BY_NAME.get(name)
    if kind is None:
        raise ValueError(f"{reader.where} has the unknown kind {name!r}")
    return options_from_reader(kind, reader)


# -- schema ----------------------------------------------------------------------------------------------------------


def schema_to_json(schema: Schema) -> list[Json]:
    """The JSON of the columns in order."""
    return [
        {"name": name} | kind_to_json(kind) | ({"declared": True} if name in schema.declared else {})
        for name, kind in schema.kinds.items()
    ]


def schema_from_json(columns: list[Any], classes: tuple[str, ...], *, numeric: str = "gaussian") -> Schema:
    """The schema of these columns."""
    kinds: dict[str, Kind] = {}
    declared: set[str] = set()
    plain: dict[str, Kind] = {}  # cached by name for kinds without options: a table may have thousands of columns
    for index, column in enumerate(columns):
        if isinstance(column, dict) and column.keys() == {"name", "kind"} and type(column["name"]) is str:
            known = plain.get(column["kind"]) if type(column["kind"]) is str else None
            if known is not None:
                kinds[column["name"]] = known
                continue
        reader = Reader(column, f"column {index + 1}")
        name = reader.take("name", str)
        kinds[name] = kind_from_json(reader)
        if reader.take_if_present("declared", bool):
            declared.add(name)
        reader.done()
        if column.keys() == {"name", "kind"}:
            plain[column["kind"]] = kinds[name]
    if len(kinds) < len(columns):
        raise ValueError("two columns have the same name")
    if list(classes) != sorted(set(classes)):
        raise ValueError("the declared classes are not sorted")
    return Schema(kinds, frozenset(declared), classes, numeric)


def declared_to_json(declared: Mapping[Any, object] | None) -> list[Json] | None:
    """The JSON of the declared columns, by name or position."""
    if declared is None:
        return None
    by_key = {key if _is_position(key) else str(key): as_kind(kind) for key, kind in declared.items()}
    keys = sorted(by_key, key=lambda key: (isinstance(key, str), key))
    return [{"column": key} | kind_to_json(by_key[key]) for key in keys]


def _is_position(key: object) -> bool:
    return isinstance(key, int) and not isinstance(key, bool)


def declared_from_json(written: list[Any] | None) -> dict[Any, Kind] | None:
    """The declared kinds from JSON."""
    if written is None:
        return None
    declared: dict[Any, Kind] = {}
    for index, item in enumerate(written):
        reader = Reader(item, f"declaration {index + 1}")
        key = reader.take("column", str, int)
        declared[key] = kind_from_json(reader)
        reader.done()
    if len(declared) < len(written):
        raise ValueError("a column is declared twice")
    return declared


def one_hot_from_json(written: Json) -> dict[str, tuple[str, ...]]:
    """The flags of each one-hot group; the file calls them `fold`."""
    reader = Reader(written, "fold")
    one_hot = {name: reader.texts(name) for name in written}
    if any(not flags or len(set(flags)) < len(flags) for flags in one_hot.values()):
        raise ValueError("a one-hot group has no flags, or a flag twice")
    return one_hot
