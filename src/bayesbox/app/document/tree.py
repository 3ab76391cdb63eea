"""The expression trees of the families as JSON: a node is a list that begins with its name.

A number that JSON cannot represent is a string: "-Infinity". The page reads both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesbox.dist.base import Distribution
from bayesbox.dist.expression import (
    CaseWhen,
    Constant,
    Expression,
    InClasses,
    Lookup,
    Operation,
    PointMass,
    Predicate,
    ReadBin,
    ReadFlag,
    ReadLevel,
    ReadNumber,
    Squared,
    TreeNode,
    constant,
)
from bayesbox.dist.number.averaged_number import AveragedNumber
from bayesbox.dist.number.kernel import DIRECT, Kernel
from bayesbox.dist.number.rounded import Rounded
from bayesbox.errors import CannotExport
from bayesbox.export.family import refusal

Tree = list[Any]
PAGE = "a page"


def numbers(values: object) -> Any:
    """Numbers, in lists of any depth, in JSON form.

    >>> numbers(np.array([[1.0, -np.inf]]))
    [[1.0, '-Infinity']]
    """
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [numbers(each) for each in values]
    if isinstance(values, float) and not math.isfinite(values):
        return "NaN" if math.isnan(values) else "Infinity" if values > 0 else "-Infinity"
    return values


def tree_of(distribution: Distribution) -> Tree:
    """log P(x | class) of a family; CannotExport if the page cannot compute it."""
    if isinstance(distribution, AveragedNumber):
        return _averaged(distribution)
    if isinstance(distribution, Kernel):
        return _kernel(distribution)
    if isinstance(distribution, Rounded):
        return _rounded(distribution)
    found = distribution.expression()
    if found is None:
        raise refusal(distribution, PAGE)
    return written(found)


def parts_of(tree: Tree) -> list[Tree]:
    """The parts of a sum."""
    return tree[1:] if tree[0] == "add" else [tree]


def columns_of(tree: Tree) -> list[str]:
    """The distinct columns that a tree reads."""
    if tree[0] in ("x", "kernel", "rounded", "level", "flag", "bin"):
        return [tree[1]]
    found: list[str] = []
    for each in tree[1:]:
        for inner in _nodes(each):
            found += columns_of(inner)
    return list(dict.fromkeys(found))


def _nodes(value: object) -> list[Tree]:
    if not isinstance(value, list) or not value:
        return []
    return [value] if isinstance(value[0], str) else [inner for each in value for inner in _nodes(each)]


def written(node: TreeNode) -> Tree:
    """An expression tree as lists."""
    match node:
        case ReadNumber(column):
            return ["x", column]
        case ReadLevel(column, levels):
            return ["level", column, list(levels)]
        case ReadFlag(column, levels):
            return ["flag", column, list(levels)]
        case ReadBin(column, cuts):
            return ["bin", column, numbers(cuts)]
        case Constant(values):
            return ["c", numbers(values)]
        case Lookup(position, rows, missing, unseen, unseen_is_error):
            return ["at", written(position), numbers(rows), numbers(missing), numbers(unseen), unseen_is_error]
        case Squared(x, scale):
            return ["squared", written(x), written(scale)]
        case CaseWhen(cases, otherwise):
            return ["case", [[written(condition), written(each)] for condition, each in cases], written(otherwise)]
        case PointMass(term, where):
            return ["point", written(term), written(where)]
        case Operation(name, operands):
            return [name, *map(written, operands)]
        case Predicate(relation, operands):
            return [relation, *map(written, operands)]
        case InClasses(classes):
            return ["in", classes.tolist()]
    raise TypeError(f"not an expression: {node!r}")


def _present(column: str, distribution: Any, density: Tree) -> Tree:
    """A density for a value that is present, and the term of a missing one."""
    observed = ["add", written(constant(distribution.log_observed)), density]
    return ["case", [[["missing", ["x", column]], written(constant(distribution.log_missing))]], observed]


def _averaged(averaged: AveragedNumber) -> Tree:
    """log(w p(x | class) + (1 - w) p(x))."""
    sides = [(averaged.by_class, averaged.shares.inside), (averaged.whole, averaged.shares.outside)]
    logs = []
    for density, share in sides:
        side = density.expression() if isinstance(density, Distribution) else None
        if not isinstance(density, Distribution) or not isinstance(side, Expression):
            raise refusal(averaged, PAGE)
        weight = math.log(share) if share > 0 else -math.inf
        logs.append(["add", _of_every_class(written(side), averaged.classes), ["c", numbers(weight)]])
    missing = [["missing", ["x", averaged.column]], written(constant(averaged.log_missing))]
    return ["case", [missing], ["mix", *logs]]


def _of_every_class(tree: Tree, classes: int) -> Tree:
    """A tree of one class applied to all: its constants are those of the whole column."""
    if tree[0] == "c" and isinstance(tree[1], list) and len(tree[1]) == 1:
        return ["c", tree[1] * classes]
    if tree[0] in ("level", "flag", "bin", "at", "x", "c", "in"):
        return tree
    return [tree[0], *(_inside(each, classes) for each in tree[1:])]


def _inside(value: object, classes: int) -> Any:
    if not isinstance(value, list) or not value:
        return value
    return _of_every_class(value, classes) if isinstance(value[0], str) else [_inside(each, classes) for each in value]


def _kernel(kernel: Kernel) -> Tree:
    if max(len(each.values) for each in kernel.curves) > DIRECT:
        raise CannotExport(
            f"the kernel density of `{kernel.column}` has more than {DIRECT:,} values, too many for {PAGE}",
            remedy="Train with another density",
        )
    curves = [
        {"values": each.values.tolist(), "weights": each.weights.tolist(), "width": each.width}
        for each in kernel.curves
    ]
    return _present(kernel.column, kernel, ["kernel", kernel.column, curves])


def _rounded(rounded: Rounded) -> Tree:
    cells = {
        "origin": rounded.rounding.origin,
        "step": rounded.rounding.step,
        "exponent": rounded.rounding.exponent,
        "mean": rounded.mean.tolist(),
        "meanLow": rounded.mean_low.tolist(),
        "std": rounded.std.tolist(),
    }
    return _present(rounded.column, rounded, ["rounded", rounded.column, cells])
