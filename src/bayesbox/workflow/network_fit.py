"""The tables of a network from rows: by counting where nothing is missing, else by expectation and maximisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray, count_codes_weighted, expected_counts
from bayesbox.errors import BadData, BadOption, CannotForget, CannotMerge, UnknownNode
from bayesbox.infer.compiled import CompiledModel
from bayesbox.infer.junction import Propagation
from bayesbox.learn.coded import Coded, Variable, code_batch
from bayesbox.learn.em import Families, Learned, expectation, maximise_expectation
from bayesbox.learn.family_counter import MemoryCounter, SourceCounter
from bayesbox.learn.scores import Score, Scorer
from bayesbox.learn.survey import DEFAULT_BINS, survey
from bayesbox.learn.tables import TableRules, prior_counts, table_of
from bayesbox.model.conditional_tables import require_tables
from bayesbox.model.graph import Graph, Node, require_cells
from bayesbox.schema.kinds import Category, Kind, as_kind
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Source
from bayesbox.tally.families import FamilyBook
from bayesbox.workflow.network_questions import COMPILED
from bayesbox.workflow.train import require_rereadable, source_of

Doubles = NDArray[np.float64]
Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class FitReport:
    """How the tables were learned: the rows, those with a hole, and of each round of EM the objective."""

    rows: int
    holes: int = 0
    history: list[float] = field(default_factory=list)
    converged: bool = True


@dataclass
class NetworkRows:
    """Rows under the nodes of a network: held as codes, or read again from a source each time."""

    variables: tuple[Variable, ...]
    coded: Coded | None
    source: Source
    rows: int
    holes: int  # rows in which something is missing
    hidden: tuple[Variable, ...] = ()

    def parts(self) -> Iterator[Coded]:
        """The rows, in the order of the variables."""
        names = [variable.name for variable in self.variables]
        if self.coded is not None:
            yield self.coded
            return
        shown = [variable for variable in self.variables if variable not in self.hidden]
        for batch in self.source.batches():
            yield code_batch(batch, shown, where=self.source.name).with_hidden(self.hidden).arranged(names)

    def counter(self) -> MemoryCounter | SourceCounter:
        """Counts of these rows."""
        if self.coded is not None:
            return MemoryCounter(self.coded)
        return SourceCounter(self.source, self.variables, self.rows)


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
        hidden: Sequence[str] = (),
        columns: Mapping[Any, object] | None = None,
        bins: Any = DEFAULT_BINS,
        na: Sequence[str] = (),
        iterations: int = 100,
        tolerance: float = 1e-6,
        restarts: int = 1,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Learn the tables from rows: a frame, a table, a source, or the name of a file.

        `smoothing` is any rule, `bdeu:10` or `k2` (default: laplace, or mle with `prior_cases`), or a dict of rules by
        node. `prior_cases` takes the tables as they are for the experience of so many cases. Rows with holes are shared
        out by EM (`missing="em"`), counted where a family lacks nothing ("ignore") or left out ("drop"). Nodes that are
        never seen are named in `hidden`. With `restarts` above 1, EM begins also at random and the best end is taken.

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
        if restarts < 1 or iterations < 1:
            raise BadOption("restarts and iterations are 1 or more", found=min(restarts, iterations))
        rows = self.read_rows(data, weight=weight, hidden=hidden, columns=columns, bins=bins, na=na)
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
        maximise = _Maximise(families, rules, experts)
        if holes and missing == "em":
            if rows.coded is not None and rows.coded.weights is not None:
                raise BadOption("weights go with complete rows", remedy="Take missing='ignore'")
            learned = _expect(families, rows, maximise, iterations, tolerance, restarts, seed, progress)
            self._accept(families, learned.tables)
            self.book_, report = None, FitReport(rows.rows, holes, learned.history, learned.converged)
        else:
            book = _book(families, rows, drop=bool(holes) and missing == "drop")
            self._accept(families, maximise(_counts(book, families)))
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
        change = _book(families, rows)
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
        merged._take(self._counted() + other._counted(), self._families(_variables(self.graph)))
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
        for counts, table in zip(_counts(_book(families, rows), families), tables, strict=True):
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
        hidden: Sequence[str] = (),
        columns: Mapping[Any, object] | None = None,
        bins: Any = DEFAULT_BINS,
        na: Sequence[str] = (),
    ) -> NetworkRows:
        """Rows as codes of the states of this network."""
        graph = self.graph
        for name in hidden:
            if graph.node(name).name in self._open:
                raise BadOption(f"the states of `{name}` are not known", remedy="Give them: states={...}")
        known = {name: node.states for name, node in graph.nodes.items() if name not in self._open}
        kinds: dict[str, Kind] = {str(name): as_kind(kind) for name, kind in (columns or {}).items()}
        for name in kinds:
            if name not in graph.nodes:
                raise UnknownNode("node", name, graph.nodes, where="columns")
        declared = {name: kind for name, kind in texts_of(graph).items() if name in known and name not in hidden}
        source = source_of(data, declared={**declared, **kinds}, na=na, bad_rows="error", format=None)
        shown = [name for name in graph.nodes if name not in set(hidden)]
        found = survey(
            source,
            kinds=kinds,
            bins=bins,
            only=shown,
            known=known,
            weight=weight,
        )
        if found.coded is None and weight is not None:
            raise BadData("weighted rows are held, and these are too many or elsewhere", where=source.name)
        unseen = tuple(Variable.known(name, known[name]) for name in graph.nodes if name in set(hidden))
        coded = None if found.coded is None else found.coded.with_hidden(unseen).arranged(list(graph.nodes))
        by_name = {variable.name: variable for variable in (*found.variables, *unseen)}
        variables = tuple(by_name[name] for name in graph.nodes)
        if coded is None:
            require_rereadable(source)
        return NetworkRows(variables, coded, source, found.rows, found.rows if unseen else found.holes, unseen)

    def _families(self, variables: Sequence[Variable]) -> Families:
        place = {variable.name: index for index, variable in enumerate(variables)}
        scopes = tuple(
            (*(place[parent] for parent in node.parents), place[node.name]) for node in self.graph.nodes.values()
        )
        for scope in scopes:
            require_cells([len(variables[member].states) for member in scope], variables[scope[-1]].name)
        return Families(tuple(place), tuple(variable.states for variable in variables), scopes)

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
        maximise = _Maximise(families, self._rules, self._experts)
        self._accept(families, maximise(_counts(book, families)))
        self.book_ = book
        self.fit_ = FitReport(int(book.n))

    def _counted(self) -> FamilyBook:
        if self.book_ is None:
            raise CannotForget(
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


@dataclass(frozen=True)
class _Maximise:
    """From counts to tables, by the rules and what experts knew beforehand."""

    families: Families
    rules: TableRules
    experts: Mapping[str, Doubles] | None

    def __call__(self, counts: list[Doubles]) -> list[Doubles]:
        return [
            table_of(
                each if self.experts is None else each + self.experts[name],
                states,
                self.rules.of_node(name, each.size),
            )
            for name, states, each in zip(self.families.names, self.families.states, counts, strict=True)
        ]

    def prior(self) -> list[Doubles | None]:
        """What each node has seen beforehand, by its rule and by experts."""
        found: list[Doubles | None] = []
        for name, states, shape in zip(self.families.names, self.families.states, self.families.shapes, strict=True):
            cells = int(np.prod(shape))
            prior = prior_counts((cells // shape[-1], shape[-1]), states, self.rules.of_node(name, cells))
            found.append(prior if prior is None or self.experts is None else prior + self.experts[name])
        return found


def _expect(
    families: Families,
    rows: NetworkRows,
    maximise: _Maximise,
    iterations: int,
    tolerance: float,
    restarts: int,
    seed: int,
    progress: Progress | None,
) -> Learned:
    """EM from what can be counted, and from tables at random; the best end."""
    prior = maximise.prior()
    final: Any = maximise
    if any(each is None for each in prior):  # a rule without a prior is applied once, at the end
        maximise = replace(maximise, rules=TableRules.of("mle"))
        prior = maximise.prior()
    how: dict[str, Any] = {"prior": prior, "iterations": iterations, "tolerance": tolerance, "progress": progress}
    random = np.random.default_rng(seed)
    counts = rows.counter().counts(list(families.scopes))
    start = [
        table_of(
            _spread(each.reshape(-1, len(states)).astype(np.float64), random),
            states,
            TableRules.of("laplace").of_node(name, each.size),
        )
        for name, states, each in zip(families.names, families.states, counts, strict=True)
    ]
    best = maximise_expectation(families, rows, maximise, start, **how)
    for _ in range(restarts - 1):
        begin = [random.dirichlet(np.ones(table.shape[1]), size=len(table)) for table in start]
        found = maximise_expectation(families, rows, maximise, begin, **how)
        if found.history[-1] > best.history[-1]:
            best = found
    if final is not maximise:
        best.tables = final(best.counts)
    return best


def _spread(counts: Doubles, random: np.random.Generator) -> Doubles:
    """Counts to begin with; a node that was never seen begins unevenly, or its states would stay alike for ever."""
    return counts if counts.any() else random.random(counts.shape)


def _book(families: Families, rows: NetworkRows, *, drop: bool = False) -> FamilyBook:
    """The counts of the families."""
    names, states = families.names, dict(zip(families.names, families.states, strict=True))
    scopes = {scope[-1]: tuple(names[member] for member in scope) for scope in families.scopes}
    by_name = {names[node]: scope for node, scope in scopes.items()}
    coded = rows.coded
    if drop:
        parts = [part.take(~part.holes()) for part in rows.parts()]
        books = [_book(families, replace(rows, coded=part, rows=part.rows, holes=0)) for part in parts]
        return sum(books[1:], start=books[0])
    if coded is not None and coded.weights is not None:
        cells = {names[scope[-1]]: _weighted(coded, scope) for scope in families.scopes}
        total = ExactArray.from_doubles(coded.weights).sum_groups(np.zeros(coded.rows, dtype=np.int64), 1)
        return FamilyBook(by_name, states, cells, total)
    counts = rows.counter().counts(list(families.scopes))
    found = {names[scope[-1]]: table for scope, table in zip(families.scopes, counts, strict=True)}
    return FamilyBook.of(by_name, states, found, rows.rows)


def _weighted(coded: Coded, scope: tuple[int, ...]) -> ExactArray:
    """The sums of the weights in each cell of a family."""
    assert coded.weights is not None
    combination = np.zeros(coded.rows, dtype=np.int64)
    lacking = np.zeros(coded.rows, dtype=bool)
    size = 1
    for member in scope[:-1]:
        variable, column = coded.variables[member], coded.columns[member]
        lacking |= column == variable.missing
        combination = combination * len(variable.states) + column
        size *= len(variable.states)
    combination[lacking] = -1
    child = coded.variables[scope[-1]]
    codes = np.where(coded.columns[scope[-1]] == child.missing, -1, coded.columns[scope[-1]].astype(np.int32))
    target = combination.astype(np.int32)
    return count_codes_weighted([codes], [len(child.states)], target, size, coded.weights)[0]


def _counts(book: FamilyBook, families: Families) -> list[Doubles]:
    return [
        np.asarray(book.counts(name), dtype=np.float64).reshape(-1, len(states))
        for name, states in zip(families.names, families.states, strict=True)
    ]


def _variables(graph: Graph) -> tuple[Variable, ...]:
    return tuple(Variable.known(name, node.states) for name, node in graph.nodes.items())


def texts_of(graph: Graph) -> dict[str, Kind]:
    """The nodes whose columns are read as they stand, with the kind that says so."""
    return {name: Category() for name, node in graph.nodes.items() if _is_text(node.states)}


def _is_text(states: Sequence[str]) -> bool:
    """Whether states must be read as they stand: not where they are numbers or the bins of numbers."""
    if Variable.known("", states).cuts is not None:
        return False
    try:
        return any(level_text(float(state)) != state for state in states)
    except ValueError:
        return True


def _holes(done: str) -> BadData:
    return BadData(f"rows with holes cannot be {done} exactly", remedy="Leave them out, or fit(...) all rows again")
