"""The tree in which a family writes down its log-probability, for the exporters to render in other languages.

A node is one number for each row and class. Columns are read by `ReadNumber`, or by `ReadLevel`, `ReadFlag` and
`ReadBin`, which give the position of a value in a table of `Lookup`. A constant is one number, or one for each class:

    >>> age = ReadNumber("age")
    >>> distance = age - np.array([30.0, 41.0])
    >>> term = case((age.is_missing(), 0.0), otherwise=constant([-2.5, -3.0]) - squared(distance, [5.0, 8.0]) * 0.5)
    >>> readings(term)
    [ReadNumber(column='age')]

Three rules make a tree mean the same everywhere:

- A missing number is NULL in SQL and NaN in ONNX, and no comparison with it holds; so ask for `is_missing` first.
- The first case that holds decides; only its expression has to be defined for the row.
- Terms that are the same in every class may be omitted, since Bayes' rule divides them out; -inf may not.

Some databases refuse a square or an exponential that is too large or too small for a double, so these are nodes of
their own, which the renderers guard. A product of two columns is not guarded.
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
    """An expression, a condition, or a column that is read."""

    def below(self) -> tuple[TreeNode, ...]:
        """The nodes that it is made of."""
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
        """Whether it is this number."""
        return Predicate("=", (self, constant(other)))

    def is_missing(self) -> Condition:
        """Whether it has no value."""
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
    """A number that is known: an array without an axis, or of one number per class."""

    values: Doubles


@dataclass(frozen=True, eq=False)
class Operation(Expression):
    """A sum, a product, a logarithm ... of the operands; log1p is log(1 + x) to the last digits of a small x."""

    name: Operator
    operands: tuple[Expression, ...]

    def below(self) -> tuple[TreeNode, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Squared(Expression):
    """(x / scale)**2, infinite or 0 if it would be too large or too small for a double."""

    x: Expression
    scale: Constant

    def below(self) -> tuple[TreeNode, ...]:
        return self.x, self.scale


@dataclass(frozen=True, eq=False)
class CaseWhen(Expression):
    """The expression of the first condition that holds, else `otherwise`."""

    cases: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression

    def below(self) -> tuple[TreeNode, ...]:
        return *(node for each in self.cases for node in each), self.otherwise


@dataclass(frozen=True, eq=False)
class Lookup(Expression):
    """The row of a table at a position, rows x classes, and the rows of other values.

    `unseen` is the row of a value that is none of the levels, None if every value has a position; `unseen_is_error`
    where such a value has no answer at all.
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
    """A term, and where the condition holds a density without bound: a class with more of these outranks all others."""

    term: Expression
    where: Condition

    def below(self) -> tuple[TreeNode, ...]:
        return self.term, self.where


@dataclass(frozen=True, eq=False)
class Predicate(Condition):
    """A comparison of two expressions, whether one is missing, or two conditions joined."""

    relation: Relation
    operands: tuple[TreeNode, ...]

    def below(self) -> tuple[TreeNode, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class InClasses(Condition):
    """A condition of the class alone."""

    classes: NDArray[np.bool_]


@dataclass(frozen=True)
class PmmlDensity:
    """A density that PMML knows by name, and its parameters there, each with one number per class.

    `log_observed` and `log_missing` are what it adds that a value is there, or not; zeros if this says nothing.
    """

    column: str
    name: str
    parameters: Mapping[str, Doubles]
    log_observed: Doubles
    log_missing: Doubles


def constant(value: Operand) -> Expression:
    """A number, or one number per class, as an expression; an expression as it is."""
    return value if isinstance(value, Expression) else Constant(np.asarray(value, dtype=np.float64))


def case(*cases: tuple[Condition, Operand], otherwise: Operand) -> Expression:
    """The expression of the first condition that holds, else `otherwise`."""
    return CaseWhen(tuple((condition, constant(value)) for condition, value in cases), constant(otherwise))


def squared(x: Expression, scale: float | Sequence[float] | Doubles) -> Expression:
    """(x / scale)**2, infinite or 0 if it would be too large or too small for a double."""
    return Squared(x, Constant(np.asarray(scale, dtype=np.float64)))


def log(x: Expression) -> Expression:
    """The natural logarithm of a number above 0."""
    return Operation("log", (x,))


def log1p(x: Expression) -> Expression:
    """log(1 + x) to the last digits of a small x."""
    return Operation("log1p", (x,))


def exp(x: Expression) -> Expression:
    """The exponential; 0 if it would be too small for a double."""
    return Operation("exp", (x,))


def floor(x: Expression) -> Expression:
    """The largest whole number that is not above x."""
    return Operation("floor", (x,))


def total(terms: Sequence[Expression]) -> Expression:
    """The sum of some expressions."""
    return Operation("add", tuple(terms))


def walk(node: TreeNode) -> Iterator[TreeNode]:
    """A node and all below it, each before those below."""
    yield node
    for each in node.below():
        yield from walk(each)


def readings(node: TreeNode) -> list[ReadNumber | ReadPosition]:
    """What is read of the columns, each reading once."""
    found = (each for each in walk(node) if isinstance(each, ReadNumber | ReadPosition))
    return list(dict.fromkeys(found))
