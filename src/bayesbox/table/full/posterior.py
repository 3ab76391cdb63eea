"""The posterior of full Bayes: P(class | x) from the joint table and the normals, with missing values marginalised.

For a row with some levels missing and numbers x, the density is a mixture over the possible tuples,

    P(x, levels | class) = sum of P(t | class) N(x | class, t)     over the tuples t that have their own normal
                         + P(all other tuples | class) N(x | class)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, Plan
from bayesbox.dist.functions import log
from bayesbox.dist.joint.gaussian import JointGaussian, Numbers
from bayesbox.dist.joint.table import JointTable
from bayesbox.dist.posterior import normalised, refuse_infinite
from bayesbox.table.full.model import FullModel


def log_terms(model: FullModel, columns: Columns, rows: int) -> Doubles:
    """log P(x | class), rows x classes."""
    terms = np.zeros((rows, len(model.classes)))
    codes = None
    if model.table is not None:
        codes = model.table.codes_of(columns, rows)
        terms = model.table.log_terms(codes)
    if model.normals is None:
        return terms
    values = model.normals.numbers_of(columns, rows)
    density = model.normals.log_density(values, rows)
    if model.table is not None and codes is not None and model.normals.own:
        _add_cells(model.table, model.normals, codes, values, terms, density)
    return terms + density if model.table is not None else density


def _add_cells(
    table: JointTable,
    normals: JointGaussian,
    codes: NDArray[np.int32],
    values: Numbers,
    terms: Doubles,
    density: Doubles,
) -> None:
    """Replace the density of rows for which any possible cell has its own normal."""
    own = np.array(sorted(normals.own))
    levels = np.array(np.unravel_index(own, table.sizes))  # columns x cells that have one
    kinds, group = np.unique(codes.T, axis=0, return_inverse=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(kinds) + 1))
    for number, kind in enumerate(kinds):
        fits = ((kind[:, None] == levels) | (kind[:, None] < 0)).all(axis=0) & (kind != -2).all()
        if fits.any():
            rows = order[starts[number] : starts[number + 1]]
            some = [column[rows] for column in values]
            density[rows] = _mixture(table, normals, own[fits], some, terms[rows[:1]][0], density[rows])


def _mixture(
    table: JointTable,
    normals: JointGaussian,
    cells: NDArray[np.int64],
    values: Numbers,
    whole: Doubles,
    density: Doubles,
) -> Doubles:
    """log P(x | class, levels) of rows with the same levels, with log P(levels | class) and log N(x | class)."""
    rows, classes = density.shape
    plain = np.arange(classes)
    parts, taken = [], np.zeros(classes)
    for cell in cells.tolist():
        chosen = normals.own[cell]
        has_own = chosen != plain
        with np.errstate(invalid="ignore"):
            share = np.where(has_own & np.isfinite(table.log_p[cell]), functions.exp(table.log_p[cell] - whole), 0.0)
        taken += share
        parts.append(normals.log_density(values, rows, chosen) + log(share)[None, :])
    left = np.where(taken > 1 - 1e-12, 0.0, 1 - taken)  # empty if every tuple has its own normal
    parts.append(density + log(left)[None, :])
    return functions.log_sum_along(parts)


def joint_log_prob(model: FullModel, columns: Columns, rows: int) -> Doubles:
    """log P(class, x), rows x classes: -inf where impossible."""
    return log_terms(model, columns, rows) + model.log_prior[None, :]


def posterior(model: FullModel, columns: Columns, rows: int, output: int, first_row: int = 0) -> Doubles:
    """P(class | x) or its log, computed by the core; a row that is impossible in every class gets the prior, with a
    warning.

    An infinite number is an error that names its row, counted from `first_row`.
    """

    def check(impossible: NDArray[np.bool_]) -> None:
        refuse_infinite(columns, impossible, first_row)

    plan = Plan(rows, model.log_prior)
    plan.add_terms(log_terms(model, columns, rows))
    return normalised(plan, model.log_prior, output, check)


def best_class(model: FullModel, columns: Columns, rows: int, first_row: int = 0) -> NDArray[np.int64]:
    """The most probable class of each row; the first in case of a tie."""
    best: NDArray[np.int64] = np.argmax(posterior(model, columns, rows, _core.POSTERIOR, first_row), axis=1)
    return best
