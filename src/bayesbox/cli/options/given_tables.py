"""A file of given probabilities: {"prior": {class: p}, "tables": {column: {class: {level: p}}}}."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bayesbox.cli.options.shared import number
from bayesbox.errors import BadData, BadOption, SourceUnavailable
from bayesbox.file.known_file import kind_of_file

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

Prior = dict[str, float]
Tables = dict[str, dict[str, dict[str, float]]]


def read_tables(path: str) -> tuple[Prior, Tables]:
    """The prior and the tables of a file; a probability may be a number or a text such as "1/6"."""
    content = _json(path)
    if not isinstance(content, dict) or set(content) != {"prior", "tables"}:
        remedy = 'Write {"prior": {...}, "tables": {...}}'
        raise BadData("a file of tables must have `prior` and `tables`", where=path, remedy=remedy)
    prior = _probabilities(content["prior"], f"{path}, prior")
    tables: Tables = {}
    for column, table in _mapping(content["tables"], f"{path}, tables").items():
        rows = _mapping(table, f"{path}, table of `{column}`")
        tables[column] = {
            label: _probabilities(row, f"{path}, `{column}`, class {label}") for label, row in rows.items()
        }
    return prior, tables


CHAIN_TABLES = ("start", "transition", "emission")


def read_chain_tables(path: str) -> Json:
    """The tables of a hidden Markov model, by the names of `HiddenMarkovModel.from_tables`; "1/6" is a probability."""
    content = _json(path)
    known = {*CHAIN_TABLES, "states", "symbols"}
    if not isinstance(content, dict) or not set(CHAIN_TABLES) <= set(content) <= known:
        remedy = (
            'Write {"start": {...}, "transition": {...}, "emission": {...}}; with lists also "states" and "symbols"'
        )
        found = ", ".join(content) if isinstance(content, dict) else type(content).__name__
        raise BadData(
            "the tables of a hidden Markov model must have `start`, `transition` and `emission`",
            where=path,
            found=found,
            remedy=remedy,
        )
    tables: Json = {name: _nested(content[name], f"{path}, {name}") for name in CHAIN_TABLES}
    for name in ("states", "symbols"):
        if name in content:
            if not isinstance(content[name], list):
                raise BadData(f"{name} must be a list of names", where=path, found=content[name])
            tables[name] = content[name]
    return tables


def _nested(value: object, where: str) -> Any:
    """Numbers in nested lists or mappings."""
    if isinstance(value, dict):
        return {name: _nested(each, f"{where}, {name}") for name, each in value.items()}
    if isinstance(value, list):
        return [_nested(each, f"{where}, {place}") for place, each in enumerate(value, start=1)]
    return _probability(value, where)


def _json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=_without_twins)
    except FileNotFoundError:
        raise SourceUnavailable("file not found", where=path) from None
    except OSError as error:
        raise SourceUnavailable(f"the file cannot be read ({error.strerror})", where=path) from None
    except UnicodeDecodeError:
        raise _not_tables("the file is not UTF-8", path) from None
    except json.JSONDecodeError as error:
        raise _not_tables(f"line {error.lineno} is not valid JSON ({error.msg})", path) from None
    except RecursionError:
        raise BadData("the file is nested too deeply", where=path) from None


def _not_tables(what: str, path: str) -> BadData:
    """The error for a file that is not JSON, with its actual format if known."""
    known = kind_of_file(path)
    if known is None:
        return BadData(f"expected tables as JSON, but {what}", where=path)
    return BadData(f"this is {known.what}, not tables as JSON", where=path, remedy=known.remedy)


def _without_twins(pairs: list[tuple[str, Any]]) -> Json:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twin = next(key for key in keys if keys.count(key) > 1)
        raise BadData(f"`{twin}` is given twice in one table")
    return dict(pairs)


def _mapping(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise BadData("a table must be a JSON object {...}", where=where, found=value)
    return value


def _probabilities(value: object, where: str) -> dict[str, float]:
    return {name: _probability(p, f"{where}, {name}") for name, p in _mapping(value, where).items()}


def _probability(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadData("a probability must be a number, or a text such as 1/6", where=where, found=value)
    try:
        return number(str(value))
    except BadOption as error:
        raise BadData(error.what, where=where, found=value) from None
