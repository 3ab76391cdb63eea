"""The posterior by Bayes' rule: P(class | x) is P(class) times the product of P(x_j | class), normalised."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.dist.unseen import warn_of_unseen_numbers
from bayesbox.errors import BadData, ImpossibleRows
from bayesbox.schema.arrays import PlainColumn
from bayesbox.schema.columns import CountMatrix, as_numbers

if TYPE_CHECKING:
    from bayesbox.dist.naive import ProductModel


def plan_of(model: ProductModel, columns: Columns, rows: int, *, watch: bool = False) -> Plan:
    """The plan of these rows, not yet summed; with `watch` a number that is an unseen level makes its row NaN."""
    plan = Plan(rows, model.log_prior)
    plan.watch = watch
    for conditional in model.conditionals:
        weight = model.weight_of(conditional)
        if weight == 1:
            conditional.add_to(plan, columns)
        else:
            plan.add(terms_of(conditional, columns, rows, plan.classes), weight)
    return plan


def terms_of(conditional: Distribution, columns: Columns, rows: int, classes: int) -> Plan:
    """The terms of one conditional alone."""
    plan = Plan(rows, np.zeros(classes))
    conditional.add_to(plan, columns)
    return plan


def joint_log_prob(model: ProductModel, columns: Columns, rows: int) -> Doubles:
    """log P(class, x), rows x classes; -inf if impossible, +inf if a point mass is hit."""
    plan = plan_of(model, columns, rows)
    joint: Doubles = plan.run(_core.JOINT)
    if plan.point_mass_hits is not None:
        joint = np.where((plan.point_mass_hits > 0) & ~np.isneginf(joint), np.inf, joint)
    return joint


def log_sum(joint: Doubles) -> Doubles:
    """log P(x), one value per row: the log of the sum over the classes of P(class, x)."""
    plan = Plan(len(joint), np.zeros(joint.shape[1]))
    plan.add_terms(joint)
    density: Doubles = plan.run(_core.LOG_SUM)
    return density


def normalised_log(joint: Doubles, log_prior: Doubles) -> Doubles:
    """log P(class | x) from joint log-probabilities, rows x classes."""
    plan = Plan(len(joint), np.zeros(joint.shape[1]))
    plan.add_terms(joint)
    return normalised(plan, log_prior, _core.LOG_POSTERIOR)


def posterior(model: ProductModel, columns: Columns, rows: int, first_row: int = 0, *, watch: bool = False) -> Doubles:
    """P(class | x), rows x classes; `first_row` is the number of the first row in messages.

    With `watch`, numbers that are unseen levels give a warning.
    """
    return _normalised(model, columns, rows, _core.POSTERIOR, first_row, watch=watch)


def log_posterior(
    model: ProductModel, columns: Columns, rows: int, first_row: int = 0, *, watch: bool = False
) -> Doubles:
    """log P(class | x), rows x classes."""
    return _normalised(model, columns, rows, _core.LOG_POSTERIOR, first_row, watch=watch)


def best_class(
    model: ProductModel, columns: Columns, rows: int, first_row: int = 0, *, watch: bool = False
) -> NDArray[np.int64]:
    """The most probable class of each row; the first in case of a tie."""
    plan = plan_of(model, columns, rows, watch=watch)
    best: NDArray[np.int64]
    if plan.point_mass_hits is None:
        best = plan.run(_core.ARGMAX)
        if rows == 0 or best.min() >= 0:
            return best
    # some row is, or may be, impossible in every class
    best = np.argmax(_normalised(model, columns, rows, _core.POSTERIOR, first_row, watch=watch), axis=1)
    return best


def _normalised(
    model: ProductModel, columns: Columns, rows: int, output: int, first_row: int, *, watch: bool
) -> Doubles:
    def check(impossible: NDArray[np.bool_]) -> None:
        refuse_infinite(columns, impossible, first_row)

    plan = plan_of(model, columns, rows, watch=watch)
    if plan.watched:
        if plan.point_mass_hits is None:
            answer: Doubles = plan.run(output)
            if not plan.impossible:
                return answer
        warn_of_unseen_numbers(model, columns, rows)
        plan = plan_of(model, columns, rows)
    return normalised(plan, model.log_prior, output, check)


def refuse_infinite(columns: Columns, rows: NDArray[np.bool_], first_row: int) -> None:
    """Raise an error that names the first infinite number in these rows."""
    for name, column in columns.items():
        if isinstance(column, CountMatrix) or not _is_floating(column):
            continue
        values = as_numbers(column, name=name)
        infinite = np.flatnonzero(rows & np.isinf(values))
        if len(infinite):
            row = int(infinite[0])
            raise BadData(
                f"column `{name}` contains an infinite value",
                where=f"row {first_row + row + 1}",
                found=float(values[row]),
                remedy="Replace it with a number or a missing value",
                column=name,
            )


def _is_floating(column: PlainColumn) -> bool:
    return column.dtype.kind == "f" if isinstance(column, np.ndarray) else bool(pa.types.is_floating(column.type))


def normalised(
    plan: Plan, log_prior: Doubles, output: int, check: Callable[[NDArray[np.bool_]], None] | None = None
) -> Doubles:
    """The posterior of a plan in one of the core's forms; impossible rows get the prior, with a warning.

    `log_prior` is one for all rows, or one per row. `check` receives which rows are impossible in every class, and may
    raise an error.
    """
    if plan.point_mass_hits is not None:
        _keep_highest_order(plan)
    answer: Doubles = plan.run(output)
    if plan.impossible:
        impossible = np.isnan(answer[:, 0])
        if check is not None:
            check(impossible)
        own = log_prior if log_prior.ndim == 1 else log_prior[impossible]
        unexplained = Plan(int(impossible.sum()), np.zeros(plan.classes))
        unexplained.add_terms(np.tile(own, (unexplained.rows, 1)) if own.ndim == 1 else own)
        answer[impossible] = unexplained.run(output)  # a rule's prior need not sum to one
        warnings.warn(
            ImpossibleRows(unexplained.rows, plan.rows, "rows are impossible in every class; they get the class prior"),
            stacklevel=5,
        )
    return answer


def _keep_highest_order(plan: Plan) -> None:
    """Keep only the classes with the most point masses hit: an infinite density outranks a finite one."""
    assert plan.point_mass_hits is not None
    joint = plan.run(_core.JOINT)
    order = np.where(np.isneginf(joint), -1, plan.point_mass_hits)
    plan.add_terms(np.where(order < order.max(axis=1, keepdims=True), -np.inf, 0.0))
