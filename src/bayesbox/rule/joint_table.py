"""A joint table from the tally of tuples, by a smoothing rule.

Complete tuples are counted directly. A tuple with missing levels is distributed over the possible tuples in the
proportions of maximum likelihood (expectation maximisation on the counts of its class); without missing levels the
counts are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy, parameter
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import UNSEEN, Cells, Smoothing, ratio
from bayesbox.dist.functions import log
from bayesbox.dist.joint.table import Axis, JointTable
from bayesbox.errors import BadOption
from bayesbox.limits import BYTES_A_JOINT, require_memory
from bayesbox.schema.encode import MISSING
from bayesbox.tally.base import positions
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.family import groups_of

BYTES_A_TERM = 200  # bytes per possible cell of a tuple with missing levels
TOLERANCE = 1e-12  # the tolerance of a count, as a share of all
MOST_STEPS = 1000


def require_room(classes: int, sizes: Sequence[int], *, naive: int) -> None:
    """Raise an error, before any allocation, if a table does not fit in memory."""
    cells = classes
    for size in sizes:
        cells *= size
    product = " x ".join(str(size) for size in (classes, *sizes)) if len(sizes) < 12 else f"{len(sizes)} columns"
    require_memory(
        BYTES_A_JOINT * float(min(cells, 10**300)),
        f"{cells:,} cells of the joint table ({product}; naive Bayes needs {naive:,} numbers)",
        remedy="Ignore columns, choose a model that factors the table ("
        + Remedy("NaiveBayes, TAN or AODE", "--model naive, tan or aode")
        + ")",
    )


def require_rule(rule: Smoothing, axes: Sequence[Axis]) -> None:
    """Raise an error for a rule that names levels, if the table has several columns."""
    if len(axes) > 1 and rule.listed:
        raise BadOption(
            "this rule names levels of one column, but the joint table has combinations of several",
            found=rule,
            remedy="Use laplace, lidstone:0.5 or m:2",
        )


def table_codes(tally: CoMoments, axes: Sequence[Axis]) -> NDArray[np.int32]:
    """The levels of the cells of the tally, axes x cells; MISSING for a level to marginalise."""
    size = len(tally.cells)
    codes = np.full((len(axes), size), MISSING, dtype=np.int32)
    for place, axis in enumerate(axes):
        if axis.column in tally.frame.categories:
            index = tally.frame.categories.index(axis.column)
            table = np.append(positions(tally.frame.levels[index], axis.levels), MISSING).astype(np.int32)
            codes[place] = table[tally.cells.codes[index]]
        if axis.missing:
            codes[place][codes[place] == MISSING] = len(axis.levels)
    return codes


def expected_counts(tally: CoMoments, axes: Sequence[Axis]) -> Doubles:
    """The expected counts of the tuples, classes x cells of the table."""
    classes, sizes = len(tally.classes), [axis.size for axis in axes]
    codes = table_codes(tally, axes)
    group, one_of = groups_of([tally.cells.label, *codes], [classes, *sizes], len(tally.cells))
    counts = tally.cells.n.sum_groups(group, len(one_of)).to_doubles()
    label, codes = tally.cells.label[one_of], codes[:, one_of]
    whole = np.zeros((classes, *sizes))
    complete = (codes >= 0).all(axis=0)
    whole[(label[complete], *codes[:, complete])] = counts[complete]
    some = ~complete & (codes >= 0).any(axis=0)  # a tuple with all levels missing is ignored
    if some.any():
        whole = _shared_out(whole, label[some], codes[:, some], counts[some])
    return whole.reshape(classes, -1)


def _shared_out(whole: Doubles, label: NDArray[np.int32], codes: NDArray[np.int32], counts: Doubles) -> Doubles:
    """The expected counts of all tuples under the maximum likelihood table.

    Only the possible cells of incomplete tuples are updated: `cell` lists them by tuple.
    """
    strides = np.array(whole.strides) // whole.itemsize
    patterns, group = np.unique((codes < 0).T, axis=0, return_inverse=True)
    cells, owners, terms = [], [], 0
    for number, gone in enumerate(patterns):
        chosen = np.flatnonzero(group.ravel() == number)
        sizes = [size for size, missing in zip(whole.shape[1:], gone, strict=True) if missing]
        terms += len(chosen) * math.prod(sizes)
        require_memory(
            float(BYTES_A_TERM * terms),
            f"{terms:,} cells for combinations with missing levels",
            remedy="Count missing values as a level (" + parameter("missing", "level") + ")",
        )
        offsets = np.zeros(1, dtype=np.int64)
        for size, stride in zip(sizes, strides[1:][gone], strict=True):
            offsets = (offsets[:, None] + np.arange(size) * stride).ravel()
        first = label[chosen] * strides[0] + (np.maximum(codes[:, chosen], 0) * strides[1:, None]).sum(axis=0)
        cells.append((first[:, None] + offsets[None, :]).ravel())
        owners.append(np.repeat(chosen, len(offsets)))
    touched, cell = np.unique(np.concatenate(cells), return_inverse=True)
    cell, owner = cell.ravel(), np.concatenate(owners)
    known = whole.ravel()[touched]
    expected, total = np.ones(len(touched)), whole.sum() + counts.sum()
    for _ in range(MOST_STEPS):
        share = expected[cell]
        under = np.bincount(owner, share, minlength=len(counts))
        new = known + np.bincount(cell, share * (counts / under)[owner], minlength=len(touched))
        moved = np.abs(new - expected).max()
        expected = new
        if moved <= TOLERANCE * total:
            break
    shared = whole.copy()
    shared.ravel()[touched] = expected
    return shared


def joint_table(
    tally: CoMoments, axes: tuple[Axis, ...], rule: Smoothing, *, unseen: str = "smooth"
) -> tuple[JointTable, Doubles]:
    """The table, and its counts (classes x cells)."""
    require_rule(rule, axes)
    counts = expected_counts(tally, axes)
    names = list(axes[0].levels) + [None] * axes[0].missing if len(axes) == 1 else [None] * counts.shape[1]
    totals = counts.sum(axis=1)
    over, under = ratio(rule, Cells(counts, totals, counts.shape[1], names))
    nothing = np.zeros((len(counts), 1))
    new_over, new_under = ratio(rule, Cells(nothing, totals, counts.shape[1], [UNSEEN]))
    log_unseen = (log(new_over) - log(new_under))[:, 0]
    return JointTable(axes, np.ascontiguousarray((log(over) - log(under)).T), log_unseen, unseen), counts
