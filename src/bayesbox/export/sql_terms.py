"""What each column of a model adds to the log-probability of a class, as SQL.

A column is prepared once: a category, a flag or a folded group becomes the number of its level, a number becomes a
double that is NULL where it is missing. Each class then has a term for it. The forms of columns are entered in `FORMS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesbox.dist.base import Doubles, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.lognormal import LogNormal
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.poisson import Poisson
from bayesbox.dist.student import Student, log_student
from bayesbox.dist.table import Table
from bayesbox.errors import CannotExport
from bayesbox.export.dialect import Dialect
from bayesbox.schema.levels import level_text

MISSING, UNSEEN = -1, -2  # the numbers of levels that are none
LEAST, MOST = 1e-150, 1.3e154  # deviations from the mean whose square is still a double


@dataclass(frozen=True)
class SqlTerm:
    """One prepared value and what it says: `value` is its SQL, `of` gives the term of a class by its position.

    `hit` tells by SQL where a class's point mass is hit, for classes that have one.
    """

    value: str
    of: Callable[[str, int], str]
    hit: Callable[[str, int], str | None] = field(default=lambda _value, _class: None)
    may_fail: bool = False  # whether a value can be refused: the answer is then NULL

    def times(self, weight: float, dialect: Dialect) -> SqlTerm:
        """The same with every class's term times a weight above 0."""
        if weight == 1:
            return self
        return replace(self, of=lambda value, index: f"{dialect.double(weight)} * ({self.of(value, index)})")


@dataclass(frozen=True)
class SqlReader:
    """How columns are read: the dialect, the table's name in the statement, and the folded groups."""

    dialect: Dialect
    table: str
    fold: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """A column of the table. The table is named too, for SQLite takes a lone unknown name for a text."""
        return f"{self.dialect.identifier(self.table)}.{self.dialect.identifier(name)}"

    def number(self, name: str) -> str:
        return self.dialect.as_double(self.column(name))

    def level(self, name: str, levels: Sequence[str]) -> str:
        """The number of a category's level. Reals are compared as numbers, so that 3.0 is the level 3."""
        if name in self.fold:
            return self._folded(self.fold[name], levels)
        texts = [(self.dialect.text(level), place) for place, level in enumerate(levels)]
        reals = [(float(level), place) for place, level in enumerate(levels) if _is_number(level)]
        return self._known(self.column(name), self.dialect.as_text(self.column(name)), texts, reals)

    def flag(self, name: str) -> str:
        """0 or 1, or that a value is neither."""
        texts = [(self.dialect.text(text), place % 2) for place, text in enumerate(("false", "true", "0", "1"))]
        lowered = f"LOWER({self.dialect.as_text(self.column(name))})"
        return self._known(self.column(name), lowered, texts, [(0.0, 0), (1.0, 1)])

    def _known(
        self, column: str, text: str, texts: Sequence[tuple[str, int]], reals: Sequence[tuple[float, int]]
    ) -> str:
        """The number of a level where there is a value: by its text, in columns of reals by its number."""
        dialect = self.dialect
        cases = [f"WHEN {column} IS NULL THEN {MISSING}"]
        if reals:
            nan = [] if dialect.nan is None else [(dialect.nan, MISSING)]
            numbers = [*nan, *((dialect.double(value), place) for value, place in reals)]
            # PostgreSQL refuses to cast some types even where it is never done, but any type has a text.
            real = dialect.as_text(column) if dialect.name == "postgres" else column
            by_number = _switch(f"CAST({real} AS {dialect.double_type})", numbers, UNSEEN)
            cases.append(f"WHEN {dialect.is_real.format(column)} THEN {by_number}")
        return f"CASE {' '.join(cases)} ELSE {_switch(text, texts, UNSEEN)} END"

    def _folded(self, flags: Sequence[str], levels: Sequence[str]) -> str:
        place = {level: index for index, level in enumerate(levels)}
        cases = [f"WHEN {self.flag(flag)} = 1 THEN {place.get(flag, UNSEEN)}" for flag in flags]
        return f"CASE {' '.join(cases)} ELSE {MISSING} END"


def _switch(expression: str, cases: Sequence[tuple[str, Any]], otherwise: Any) -> str:
    if not cases:
        return str(otherwise)
    listed = " ".join(f"WHEN {value} THEN {result}" for value, result in cases)
    return f"CASE {expression} {listed} ELSE {otherwise} END"


def _is_number(level: str) -> bool:
    """Whether a level is the text of a number."""
    try:
        value = float(level)
    except ValueError:
        return False
    return math.isfinite(value) and level_text(value) == level


def _by_level(
    value: str, reader: SqlReader, rows: Doubles, unseen: Doubles, missing: Doubles, *, fails: bool
) -> SqlTerm:
    """A term for each level, for a value that is none of them, and for a missing one."""
    dialect = reader.dialect

    def of(value: str, index: int) -> str:
        cases = [(str(place), dialect.double(row[index])) for place, row in enumerate(rows)]
        cases.append((str(UNSEEN), "NULL" if fails else dialect.double(unseen[index])))
        return _switch(value, cases, dialect.double(missing[index]))

    return SqlTerm(value, of, may_fail=fails)


def _table(table: Table, reader: SqlReader) -> list[SqlTerm]:
    value = reader.level(table.column, table.levels)
    fails = table.unseen_is_error
    return [_by_level(value, reader, table.log_p, table.log_unseen, table.log_missing, fails=fails)]


def _bernoulli(flag: Bernoulli, reader: SqlReader) -> list[SqlTerm]:
    value = reader.flag(flag.column)
    return [_by_level(value, reader, flag.log_p, flag.log_unseen, flag.log_missing, fails=flag.unseen_is_error)]


def _gaussian(normal: Gaussian, reader: SqlReader) -> list[SqlTerm]:
    dialect = reader.dialect
    double, impossible = dialect.double, dialect.double(-math.inf)
    constant = normal.log_constant + normal.log_observed

    def of(value: str, index: int) -> str:
        missing, height = double(normal.log_missing[index]), double(constant[index])
        cases = [f"WHEN {value} IS NULL THEN {missing}"]
        if normal.point_mass[index]:
            cases.append(f"WHEN {value} = {double(normal.mean[index])} THEN {height}")
            return f"CASE {' '.join(cases)} ELSE {impossible} END"
        distance = _distance(dialect, value, normal.mean[index], normal.mean_low[index])
        guards, scaled = _scaled(dialect, distance, float(normal.std[index]), height)
        return f"CASE {' '.join([*cases, *guards])} ELSE {height} - {double(0.5)} * {scaled} * {scaled} END"

    def hit(value: str, index: int) -> str | None:
        return f"{value} = {double(normal.mean[index])}" if normal.point_mass[index] else None

    return [SqlTerm(reader.number(normal.column), of, hit)]


def _distance(dialect: Dialect, value: str, *places: float) -> str:
    """A value less some numbers, one after the other; those that are 0 are left out."""
    for place in places:
        if place:
            value = f"({value} - {dialect.double(place)})"
    return value


def _scaled(dialect: Dialect, distance: str, scale: float, height: str) -> tuple[list[str], str]:
    """A distance in units of a scale, and before it the cases in which its square would be no double.

    `height` is the term at a distance of 0. A square too small is an error in some databases only.
    """
    most, least = dialect.double(min(scale * MOST, 1.7e308)), dialect.double(scale * LEAST)
    guards = [f"WHEN ABS({distance}) > {most} THEN {dialect.double(-math.inf)}"]
    if dialect.traps:
        guards.append(f"WHEN ABS({distance}) < {least} THEN {height}")
    return guards, f"({distance} / {dialect.double(scale)})"


def _student(student: Student, reader: SqlReader) -> list[SqlTerm]:
    dialect = reader.dialect
    double = dialect.double
    zero = np.zeros((1, 1))
    constant = log_student(zero, np.zeros_like(student.scale), student.scale, student.df)[0] + student.log_observed

    def of(value: str, index: int) -> str:
        missing, height = double(student.log_missing[index]), double(constant[index])
        distance = _distance(dialect, value, student.base, float(student.shift[index]))
        guards, scaled = _scaled(dialect, distance, float(student.scale[index]), height)
        degrees = float(student.df[index])
        share = f"({scaled} * {scaled} / {double(degrees)})"
        grown = f"({double(1.0)} + {share})"
        # log(1 + share) without the digits that the sum loses: log(grown) * share / (grown - 1)
        small = f"WHEN {grown} = {double(1.0)} THEN {height} - {double((degrees + 1) / 2)} * {share}"
        tail = f"LN({grown}) * ({share} / ({grown} - {double(1.0)}))"
        cases = [f"WHEN {value} IS NULL THEN {missing}", *guards, small]
        return f"CASE {' '.join(cases)} ELSE {height} - {double((degrees + 1) / 2)} * {tail} END"

    return [SqlTerm(reader.number(student.column), of)]


def _lognormal(normal: LogNormal, reader: SqlReader) -> list[SqlTerm]:
    """Without the logarithm of x itself, which is the same in every class and falls out."""
    dialect = reader.dialect
    double = dialect.double
    constant = normal.log_positive - np.log(normal.std) + normal.log_observed
    rest = np.zeros_like(constant) if np.isneginf(normal.log_nonpositive).all() else normal.log_nonpositive

    def of(value: str, index: int) -> str:
        missing, height = double(normal.log_missing[index]), double(constant[index])
        cases = [f"WHEN {value} IS NULL THEN {missing}"]
        cases.append(f"WHEN {value} <= {double(0.0)} THEN {double(float(rest[index] + normal.log_observed[index]))}")
        distance = _distance(dialect, f"LN({value})", float(normal.mean[index]))
        guards, scaled = _scaled(dialect, distance, float(normal.std[index]), height)
        return f"CASE {' '.join([*cases, *guards])} ELSE {height} - {double(0.5)} * {scaled} * {scaled} END"

    return [SqlTerm(reader.number(normal.column), of)]


def _bins(bins: Bins, reader: SqlReader) -> list[SqlTerm]:
    number = reader.number(bins.column)
    cuts = [f"WHEN {number} <= {reader.dialect.double(cut)} THEN {place}" for place, cut in enumerate(bins.cuts)]
    value = f"CASE WHEN {number} IS NULL THEN {MISSING} {' '.join(cuts)} ELSE {len(cuts)} END"
    rows, missing = bins.rows[:-1], bins.rows[-1]
    return [_by_level(value, reader, rows, missing, missing, fails=False)]


def _poisson(poisson: Poisson, reader: SqlReader) -> list[SqlTerm]:
    """Without log x!, which is the same in every class and falls out."""
    double, log_rate = reader.dialect.double, log(poisson.rate)

    def of(value: str, index: int) -> str:
        missing = double(poisson.log_missing[index])
        rest = double(float(poisson.log_observed[index] - poisson.rate[index]))
        power = f"{value} * {double(log_rate[index])} + {rest}"
        if np.isneginf(log_rate[index]):
            power = f"CASE WHEN {value} = 0 THEN {rest} ELSE {double(-math.inf)} END"
        invalid = f"{value} < 0 OR {value} <> FLOOR({value})"
        return f"CASE WHEN {value} IS NULL THEN {missing} WHEN {invalid} THEN {double(0.0)} ELSE {power} END"

    return [SqlTerm(reader.number(poisson.column), of)]


def _multinomial(counts: Multinomial, reader: SqlReader) -> list[SqlTerm]:
    if counts.group is not None:
        raise CannotExport("a matrix of counts has no columns with names", remedy="Learn from a frame of Count columns")
    double = reader.dialect.double

    def of_word(word: int) -> Callable[[str, int], str]:
        def of(value: str, index: int) -> str:
            weight = float(counts.log_p[word, index])
            if math.isinf(weight):
                return f"CASE WHEN {value} > 0 THEN {double(weight)} ELSE {double(0.0)} END"
            return f"CASE WHEN {value} IS NULL THEN {double(0.0)} ELSE {value} * {double(weight)} END"

        return of

    return [SqlTerm(reader.number(name), of_word(word)) for word, name in enumerate(counts.words)]


FORMS: dict[type, Callable[[Any, SqlReader], list[SqlTerm]]] = {
    Table: _table,
    Bernoulli: _bernoulli,
    Gaussian: _gaussian,
    Student: _student,
    LogNormal: _lognormal,
    Bins: _bins,
    Poisson: _poisson,
    Multinomial: _multinomial,
}
"""The conditional distributions that SQL can say, each with how."""


def terms_of(conditional: Any, reader: SqlReader) -> list[SqlTerm]:
    """What one conditional distribution adds to each class."""
    form = FORMS.get(type(conditional))
    if form is None:
        columns = ", ".join(f"`{name}`" for name in conditional.columns)
        raise CannotExport(
            f"the {type(conditional).__name__.lower()} distribution of {columns} cannot be written in SQL",
            remedy="Give the column another density, or leave it out",
        )
    return form(conditional, reader)
