"""Detecting the columns of rows as nodes of a network: one pass, which also codes the rows.

The states of text and flags are their levels, those of integers with few distinct values these values; other numbers
are binned. The findings of a batch are a tally: they can be added, so batches can be processed anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import declaring
from bayesbox.dist.number.cuts import BY_CLASS, binning
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.network.learn.options import DEFAULT_BINS, MOST_BYTES
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.coded import CodedRows, Doubles, Variable, recode
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import MISSING, Codes, encode_narrow
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.infer import kind_of
from bayesbox.schema.intervals import interval_states
from bayesbox.schema.kinds import NOT_DECLARED, Kind
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch, Source
from bayesbox.tally.count import checked_weights

MOST_STATES = 65_535
FEW_VALUES = 10  # integers with at most this many distinct values are kept as states
MOST_DISTINCT = 1_000_000  # distinct numbers kept to find cut points

Progress = Callable[[int], None]  # called with the rows of each batch
Cuts = Callable[[Doubles, AnyArray], Doubles]  # from distinct values and their counts


def cuts_by(given: object) -> Cuts:
    """The binning rule of an option: "width:2", "frequency:4", or a number of bins of equal width.

    >>> cuts_by(2)(np.array([0.0, 3.0]), np.ones((2, 1)))
    array([1.5])
    """
    text = given if isinstance(given, str) else f"width:{given}"
    if text.partition(":")[0] in BY_CLASS:
        raise BadOption("without a class, numbers must be binned by width or by frequency", found=given)
    return binning(text)


# -- the columns ---------------------------------------------------------------------------------------------------


class KnownColumn:
    """A column whose states are given."""

    def __init__(self, variable: Variable, where: str) -> None:
        self.given = variable
        self.where = where

    def take(self, column: object) -> Codes:
        return self.given.codes(column, where=self.where)

    def absent(self, codes: Codes) -> NDArray[np.bool_]:
        return np.asarray(codes < 0)

    def merged(self, _other: KnownColumn) -> KnownColumn:
        return self

    def variable(self, _cut: Cuts) -> Variable:
        return self.given

    def recoded(self, _variable: Variable, pieces: Sequence[Codes]) -> Sequence[Codes]:
        return pieces


class LevelColumn:
    """A column of levels: the code of each, in order of appearance."""

    def __init__(self, name: str, kind: Kind) -> None:
        self.name = name
        self.declared = kind
        self.place: dict[str, int] = {}
        self.whole = True  # so far every value was a number

    def take(self, column: object) -> NDArray[np.int32]:
        found = encode_narrow(column)
        target = np.empty(len(found.levels) + 1, dtype=np.int32)
        target[-1] = MISSING
        flags = None
        if self.declared.is_flag:
            flags = flag_codes(found.levels, lambda: found.codes, name=self.name)
        for index in found.occurring():
            text, value = found.levels[index], found.values[index]
            target[index] = self.place.setdefault(text if flags is None else FLAG_LEVELS[flags[index]], len(self.place))
            self.whole = self.whole and isinstance(value, (int, float)) and not isinstance(value, bool)
        self._require_few()
        return target[found.codes]

    def _require_few(self) -> None:
        if len(self.place) > MOST_STATES:
            raise BadData(
                f"column `{self.name}` has more than {MOST_STATES:,} distinct values",
                remedy="Ignore it: it looks like an identifier",
                column=self.name,
            )

    def absent(self, codes: Any) -> NDArray[np.bool_]:
        return np.asarray(codes < 0)

    def merged(self, other: LevelColumn) -> LevelColumn:
        both = LevelColumn(self.name, self.declared)
        both.place = dict(self.place)
        for text in other.place:
            both.place.setdefault(text, len(both.place))
        both.whole = self.whole and other.whole
        both._require_few()
        return both

    def variable(self, _cut: Cuts) -> Variable:
        states = sorted(self.place, key=float) if self.whole else sorted(self.place)
        if self.declared.levels is not None:
            declared = self.declared.levels
            states = [*declared, *(state for state in states if state not in set(declared))]
        if self.declared.is_flag:
            states = list(FLAG_LEVELS)
        return Variable(self.name, tuple(states))

    def recoded(self, variable: Variable, pieces: Sequence[NDArray[np.int32]]) -> list[Codes]:
        texts = list(self.place)
        return [recode(piece, texts, variable.place, dtype=variable.dtype) for piece in pieces]


class NumberColumn:
    """A column of numbers, or without values so far: its distinct values and their counts."""

    def __init__(self, name: str, kind: Kind, where: str) -> None:
        self.name = name
        self.declared = kind
        self.where = where
        self.values = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)

    def take(self, column: object) -> Doubles:
        numbers = np.asarray(as_numbers(column, name=self.name), dtype=np.float64)
        if np.isinf(numbers).any():
            raise BadData(
                f"column `{self.name}` contains an infinite value",
                where=self.where,
                found=float(numbers[np.isinf(numbers)][0]),
                remedy="Replace it with a number or a missing value",
                column=self.name,
            )
        self._add(*np.unique(numbers[~np.isnan(numbers)], return_counts=True))
        return numbers

    def _add(self, values: Doubles, counts: NDArray[np.int64]) -> None:
        merged, place = np.unique(np.concatenate([self.values, values]), return_inverse=True)
        total = np.zeros(len(merged), dtype=np.int64)
        np.add.at(total, place, np.concatenate([self.counts, counts]))
        self.values, self.counts = merged, total
        if len(merged) > MOST_DISTINCT:
            raise BadData(
                f"column `{self.name}` has more than {MOST_DISTINCT:,} distinct numbers",
                remedy="Round it, or ignore it",
                column=self.name,
            )

    def absent(self, codes: Any) -> NDArray[np.bool_]:
        return np.asarray(np.isnan(codes))

    def merged(self, other: NumberColumn) -> NumberColumn:
        both = NumberColumn(self.name, self.declared, self.where)
        both._add(self.values, self.counts)
        both._add(other.values, other.counts)
        return both

    def variable(self, cut: Cuts) -> Variable:
        whole = bool((self.values == np.floor(self.values)).all()) and len(self.values) <= FEW_VALUES
        if whole and not self.declared.is_continuous:
            return Variable(self.name, tuple(level_text(value) for value in self.values.tolist()))
        if not len(self.values):
            return Variable(self.name, ())
        cuts = cut(self.values, self.counts[:, None])
        return Variable(self.name, interval_states(cuts.tolist()), tuple(cuts.tolist()))

    def recoded(self, variable: Variable, pieces: Sequence[Doubles]) -> list[Codes]:
        if variable.cuts is not None:
            return [variable.binned(piece) for piece in pieces]
        made: list[Codes] = []
        for piece in pieces:
            codes = np.searchsorted(self.values, piece).astype(variable.dtype)
            codes[np.isnan(piece)] = MISSING
            made.append(codes)
        return made


ColumnReader = KnownColumn | LevelColumn | NumberColumn


# -- the findings --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """What a survey detects; it counts one batch on its own."""

    where: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    only: Sequence[str] | None = None
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    weight: str | None = None

    def __call__(self, batch: Batch) -> ColumnFindings:
        findings = ColumnFindings(self)
        findings.take(batch)
        return findings

    def names(self, batch: Batch) -> list[str]:
        """The requested columns."""
        for name in (*self.kinds, *(self.only or ()), *([] if self.weight is None else [self.weight])):
            if name not in batch.names:
                raise UnknownColumn(name, available=batch.names, where=self.where)
        names = list(batch.names) if self.only is None else list(self.only)
        return [name for name in names if name != self.weight and self.kinds.get(name, NOT_DECLARED).is_used]

    def reader(self, name: str, column: object) -> ColumnReader:
        """A reader for a column whose first batch is this one."""
        if name in self.known:
            return KnownColumn(Variable.known(name, self.known[name]), self.where)
        kind, found = self.kinds.get(name, NOT_DECLARED), kind_of(column, name=name)
        number = (found.is_number or not found.is_known) and not kind.has_levels
        return NumberColumn(name, kind, self.where) if number or kind.is_number else LevelColumn(name, kind)


class ColumnFindings:
    """The findings about the columns of some rows."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.readers: dict[str, ColumnReader] = {}
        self.rows = 0
        self.holes = 0

    def take(self, batch: Batch) -> dict[str, Any]:
        """The codes of a batch, column by column, by their readers."""
        codes = {}
        lacking = np.zeros(batch.rows, dtype=bool)
        for name in self.request.names(batch):
            kind = self.request.kinds.get(name, NOT_DECLARED)
            column = kind.read(batch[name], name=name, where=self.request.where, first_row=batch.first_row)
            fresh = self.request.reader(name, column)
            self.readers[name] = self._matching(self.readers.get(name), fresh, name)
            codes[name] = self.readers[name].take(column)
            lacking |= self.readers[name].absent(codes[name])
        self.rows += batch.rows
        self.holes += int(lacking.sum())
        return codes

    def _matching(self, before: ColumnReader | None, fresh: ColumnReader, name: str) -> ColumnReader:
        """The reader to continue with; a column without values so far may turn out to be of any type."""
        if before is None or (
            isinstance(before, NumberColumn) and isinstance(fresh, LevelColumn) and not len(before.values)
        ):
            return fresh
        if isinstance(before, NumberColumn) and isinstance(fresh, LevelColumn):
            raise BadData(
                f"column `{name}` had numbers so far, but has text here",
                where=self.request.where,
                remedy="Declare it a category: " + declaring(name, "category"),
                column=name,
            )
        return before

    def __add__(self, other: ColumnFindings) -> ColumnFindings:
        both = ColumnFindings(self.request)
        both.rows, both.holes = self.rows + other.rows, self.holes + other.holes
        for name, mine in self.readers.items():
            theirs = other.readers[name]
            if type(mine) is type(theirs):
                both.readers[name] = mine.merged(theirs)  # type: ignore[arg-type]
            else:
                numbers, levels = (mine, theirs) if isinstance(mine, NumberColumn) else (theirs, mine)
                both.readers[name] = self._matching(numbers, levels, name)
        return both

    def variables(self, cut: Cuts) -> tuple[Variable, ...]:
        """The columns as nodes."""
        found = tuple(reader.variable(cut) for reader in self.readers.values())
        for variable in found:
            if not variable.levels:
                raise BadData(f"column `{variable.name}` has no values", remedy="Ignore it", column=variable.name)
        return found


@dataclass(frozen=True)
class Survey:
    """The columns of a source as nodes, and its rows as codes if they fit in memory."""

    variables: tuple[Variable, ...]
    coded: CodedRows | None
    rows: int
    holes: int  # rows with missing values


def survey(
    source: Source,
    *,
    kinds: Mapping[str, Kind] | None = None,
    bins: Any = DEFAULT_BINS,
    only: Sequence[str] | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
    weight: str | None = None,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> Survey:
    """The survey of a source, read once. `known` are given states; coded rows are discarded beyond `most_bytes`.

    A source that counts remotely keeps its rows there.
    """
    cut = cuts_by(bins)
    request = Request(source.name, dict(kinds or {}), only, dict(known or {}), weight)
    if source.remote:
        total = source.reduce(request)
        if total is None:
            raise BadData("the data have no rows", where=source.name)
        return Survey(total.variables(cut), None, total.rows, total.holes)
    findings = ColumnFindings(request)
    pieces: dict[str, list[Any]] = {}
    weights: list[Doubles] = []
    held, keep = 0, True
    for batch in source.batches():
        before = dict(findings.readers)
        for name, codes in findings.take(batch).items():
            if name in before and before[name] is not findings.readers[name]:
                pieces[name] = [np.full(len(piece), MISSING, dtype=np.int32) for piece in pieces[name]]
            pieces.setdefault(name, []).append(codes)
            held += codes.nbytes
        if weight is not None:
            weights.append(np.asarray(as_numbers(batch[weight], name=weight), dtype=np.float64))
        keep = keep and held <= most_bytes
        if not keep:
            pieces = {name: [] for name in pieces}
        if progress is not None:
            progress(batch.rows)
    if not findings.rows:
        raise BadData("the data have no rows", where=source.name)
    variables = findings.variables(cut)
    if not keep:
        return Survey(variables, None, findings.rows, findings.holes)
    columns = []
    for variable, reader in zip(variables, findings.readers.values(), strict=True):
        parts = reader.recoded(variable, pieces.pop(variable.name))
        columns.append(np.ascontiguousarray(np.concatenate(parts) if len(parts) > 1 else parts[0]))
    worth = checked_weights(np.concatenate(weights), findings.rows) if weights else None
    coded = CodedRows(variables, tuple(columns), findings.rows, worth)
    return Survey(variables, coded, findings.rows, findings.holes)
