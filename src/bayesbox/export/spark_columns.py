"""A naive Bayes model as columns of Spark: SQL expressions, which Spark compiles, so that no row goes to Python.

Spark makes one Java method of a step, and Java compiles only methods of less than 8,000 bytes to machine code. So the
expressions are few and short: a missing number is NaN, which arithmetic hands on and `NANVL` replaces at the end of a
term; a category gives the logarithms of all classes as one array. Unless a model is small, the sum of each class is
written twice, by itself and in the largest, so that Spark makes a method of its own of it. Families that need more than
arithmetic, such as a logarithm for each class, are quicker in the core, and refused here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.expression import (
    CaseWhen,
    Constant,
    Expression,
    Lookup,
    Operation,
    Predicate,
    ReadFlag,
    ReadLevel,
    ReadNumber,
    ReadPosition,
    Squared,
    readings,
)
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport
from bayesbox.export.dialect import added_up, dialect_named
from bayesbox.export.family import weighted_terms

SPARK = dialect_named("spark")
REALS = ("double", "float")
INTEGERS = ("tinyint", "smallint", "int", "bigint")
SEEN = 2.0**-53  # a smaller part of a standard deviation does not change the square of a distance
SYNTAX = ("'", "\\", "${")  # in texts: escapes are a setting, and variables are replaced
FEW_CELLS = 24  # columns x classes that do not need methods of their own
MOST_LEVELS = 128  # of a category: they are compared one after the other
METHOD = 6_000  # bytes that the model may take of one method, where the kept columns need some too
BYTES_A_NUMBER, BYTES_A_SQUARE, BYTES_A_LEVEL, BYTES_A_CLASS = 100, 30, 220, 200


class SparkColumn(NamedTuple):
    """How a column of the frame is written, and its type as Spark names it."""

    reference: str
    type: str


Step = list[str]  # of `expression AS name`


def scoring_steps(
    model: NaiveModel, columns: Mapping[str, SparkColumn], *, power: float = 1.0, proba: bool = False
) -> list[Step]:
    """What to select, step by step, each from the one before; the last gives the prediction and, if asked, P(class).

    The caller adds the columns that it keeps to each step. The probabilities are raised to `power`, which calibration
    by temperature learns, and made to sum to 1. A model, or a type of column, that needs the core is refused.
    """
    return _Scoring(model, columns, power, proba).steps()


@dataclass(frozen=True)
class _Term:
    """How a tree reads for one class; `names` are those of the columns prepared before."""

    names: Mapping[ReadNumber | ReadPosition, str]
    index: int

    def text(self, node: Expression) -> str:
        """A double that is never NULL; NaN only where a number is missing and the tree has no case for it."""
        match node:
            case ReadNumber():
                return self.names[node]
            case Constant():
                return SPARK.double(self._number(node))
            case Operation("add", operands):
                return f"({added_up([self.text(each) for each in operands])})"
            case Operation("subtract", (left, right)):
                return f"({self.text(left)} - {self.text(right)})"
            case Operation("multiply", (Squared(x, scale), Constant() as factor)) if self._number(factor) > 0:
                return self._squared(x, self._number(scale) / math.sqrt(self._number(factor)))
            case Operation("multiply", (left, right)):
                return f"({self.text(left)} * {self.text(right)})"
            case Squared(x, scale):
                return self._squared(x, self._number(scale))
            case CaseWhen(((Predicate("missing", (ReadNumber(),)), Constant() as missing),), otherwise):
                return f"NANVL({self.text(otherwise)}, {SPARK.double(self._number(missing))})"
            case Lookup(position):
                return f"COALESCE({self.names[position]}[{self.index}], {SPARK.double(0.0)})"
        raise CannotExport("this model needs the core", remedy='Write engine="arrow"')

    def _number(self, node: Constant) -> float:
        return float(node.values if node.values.ndim == 0 else node.values[self.index])

    def _squared(self, x: Expression, scale: float) -> str:
        """As the core has it: times the inverse, and without the low part of a mean where nobody sees it."""
        inverse = 1.0 / scale
        if not 1e-300 < inverse < 1e300:
            raise CannotExport("this model needs the core", found=scale, remedy='Write engine="arrow"')
        match x:
            case Operation("subtract", (rest, Constant() as low)) if abs(self._number(low)) * inverse <= SEEN:
                x = rest
        once = f"({self.text(x)} * {SPARK.double(inverse)})"
        return f"({once} * {once})"


class _Scoring:
    def __init__(self, model: NaiveModel, columns: Mapping[str, SparkColumn], power: float, proba: bool) -> None:
        self.model = model
        self.columns = columns
        self.power = power
        self.proba = proba
        self.classes = range(len(model.classes))
        self.terms = weighted_terms(model, "SQL")
        self.readings = list(dict.fromkeys(reading for term in self.terms for reading in readings(term)))
        self.names = {reading: f"bayes_x{place}" for place, reading in enumerate(self.readings)}
        self._refuse_large()

    def steps(self) -> list[Step]:
        infinite = SPARK.double(-math.inf)
        logs = [f"bayes_l{index}" for index in self.classes]
        steps = [self._input(), *self._joint(logs)]
        if not self.proba:
            labels = [(f"bayes_most = {infinite}", self._labels()[int(self.model.log_prior.argmax())])]
            labels += [(f"{log} = bayes_most", label) for log, label in zip(logs, self._labels(), strict=True)]
            return [*steps, [f"{_first(labels)} AS bayes_prediction"]]
        weights = [
            f"CASE WHEN bayes_most = {infinite} THEN {SPARK.double(prior)} "
            f"ELSE EXP({self._powered(f'{log} - bayes_most')}) END AS bayes_w{index}"
            for index, (log, prior) in enumerate(zip(logs, self._prior(), strict=True))
        ]
        names = [f"bayes_w{index}" for index in self.classes]
        labels = [(f"{name} = {SPARK.double(1.0)}", label) for name, label in zip(names, self._labels(), strict=True)]
        shares = [f"{name} / ({added_up(names)}) AS bayes_p{index}" for index, name in enumerate(names)]
        return [*steps, weights, [f"{_first(labels)} AS bayes_prediction", *shares]]

    def _powered(self, share: str) -> str:
        return share if self.power == 1 else f"{SPARK.double(self.power)} * ({share})"

    def _input(self) -> Step:
        tables = {term.position: term for term in map(_table, self.terms) if term is not None}
        listed = []
        for reading in self.readings:
            if not (isinstance(reading, ReadNumber) or reading in tables):
                raise CannotExport(f"column `{reading.column}` needs the core", remedy='Write engine="arrow"')
            column = self.columns.get(reading.column)
            if column is None:
                raise CannotExport(f"the frame has no column `{reading.column}`", remedy='Write engine="arrow"')
            if isinstance(reading, ReadNumber):
                text = self._number(reading, column)
            else:
                text = self._looked_up(tables[reading], column)
            listed.append(f"{text} AS {self.names[reading]}")
        return listed or ["1 AS bayes_row"]

    def _number(self, reading: ReadNumber, column: SparkColumn) -> str:
        if column.type not in (*REALS, *INTEGERS):
            raise _type_refused(reading.column, column)
        return f"COALESCE(CAST({column.reference} AS DOUBLE), {SPARK.nan})"

    def _looked_up(self, table: Lookup, column: SparkColumn) -> str:
        """The row of a table at the level of a column, as an array of one number per class."""
        key, keys = _key(table.position, column)
        rows = ", ".join(f"{level}, {_array(table.rows[place])}" for place, level in enumerate(keys))
        unseen = table.missing if table.unseen is None else table.unseen
        if table.unseen_is_error:
            raise CannotExport("an unseen level must be an error", remedy='Write engine="arrow"')
        found = f"COALESCE(MAP({rows})[{key}], {_array(unseen)})"
        if np.array_equal(unseen, table.missing):
            return found
        return f"CASE WHEN {key} IS NULL THEN {_array(table.missing)} ELSE {found} END"

    def _joint(self, logs: Sequence[str]) -> list[Step]:
        """The sum of each class and the largest; then an error if an infinite number makes every class impossible."""
        sums = []
        for index in self.classes:
            term = _Term(self.names, index)
            sums.append(added_up([SPARK.double(self.model.log_prior[index]), *map(term.text, self.terms)]))
        joint = [f"{total} AS {log}" for total, log in zip(sums, logs, strict=True)]
        large = len(self.terms) * len(sums) > FEW_CELLS
        largest = sums if large else logs
        most = f"GREATEST({', '.join(largest)})" if len(logs) > 1 else logs[0]
        reals = [each for each in self.readings if isinstance(each, ReadNumber)]
        reals = [each for each in reals if self.columns[each.column].type in REALS]
        numbers = [self.names[each] for each in reals]
        steps = [[*joint, f"{most} AS bayes_most", *numbers]]
        if not large:
            steps = [[*joint, *numbers], [*logs, f"{most} AS bayes_most", *numbers]]
        if reals:
            infinite = SPARK.double(-math.inf)
            error = f"CASE WHEN bayes_most > {infinite} THEN bayes_most ELSE {self._refused(reals)} END AS bayes_most"
            steps.append([*logs, error])
        return steps

    def _refused(self, reals: Sequence[ReadNumber]) -> str:
        """The error that names the column of an infinite number; -inf if there is none."""
        sizes = ", ".join(f"ABS({self.names[each]})" for each in reals)
        where = f"ARRAY_POSITION(ARRAY({sizes}), {SPARK.double(math.inf)})"
        names = ", ".join(_text(each.column) for each in reals)
        said = f"CONCAT('column `', ELEMENT_AT(ARRAY({names}), CAST({where} AS INT)), '` contains an infinite value')"
        infinite = SPARK.double(-math.inf)
        return f"CASE WHEN {where} > 0 THEN CAST(RAISE_ERROR({said}) AS DOUBLE) ELSE {infinite} END"

    def _prior(self) -> list[float]:
        log_prior = self.model.log_prior
        with np.errstate(invalid="ignore"):
            shares = np.where(np.isneginf(log_prior), 0.0, np.exp(self.power * (log_prior - log_prior.max())))
        found: list[float] = shares.tolist()
        return found

    def _labels(self) -> list[str]:
        """The labels as literals of their type."""
        labels = self.model.labels.tolist()
        if all(isinstance(label, bool) for label in labels):
            return ["TRUE" if label else "FALSE" for label in labels]
        if all(isinstance(label, int) for label in labels):
            return [f"CAST('{label}' AS BIGINT)" for label in labels]
        if all(isinstance(label, float) for label in labels):
            return [SPARK.double(label) for label in labels]
        if all(isinstance(label, str) for label in labels):
            return [_text(label) for label in labels]
        raise CannotExport("the labels are of another type", remedy='Write engine="arrow"')

    def _refuse_large(self) -> None:
        numbers = sum(isinstance(reading, ReadNumber) for reading in self.readings)
        size = numbers * (BYTES_A_NUMBER + len(self.classes) * BYTES_A_SQUARE)
        size += (len(self.readings) - numbers) * BYTES_A_LEVEL + len(self.classes) * BYTES_A_CLASS
        if size > METHOD:
            raise CannotExport(
                "the model has too many columns and classes for Java to compile", remedy='Write engine="arrow"'
            )


def _table(term: Expression) -> Lookup | None:
    """The table in a term, which may have a weight."""
    match term:
        case Lookup():
            return term
        case Operation("multiply", (Constant(), Lookup() as table)):
            return table
    return None


def _key(position: ReadPosition, column: SparkColumn) -> tuple[str, list[str]]:
    """What is looked up of a column, and the levels in the same form."""
    match position:
        case ReadLevel(_, levels) if column.type in ("string", *INTEGERS) and len(levels) <= MOST_LEVELS:
            return f"CAST({column.reference} AS STRING)", [_text(level) for level in levels]
        case ReadFlag() if column.type == "boolean":
            return column.reference, ["FALSE", "TRUE"]
        case ReadFlag() if column.type in (*INTEGERS, *REALS):
            return f"NULLIF(CAST({column.reference} AS DOUBLE), {SPARK.nan})", [SPARK.double(0.0), SPARK.double(1.0)]
    raise _type_refused(position.column, column)


def _text(text: str) -> str:
    """A text in quotes, if it means the same whatever the settings of the session are."""
    if any(each in text for each in SYNTAX):
        raise CannotExport("a text holds what may be syntax to Spark", found=text, remedy='Write engine="arrow"')
    return SPARK.text(text)


def _array(values: Doubles) -> str:
    return f"ARRAY({', '.join(map(SPARK.double, values.tolist()))})"


def _first(cases: Sequence[tuple[str, str]]) -> str:
    """The value of the first condition that holds. One always does; the last is written all the same, since Spark would
    otherwise drop what it reads from the steps before, and with it a method of its own for that class."""
    return f"CASE {' '.join(f'WHEN {condition} THEN {value}' for condition, value in cases)} END"


def _type_refused(name: str, column: SparkColumn) -> CannotExport:
    return CannotExport(
        f"column `{name}` of this type is read by the core", found=column.type, remedy='Write engine="arrow"'
    )
