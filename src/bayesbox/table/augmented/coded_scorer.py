"""Compilation of a model over codes for one row at a time: its columns and its joint tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayesbox.classifier.one_row.compiling import CodedScorer
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.rule.discrete import Coding, is_number
from bayesbox.schema.flags import FLAG_LEVELS
from bayesbox.table.augmented.model import AugmentedModel
from bayesbox.table.augmented.one_dependence import OneDependenceModel

Calibration = tuple[object, ...] | None


def coded_arcs(model: AugmentedModel, calibration: Calibration) -> CodedScorer | None:
    """The compiled form of a model with one table per column; None if the core does not support a column."""
    columns = _columns(model.coding, {name for table in model.conditionals for name in (table.column, *table.parents)})
    if columns is None:
        return None
    families = _families(model.conditionals, columns, model.coding)
    return CodedScorer(np.ascontiguousarray(model.log_prior), columns, families, None, calibration)


def coded_average(model: OneDependenceModel, calibration: Calibration) -> CodedScorer | None:
    """The compiled form of a model that averages over the parents; its prior is in the tables."""
    columns = _columns(model.coding, set(model.columns))
    if columns is None:
        return None
    place = _places(columns)
    one_dependence = (
        np.array([place[name] for name in model.names], dtype=np.int64),
        model.first_slot,
        np.ascontiguousarray(model.log_prior),
        np.ascontiguousarray((model.log_prior[None, :] + model.naive).ravel()),
        np.ascontiguousarray(model.naive.ravel()),
        np.ascontiguousarray(model.table.ravel()),
        model.is_parent,
        np.array([_fate(model.coding, name) == "ignore" for name in model.names], dtype=np.uint8),
    )
    families = _families(model.alone, columns, model.coding)
    return CodedScorer(np.zeros(len(model.classes)), columns, families, one_dependence, calibration)


def _columns(coding: Coding, names: set[str]) -> list[tuple[Any, ...]] | None:
    found: list[tuple[Any, ...]] = []
    for name, variable in coding.variables.items():
        if name not in names:
            continue
        kind = coding.schema.kinds[name]
        read: Any = variable.levels
        if kind.is_matrix or kind.part_of is not None:
            return None
        if is_number(kind):
            read = np.array(variable.cuts or (), dtype=np.float64)
        elif kind.is_flag:
            if variable.levels != FLAG_LEVELS:
                return None
            read = len(FLAG_LEVELS)
        found.append(("codes", name, read, _fate(coding, name) == "error"))
    return found if len(found) == len(names) else None


def _places(columns: list[tuple[Any, ...]]) -> Mapping[str, int]:
    return {column[1]: place for place, column in enumerate(columns)}


def _fate(coding: Coding, name: str) -> str:
    return coding.schema.kinds[name].unseen or coding.unseen


def _families(tables: Iterable[FamilyTable], columns: list[tuple[Any, ...]], coding: Coding) -> tuple[Any, ...]:
    place = _places(columns)
    return tuple(
        (
            np.array([place[name] for name in (table.column, *table.parents)], dtype=np.int64),
            np.ascontiguousarray(table.log_p),
            _fate(coding, table.column) == "ignore",
        )
        for table in tables
    )
