"""A classifier from given probabilities: a prior and tables, without data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.table import Table
from bayesbox.errors import BadOption
from bayesbox.rule.priors import given_prior
from bayesbox.schema.kinds import Category
from bayesbox.schema.levels import label_order, label_type_of, label_values, level_text
from bayesbox.schema.schema import Schema
from bayesbox.table.naive.classifier import NaiveClassifier

SUM_TOLERANCE = 1e-6
SHAPE = "probabilities must be given as dicts: prior[class] and tables[column][class][level]"


def classifier_from_tables(
    prior: Mapping[Any, float], tables: Mapping[str, Mapping[Any, Mapping[Any, float]]]
) -> NaiveClassifier:
    """A classifier from prior[class] and tables[column][class][level], checked."""
    if not isinstance(prior, Mapping) or not isinstance(tables, Mapping):
        raise BadOption(SHAPE, found=tables if isinstance(prior, Mapping) else prior)
    if not prior:
        raise BadOption("the prior must have at least one class")
    label_type = label_type_of(list(prior))
    classes = tuple(label_order([level_text(label) for label in prior], label_type))
    conditionals = tuple(_table(str(name), table, classes) for name, table in tables.items())
    model = NaiveModel(classes, label_values(classes, label_type), _logs(given_prior(prior, classes)), conditionals)
    kinds = {table.column: Category(table.levels) for table in conditionals}
    return NaiveClassifier.of_model(model, Schema(kinds, frozenset(kinds), classes))


def _table(column: str, given: Mapping[Any, Mapping[Any, float]], classes: tuple[str, ...]) -> Table:
    if not isinstance(given, Mapping) or not all(isinstance(row, Mapping) for row in given.values()):
        raise BadOption(SHAPE, where=f"table of `{column}`", found=given)
    rows = {level_text(label): _row(column, label, row) for label, row in given.items()}
    if set(rows) != set(classes):
        raise BadOption(f"the table of `{column}` must have one row per class: {', '.join(classes)}", found=list(rows))
    levels = tuple(sorted({level for row in rows.values() for level in row}))
    p = np.array([[rows[label].get(level, 0.0) for label in classes] for level in levels])
    nothing = np.zeros(len(classes))
    return Table(column, levels, ignored_where_impossible(_logs(p)), nothing, nothing)


def _logs(p: Doubles) -> Doubles:
    """The logarithms, computed one by one: they are written to the file, and those of arrays differ in the last bit
    between numpy versions and processors."""
    found = [math.log(each) if each else -math.inf for each in np.asarray(p).ravel().tolist()]
    return np.array(found).reshape(np.shape(p))


def _row(column: str, label: object, given: Mapping[Any, float]) -> dict[str, float]:
    """The probabilities of the levels in one class, by their texts."""
    where = f"table of `{column}`, class {level_text(label)}"
    row = {}
    for level, p in given.items():
        try:
            row[level_text(level)] = float(p)
        except (TypeError, ValueError):
            raise BadOption(f"P({level_text(level)}) must be a number between 0 and 1", where=where, found=p) from None
    for level, p in row.items():
        if not 0 <= p <= 1:
            raise BadOption(f"P({level}) must be a number between 0 and 1", where=where, found=p)
    total = math.fsum(row.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise BadOption("the probabilities must sum to 1", where=where, found=total)
    return row
