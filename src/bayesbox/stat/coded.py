"""Rows as small integers: each column a list of states, each cell a code of one or two bytes.

A missing cell has the code that follows the last state. Numbers in bins find theirs, a value on a cut the lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import UnknownColumn, UnseenLevel
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import encode_narrow
from bayesbox.schema.infer import kind_of
from bayesbox.schema.intervals import cuts_of
from bayesbox.schema.kinds import Number
from bayesbox.source.base import Batch

Codes = NDArray[Any]  # uint8 or uint16
Doubles = NDArray[np.float64]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Variable:
    """A column as a node has it: its states, and the cuts where it is a number in bins."""

    name: str
    states: tuple[str, ...]
    cuts: tuple[float, ...] | None = None
    place: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", {state: code for code, state in enumerate(self.states)})

    @classmethod
    def known(cls, name: str, states: Sequence[str]) -> Self:
        """A variable whose states are given; those of bins hold their cuts."""
        return cls(name, tuple(states), cuts_of(states))

    @property
    def missing(self) -> int:
        """The code of a missing cell."""
        return len(self.states)

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The narrowest type of its codes."""
        return np.uint8 if self.missing < 256 else np.uint16

    def codes(self, column: Any, *, where: str | None = None) -> Codes:
        """The codes of a column; UnseenLevel where it holds what is no state."""
        if self.cuts is not None and isinstance(kind_of(column, name=self.name), Number):
            return self.binned(np.asarray(as_numbers(column, name=self.name), dtype=np.float64))
        found = encode_narrow(column)
        target = np.empty(len(found.levels) + 1, dtype=self.dtype)
        target[-1] = self.missing
        for index in found.occurring():
            target[index] = self._code(found.levels[index], where)
        return target[found.codes]

    def binned(self, values: Doubles) -> Codes:
        """The bins of numbers."""
        codes = np.searchsorted(np.asarray(self.cuts, dtype=np.float64), values, side="left").astype(self.dtype)
        absent = np.isnan(values)
        if absent.any():
            codes[absent] = self.missing
        return codes

    def _code(self, text: str, where: str | None) -> int:
        code = self.place.get(text)
        if code is None:
            alike = [at for at, state in enumerate(self.states) if state.lower() == text.lower()]
            if len(alike) != 1:
                listed = ", ".join(self.states[:12]) + (", ..." if len(self.states) > 12 else "")
                raise UnseenLevel(
                    f"`{self.name}` has no such state", where=where, found=text, remedy=f"Its states are {listed}"
                )
            code = alike[0]
        return code


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, a column a variable."""

    variables: tuple[Variable, ...]
    columns: tuple[Codes, ...]
    rows: int
    weights: Doubles | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [variable.name for variable in self.variables]

    @property
    def cards(self) -> tuple[int, ...]:
        """The number of states of each column."""
        return tuple(len(variable.states) for variable in self.variables)

    def holes(self) -> NDArray[np.bool_]:
        """The rows in which something is missing."""
        found = np.zeros(self.rows, dtype=bool)
        for variable, column in zip(self.variables, self.columns, strict=True):
            found |= column == variable.missing
        return found

    def take(self, rows: NDArray[Any]) -> CodedRows:
        """Some of the rows."""
        columns = tuple(np.ascontiguousarray(column[rows]) for column in self.columns)
        weights = None if self.weights is None else self.weights[rows]
        return CodedRows(self.variables, columns, len(columns[0]) if columns else 0, weights)

    def arranged(self, names: Sequence[str]) -> CodedRows:
        """The columns in another order."""
        order = [self.names.index(name) for name in names]
        variables = tuple(self.variables[place] for place in order)
        columns = tuple(self.columns[place] for place in order)
        return CodedRows(variables, columns, self.rows, self.weights)

    def with_hidden(self, variables: Sequence[Variable]) -> CodedRows:
        """More columns, in which everything is missing."""
        empty = tuple(np.full(self.rows, variable.missing, dtype=variable.dtype) for variable in variables)
        return CodedRows((*self.variables, *variables), (*self.columns, *empty), self.rows, self.weights)

    def with_missing_level(self, name: str) -> CodedRows:
        """Missing cells as a state of their own, in the columns that have them; (name) where one is called so."""

        def free(states: tuple[str, ...]) -> str:
            found = name
            while found in states:
                found = f"({found})"
            return found

        variables = tuple(
            Variable(variable.name, (*variable.states, free(variable.states)), None)
            if bool((column == variable.missing).any())
            else variable
            for variable, column in zip(self.variables, self.columns, strict=True)
        )
        columns = tuple(
            column.astype(variable.dtype, copy=False) for variable, column in zip(variables, self.columns, strict=True)
        )
        return CodedRows(variables, columns, self.rows, self.weights)


def code_batch(batch: Batch, variables: Sequence[Variable], *, where: str | None = None) -> CodedRows:
    """A batch under known variables; other columns are left out."""
    columns = []
    for variable in variables:
        if variable.name not in batch.names:
            raise UnknownColumn(variable.name, available=batch.names, where=where)
        columns.append(variable.codes(batch[variable.name], where=where))
    return CodedRows(tuple(variables), tuple(columns), batch.rows)
