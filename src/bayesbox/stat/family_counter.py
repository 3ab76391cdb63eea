"""Joint counts of sets of columns, for scores, tests and tables: from rows in memory, or in one pass over a source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import CodeTable, FamilyScore
from bayesbox.limits import BYTES_A_FAMILY, current_limits, require_memory
from bayesbox.schema.coded import CodedRows, Variable
from bayesbox.source.base import Batch, Source
from bayesbox.stat.mutual_information import g_test

Members = tuple[int, ...]
Counts = NDArray[np.int64]  # one dimension: row-major, the last member fastest
Doubles = NDArray[np.float64]

MOST_CELLS = 1 << 26  # of a dense table of the core


def most_cells() -> int:
    """The maximum number of cells of a table, by the memory limit and the core."""
    return min(MOST_CELLS, current_limits().memory // BYTES_A_FAMILY)


class Counter(Protocol):
    """A source of counts. Every method takes all sets at once, so that a source is read only once."""

    cards: tuple[int, ...]
    rows: int

    def counts(self, sets: Sequence[Members]) -> list[Counts]:
        """The count of each combination of states; rows with a missing value in the set are ignored."""
        ...

    def scores(self, sets: Sequence[Members], of: Sequence[int], child: Sequence[int], score: FamilyScore) -> Doubles:
        """The score of member `child[i]` of the set `of[i]` given the others of the set."""
        ...

    def g_tests(self, sets: Sequence[Members]) -> tuple[Doubles, Doubles]:
        """G and the degrees of freedom of the first two members of each set, given the others."""
        ...


def flat(sets: Sequence[Members]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The concatenated sets, and where each ends."""
    members = np.array([member for each in sets for member in each], dtype=np.int64)
    return members, np.cumsum([len(each) for each in sets], dtype=np.int64)


class MemoryCounter:
    """Rows in memory as codes."""

    def __init__(self, coded: CodedRows) -> None:
        self.cards = coded.cards
        self.rows = coded.rows
        columns, self._sizes = coded.unsigned_columns()
        self._table = CodeTable(columns, np.array(self._sizes, dtype=np.int64))

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return tuple(self._sizes) == self.cards

    def counts(self, sets: Sequence[Members]) -> list[Counts]:
        """Missing values are counted as a separate state, which is then dropped."""
        for each in sets:
            cells = math.prod(self._sizes[member] for member in each)
            require_memory(
                BYTES_A_FAMILY * float(min(cells, 10**300)),
                f"{cells:,} cells of a table over {len(each)} columns",
                remedy="Allow fewer parents (max_parents)",
            )
        return [self._known(each, found) for each, found in zip(sets, self._table.count(*flat(sets)), strict=True)]

    def _known(self, members: Members, counts: Counts) -> Counts:
        if all(self._sizes[member] == self.cards[member] for member in members):
            return counts
        table = counts.reshape([self._sizes[member] for member in members])
        return np.ascontiguousarray(table[tuple(slice(self.cards[member]) for member in members)]).reshape(-1)

    def scores(self, sets: Sequence[Members], of: Sequence[int], child: Sequence[int], score: FamilyScore) -> Doubles:
        """For complete rows."""
        assert self.complete
        return self._table.score(*flat(sets), np.array(of, dtype=np.int64), np.array(child, dtype=np.int64), score)

    def changes(
        self, child: int, parents: Sequence[int], candidates: Sequence[int], score: FamilyScore
    ) -> tuple[float, Doubles] | None:
        """The score of a family, and its scores with each candidate added or, if it is a parent, removed.

        For complete rows; None if the tables would be too large.
        """
        assert self.complete
        return self._table.changes(
            child, np.array(parents, dtype=np.int64), np.array(candidates, dtype=np.int64), score
        )

    def g_tests(self, sets: Sequence[Members]) -> tuple[Doubles, Doubles]:
        """For complete rows."""
        assert self.complete
        return self._table.g_tests(*flat(sets))

    def exact(
        self, kind: int, parameter: float, most_parents: int, required: Sequence[int], forbidden: Sequence[int]
    ) -> NDArray[np.int64]:
        """The parents of each column in the best network, as bits."""
        return self._table.exact(
            kind, parameter, most_parents, np.array(required, dtype=np.int64), np.array(forbidden, dtype=np.int64)
        )


@dataclass(frozen=True)
class _Tables:
    """The tables of one pass; they can be added."""

    tables: list[Counts]

    def __add__(self, other: _Tables) -> _Tables:
        return _Tables([mine + theirs for mine, theirs in zip(self.tables, other.tables, strict=True)])


@dataclass(frozen=True)
class _Counting:
    """Counts the tables of a batch; it can be sent to remote workers."""

    variables: tuple[Variable, ...]
    sets: tuple[Members, ...]
    where: str

    def __call__(self, batch: Batch) -> _Tables:
        return _Tables(MemoryCounter(CodedRows.of(batch, self.variables, where=self.where)).counts(self.sets))


class SourceCounter:
    """A source that is read again for each request; only the tables are held in memory."""

    def __init__(
        self,
        source: Source,
        variables: Sequence[Variable],
        rows: int,
        *,
        threads: int = 1,
    ) -> None:
        self.cards = tuple(len(variable.levels) for variable in variables)
        self.rows = rows
        self.passes = 0
        self._source = source
        self._variables = tuple(variables)
        self._threads = threads

    def counts(self, sets: Sequence[Members]) -> list[Counts]:
        """One pass for all sets."""
        self.passes += 1
        total = self._source.reduce(_Counting(self._variables, tuple(sets), self._source.name), threads=self._threads)
        if total is None:
            return [np.zeros(math.prod(self.cards[each] for each in members), dtype=np.int64) for members in sets]
        return total.tables

    def _passes(self, sets: Sequence[Members]) -> Iterator[tuple[Sequence[int], list[Counts]]]:
        """The positions of some sets and their tables, in as few passes as memory allows."""
        some: list[int] = []
        together = 0
        for place, members in enumerate(sets):
            cells = math.prod(self.cards[member] for member in members)
            if some and together + cells > most_cells():
                yield some, self.counts([sets[each] for each in some])
                some, together = [], 0
            some.append(place)
            together += cells
        if some:
            yield some, self.counts([sets[each] for each in some])

    def scores(self, sets: Sequence[Members], of: Sequence[int], child: Sequence[int], score: FamilyScore) -> Doubles:
        """The scores from the tables of one pass; a table that is too large scores -inf, so it is never chosen."""
        sizes = [[self.cards[member] for member in members] for members in sets]
        small = [index for index, each in enumerate(sizes) if math.prod(each) <= most_cells()]
        asked: dict[int, list[tuple[int, int]]] = {index: [] for index in small}
        for place, (index, axis) in enumerate(zip(of, child, strict=True)):
            if index in asked:
                asked[index].append((place, axis))
        found = np.full(len(of), -np.inf)
        for some, tables in self._passes([sets[index] for index in small]):
            for index, table in zip([small[each] for each in some], tables, strict=True):
                for place, axis in asked[index]:
                    before, after = math.prod(sizes[index][:axis]), math.prod(sizes[index][axis + 1 :])
                    found[place] = score.table(table, before, sizes[index][axis], after)
        return found

    def g_tests(self, sets: Sequence[Members]) -> tuple[Doubles, Doubles]:
        """G and the degrees of freedom from the tables of one pass."""
        tests = [
            g_test(table.reshape(self.cards[sets[place][0]], self.cards[sets[place][1]], -1))
            for some, tables in self._passes(sets)
            for place, table in zip(some, tables, strict=True)
        ]
        return np.array([test[0] for test in tests]), np.array([test[1] for test in tests])
