"""Rows as codes: each column has a list of levels, each cell the index of its level, or `MISSING`.

Counting, structure search and the models over codes all use this form for discrete columns and binned numbers.
`MISSING` is -1 in a signed type, as narrow as the levels allow. Where the core uses unsigned codes, missing has the
same bits (-1 is 0xFFFF in 16 bits), or `unsigned_columns` gives missing cells a separate code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import UnknownColumn, UnseenLevel
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.schema.encode import MISSING, Codes, encode_narrow
from bayesbox.schema.infer import kind_of
from bayesbox.schema.intervals import cuts_of

Doubles = NDArray[np.float64]
Dtype = type[np.signedinteger[Any]]
LevelCodes = tuple[Codes, Sequence[str]]  # a single column: codes, MISSING if there is no value, and their texts


def recode(
    codes: Codes, texts: Sequence[str], place: Mapping[str, int], *, unseen: int = MISSING, dtype: Dtype = np.int32
) -> Codes:
    """Codes of `texts` recoded by `place`, the index of each text; a text that is not in it gets `unseen`.

    >>> recode(np.array([0, 1, -1]), ["suv", "van"], {"sports": 0, "suv": 1})
    array([ 1, -1, -1], dtype=int32)
    """
    target = np.array(
        [*(place.get(text, unseen) for text in texts), MISSING], dtype=dtype
    )  # the last entry is for MISSING
    return target[codes]


class NamedColumns(Protocol):
    """Rows as named columns."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def rows(self) -> int: ...

    def __getitem__(self, name: str) -> Column: ...


@dataclass(frozen=True)
class Variable:
    """A column of codes: its levels, and its cut points if it is a binned number.

    >>> Variable("car", ("sports", "suv")).codes(np.array(["suv", None, "sports"], dtype=object))
    array([ 1, -1,  0], dtype=int8)
    """

    name: str
    levels: tuple[str, ...]
    cuts: tuple[float, ...] | None = None
    place: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", {level: code for code, level in enumerate(self.levels)})

    @classmethod
    def known(cls, name: str, levels: Sequence[str]) -> Self:
        """A variable with given levels; the names of bins contain the cut points."""
        return cls(name, tuple(levels), cuts_of(levels))

    @property
    def dtype(self) -> Dtype:
        """The narrowest integer type for its codes."""
        return np.int8 if len(self.levels) <= 1 << 7 else np.int16 if len(self.levels) <= 1 << 15 else np.int32

    def codes(self, column: Column, *, where: str | None = None) -> Codes:
        """The codes of a column; UnseenLevel if a value is not a level."""
        if self.cuts is not None and kind_of(column, name=self.name).is_number:
            return self.binned(np.asarray(as_numbers(column, name=self.name), dtype=np.float64))
        found = encode_narrow(column)
        target = np.empty(len(found.levels) + 1, dtype=self.dtype)
        target[-1] = MISSING
        for index in found.occurring():
            target[index] = self._code(found.levels[index], where)
        return target[found.codes]

    def binned(self, values: Doubles) -> Codes:
        """The bins of numbers; a value on a cut point is in the lower bin."""
        codes = np.searchsorted(np.asarray(self.cuts, dtype=np.float64), values, side="left").astype(self.dtype)
        missing = np.isnan(values)
        if missing.any():
            codes[missing] = MISSING
        return codes

    def _code(self, text: str, where: str | None) -> int:
        code = self.place.get(text)
        if code is None:
            alike = [at for at, level in enumerate(self.levels) if level.lower() == text.lower()]
            if len(alike) != 1:
                listed = ", ".join(self.levels[:12]) + (", ..." if len(self.levels) > 12 else "")
                raise UnseenLevel(
                    f"`{self.name}` has no such state", where=where, found=text, remedy=f"Its states are {listed}"
                )
            code = alike[0]
        return code


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, one column per variable, with optional weights.

    >>> rows = CodedRows((Variable("car", ("sports", "suv")),), (np.array([1, -1, 0], dtype=np.int8),), 3)
    >>> rows.incomplete().tolist()
    [False, True, False]
    """

    variables: tuple[Variable, ...]
    columns: tuple[Codes, ...]
    rows: int
    weights: Doubles | None = None

    @classmethod
    def of(cls, batch: NamedColumns, variables: Sequence[Variable], *, where: str | None = None) -> Self:
        """The coded rows of a batch for known variables; other columns are ignored."""
        columns = []
        for variable in variables:
            if variable.name not in batch.names:
                raise UnknownColumn(variable.name, available=batch.names, where=where)
            columns.append(variable.codes(batch[variable.name], where=where))
        return cls(tuple(variables), tuple(columns), batch.rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [variable.name for variable in self.variables]

    @property
    def cards(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(len(variable.levels) for variable in self.variables)

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.rows if self.weights is None else self.weights.sum())

    def parts(self) -> Iterator[CodedRows]:
        """The rows as a single part, for code that reads rows in parts."""
        yield self

    def incomplete(self) -> NDArray[np.bool_]:
        """The rows with missing values."""
        found = np.zeros(self.rows, dtype=bool)
        for column in self.columns:
            found |= column < 0
        return found

    def counts(self, *members: int) -> Doubles:
        """The counts, or sums of weights, of each combination of levels, over the rows without missing members.

        The result has one axis per member, in order.

        >>> yes_no = (Variable("wet", ("no", "yes")), Variable("rain", ("no", "yes")))
        >>> CodedRows(yes_no, (np.array([0, 1, 1, -1]), np.array([0, 1, 0, 1])), 4).counts(0, 1)
        array([[1., 0.],
               [1., 1.]])
        """
        columns, shape = [self.columns[member] for member in members], [self.cards[member] for member in members]
        known = np.logical_and.reduce([column >= 0 for column in columns])
        whole = bool(known.all())
        cells = np.zeros(self.rows if whole else np.count_nonzero(known), dtype=np.int64)
        for column, size in zip(columns, shape, strict=True):
            cells *= size
            cells += column if whole else column[known]
        weights = self.weights if self.weights is None or whole else self.weights[known]
        return np.bincount(cells, weights, minlength=math.prod(shape)).reshape(shape).astype(np.float64)

    def unsigned_columns(self) -> tuple[list[AnyArray], list[int]]:
        """The columns and their sizes in the form of the core: unsigned codes below the size.

        Missing cells have the code after the last level, which is included in the size. A column without them is not
        copied.
        """
        columns: list[AnyArray] = []
        sizes: list[int] = []
        for card, column in zip(self.cards, self.columns, strict=True):
            missing = column < 0
            some = bool(missing.any())
            wide = np.uint8 if column.dtype.itemsize == 1 else np.uint16
            unsigned = column.astype(wide) if some or column.dtype.itemsize > 2 else column.view(wide)
            if some:
                unsigned[missing] = card
            columns.append(unsigned)
            sizes.append(card + some)
        return columns, sizes

    def take(self, rows: AnyArray) -> CodedRows:
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
        """The rows with additional columns in which every value is missing."""
        empty = tuple(np.full(self.rows, MISSING, dtype=variable.dtype) for variable in variables)
        return CodedRows((*self.variables, *variables), (*self.columns, *empty), self.rows, self.weights)

    def with_missing_level(self, name: str) -> CodedRows:
        """The rows with missing as a level called `name`, or (name) if it exists, in the columns that need it."""
        variables, columns = list(self.variables), list(self.columns)
        for place, (variable, column) in enumerate(zip(self.variables, self.columns, strict=True)):
            missing = column < 0
            if missing.any():
                level = name
                while level in variable.place:
                    level = f"({level})"
                variables[place] = Variable(variable.name, (*variable.levels, level), None)
                columns[place] = column.astype(variables[place].dtype)
                columns[place][missing] = len(variable.levels)
        return CodedRows(tuple(variables), tuple(columns), self.rows, self.weights)
