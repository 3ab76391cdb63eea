"""The tables of a network from rows: by counting where nothing is missing, else by expectation and maximisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import expected_counts
from bayesbox.errors import BadData, BadOption, CannotMerge, NoCounts, require_whole
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.graph import Graph, Node, require_cells
from bayesbox.network.learn.em import Families, expectation
from bayesbox.network.learn.maximise import Progress, TableMaximiser, expect
from bayesbox.network.learn.rows import NetworkRows, book_of, counts_of, read_rows, variables_of
from bayesbox.network.learn.scores import Score, Scorer
from bayesbox.network.learn.survey import DEFAULT_BINS, MOST_BYTES
from bayesbox.network.learn.tables import TableRules
from bayesbox.network.questions import COMPILED
from bayesbox.network.tables import require_tables
from bayesbox.schema.coded import Variable
from bayesbox.tally.families import FamilyBook

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class FitReport:
    """How the tables were learned: the rows, those with a hole, and of each round of EM the objective."""

    rows: int
    holes: int = 0
    history: list[float] = field(default_factory=list)
    converged: bool = True


class NetworkFitting:
    """Learning the tables; the structure stays."""

    graph: Graph
    book_: FamilyBook | None = None
    """The counts behind the tables, where they were counted."""
    fit_: FitReport | None = None
    """How the tables were learned."""
    _open: frozenset[str] = frozenset()  # nodes whose states nobody gave: those of the rows
    _rules: TableRules | None = None
    _experts: Mapping[str, Doubles] | None = None

    def fit(
        self,
        data: Any,
        *,
        smoothing: Any = None,
        prior_cases: float = 0.0,
        missing: str = "em",
        weight: str | None = None,
        hidden: str | Sequence[str] = (),
        columns: Mapping[Any, object] | None = None,
        bins: Any = DEFAULT_BINS,
        na: Sequence[str] = (),
        iterations: int = 100,
        tolerance: float = 1e-6,
        restarts: int = 1,
        seed: int = 0,
        most_bytes: int = MOST_BYTES,
        progress: Progress | None = None,
    ) -> Self:
        """Learn the tables from rows: a frame, a table, a source, or the name of a file.

        `smoothing` is any rule, `bdeu:10` or `k2` (default: laplace, or mle with `prior_cases`), or a dict of rules by
        node. `prior_cases` takes the tables as they are for the experience of so many cases. Rows with holes are shared
        out by EM (`missing="em"`), counted where a family lacks nothing ("ignore") or left out ("drop"). Nodes that are
        never seen are named in `hidden`. With `restarts` above 1, EM begins also at random and the best end is taken.
        Rows that exceed `most_bytes` as codes are not held, but read again.

        >>> from bayesbox import BayesianNetwork
        >>> net = BayesianNetwork({"grass": ["rain"]})
        >>> rows = {"rain": ["yes", "yes", "no", "no"], "grass": ["wet", "wet", "wet", "dry"]}
        >>> net.fit(rows, smoothing="mle").query("P(rain=yes | grass=wet)")
        0.6666666666666666
        """
        if missing not in ("em", "ignore", "drop"):
            raise BadOption("missing is 'em', 'ignore' or 'drop'", found=missing)
        if not 0 <= prior_cases < float("inf"):
            raise BadOption("prior_cases is a number, 0 or more", found=prior_cases)
        require_whole("restarts", restarts, least=1)
        require_whole("iterations", iterations, least=1)
        require_whole("seed", seed)
        rows = self.read_rows(
            data, weight=weight, hidden=hidden, columns=columns, bins=bins, na=na, most_bytes=most_bytes
        )
        return self.fit_rows(
            rows,
            smoothing=smoothing,
            prior_cases=prior_cases,
            missing=missing,
            iterations=iterations,
            tolerance=tolerance,
            restarts=restarts,
            seed=seed,
            progress=progress,
        )

    def fit_rows(
        self,
        rows: NetworkRows,
        *,
        smoothing: Any = None,
        prior_cases: float = 0.0,
        missing: str = "em",
        iterations: int = 100,
        tolerance: float = 1e-6,
        restarts: int = 1,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """The same from rows that were read already."""
        rules = TableRules.of(smoothing if smoothing is not None else "mle" if prior_cases else "laplace")
        for name in rules.by_node:
            self.graph.node(name)
        experts = self._expert_counts(prior_cases) if prior_cases else None
        holes = rows.holes
        families = self._families(rows.variables)
        maximise = TableMaximiser(families, rules, experts)
        if holes and missing == "em":
            learned = expect(families, rows, maximise, iterations, tolerance, restarts, seed, progress)
            self._accept(families, learned.tables)
            self.book_, report = None, FitReport(rows.rows, holes, learned.history, learned.converged)
        else:
            book = book_of(families, rows, drop=bool(holes) and missing == "drop")
            self._accept(families, maximise(counts_of(book, families)))
            self.book_, report = book, FitReport(rows.rows, holes)
        self.fit_, self._rules, self._experts = report, rules, experts
        return self

    def partial_fit(self, data: Any, **reading: Any) -> Self:
        """Learn more rows: exactly as if they had been there from the beginning. They have no holes."""
        if self.fit_ is None and self.book_ is None:
            rows = self.read_rows(data, **reading)
            if rows.holes:
                raise _holes("learned")
            return self.fit_rows(rows)
        return self._change(data, "learned", sign=1, **reading)

    def forget(self, data: Any, **reading: Any) -> Self:
        """Take rows out again: exactly as if they had never been there."""
        return self._change(data, "forgotten", sign=-1, **reading)

    def _change(self, data: Any, done: str, *, sign: int, **reading: Any) -> Self:
        book = self._counted()
        rows = self.read_rows(data, **reading)
        if rows.holes:
            raise _holes(done)
        families = self._families(rows.variables)
        change = book_of(families, rows)
        book = book + change if sign > 0 else book - change
        self._take(book, families)
        return self

    def __add__(self, other: Self) -> Self:
        """The network of both sets of rows; the structures must be the same."""
        if not isinstance(other, NetworkFitting):
            return NotImplemented
        if self._rules != other._rules or (self._experts is None) != (other._experts is None):
            raise CannotMerge("the two networks smooth their counts by different rules")
        merged = type(self).__new__(type(self))
        merged.graph = self.graph
        merged._rules, merged._experts = self._rules, self._experts
        merged._take(self._counted() + other._counted(), self._families(variables_of(self.graph)))
        return merged

    def log_likelihood(self, data: Any, **reading: Any) -> float:
        """The natural log of the probability of all rows together; what is missing is summed over."""
        require_tables(self.graph)
        rows = self.read_rows(data, **reading)
        families = self._families(rows.variables)
        tables = [self._matrix(node) for node in self.graph.nodes.values()]
        if rows.holes:
            return expectation(families, tables, rows)[1]
        total = 0.0
        for counts, table in zip(counts_of(book_of(families, rows), families), tables, strict=True):
            seen = counts > 0
            with np.errstate(divide="ignore"):
                total += float((counts[seen] * np.log(table[seen])).sum())
        return total

    def score(self, data: Any, score: Any = "bic", **reading: Any) -> float:
        """How well the structure explains rows without holes, in nats: bic, aic, loglik, k2, bdeu:1, dirichlet:0.5."""
        rows = self.read_rows(data, **reading)
        if rows.holes:
            raise BadData("a score is of rows without holes", remedy="Fill them, or leave these rows out")
        families = self._families(rows.variables)
        return Scorer(rows.counter(), Score.of(score)).total([scope[:-1] for scope in families.scopes])

    # -- the ways there ------------------------------------------------------------------------------------------

    def read_rows(
        self,
        data: Any,
        *,
        weight: str | None = None,
        hidden: str | Sequence[str] = (),
        columns: Mapping[Any, object] | None = None,
        bins: Any = DEFAULT_BINS,
        na: Sequence[str] = (),
        most_bytes: int = MOST_BYTES,
    ) -> NetworkRows:
        """Rows as codes of the states of this network."""
        return read_rows(
            self.graph,
            self._open,
            data,
            weight=weight,
            hidden=hidden,
            columns=columns,
            bins=bins,
            na=na,
            most_bytes=most_bytes,
        )

    def _families(self, variables: Sequence[Variable]) -> Families:
        place = {variable.name: index for index, variable in enumerate(variables)}
        scopes = tuple(
            (*(place[parent] for parent in node.parents), place[node.name]) for node in self.graph.nodes.values()
        )
        for scope in scopes:
            require_cells([len(variables[member].levels) for member in scope], variables[scope[-1]].name)
        return Families(tuple(place), tuple(variable.levels for variable in variables), scopes)

    def _accept(self, families: Families, tables: Sequence[Doubles]) -> None:
        """The learned tables in place of those there were."""
        nodes = [
            Node(name, states, self.graph.nodes[name].parents, np.ascontiguousarray(table.reshape(shape)))
            for name, states, table, shape in zip(families.names, families.states, tables, families.shapes, strict=True)
        ]
        self.graph = Graph(nodes, name=self.graph.name, checked=True)
        self._open = frozenset()
        for cached in (*COMPILED, "_inexact"):
            self.__dict__.pop(cached, None)

    def _take(self, book: FamilyBook, families: Families) -> None:
        assert self._rules is not None
        maximise = TableMaximiser(families, self._rules, self._experts)
        self._accept(families, maximise(counts_of(book, families)))
        self.book_ = book
        self.fit_ = FitReport(int(book.n))

    def restore_counts(
        self, book: FamilyBook, rules: TableRules, experts: Mapping[str, Doubles] | None, *, within: float
    ) -> None:
        """Take the counts of a file for those behind the tables, which they must give."""
        families = self._families(variables_of(self.graph))
        for node, table in zip(
            self.graph.nodes.values(), TableMaximiser(families, rules, experts)(counts_of(book, families)), strict=True
        ):
            if node.table is None or not np.allclose(self._matrix(node), table, rtol=0, atol=within):
                raise ValueError(f"the table of `{node.name}` is not what they give")
        self.book_, self._rules, self._experts = book, rules, experts
        self.fit_ = FitReport(int(book.n))

    def _counted(self) -> FamilyBook:
        if self.book_ is None:
            raise NoCounts(
                "there are no counts behind these tables", remedy="They come from fit(...) of rows without holes"
            )
        return self.book_

    def _matrix(self, node: Node) -> Doubles:
        assert node.table is not None
        return node.table.reshape(-1, len(node.states))

    def _expert_counts(self, cases: float) -> dict[str, Doubles]:
        """The tables as they stand, as the counts that so many cases would give on average."""
        require_tables(self.graph)
        model = self.graph.model
        nothing = np.zeros(len(model.names), dtype=np.uint8)
        tree = Propagation(CompiledModel(model)).plan(nothing, nothing)
        row = np.full((1, len(model.names)), -1, dtype=np.int32)
        counts, _ = expected_counts(tree, row, np.array([float(cases)]))
        ends = np.cumsum([factor.table.size for factor in model.factors])[:-1]
        split = np.split(counts, ends)
        return {name: each.reshape(-1, card) for name, each, card in zip(model.names, split, model.cards, strict=True)}


def _holes(done: str) -> BadData:
    return BadData(f"rows with holes cannot be {done} exactly", remedy="Leave them out, or fit(...) all rows again")
