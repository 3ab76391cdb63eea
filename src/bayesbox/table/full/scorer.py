"""Compilation of a full Bayes model for one row at a time: the joint table and the normals in the form of the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesbox.classifier.one_row.compiling import CodedScorer
from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.joint.gaussian import JointGaussian
from bayesbox.schema.schema import Schema
from bayesbox.table.full.model import FullModel

MOST_NUMBERS = 1 << 22  # the most copied cells of a table, or of the factors of the normals


def joint_scorer(model: FullModel, schema: Schema, calibration: tuple[object, ...] | None) -> CodedScorer | None:
    """The model in the form of `_core.RowScorer`; None if a column is a part of another, or if it is too large."""
    if any(schema.kinds[name].part_of is not None for name in model.columns):
        return None
    size, classes = len(model.classes), model.classes
    columns: list[tuple[Any, ...]] = []
    axes: list[tuple[int, bool]] = []
    table, ignores = np.zeros((2, size)), False
    if model.table is not None:
        if model.table.log_p.size > MOST_NUMBERS:
            return None
        fate = model.table.unseen
        for place, axis in enumerate(model.table.axes):
            columns.append(("codes", axis.column, 2 if axis.flag else axis.levels, fate == "error"))
            axes.append((place, axis.missing))
        table = ignored_where_impossible(np.vstack([model.table.log_p, model.table.log_unseen[None]]))
        ignores = fate == "ignore"
    numbers = () if model.normals is None else model.normals.names
    places = tuple(range(len(columns), len(columns) + len(numbers)))
    columns += [("number", name, None, None, 1.0, None) for name in numbers]
    if not columns:
        return None
    normals = _normals(model.normals, len(classes))
    if normals is None:
        return None
    joint = (tuple(axes), np.ascontiguousarray(table), ignores, places, *normals)
    return CodedScorer(np.ascontiguousarray(model.log_prior), columns, (), None, calibration, joint)


def _normals(normals: JointGaussian | None, classes: int) -> tuple[Any, ...] | None:
    """(mean, mean_low, factor, constant, the normals of cells that have their own)"""
    if normals is None:
        nothing: Doubles = np.empty(0)
        return nothing, nothing, nothing, np.zeros(classes), ()
    number, width = normals.mean.shape
    if number * width * width > MOST_NUMBERS:
        return None
    mean, low, factor, constant = normals.factors(np.arange(number), np.ones(width, dtype=bool))
    own = tuple(sorted(normals.own.items()))
    return mean.ravel(), low.ravel(), factor.ravel(), constant, own
