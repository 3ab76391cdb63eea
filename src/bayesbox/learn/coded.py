"""Rows as small integers: each column a list of states, each cell a code of one or two bytes.

Text and flags have their levels for states. Whole numbers of few distinct values have these; other numbers are cut into
bins, and a value on a cut goes low. A missing cell has the code that follows the last state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadData, BadOption, UnknownColumn, UnseenLevel
from bayesbox.rule.bins import BY_CLASS, binning
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import encode_narrow
from bayesbox.schema.infer import kind_of
from bayesbox.schema.intervals import cuts_of, interval_states
from bayesbox.schema.kinds import Category, Count, Flag, Ignore, Kind, Number, Real, Unknown
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch, Source
from bayesbox.tally.count import checked_weights

Codes = NDArray[Any]  # uint8 or uint16
Doubles = NDArray[np.float64]
Progress = Callable[[int], None]

MOST_STATES = 65_535
FEW_VALUES = 10  # whole numbers of no more distinct values are states as they are
MOST_DISTINCT = 1_000_000  # distinct numbers that are kept to find the cuts
TRUTH = ("false", "true")
DEFAULT_BINS = "frequency:3"


Cuts = Callable[[Doubles, NDArray[Any]], Doubles]  # from distinct values and their counts


def cuts_by(given: Any) -> Cuts:
    """How numbers are cut, from an option: "width:2", "frequency:4", or a number of bins of equal width.

    >>> cuts_by(2)(np.array([0.0, 3.0]), np.ones((2, 1)))
    array([1.5])
    """
    text = given if isinstance(given, str) else f"width:{given}"
    if text.partition(":")[0] in BY_CLASS:
        raise BadOption("without a class, numbers are cut by width or by frequency", found=given)
    return binning(text)


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
        for index, text in enumerate(found.levels):
            target[index] = self._code(text, where)
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
class Coded:
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

    def take(self, rows: NDArray[Any]) -> Coded:
        """Some of the rows."""
        columns = tuple(np.ascontiguousarray(column[rows]) for column in self.columns)
        weights = None if self.weights is None else self.weights[rows]
        return Coded(self.variables, columns, len(columns[0]) if columns else 0, weights)

    def arranged(self, names: Sequence[str]) -> Coded:
        """The columns in another order."""
        order = [self.names.index(name) for name in names]
        variables = tuple(self.variables[place] for place in order)
        columns = tuple(self.columns[place] for place in order)
        return Coded(variables, columns, self.rows, self.weights)

    def with_hidden(self, variables: Sequence[Variable]) -> Coded:
        """More columns, in which everything is missing."""
        empty = tuple(np.full(self.rows, variable.missing, dtype=variable.dtype) for variable in variables)
        return Coded((*self.variables, *variables), (*self.columns, *empty), self.rows, self.weights)

    def with_missing_level(self, name: str) -> Coded:
        """Missing cells as a state of their own, in the columns that have them."""
        variables = tuple(
            Variable(variable.name, (*variable.states, name), None)
            if bool((column == variable.missing).any())
            else variable
            for variable, column in zip(self.variables, self.columns, strict=True)
        )
        columns = tuple(
            column.astype(variable.dtype, copy=False) for variable, column in zip(variables, self.columns, strict=True)
        )
        return Coded(variables, columns, self.rows, self.weights)


def code_batch(batch: Batch, variables: Sequence[Variable], *, where: str | None = None) -> Coded:
    """A batch under known variables; other columns are left out."""
    columns = []
    for variable in variables:
        if variable.name not in batch.names:
            raise UnknownColumn(variable.name, available=batch.names, where=where)
        columns.append(variable.codes(batch[variable.name], where=where))
    return Coded(tuple(variables), tuple(columns), batch.rows)


# -- what the states are -------------------------------------------------------------------------------------------


class _Levels:
    """A column of levels, as it is met."""

    def __init__(self, name: str, kind: Kind | None) -> None:
        self.name = name
        self.declared = kind
        self.place: dict[str, int] = {}
        self.whole = True  # so far every value was a number

    def codes(self, column: Any) -> NDArray[np.int32]:
        found = encode_narrow(column)
        target = np.empty(len(found.levels) + 1, dtype=np.int32)
        target[-1] = -1
        for index, (text, value) in enumerate(zip(found.levels, found.values, strict=True)):
            text = _flag_text(text, self.name) if isinstance(self.declared, Flag) else text
            target[index] = self.place.setdefault(text, len(self.place))
            self.whole = self.whole and isinstance(value, (int, float)) and not isinstance(value, bool)
        if len(self.place) > MOST_STATES:
            raise BadData(
                f"column `{self.name}` has more than {MOST_STATES:,} distinct values",
                remedy="Leave it out: it tells rows apart, not states",
            )
        return target[found.codes]

    def variable(self) -> Variable:
        states = sorted(self.place, key=float) if self.whole else sorted(self.place)
        if isinstance(self.declared, Category) and self.declared.levels is not None:
            states = [*self.declared.levels, *(state for state in states if state not in set(self.declared.levels))]
        if isinstance(self.declared, Flag):
            states = list(TRUTH)
        return Variable(self.name, tuple(states))

    def recoded(self, variable: Variable, pieces: Sequence[NDArray[np.int32]]) -> list[Codes]:
        target = np.empty(len(self.place) + 1, dtype=variable.dtype)
        target[-1] = variable.missing
        for text, code in self.place.items():
            target[code] = variable.place[text]
        return [target[piece] for piece in pieces]


class _Numbers:
    """A column of numbers: its distinct values, and how many rows have each."""

    def __init__(self, name: str, kind: Kind | None) -> None:
        self.name = name
        self.declared = kind
        self.values = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)

    def codes(self, column: Any) -> Doubles:
        numbers = np.asarray(as_numbers(column, name=self.name), dtype=np.float64)
        if np.isinf(numbers).any():
            raise BadData(f"column `{self.name}` holds an infinite number")
        values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
        merged, place = np.unique(np.concatenate([self.values, values]), return_inverse=True)
        total = np.zeros(len(merged), dtype=np.int64)
        np.add.at(total, place, np.concatenate([self.counts, counts]))
        self.values, self.counts = merged, total
        if len(merged) > MOST_DISTINCT:
            raise BadData(
                f"column `{self.name}` has more than {MOST_DISTINCT:,} distinct numbers",
                remedy="Round it, or leave it out",
            )
        return numbers

    def variable(self, cut: Cuts) -> Variable:
        whole = bool((self.values == np.floor(self.values)).all()) and len(self.values) <= FEW_VALUES
        if whole and not isinstance(self.declared, Real):
            return Variable(self.name, tuple(level_text(value) for value in self.values.tolist()))
        if not len(self.values):
            return Variable(self.name, ())
        cuts = cut(self.values, self.counts[:, None])
        return Variable(self.name, interval_states(cuts.tolist()), tuple(cuts.tolist()))

    def recoded(self, variable: Variable, pieces: Sequence[Doubles]) -> list[Codes]:
        if variable.cuts is not None:
            return [variable.binned(piece) for piece in pieces]
        made = []
        for piece in pieces:
            codes = np.searchsorted(self.values, piece).astype(variable.dtype)
            codes[np.isnan(piece)] = variable.missing
            made.append(codes)
        return made


def _flag_text(text: str, name: str) -> str:
    if text.lower() in ("0", "1", *TRUTH):
        return TRUTH[text.lower() in ("1", "true")]
    raise BadData(f"column `{name}` is a flag: false, true, 0 or 1", found=text)


@dataclass(frozen=True)
class Survey:
    """What the columns of a source are, and its rows as codes where they were few enough to keep."""

    variables: tuple[Variable, ...]
    coded: Coded | None
    rows: int
    holes: int  # rows in which something is missing


def survey(
    source: Source,
    *,
    kinds: Mapping[str, Kind] | None = None,
    bins: Any = DEFAULT_BINS,
    only: Sequence[str] | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
    weight: str | None = None,
    most_bytes: int = 1 << 31,
    progress: Progress | None = None,
) -> Survey:
    """Read a source once. `known` are states that are given; the rows are dropped where they pass `most_bytes`."""
    kinds, cut, known = kinds or {}, cuts_by(bins), known or {}
    columns: dict[str, _Levels | _Numbers | Variable] = {}
    pieces: dict[str, list[Any]] = {}
    weights: list[Doubles] = []
    rows, holes, held, keep = 0, 0, 0, True
    for batch in source.batches():
        if not columns:
            names = _wanted(batch, kinds, only, weight, where=source.name)
            pieces = {name: [] for name in names}
        if weight is not None:
            weights.append(np.asarray(as_numbers(batch[weight], name=weight), dtype=np.float64))
        lacking = np.zeros(batch.rows, dtype=bool)
        for name in names:
            column = batch[name]
            if name not in columns or _turned_to_text(columns[name], column):
                columns[name] = _reader(name, column, kinds.get(name), known, columns.get(name), source.name)
                pieces[name] = [np.full(len(piece), -1, dtype=np.int32) for piece in pieces[name]]
            reader = columns[name]
            codes = reader.codes(column, where=source.name) if isinstance(reader, Variable) else reader.codes(column)
            lacking |= _absent(reader, codes)
            held += codes.nbytes
            pieces[name].append(codes)
        rows += batch.rows
        holes += int(lacking.sum())
        keep = keep and held <= most_bytes
        if not keep:
            pieces = {name: [] for name in pieces}
        if progress is not None:
            progress(batch.rows)
    if not rows:
        raise BadData("there is no row", where=source.name)
    variables, made = [], []
    for name, reader in columns.items():
        variable = reader if isinstance(reader, Variable) else _settled(reader, cut)
        variables.append(variable)
        parts = pieces[name] if isinstance(reader, Variable) else reader.recoded(variable, pieces[name])
        made.append(np.ascontiguousarray(np.concatenate(parts)) if parts else np.empty(0, dtype=variable.dtype))
    worth = checked_weights(np.concatenate(weights), rows) if weights else None
    coded = Coded(tuple(variables), tuple(made), rows, worth) if keep else None
    return Survey(tuple(variables), coded, rows, holes)


def _absent(reader: _Levels | _Numbers | Variable, codes: Any) -> NDArray[np.bool_]:
    if isinstance(reader, Variable):
        return np.asarray(codes == reader.missing)
    return np.isnan(codes) if isinstance(reader, _Numbers) else np.asarray(codes < 0)


def _settled(reader: _Levels | _Numbers, cut: Cuts) -> Variable:
    variable = reader.variable(cut) if isinstance(reader, _Numbers) else reader.variable()
    if not variable.states:
        raise BadData(f"column `{reader.name}` has no value at all", remedy="Leave it out")
    return variable


def _wanted(
    batch: Batch, kinds: Mapping[str, Kind], only: Sequence[str] | None, weight: str | None, *, where: str
) -> list[str]:
    for name in (*kinds, *(only or ()), *([] if weight is None else [weight])):
        if name not in batch.names:
            raise UnknownColumn(name, available=batch.names, where=where)
    names = list(batch.names) if only is None else list(only)
    return [name for name in names if name != weight and not isinstance(kinds.get(name), Ignore)]


def _reader(
    name: str,
    column: Any,
    kind: Kind | None,
    known: Mapping[str, Sequence[str]],
    before: Any,
    where: str,
) -> _Levels | _Numbers | Variable:
    if name in known:
        return Variable.known(name, known[name])
    number = isinstance(kind_of(column, name=name), (Number, Unknown)) and not isinstance(kind, (Category, Flag))
    if before is None or not len(before.values):  # of a column without a value so far, anything may follow
        return _Numbers(name, kind) if number or isinstance(kind, (Real, Count)) else _Levels(name, kind)
    raise BadData(
        f"column `{name}` held numbers so far and holds text now",
        where=where,
        remedy=f"Declare it a category: --types {name}=category, or columns={{'{name}': 'category'}}",
    )


def _turned_to_text(reader: Any, column: Any) -> bool:
    """Whether a column of numbers, or of nothing so far, goes on as another kind."""
    if not isinstance(reader, _Numbers) or isinstance(reader.declared, (Real, Count)):
        return False
    return not isinstance(kind_of(column), (Number, Unknown)) and not (
        isinstance(column, (pa.Array, pa.ChunkedArray)) and column.null_count == len(column)
    )
