"""What `model.json` says of a model: the columns and their kinds, the declarations, the rules.

Every value is read with its type, and a key that is not known is refused: nothing in a file is passed over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from bayesbox.file.reader import Json, Reader, made, number
from bayesbox.rule.naive import Rules
from bayesbox.rule.rules_json import prior_from_json, prior_to_json, smoothing_from_json, smoothing_to_json
from bayesbox.schema.kinds import BY_NAME, CountGroup, Kind, Number, Unknown, as_kind
from bayesbox.schema.schema import Schema

KINDS: dict[str, type[Kind]] = BY_NAME | {"number": Number, "count-group": CountGroup, "unknown": Unknown}
_KIND_NAMES = {kind: name for name, kind in KINDS.items()}


def kind_to_json(kind: Kind) -> Json:
    """A kind by its name, with its options; `missing` only where it is not left to the model."""
    written: Json = {"kind": _KIND_NAMES[type(kind)]}
    for option in dataclasses.fields(kind):
        value = getattr(kind, option.name)
        if option.name in ("missing", "group"):
            if value is not None:
                written[option.name] = value
        elif option.name == "levels":
            written["levels"] = None if value is None else list(value)
        elif isinstance(value, tuple):
            written[option.name] = list(value)
        elif option.name == "floor":
            written["floor"] = number(value, "a variance floor")
        else:
            written[option.name] = value
    return written


def kind_from_json(reader: Reader) -> Kind:
    """The kind that a reader is at; takes its keys."""
    name = reader.take("kind", str)
    kind = KINDS.get(name)
    if kind is None:
        raise ValueError(f"{reader.where} has the unknown kind {name!r}")
    options: Json = {"missing": reader.take_if_present("missing", str)}
    for option in dataclasses.fields(kind):
        if option.name == "missing":
            continue
        if option.name == "group":
            options["group"] = reader.take_if_present("group", str)
            continue
        if option.name == "levels":
            given = reader.take("levels", list, None)
            if given is not None and not all(type(level) is str for level in given):
                raise ValueError(f"`levels` of {reader.where} is not a list of texts")
            if given is not None and given != sorted(set(given)):
                raise ValueError(f"`levels` of {reader.where} are not in order")
            options["levels"] = given
        elif option.name == "top":
            options["top"] = reader.take("top", int, None)
        elif option.name == "phrases":
            options["phrases"] = tuple(reader.take("phrases", list))
        elif option.name == "stop_words":
            options["stop_words"] = reader.texts("stop_words")
        else:
            options[option.name] = reader.take(option.name, *_OPTION_TYPES[option.name])
    result: Kind = made(lambda: kind(**options), reader.where)
    return result


_OPTION_TYPES: dict[str, tuple[type | None, ...]] = {
    "density": (str, None),
    "floor": (float,),
    "width": (int,),
    "occurrence": (str,),
    "shortest": (int,),
}


# -- schema ----------------------------------------------------------------------------------------------------------


def schema_to_json(schema: Schema) -> list[Json]:
    """The columns in their order."""
    return [
        {"name": name} | kind_to_json(kind) | ({"declared": True} if name in schema.declared else {})
        for name, kind in schema.kinds.items()
    ]


def schema_from_json(columns: list[Any], classes: tuple[str, ...], *, numeric: str = "gaussian") -> Schema:
    """The schema of these columns."""
    kinds: dict[str, Kind] = {}
    declared: set[str] = set()
    for index, column in enumerate(columns):
        reader = Reader(column, f"column {index + 1}")
        name = reader.take("name", str)
        kinds[name] = kind_from_json(reader)
        if reader.take_if_present("declared", bool):
            declared.add(name)
        reader.done()
    if len(kinds) < len(columns):
        raise ValueError("two columns have the same name")
    if list(classes) != sorted(set(classes)):
        raise ValueError("the declared classes are not in order")
    return Schema(kinds, frozenset(declared), classes, numeric)


def declared_to_json(declared: Mapping[Any, object] | None) -> list[Json] | None:
    """What the user declared of the columns, by name or position."""
    if declared is None:
        return None
    by_key = {key if _is_position(key) else str(key): as_kind(kind) for key, kind in declared.items()}
    keys = sorted(by_key, key=lambda key: (isinstance(key, str), key))
    return [{"column": key} | kind_to_json(by_key[key]) for key in keys]


def _is_position(key: object) -> bool:
    return isinstance(key, int) and not isinstance(key, bool)


def declared_from_json(written: list[Any] | None) -> dict[Any, Kind] | None:
    """The declarations, with kinds for whatever stood for them."""
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


def fold_from_json(written: Json) -> dict[str, tuple[str, ...]]:
    """The flags of each group that is folded into one category."""
    reader = Reader(written, "fold")
    fold = {name: reader.texts(name) for name in written}
    if any(not flags or len(set(flags)) < len(flags) for flags in fold.values()):
        raise ValueError("a folded group has no flags, or one of them twice")
    return fold


# -- rules -----------------------------------------------------------------------------------------------------------


def rules_to_json(rules: Rules) -> Json:
    chosen = {"select": rules.select, "column_weights": rules.column_weights}
    return {
        "smoothing": smoothing_to_json(rules.smoothing),
        "prior_smoothing": None if rules.prior_smoothing is None else smoothing_to_json(rules.prior_smoothing),
        "prior": None if rules.prior is None else prior_to_json(rules.prior),
        "numeric": rules.numeric,
        "missing": rules.missing,
        "unseen": rules.unseen,
        **{key: value for key, value in chosen.items() if value is not None},
    }


def rules_from_json(value: Any) -> Rules:
    reader = Reader(value, "rules")
    smoothing = smoothing_from_json(reader.take("smoothing", dict))
    prior_smoothing = reader.take("prior_smoothing", dict, None)
    prior = reader.take("prior", list, None)
    texts = {key: reader.take(key, str) for key in ("numeric", "missing", "unseen")}
    texts |= {key: reader.take_if_present(key, str) for key in ("select", "column_weights")}
    reader.done()
    rules: Rules = made(
        lambda: Rules(
            smoothing=smoothing,
            prior_smoothing=None if prior_smoothing is None else smoothing_from_json(prior_smoothing),
            prior=None if prior is None else prior_from_json(prior),
            **texts,
        ),
        "rules",
    )
    return rules
