"""A chain from given probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log
from bayesbox.dist.table import Table
from bayesbox.errors import BadOption
from bayesbox.schema.kinds import Category
from bayesbox.schema.levels import label_type_of, label_values, level_text
from bayesbox.schema.schema import Schema
from bayesbox.sequence.model import ChainModel
from bayesbox.source.shapes import exports_array

COLUMN = "0"  # the name of the only column of sequences without names
SUM_TOLERANCE = 1e-6


def given_chain(
    start: Any, transition: Any, emission: Any, states: Sequence[Any] | None, symbols: Sequence[Any] | None
) -> tuple[ChainModel, Schema]:
    """The model of these tables: numbers in the order of the states and symbols, or mappings by their names."""
    for what, table in (("start", start), ("transition", transition), ("emission", emission)):
        if isinstance(table, str) or not isinstance(table, Iterable):
            raise BadOption(f"{what} must be probabilities: a list, an array or a dict", found=table)
    if states is None:
        states = list(start) if isinstance(start, Mapping) else range(len(start))
    if symbols is None and isinstance(emission, Mapping):
        symbols = list(dict.fromkeys(symbol for row in emission.values() for symbol in row))
    size = len(states)
    first = _rows([start], states, "start", 1)
    follows = _rows(_by_name(transition, states, "transition"), states, "transition", size)
    rows = _by_name(emission, states, "emission")
    if symbols is None:
        symbols = range(len(rows[0]) if len(rows) else 0)
    shows = _rows(rows, symbols, "emission", size)
    names, levels = _texts(states, "states"), _texts(symbols, "symbols")
    nothing = np.zeros(size)
    table = Table(COLUMN, levels, log(shows.T), nothing, nothing)
    labels = label_values(names, label_type_of(list(states)))
    schema = Schema({COLUMN: Category(levels)}, frozenset([COLUMN]), names)
    return ChainModel(names, labels, log(first[0]), log(follows), (table,)), schema


def _texts(names: Sequence[Any], what: str) -> tuple[str, ...]:
    texts = tuple(level_text(name) for name in names)
    if len(set(texts)) < len(texts):
        raise BadOption(f"two of the {what} have the same name", found=list(names))
    return texts


def _by_name(table: Any, states: Sequence[Any], what: str) -> list[Any]:
    if not isinstance(table, Mapping):
        return list(np.asarray(table) if exports_array(table) else table)  # a DataFrame iterates over its columns
    missing = [state for state in states if state not in table]
    if missing or len(table) != len(states):
        raise BadOption(f"{what} must have one row per state", found=list(table))
    return [table[state] for state in states]


def _rows(rows: Sequence[Any], names: Sequence[Any], what: str, size: int) -> Doubles:
    """Rows of probabilities over some names, each summing to 1."""
    for row in rows:
        unknown = [name for name in row if name not in names] if isinstance(row, Mapping) else []
        if unknown:
            raise BadOption(f"{what} has a probability for an unknown name", found=unknown[0])
        if not isinstance(row, Iterable):
            raise BadOption(f"{what} must have a row of probabilities for each state", found=row)
    lists = [[row.get(name, 0.0) for name in names] if isinstance(row, Mapping) else list(row) for row in rows]
    if len(lists) != size or any(len(row) != len(names) for row in lists) or not len(names):
        raise BadOption(
            f"{what} must be {size} x {len(names)} probabilities", found=f"{len(lists)} x {[len(row) for row in lists]}"
        )
    try:
        values = np.array(lists, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadOption(f"{what} must have probabilities between 0 and 1", found=lists) from None
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise BadOption(f"{what} must have probabilities between 0 and 1", found=values.tolist())
    sums = values.sum(axis=1, keepdims=True)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        raise BadOption(f"every row of {what} must sum to 1", found=sums.ravel().tolist())
    shares: Doubles = values / sums
    return shares
