"""Expression trees of log-probabilities, which the exporters render in other languages.

A node is one number for each row and class. Columns are read by `ReadNumber`, or by `ReadLevel`, `ReadFlag` and
`ReadBin`, which give the position of a value in the table of a `Lookup`. A constant is one number, or one per class:

    >>> age = ReadNumber("age")
    >>> distance = age - np.array([30.0, 41.0])
    >>> term = case((age.is_missing(), 0.0), otherwise=constant([-2.5, -3.0]) - squared(distance, [5.0, 8.0]) * 0.5)
    >>> readings(term)
    [ReadNumber(column='age')]

Three rules give a tree the same meaning everywhere:

- A missing number is NULL in SQL and NaN in ONNX, and every comparison with it is false, so test `is_missing` first.
- The first true case applies; only its expression must be defined for the row.
- Terms that are equal in every class may be omitted, since they cancel in Bayes' rule; -inf may not.

Some databases raise an error if a square or an exponential over- or underflows, so these are separate nodes, which the
renderers guard. A product of two columns is not guarded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles

Operator = Literal["add", "subtract", "multiply", "divide", "log", "log1p", "exp", "abs", "floor"]
Relation = Literal["missing", "<", "<=", ">", ">=", "=", "and", "or"]


class TreeNode:
    """An expression, a condition, or a column."""

    def below(self) -> tuple[TreeNode, ...]:
        """Its child nodes."""
        return ()


class Expression(TreeNode):
    """A number for each row and class. Operators build larger ones; the other side may be a number or one per class."""

    __array_ufunc__ = None  # numpy leaves `array - expression` to the methods below

    def __add__(self, other: Operand) -> Expression:
        return Operation("add", (self, constant(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Operation("add", (constant(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Operation("subtract", (self, constant(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return Operation("subtract", (constant(other), self))

    def __mul__(self, other: Operand) -> Expression:
        return Operation("multiply", (self, constant(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Operation("multiply", (constant(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Operation("divide", (self, constant(other)))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Operation("divide", (constant(other), self))

    def __neg__(self) -> Expression:
        return constant(-1.0) * self

    def __abs__(self) -> Expression:
        return Operation("abs", (self,))

    def __lt__(self, other: Operand) -> Condition:
        return Predicate("<", (self, constant(other)))

    def __le__(self, other: Operand) -> Condition:
        return Predicate("<=", (self, constant(other)))

    def __gt__(self, other: Operand) -> Condition:
        return Predicate(">", (self, constant(other)))

    def __ge__(self, other: Operand) -> Condition:
        return Predicate(">=", (self, constant(other)))

    def equals(self, other: Operand) -> Condition:
        """Whether it equals a number."""
        return Predicate("=", (self, constant(other)))

    def is_missing(self) -> Condition:
        """Whether it is missing."""
        return Predicate("missing", (self,))


class Condition(TreeNode):
    """Whether something holds, for each row and class."""

    def __and__(self, other: Condition) -> Condition:
        return Predicate("and", (self, other))

    def __or__(self, other: Condition) -> Condition:
        return Predicate("or", (self, other))


Operand = Expression | float | Sequence[float] | Doubles


@dataclass(frozen=True)
class ReadNumber(Expression):
    """A column of numbers."""

    column: str


@dataclass(frozen=True)
class ReadLevel(TreeNode):
    """The position of a category among its levels, which are texts."""

    column: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class ReadFlag(TreeNode):
    """0 for false and 1 for true, however it is written; the levels are the names of the two."""

    column: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class ReadBin(TreeNode):
    """The bin of a number, 0 for the first; a value on a cut is in the lower bin."""

    column: str
    cuts: tuple[float, ...]


ReadPosition = ReadLevel | ReadFlag | ReadBin


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """A constant: a scalar array, or one number per class."""

    values: Doubles


@dataclass(frozen=True, eq=False)
class Operation(Expression):
    """A sum, a product, a logarithm ... of the operands; log1p is log(1 + x), accurate for small x."""

    name: Operator
    operands: tuple[Expression, ...]

    def below(self) -> tuple[TreeNode, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Squared(Expression):
    """(x / scale)**2, infinite or 0 if it over- or underflows."""

    x: Expression
    scale: Constant

    def below(self) -> tuple[TreeNode, ...]:
        return self.x, self.scale


@dataclass(frozen=True, eq=False)
class CaseWhen(Expression):
    """The expression of the first true condition, else `otherwise`."""

    cases: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression

    def below(self) -> tuple[TreeNode, ...]:
        return *(node for each in self.cases for node in each), self.otherwise


@dataclass(frozen=True, eq=False)
class Lookup(Expression):
    """The row of a table at a position, rows x classes, and the rows of other values.

    `unseen` is the row of a value that is not a known level, None if every value has a position; with `unseen_is_error`
    such a value is an error.
    """

    position: ReadPosition
    rows: Doubles
    missing: Doubles
    unseen: Doubles | None = None
    unseen_is_error: bool = False

    def below(self) -> tuple[TreeNode, ...]:
        return (self.position,)


@dataclass(frozen=True, eq=False)
class PointMass(Expression):
    """A term that is an infinite density if the condition holds: a class with more of these outranks all others."""

    term: Expression
    where: Condition

    def below(self) -> tuple[TreeNode, ...]:
        return self.term, self.where


@dataclass(frozen=True, eq=False)
class Predicate(Condition):
    """A comparison of two expressions, a test for missing, or two conditions combined."""

    relation: Relation
    operands: tuple[TreeNode, ...]

    def below(self) -> tuple[TreeNode, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class InClasses(Condition):
    """A condition on the class only."""

    classes: NDArray[np.bool_]


@dataclass(frozen=True)
class PmmlDensity:
    """A density of PMML with its parameters, each with one number per class.

    `log_observed` and `log_missing` are the terms for an observed and a missing value; zeros if missing values are
    ignored.
    """

    column: str
    name: str
    parameters: Mapping[str, Doubles]
    log_observed: Doubles
    log_missing: Doubles


def constant(value: Operand) -> Expression:
    """A number, or one number per class, as an expression; an expression is unchanged."""
    return value if isinstance(value, Expression) else Constant(np.asarray(value, dtype=np.float64))


def case(*cases: tuple[Condition, Operand], otherwise: Operand) -> Expression:
    """The expression of the first true condition, else `otherwise`."""
    return CaseWhen(tuple((condition, constant(value)) for condition, value in cases), constant(otherwise))


def squared(x: Expression, scale: float | Sequence[float] | Doubles) -> Expression:
    """(x / scale)**2, infinite or 0 if it over- or underflows."""
    return Squared(x, Constant(np.asarray(scale, dtype=np.float64)))


def log(x: Expression) -> Expression:
    """The natural logarithm of a number above 0."""
    return Operation("log", (x,))


def log1p(x: Expression) -> Expression:
    """log(1 + x) to the last digits of a small x."""
    return Operation("log1p", (x,))


def exp(x: Expression) -> Expression:
    """The exponential; 0 if it underflows."""
    return Operation("exp", (x,))


def floor(x: Expression) -> Expression:
    """The largest integer not above x."""
    return Operation("floor", (x,))


def total(terms: Sequence[Expression]) -> Expression:
    """The sum of some expressions."""
    return Operation("add", tuple(terms))


def walk(node: TreeNode) -> Iterator[TreeNode]:
    """A node and its descendants, parents first."""
    yield node
    for each in node.below():
        yield from walk(each)


def readings(node: TreeNode) -> list[ReadNumber | ReadPosition]:
    """The distinct reads of columns."""
    found = (each for each in walk(node) if isinstance(each, ReadNumber | ReadPosition))
    return list(dict.fromkeys(found))
