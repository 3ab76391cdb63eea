"""What `model.json` says of a model: the columns and their kinds, the declarations, the rules.

Every value is read with its type, and a key that is not known is refused: nothing in a file is passed over.
"""

from __future__ import annotations

import dataclasses
import datetime
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesbox.errors import BadData, BadOption
from bayesbox.model.naive import Rules
from bayesbox.rule.smoothing import RULES, Smoothing
from bayesbox.schema.kinds import BY_NAME, CountGroup, Kind, Number, Unknown, as_kind
from bayesbox.schema.levels import level_text
from bayesbox.schema.schema import Schema

KINDS: dict[str, type[Kind]] = BY_NAME | {"number": Number, "count-group": CountGroup, "unknown": Unknown}
_KIND_NAMES = {kind: name for name, kind in KINDS.items()}
_RULE_NAMES = {rule: name for name, rule in RULES.items()}

Json = dict[str, Any]


class Reader:
    """A mapping of JSON that is taken apart key by key; `done` refuses what is left over.

    >>> reader = Reader({"width": 3}, "kind")
    >>> reader.take("width", int)
    3
    >>> reader.done()
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is not a mapping")
        self.rest = dict(value)
        self.where = where

    def take(self, key: str, *types: type | None) -> Any:
        """The value of a key, which must be of one of these types; None stands for null."""
        if key not in self.rest:
            raise ValueError(f"{self.where} has no `{key}`")
        value = self.rest.pop(key)
        allowed = tuple(type(None) if kind is None else kind for kind in types)
        if type(value) not in allowed:
            raise ValueError(f"`{key}` of {self.where} has the wrong type: {type(value).__name__}")
        return value

    def take_if_present(self, key: str, *types: type | None) -> Any:
        return self.take(key, *types) if key in self.rest else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.take(key, list)
        if not all(type(value) is str for value in values):
            raise ValueError(f"`{key}` of {self.where} is not a list of texts")
        return tuple(values)

    def done(self) -> None:
        if self.rest:
            raise ValueError(f"{self.where} has the unknown key `{next(iter(self.rest))}`")


def made(make: Callable[[], Any], where: str) -> Any:
    """What `make` makes; an option it refuses is an error of the document."""
    try:
        return make()
    except BadOption as error:
        raise ValueError(f"{where}: {error}") from error


def number(value: Any, what: str) -> float:
    """A parameter as the double it is; one that is none cannot be saved."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            double = float(value)
        except OverflowError:
            double = float("nan")
        if double == value:
            return double
    raise BadData(f"{what} is no double, so that it cannot be saved exactly", found=value, remedy="Give a float")


# -- kinds -----------------------------------------------------------------------------------------------------------


def kind_document(kind: Kind) -> Json:
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


def kind_of(reader: Reader) -> Kind:
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


def columns_document(schema: Schema) -> list[Json]:
    """The columns in their order."""
    return [
        {"name": name} | kind_document(kind) | ({"declared": True} if name in schema.declared else {})
        for name, kind in schema.kinds.items()
    ]


def schema_of(columns: list[Any], classes: tuple[str, ...], *, numeric: str = "gaussian") -> Schema:
    """The schema of these columns."""
    kinds: dict[str, Kind] = {}
    declared: set[str] = set()
    for index, column in enumerate(columns):
        reader = Reader(column, f"column {index + 1}")
        name = reader.take("name", str)
        kinds[name] = kind_of(reader)
        if reader.take_if_present("declared", bool):
            declared.add(name)
        reader.done()
    if len(kinds) < len(columns):
        raise ValueError("two columns have the same name")
    if list(classes) != sorted(set(classes)):
        raise ValueError("the declared classes are not in order")
    return Schema(kinds, frozenset(declared), classes, numeric)


def declared_document(declared: Mapping[Any, object] | None) -> list[Json] | None:
    """What the user declared of the columns, by name or position."""
    if declared is None:
        return None
    by_key = {key if _is_position(key) else str(key): as_kind(kind) for key, kind in declared.items()}
    keys = sorted(by_key, key=lambda key: (isinstance(key, str), key))
    return [{"column": key} | kind_document(by_key[key]) for key in keys]


def _is_position(key: object) -> bool:
    return isinstance(key, int) and not isinstance(key, bool)


def declared_of(written: list[Any] | None) -> dict[Any, Kind] | None:
    """The declarations, with kinds for whatever stood for them."""
    if written is None:
        return None
    declared: dict[Any, Kind] = {}
    for index, item in enumerate(written):
        reader = Reader(item, f"declaration {index + 1}")
        key = reader.take("column", str, int)
        declared[key] = kind_of(reader)
        reader.done()
    if len(declared) < len(written):
        raise ValueError("a column is declared twice")
    return declared


def fold_of(written: Json) -> dict[str, tuple[str, ...]]:
    """The flags of each group that is folded into one category."""
    reader = Reader(written, "fold")
    fold = {name: reader.texts(name) for name in written}
    if any(not flags or len(set(flags)) < len(flags) for flags in fold.values()):
        raise ValueError("a folded group has no flags, or one of them twice")
    return fold


# -- rules -----------------------------------------------------------------------------------------------------------


def rules_document(rules: Rules) -> Json:
    chosen = {"select": rules.select, "column_weights": rules.column_weights}
    return {
        "smoothing": smoothing_document(rules.smoothing),
        "prior_smoothing": None if rules.prior_smoothing is None else smoothing_document(rules.prior_smoothing),
        "prior": None if rules.prior is None else prior_document(rules.prior),
        "numeric": rules.numeric,
        "missing": rules.missing,
        "unseen": rules.unseen,
        **{key: value for key, value in chosen.items() if value is not None},
    }


def rules_of(value: Any) -> Rules:
    reader = Reader(value, "rules")
    smoothing = smoothing_of(reader.take("smoothing", dict))
    prior_smoothing = reader.take("prior_smoothing", dict, None)
    prior = reader.take("prior", list, None)
    texts = {key: reader.take(key, str) for key in ("numeric", "missing", "unseen")}
    texts |= {key: reader.take_if_present(key, str) for key in ("select", "column_weights")}
    reader.done()
    rules: Rules = made(
        lambda: Rules(
            smoothing=smoothing,
            prior_smoothing=None if prior_smoothing is None else smoothing_of(prior_smoothing),
            prior=None if prior is None else prior_of(prior),
            **texts,
        ),
        "rules",
    )
    return rules


def smoothing_document(rule: Smoothing) -> Json:
    """A rule by its name, with its parameters."""
    name = _RULE_NAMES.get(type(rule))
    if name is None:
        raise BadData("a model can be saved only with the rules of bayesbox", found=rule)
    written: Json = {"rule": name}
    for parameter in dataclasses.fields(rule):  # type: ignore[arg-type]
        value = getattr(rule, parameter.name)
        if isinstance(value, Mapping):
            value = {key: number(value[key], f"`{parameter.name}` of {name}") for key in sorted(value)}
        elif value is not None and not isinstance(value, str):
            value = number(value, f"`{parameter.name}` of {name}")
        written[parameter.name] = value
    return written


def smoothing_of(value: Any) -> Smoothing:
    reader = Reader(value, "a rule")
    name = reader.take("rule", str)
    rule = RULES.get(name)
    if rule is None:
        raise ValueError(f"the rule {name!r} is unknown")
    parameters = {field.name: _parameter(reader, field) for field in dataclasses.fields(rule)}
    reader.done()
    result: Smoothing = made(lambda: rule(**parameters), f"the rule {name}")
    return result


_PARAMETER_TYPES: dict[Any, tuple[type | None, ...]] = {
    "float": (float,),
    "str": (str,),
    "Mapping[Any, float]": (dict,),
    "Mapping[Any, float] | None": (dict, None),
}


def _parameter(reader: Reader, field: dataclasses.Field[Any]) -> Any:
    value = reader.take(field.name, *_PARAMETER_TYPES[field.type])
    if isinstance(value, dict) and not all(type(each) is float for each in value.values()):
        raise ValueError(f"`{field.name}` of {reader.where} holds what is no number")
    return value


def prior_document(prior: Mapping[Any, float]) -> list[list[Any]]:
    """Pairs of label and probability. A label keeps its type, so that the rules are equal after loading."""
    pairs = [[_label_document(label), number(p, "a prior probability")] for label, p in prior.items()]
    return sorted(pairs, key=lambda pair: (str(pair[0]), type(pair[0]).__name__))


def _label_document(label: Any) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) in (str, int, bool):
        return label
    if isinstance(label, float):
        return number(label, "a label")
    if isinstance(label, datetime.datetime):
        return {"moment": label.isoformat()}
    if isinstance(label, datetime.date):
        return {"date": label.isoformat()}
    return level_text(label)


def prior_of(pairs: list[Any]) -> dict[Any, float]:
    """The prior of such pairs."""
    prior: dict[Any, float] = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or type(pair[1]) is not float:
            raise ValueError("a prior is a list of labels with their probabilities")
        prior[_label_of(pair[0])] = pair[1]
    if len(prior) < len(pairs):
        raise ValueError("a prior names a label twice")
    return prior


def _label_of(value: Any) -> Any:
    if type(value) in (str, int, float, bool):
        return value
    reader = Reader(value, "a label of the prior")
    moment, date = reader.take_if_present("moment", str), reader.take_if_present("date", str)
    reader.done()
    if (moment is None) == (date is None):
        raise ValueError("a label of the prior is neither a date nor a moment")
    return datetime.date.fromisoformat(date) if moment is None else datetime.datetime.fromisoformat(moment)
