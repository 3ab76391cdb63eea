"""Rows coded as states of the nodes of a network, and the counts of its families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray, count_codes_weighted
from bayesbox.classifier.train import require_rereadable, source_of
from bayesbox.errors import BadData, BadOption, UnknownNode
from bayesbox.network.graph import Graph
from bayesbox.network.learn.em import Families
from bayesbox.network.learn.options import NodeRowOptions
from bayesbox.network.learn.survey import survey
from bayesbox.schema.coded import CodedRows, Variable
from bayesbox.schema.encode import MISSING
from bayesbox.schema.kinds import Category, Kind, as_kind
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Source
from bayesbox.stat.family_counter import MemoryCounter, SourceCounter
from bayesbox.tally.families import FamilyBook

Doubles = NDArray[np.float64]


@dataclass
class NetworkRows:
    """Rows coded as states of the nodes: held in memory, or read again from a source each time."""

    variables: tuple[Variable, ...]
    coded: CodedRows | None
    source: Source
    rows: int
    holes: int  # rows with missing values
    hidden: tuple[Variable, ...] = ()

    def parts(self) -> Iterator[CodedRows]:
        """The rows, in the order of the variables."""
        names = [variable.name for variable in self.variables]
        if self.coded is not None:
            yield self.coded
            return
        shown = [variable for variable in self.variables if variable not in self.hidden]
        for batch in self.source.batches():
            yield CodedRows.of(batch, shown, where=self.source.name).with_hidden(self.hidden).arranged(names)

    def counts(self, families: Families) -> list[NDArray[np.int64]]:
        """The counts of each combination of a family, over the rows without missing values in its columns."""
        if not self.hidden:
            return self.counter().counts(list(families.scopes))
        parts = [MemoryCounter(part).counts(list(families.scopes)) for part in self.parts()]
        return [np.sum(tables, axis=0) for tables in zip(*parts, strict=True)]

    def counter(self) -> MemoryCounter | SourceCounter:
        """A counter of these rows; no column is hidden."""
        if self.coded is not None:
            return MemoryCounter(self.coded)
        return SourceCounter(self.source, self.variables, self.rows)


def read_rows(graph: Graph, open_: frozenset[str], data: object, options: NodeRowOptions) -> NetworkRows:
    """Rows as codes of the states of a graph; the states of the `open_` nodes are taken from the rows."""
    hidden, weight = options.hidden, options.weight
    for name in hidden:
        if graph.node(name).name in open_:
            raise BadOption(f"the states of `{name}` are unknown", remedy="Pass them: states={...}")
    known = {name: node.states for name, node in graph.nodes.items() if name not in open_}
    kinds: dict[str, Kind] = {str(name): as_kind(kind) for name, kind in (options.columns or {}).items()}
    for name in kinds:
        if name not in graph.nodes:
            raise UnknownNode("node", name, graph.nodes, where="columns")
    declared = {name: kind for name, kind in texts_of(graph).items() if name in known and name not in hidden}
    source = source_of(data, declared={**declared, **kinds}, na=options.na, bad_rows="error", format=None)
    shown = [name for name in graph.nodes if name not in set(hidden)]
    found = survey(
        source,
        kinds=kinds,
        bins=options.bins,
        only=shown,
        known=known,
        weight=weight,
        most_bytes=options.most_bytes,
    )
    if found.coded is None and weight is not None:
        raise BadData("weighted rows must be held in memory, and these are too many or remote", where=source.name)
    unseen = tuple(Variable.known(name, known[name]) for name in graph.nodes if name in set(hidden))
    coded = None if found.coded is None else found.coded.with_hidden(unseen).arranged(list(graph.nodes))
    by_name = {variable.name: variable for variable in (*found.variables, *unseen)}
    variables = tuple(by_name[name] for name in graph.nodes)
    if coded is None:
        require_rereadable(source)
    return NetworkRows(variables, coded, source, found.rows, found.rows if unseen else found.holes, unseen)


def book_of(families: Families, rows: NetworkRows, *, drop: bool = False) -> FamilyBook:
    """The counts of the families."""
    names, states = families.names, dict(zip(families.names, families.states, strict=True))
    scopes = {scope[-1]: tuple(names[member] for member in scope) for scope in families.scopes}
    by_name = {names[node]: scope for node, scope in scopes.items()}
    coded = rows.coded
    if drop:
        parts = [part.take(~part.incomplete()) for part in rows.parts()]
        books = [book_of(families, replace(rows, coded=part, rows=part.rows, holes=0)) for part in parts]
        return sum(books[1:], start=books[0])
    if coded is not None and coded.weights is not None:
        cells = {names[scope[-1]]: _weighted(coded, scope) for scope in families.scopes}
        total = ExactArray.from_doubles(coded.weights).sum_groups(np.zeros(coded.rows, dtype=np.int64), 1)
        return FamilyBook(by_name, states, cells, total)
    counts = rows.counts(families)
    found = {names[scope[-1]]: table for scope, table in zip(families.scopes, counts, strict=True)}
    return FamilyBook.of(by_name, states, found, rows.rows)


def _weighted(coded: CodedRows, scope: tuple[int, ...]) -> ExactArray:
    """The sums of the weights in each cell of a family."""
    assert coded.weights is not None
    combination = np.zeros(coded.rows, dtype=np.int64)
    lacking = np.zeros(coded.rows, dtype=bool)
    size = 1
    for member in scope[:-1]:
        variable, column = coded.variables[member], coded.columns[member]
        lacking |= column < 0
        combination = combination * len(variable.levels) + column
        size *= len(variable.levels)
    combination[lacking] = MISSING
    child = coded.variables[scope[-1]]
    codes, target = coded.columns[scope[-1]].astype(np.int32), combination.astype(np.int32)
    return count_codes_weighted([codes], [len(child.levels)], target, size, coded.weights)[0]


def counts_of(book: FamilyBook, families: Families) -> list[Doubles]:
    """The counts of each family, combinations x states."""
    return [
        np.asarray(book.counts(name), dtype=np.float64).reshape(-1, len(states))
        for name, states in zip(families.names, families.states, strict=True)
    ]


def variables_of(graph: Graph) -> tuple[Variable, ...]:
    """The nodes as columns."""
    return tuple(Variable.known(name, node.states) for name, node in graph.nodes.items())


def texts_of(graph: Graph) -> dict[str, Kind]:
    """The nodes whose columns are read as text, with their kind."""
    return {name: Category() for name, node in graph.nodes.items() if _is_text(node.states)}


def _is_text(states: Sequence[str]) -> bool:
    """Whether states must be read as text: not if they are numbers or bins of numbers."""
    if Variable.known("", states).cuts is not None:
        return False
    try:
        return any(level_text(float(state)) != state for state in states)
    except ValueError:
        return True
