"""Fitting the tables of a network to rows: by counting if nothing is missing, else by EM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import expected_counts
from bayesbox.display.progress import Reporter
from bayesbox.errors import BadData, CannotMerge, NoCounts
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.graph import Graph, Node, require_cells
from bayesbox.network.learn.em import Families, expectation
from bayesbox.network.learn.maximise import TableMaximiser, expect
from bayesbox.network.learn.options import NodeRowOptions, TableOptions
from bayesbox.network.learn.rows import NetworkRows, book_of, counts_of, read_rows, variables_of
from bayesbox.network.learn.scores import Score, Scorer
from bayesbox.network.learn.tables import TableRules
from bayesbox.network.method_docs import METHODS
from bayesbox.network.query.notation import parse_query
from bayesbox.network.questions import COMPILED
from bayesbox.network.tables import require_tables
from bayesbox.schema.coded import Variable
from bayesbox.schema.parameters import describe_methods, method_by_keywords
from bayesbox.tally.families import FamilyBook

if TYPE_CHECKING:
    from bayesbox.explain.credible import CredibleInterval, IntervalTable
    from bayesbox.network.network import BayesianNetwork

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class FitReport:
    """How the tables were fitted: the rows, those with a missing value, and the objective after each EM iteration."""

    rows: int
    holes: int = 0
    history: list[float] = field(default_factory=list)
    converged: bool = True


@describe_methods(METHODS["NetworkFitting"])
class NetworkFitting:
    """Fitting the tables; the structure does not change."""

    graph: Graph
    book_: FamilyBook | None = None
    """The counts behind the tables, if the tables were counted."""
    fit_: FitReport | None = None
    """How the tables were learned."""
    _open: frozenset[str] = frozenset()  # nodes without given states: these come from the rows
    _rules: TableRules | None = None
    _experts: Mapping[str, Doubles] | None = None

    @method_by_keywords(TableOptions)
    def fit(self, data: object, options: TableOptions) -> Self:
        """Fit the tables to rows: a DataFrame, a table, a source, or the name of a file.

        Without missing values the tables are counted; otherwise they are estimated by EM, or as `missing` says.

        Examples
        --------
        >>> from bayesbox import BayesianNetwork
        >>> net = BayesianNetwork({"grass": ["rain"]})
        >>> rows = {"rain": ["yes", "yes", "no", "no"], "grass": ["wet", "wet", "wet", "dry"]}
        >>> net.fit(rows, smoothing="mle").query("P(rain=yes | grass=wet)")
        0.6666666666666666
        """
        return self.fit_rows(self._read(data, options), options)

    def fit_rows(self, rows: NetworkRows, options: TableOptions) -> Self:
        """Fit the tables to rows that are already read."""
        rules = options.rules
        for name in rules.by_node:
            self.graph.node(name)
        if any(node.compact is not None for node in self.graph.nodes.values()):
            return self._fit_compact(rows, options)
        experts = self._expert_counts(options.prior_cases) if options.prior_cases else None
        holes = rows.holes
        families = self._families(rows.variables)
        maximise = TableMaximiser(families, rules, experts)
        if holes and options.missing == "em":
            learned = expect(families, rows, maximise, options)
            self._accept(families, learned.tables)
            self.book_, report = None, FitReport(rows.rows, holes, learned.history, learned.converged)
        else:
            book = book_of(families, rows, drop=bool(holes) and options.missing == "drop")
            self._accept(families, maximise(counts_of(book, families)))
            self.book_, report = book, FitReport(rows.rows, holes)
            Reporter(options.progress).done()
        self.fit_, self._rules, self._experts = report, rules, experts
        return self

    def _fit_compact(self, rows: NetworkRows, options: TableOptions) -> Self:
        """Fit a network with compact tables: by EM, since the contributions of causes are not observed."""
        from bayesbox.network.compact.learn import learn_compact

        self.graph, learned = learn_compact(self.graph, rows, options)
        self._forget_compiled()
        self.book_, self._rules, self._experts = None, options.rules, None
        self.fit_ = FitReport(rows.rows, rows.holes, learned.history, learned.converged)
        return self

    @method_by_keywords(NodeRowOptions)
    def partial_fit(self, data: object, options: NodeRowOptions) -> Self:
        """Add rows: the result is exactly as if they had been there from the start. They must have no missing
        values."""
        if self.fit_ is None and self.book_ is None:
            rows = self._read(data, options)
            if rows.holes:
                raise _holes("learned")
            return self.fit_rows(rows, TableOptions())
        return self._change(data, "learned", options, sign=1)

    @method_by_keywords(NodeRowOptions)
    def forget(self, data: object, options: NodeRowOptions) -> Self:
        """Subtract rows: the result is exactly as if they had never been there."""
        return self._change(data, "forgotten", options, sign=-1)

    def _change(self, data: object, done: str, options: NodeRowOptions, *, sign: int) -> Self:
        book = self._counted()
        rows = self._read(data, options)
        if rows.holes:
            raise _holes(done)
        families = self._families(rows.variables)
        change = book_of(families, rows)
        book = book + change if sign > 0 else book - change
        self._take(book, families)
        return self

    def __add__(self, other: Self) -> Self:
        """The network fitted to both sets of rows; the structures must be the same."""
        if not isinstance(other, NetworkFitting):
            return NotImplemented
        if self._rules != other._rules or (self._experts is None) != (other._experts is None):
            raise CannotMerge("the two networks have different smoothing rules")
        merged = type(self).__new__(type(self))
        merged.graph = self.graph
        merged._rules, merged._experts = self._rules, self._experts
        merged._take(self._counted() + other._counted(), self._families(variables_of(self.graph)))
        return merged

    @method_by_keywords(NodeRowOptions)
    def log_likelihood(self, data: object, options: NodeRowOptions) -> float:
        """The log-likelihood of the rows (natural log); missing values are marginalised."""
        require_tables(self.graph)
        rows = self._read(data, options)
        if self.graph.compact_nodes:
            from bayesbox.network.compact.learn import RowsWithSteps, families_of, matrix

            steps = self.graph.expanded
            known = [matrix(node) for node in steps.nodes.values()]
            return expectation(families_of(steps), known, RowsWithSteps(rows, steps))[1]
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

    def score(self, data: object, score: str | Score = "bic", **reading: Any) -> float:
        """The score of the structure on complete rows, in nats: bic, aic, loglik, k2, bdeu:1, dirichlet:0.5."""
        rows = self._read(data, NodeRowOptions(**reading))
        if rows.holes:
            raise BadData("a score needs complete rows", remedy="Fill in the missing values, or drop these rows")
        families = self._families(rows.variables)
        return Scorer(rows.counter(), Score.of(score)).total([scope[:-1] for scope in families.scopes])

    # -- intervals and counts ------------------------------------------------------------------------------------

    def interval(
        self, question: str, level: float = 0.95, *, draws: int = 2_000, seed: int = 0
    ) -> CredibleInterval | IntervalTable:
        """The credible interval of the answer to P(...), if the tables were counted by `fit`.

        The tables are drawn `samples` times from their Dirichlet posteriors, with the prior that the smoothing rule
        implies, and the question is answered with each. For a number the result is a pair (low, high) with its
        `.estimate`; for a table a mapping of such pairs that prints, shows as HTML and has `.to_frame()`. The same seed
        gives the same result.

        >>> rows = {"rain": ["yes", "no", "no", "no"] * 5, "wet": ["yes", "no", "no", "yes"] * 5}
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"wet": ["rain"]}).fit(rows)
        >>> low, high = net.interval("P(rain=yes | wet=yes)", 0.95)
        >>> low < net.query("P(rain=yes | wet=yes)") < high
        True
        """
        from bayesbox.network.analyse.interval import answer_interval

        return answer_interval(
            cast("BayesianNetwork", self), parse_query(question), level=level, draws=draws, seed=seed
        )

    def _read(self, data: object, options: NodeRowOptions) -> NetworkRows:
        """Rows as codes of the states of this network."""
        return read_rows(self.graph, self._open, data, options)

    def _families(self, variables: Sequence[Variable]) -> Families:
        place = {variable.name: index for index, variable in enumerate(variables)}
        scopes = tuple(
            (*(place[parent] for parent in node.parents), place[node.name]) for node in self.graph.nodes.values()
        )
        for scope in scopes:
            require_cells([len(variables[member].levels) for member in scope], variables[scope[-1]].name)
        return Families(tuple(place), tuple(variable.levels for variable in variables), scopes)

    def _accept(self, families: Families, tables: Sequence[Doubles]) -> None:
        """Replace the tables with the fitted ones."""
        nodes = [
            Node(name, states, self.graph.nodes[name].parents, np.ascontiguousarray(table.reshape(shape)))
            for name, states, table, shape in zip(families.names, families.states, tables, families.shapes, strict=True)
        ]
        self.graph = Graph(nodes, name=self.graph.name, checked=True)
        self._open = frozenset()
        self._forget_compiled()

    def _forget_compiled(self) -> None:
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
        """Adopt the counts of a file as those behind the tables; an error if they do not give the tables."""
        families = self._families(variables_of(self.graph))
        for node, table in zip(
            self.graph.nodes.values(), TableMaximiser(families, rules, experts)(counts_of(book, families)), strict=True
        ):
            if node.table is None or not np.allclose(self._matrix(node), table, rtol=0, atol=within):
                raise ValueError(f"the table of `{node.name}` does not match them")
        self.book_, self._rules, self._experts = book, rules, experts
        self.fit_ = FitReport(int(book.n))

    def _counted(self) -> FamilyBook:
        if self.book_ is None:
            raise NoCounts("these tables have no counts", remedy="Fit the network to complete rows: net.fit(rows)")
        return self.book_

    def _matrix(self, node: Node) -> Doubles:
        assert node.table is not None
        return node.table.reshape(-1, len(node.states))

    def _expert_counts(self, cases: float) -> dict[str, Doubles]:
        """The expected counts of this many cases under the current tables."""
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
    return BadData(f"rows with missing values cannot be {done} exactly", remedy="Drop them, or fit(...) all rows again")
