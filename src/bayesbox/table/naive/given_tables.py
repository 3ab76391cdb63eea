"""A model made from given tables, stored as two tables of log-probabilities.

    prior.arrow    class, log_probability
    tables.arrow   column, level, class, log_probability

The logarithms are those that the model uses, so that predictions are identical to the last bit; -inf is impossible. A
level that is impossible in every class is ignored and has 0 in all classes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.table import Table
from bayesbox.file import arrow
from bayesbox.file.arrow import DOUBLE, TEXT
from bayesbox.file.faults import require_members, within
from bayesbox.schema.arrays import numbers_array, numpy_values, text_array
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema

MEMBERS = ("prior.arrow", "tables.arrow")
SUM_TOLERANCE = 2e-6  # the tolerance of a sum of rounded exponentials; given tables sum to 1 within 1e-6

_PRIOR_COLUMNS = {"class": (TEXT,), "log_probability": (DOUBLE,)}
_TABLE_COLUMNS = {"column": (TEXT,), "level": (TEXT,), "class": (TEXT,), "log_probability": (DOUBLE,)}


def members(model: NaiveModel, schema: Schema) -> dict[str, bytes]:
    """The tables of a model by file name. Classes are sorted, columns are in the order of the schema."""
    if list(model.columns) != list(schema.kinds):
        raise ValueError("its tables do not match its columns")
    columns: list[str] = []
    levels: list[str] = []
    logs: list[Doubles] = [np.zeros(0)]
    for table in model.conditionals:
        if not isinstance(table, Table) or table.unseen_is_error or table.log_unseen.any() or table.log_missing.any():
            raise ValueError("one of its conditionals is not a given table")
        for level, row in zip(table.levels, table.log_p, strict=True):
            columns.append(table.column)
            levels.append(level)
            logs.append(row)
    each = np.repeat(np.arange(len(columns)), len(model.classes))
    return {
        "prior.arrow": arrow.write(
            {"class": text_array(model.classes), "log_probability": numbers_array(model.log_prior)}
        ),
        "tables.arrow": arrow.write(
            {
                "column": text_array(columns).take(numbers_array(each)),
                "level": text_array(levels).take(numbers_array(each)),
                "class": text_array(list(model.classes) * len(columns)),
                "log_probability": numbers_array(np.concatenate(logs)),
            }
        ),
    }


def model_of(tables: Mapping[str, bytes], schema: Schema, label_type: str) -> NaiveModel:
    """The model from these tables; MemberFault if they are not as `members` writes them."""
    require_members(tables, known=MEMBERS, needed=MEMBERS)
    with within("prior.arrow"):
        classes, log_prior = _prior(tables["prior.arrow"], label_type)
    with within("tables.arrow"):
        conditionals = _tables(tables["tables.arrow"], classes, schema)
    return NaiveModel(classes, label_values(classes, label_type), log_prior, conditionals)


def _prior(data: bytes, label_type: str) -> tuple[tuple[str, ...], Doubles]:
    table = arrow.read(data, _PRIOR_COLUMNS)
    classes = tuple(table["class"].to_pylist())
    log_prior: Doubles = numpy_values(table["log_probability"]).copy()
    label_values(classes, label_type)
    if not classes or len(set(classes)) < len(classes) or list(classes) != label_order(classes, label_type):
        raise ValueError("the classes are not sorted, or there are none")
    _require_logs(log_prior)
    if abs(functions.exp(log_prior).sum() - 1) > SUM_TOLERANCE:
        raise ValueError("the prior does not sum to 1")
    return classes, log_prior


def _require_logs(logs: Doubles) -> None:
    if not (logs <= 0).all():
        raise ValueError("a log probability is above zero or not a number")


def _tables(data: bytes, classes: tuple[str, ...], schema: Schema) -> tuple[Table, ...]:
    table = arrow.read(data, _TABLE_COLUMNS)
    columns, levels = table["column"].to_pylist(), table["level"].to_pylist()
    logs: Doubles = numpy_values(table["log_probability"]).copy()
    _require_logs(logs)
    expected = [
        (name, level, label) for name, kind in schema.kinds.items() for level in kind.levels or () for label in classes
    ]
    if list(zip(columns, levels, table["class"].to_pylist(), strict=True)) != expected:
        raise ValueError("its rows do not match the declared levels and the classes, in this order")
    result: list[Table] = []
    start, size = 0, len(classes)
    nothing = np.zeros(size)
    for name, kind in schema.kinds.items():
        if not kind.levels:
            raise ValueError(f"column `{name}` has no table")
        stop = start + size * len(kind.levels)
        log_p = logs[start:stop].reshape(len(kind.levels), size)
        _require_sums(name, log_p)
        result.append(Table(name, kind.levels, log_p, nothing, nothing))
        start = stop
    return tuple(result)


def _require_sums(name: str, log_p: Doubles) -> None:
    """Raise an error unless each class sums to 1 over the levels that are used, or only one level is possible."""
    says = (log_p != 0).any(axis=1)
    sums = functions.exp(log_p[says]).sum(axis=0)
    if says.any() and (np.abs(sums - 1) > SUM_TOLERANCE).any():
        raise ValueError(f"the probabilities of column `{name}` do not sum to 1")
