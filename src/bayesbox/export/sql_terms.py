"""The expression trees as SQL, for one class at a time: the term of each column in its log-probability.

Constants are folded, so that a class with mean 0 has no `- 0` in its term. Cases stay on top: `CASE WHEN x IS NULL THEN
3 ELSE y END` times 2 becomes `CASE WHEN x IS NULL THEN 6 ELSE y * 2 END`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesbox.dist.expression import (
    CaseWhen,
    Condition,
    Constant,
    Expression,
    InClasses,
    Lookup,
    Operation,
    Operator,
    PointMass,
    Predicate,
    ReadNumber,
    ReadPosition,
    Squared,
    TreeNode,
    walk,
)
from bayesbox.export.dialect import Dialect, added_up
from bayesbox.export.sql_reader import UNSEEN, switch

SUM, PRODUCT, WHOLE = range(3)  # the lowest-precedence operator outside parentheses
LEAST, MOST = 1e-150, 1.3e154  # the range in which squares neither over- nor underflow
LOWEST, HIGHEST = -745.0, 709.78  # and exponentials
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


class Sql(NamedTuple):
    """An expression as text, and its lowest-precedence operator."""

    text: str
    holds: int = WHOLE

    def within(self, holds: int) -> str:
        """The text as an operand of an operator, in parentheses if needed."""
        return self.text if self.holds >= holds else f"({self.text})"


Value = float | Sql


class Pieces(NamedTuple):
    """A value, preceded by the cases in which it is another one."""

    value: Value
    cases: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class SqlClass:
    """Renders trees for one class; `names` are those of the prepared columns."""

    dialect: Dialect
    names: Mapping[ReadNumber | ReadPosition, str]
    index: int

    def term(self, expression: Expression) -> str:
        """The SQL of an expression, as an operand of a sum."""
        return self._sql(self._value(expression)).text

    def hits(self, expression: Expression) -> list[str]:
        """The conditions under which the class has a point mass at the value."""
        found = [self._condition(each.where) for each in walk(expression) if isinstance(each, PointMass)]
        return ["1 = 1" if condition is True else condition for condition in found if condition is not False]

    def _pieces(self, node: Expression) -> Pieces:
        match node:
            case ReadNumber():
                return Pieces(Sql(self.names[node]))
            case Constant(values):
                return Pieces(float(values if values.ndim == 0 else values[self.index]))
            case Lookup():
                return Pieces(Sql(self._looked_up(node)))
            case PointMass(term):
                return self._pieces(term)
            case CaseWhen(cases, otherwise):
                return self._first_case(cases, otherwise)
            case Squared(x, scale):
                return self._apply(self._squared, [x, scale])
            case Operation(name, operands):
                return self._apply(partial(OPERATIONS[name], self), operands)
        raise TypeError(f"not an expression: {node!r}")

    def _value(self, node: Expression) -> Value:
        return self._whole(self._pieces(node))

    def _whole(self, pieces: Pieces) -> Value:
        """All cases in one value."""
        if not pieces.cases:
            return pieces.value
        listed = " ".join(f"WHEN {condition} THEN {self._sql(value).text}" for condition, value in pieces.cases)
        return Sql(f"CASE {listed} ELSE {self._sql(pieces.value).text} END")

    def _sql(self, value: Value) -> Sql:
        return value if isinstance(value, Sql) else Sql(self.dialect.double(value))

    def _apply(self, operation: Callable[..., Pieces], operands: Sequence[Expression]) -> Pieces:
        """An operation, applied to each case of an operand if all others are numbers, else to whole values."""
        pieces = [self._pieces(operand) for operand in operands]
        values = [piece.value for piece in pieces]
        at = next((place for place, piece in enumerate(pieces) if piece.cases), None)
        if at is None:
            return operation(*values)
        if any(piece.cases or isinstance(piece.value, Sql) for place, piece in enumerate(pieces) if place != at):
            return operation(*(self._whole(piece) for piece in pieces))
        cases = [
            (condition, self._whole(operation(*values[:at], value, *values[at + 1 :])))
            for condition, value in pieces[at].cases
        ]
        last = operation(*values)
        return Pieces(last.value, (*cases, *last.cases))

    def _first_case(self, cases: Sequence[tuple[Condition, Expression]], otherwise: Expression) -> Pieces:
        found: list[tuple[str, Value]] = []
        for condition, expression in cases:
            holds = self._condition(condition)
            if holds is True:
                otherwise = expression
                break
            if isinstance(holds, str):
                found.append((holds, self._value(expression)))
        last = self._pieces(otherwise)
        return Pieces(last.value, (*found, *last.cases))

    def _looked_up(self, lookup: Lookup) -> str:
        double = self.dialect.double
        cases = [(str(place), double(term)) for place, term in enumerate(lookup.rows[:, self.index].tolist())]
        if lookup.unseen_is_error:
            cases.append((str(UNSEEN), "NULL"))
        elif lookup.unseen is not None:
            cases.append((str(UNSEEN), double(lookup.unseen[self.index])))
        return switch(self.names[lookup.position], cases, double(lookup.missing[self.index]))

    def _condition(self, node: TreeNode) -> bool | str:
        """A condition, or its truth value if that is constant."""
        match node:
            case InClasses(classes):
                return bool(classes[self.index])
            case Predicate("and" | "or" as relation, operands):
                return self._joined(relation, operands)
            case Predicate("missing", (Expression() as x,)):
                value = self._value(x)
                return math.isnan(value) if isinstance(value, float) else f"{value.within(WHOLE)} IS NULL"
            case Predicate(relation, (Expression() as left, Expression() as right)):
                return self._compared(relation, self._value(left), self._value(right))
        raise TypeError(f"not a condition: {node!r}")

    def _joined(self, relation: str, operands: Sequence[TreeNode]) -> bool | str:
        decisive = relation == "or"
        texts = []
        for each in operands:
            holds = self._condition(each)
            if holds is decisive:
                return decisive
            if isinstance(holds, str):
                other = isinstance(each, Predicate) and each.relation in ("and", "or") and each.relation != relation
                texts.append(f"({holds})" if other else holds)
        return f" {relation.upper()} ".join(texts) if texts else not decisive

    def _compared(self, relation: str, left: Value, right: Value) -> bool | str:
        if isinstance(left, float) and isinstance(right, float):
            return COMPARE[relation](left, right)
        return f"{self._sql(left).within(SUM)} {relation} {self._sql(right).within(SUM)}"

    def _add(self, *values: Value) -> Pieces:
        if all(isinstance(value, float) for value in values):
            return Pieces(sum(value for value in values if isinstance(value, float)))
        return Pieces(Sql(added_up([self._sql(value).within(SUM) for value in values if value != 0.0]), SUM))

    def _subtract(self, left: Value, right: Value) -> Pieces:
        if isinstance(left, float) and isinstance(right, float):
            return Pieces(left - right)
        if right == 0.0:
            return Pieces(left)
        return Pieces(Sql(f"{self._sql(left).within(SUM)} - {self._sql(right).within(PRODUCT)}", SUM))

    def _multiply(self, left: Value, right: Value) -> Pieces:
        if isinstance(left, float) and isinstance(right, float):
            return Pieces(left * right)
        if left == 1.0 or right == 1.0:
            return Pieces(right if left == 1.0 else left)
        return Pieces(Sql(f"{self._sql(left).within(PRODUCT)} * {self._sql(right).within(WHOLE)}", PRODUCT))

    def _divide(self, left: Value, right: Value) -> Pieces:
        if isinstance(left, float) and isinstance(right, float):
            return Pieces(float(np.divide(left, right)))
        if right == 1.0:
            return Pieces(left)
        return Pieces(Sql(f"{self._sql(left).within(PRODUCT)} / {self._sql(right).within(WHOLE)}", PRODUCT))

    def _abs(self, x: Value) -> Pieces:
        return Pieces(abs(x) if isinstance(x, float) else Sql(f"ABS({x.text})"))

    def _floor(self, x: Value) -> Pieces:
        return Pieces(float(np.floor(x)) if isinstance(x, float) else Sql(f"FLOOR({x.text})"))

    def _log(self, x: Value) -> Pieces:
        return Pieces(float(np.log(x)) if isinstance(x, float) else Sql(f"LN({x.text})"))

    def _exp(self, x: Value) -> Pieces:
        if isinstance(x, float):
            return Pieces(float(np.exp(x)))
        low, high = self.dialect.double(LOWEST), self.dialect.double(HIGHEST)
        cases = ((f"{x.text} < {low}", 0.0), (f"{x.text} > {high}", math.inf))
        return Pieces(Sql(f"EXP({x.text})"), cases)

    def _log1p(self, x: Value) -> Pieces:
        """log(1 + x) is log(y) + (x - (y - 1)) / y for y = 1 + x: the digits of x that the sum loses are added."""
        if isinstance(x, float):
            return Pieces(float(np.log1p(x)))
        one = self.dialect.double(1.0)
        grown = f"({one} + {x.within(SUM)})"
        return Pieces(Sql(f"LN{grown} + ({x.within(SUM)} - ({grown} - {one})) / {grown}", SUM))

    def _squared(self, x: Value, scale: Value) -> Pieces:
        """The square of x / scale, with cases for overflow and underflow, which is an error in some databases only."""
        assert isinstance(scale, float)
        if isinstance(x, float):
            return Pieces(float(np.square(np.divide(x, scale))))
        most, least = self.dialect.double(min(scale * MOST, 1.7e308)), self.dialect.double(scale * LEAST)
        cases = [(f"ABS({x.text}) > {most}", math.inf)]
        if self.dialect.traps:
            cases.append((f"ABS({x.text}) < {least}", 0.0))
        once = self._sql(self._divide(x, scale).value).within(WHOLE)
        return Pieces(Sql(f"{once} * {once}", PRODUCT), tuple(cases))


OPERATIONS: Mapping[Operator, Callable[..., Pieces]] = {
    "add": SqlClass._add,
    "subtract": SqlClass._subtract,
    "multiply": SqlClass._multiply,
    "divide": SqlClass._divide,
    "log": SqlClass._log,
    "log1p": SqlClass._log1p,
    "exp": SqlClass._exp,
    "abs": SqlClass._abs,
    "floor": SqlClass._floor,
}
