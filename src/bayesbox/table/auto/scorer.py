"""Compilation of a pool for one row at a time: its design and its models in the form of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox import _core
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist import functions
from bayesbox.schema.flags import FLAG_LEVELS
from bayesbox.table.auto.boost import BoostedTrees
from bayesbox.table.auto.features import Design, Feature
from bayesbox.table.auto.forest import TreeForest
from bayesbox.table.auto.joint_density import JointKernel, JointNormal
from bayesbox.table.auto.logistic_nb import LogisticNaiveBayes

if TYPE_CHECKING:
    from bayesbox.table.auto.classifier import AutoClassifier
    from bayesbox.table.auto.pool import Pool

Member = tuple[Any, ...]


def pool_scorer(classifier: AutoClassifier) -> _core.PoolScorer | None:
    """The pool as a `_core.PoolScorer`; None if the core does not support one of its models or columns."""
    pool, model, schema = classifier.derived, classifier.model, classifier.schema
    if pool is None or schema is None or classifier.calibrated is not None:
        return None
    axes = [_axis(axis, is_flag=schema.kinds[axis.name].is_flag) for axis in pool.design.axes]
    members = [_member(each, power, pool) for each, power in zip(pool.models, pool.powers, strict=False)]
    if any(each is None for each in (*axes, *members)):
        return None
    place = {name: index for index, name in enumerate(pool.classes)}
    return _core.PoolScorer(
        axes,
        members,
        np.array(pool.shares, dtype=np.float64),
        float(pool.powers[-1]),
        float(pool.rows),
        tuple(model.labels.tolist()),
        np.array([place.get(name, -1) for name in model.classes], dtype=np.int64),
        classifier.log_rare,
        classifier.prior_shift,
    )


def _axis(axis: Feature, *, is_flag: bool) -> Member | None:
    if axis.levels is not None and (not axis.levels or (is_flag and not set(axis.levels) <= set(FLAG_LEVELS))):
        return None
    return axis.name, axis.levels, is_flag, axis.cuts, axis.knots, axis.centre, axis.scale, axis.gaps


def _member(model: Any, power: float, pool: Pool) -> Member | None:
    if isinstance(model, TableClassifier):
        answers = model.row_answers()
        if not answers.is_plain:
            return None
        places = np.array([model.classes.index(name) for name in pool.classes], dtype=np.int64)
        return "rows", power, answers.core, places
    if isinstance(model, TreeForest):
        table = model.questions.table(model.counts, model.weight)
        return "forest", power, model.questions, table, float(max(model.questions.trees, 1))
    if isinstance(model, BoostedTrees):
        return "boosted", power, model.questions, model.values, model.start
    if isinstance(model, LogisticNaiveBayes):
        return "linear", power, model.weights.ravel()
    if isinstance(model, JointNormal):
        return _normals(model, power, pool.design)
    if isinstance(model, JointKernel):
        kernel = model.compiled(pool.design)
        return None if kernel is None else ("kernel", power, kernel)
    return None


def _normals(model: JointNormal, power: float, design: Design) -> Member | None:
    width = sum(1 if axis.levels is None else len(axis.levels) for axis in design.axes)
    if model.means.shape[1] != width:
        return None
    roots = [model.roots[min(place, len(model.roots) - 1)] for place in range(len(model.means))]
    shifts = np.concatenate([functions.product(mean, root) for mean, root in zip(model.means, roots, strict=True)])
    return "normals", power, shifts, model.roots.ravel(), model.offsets, float(model.power)
