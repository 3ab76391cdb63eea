"""The public `BayesianNetwork` and `FactorGraph`, with their queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.picture import Picture
from bayesbox.errors import BadData, BadOption, file_name, require_whole
from bayesbox.network.act.methods import NetworkActing
from bayesbox.network.analyse.doubt import NetworkDoubt
from bayesbox.network.analyse.methods import NetworkAnalysis
from bayesbox.network.approximate.algorithm import InferenceAlgorithm
from bayesbox.network.edit.methods import NetworkEditing
from bayesbox.network.factor_graph import FactorModel
from bayesbox.network.graph import Graph
from bayesbox.network.learn.fit import NetworkFitting
from bayesbox.network.method_docs import METHODS
from bayesbox.network.query.dsep import active_path, path_text, relevant
from bayesbox.network.query.notation import Independence, parse
from bayesbox.network.query.probability_table import ProbabilityTable
from bayesbox.network.shown import FactorGraphResult, NetworkResult
from bayesbox.network.tables import graph_of, require_tables
from bayesbox.network.widget import HasNetworkWidget
from bayesbox.schema.levels import level_text
from bayesbox.schema.parameters import describe_methods

if TYPE_CHECKING:
    from bayesbox.classifier.report.size import Parameters
    from bayesbox.explain.graph.layout import GraphLayout
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.network.learn.compare import Comparison
    from bayesbox.network.learn.learn_network import Learning

Names = str | Iterable[str] | None

ROWS_AT_ONCE = 1 << 20  # of a sample, so that an interrupt does not wait for all of them


@describe_methods(METHODS["BayesianNetwork"])
class BayesianNetwork(
    NetworkResult, NetworkFitting, NetworkActing, NetworkEditing, NetworkDoubt, NetworkAnalysis, HasNetworkWidget
):
    """A Bayesian network: the parents of each node, and P(node | parents) as tables.

    `structure` maps each node to its parents; `cpts` each node to its table, by dicts or arrays. A table with a number
    for each state of the parents gives P(true); states that are not given are inferred from the keys, else they
    are true and false, in this order. Rows must sum to 1 within 1e-6, unless `normalize` is true.

    >>> net = BayesianNetwork(
    ...     {"A": ["B", "E"], "J": ["A"], "M": ["A"]},
    ...     {"B": 0.001, "E": 0.002, "J": {True: 0.9, False: 0.05}, "M": {True: 0.7, False: 0.01},
    ...      "A": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001}})
    >>> net.query("P(B=true | J=true, M=true)")
    0.28417183536439...
    >>> net.fraction("P(B=true | J=true, M=true)")
    Fraction(592242590, 2084100239)
    >>> net.d_separated("J", "B", given="A"), net.active_path("B", "E", given="J")
    (True, ['B', 'A', 'E'])
    """

    learning_: Learning | None = None
    """How the structure was learned."""

    def __init__(
        self,
        structure: Mapping[str, Iterable[str]],
        cpts: Mapping[str, Any] | None = None,
        *,
        states: Mapping[str, Sequence[object]] | None = None,
        normalize: bool = False,
        name: str = "",
    ) -> None:
        self.graph = graph_of(structure, cpts, states, name=name, normalize=normalize)
        if cpts is None:
            self._open = frozenset(self.graph.nodes) - frozenset(map(level_text, states or {}))

    @classmethod
    def of(cls, graph: Graph) -> BayesianNetwork:
        """A network from an existing graph."""
        network = cls.__new__(cls)
        network.graph = graph
        return network

    @property
    def model(self) -> FactorModel:
        """The tables as factors; BadData if the network has none."""
        require_tables(self.graph)
        return self.graph.model

    @cached_property
    def _inexact(self) -> set[str]:
        """The nodes whose rows do not sum to 1 exactly."""
        return {name for name, node in self.graph.expanded.nodes.items() if not node.sums_to_one()}

    def _relevant(self, wanted: Sequence[str], known: Sequence[str]) -> list[int]:
        return relevant(self.graph.expanded, [*wanted, *known], self._inexact)

    def _parents_first(self) -> list[int] | None:
        return [self.model.place[name] for name in self.graph.expanded.order]

    # -- structure -----------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in the order they were given."""
        return list(self.graph.nodes)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) of every edge."""
        return self.graph.edges

    @property
    def topological_order(self) -> list[str]:
        """The nodes, parents before children."""
        return list(self.graph.order)

    def states(self, node: object) -> list[str]:
        """The states of a node."""
        return list(self.graph.node(node).states)

    def cpt(self, node: str) -> NDArray[np.float64] | None:
        """P(node | parents): one axis per parent, and the states of the node on the last."""
        found = self.graph.node(node)
        return None if found.table is None and found.compact is None else self.graph.full_table(found.name).copy()

    def parameters(self) -> Parameters:
        """The number of parameters: all as `terms`, the `free` ones, and those of the full `joint` table.

        >>> BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}}).parameters()
        Parameters(free=3, terms=6, naive=None, joint=4)
        """
        from bayesbox.network.printed_tables import parameters_of

        return parameters_of(self.graph)

    def tables(self, *, interval: float | None = None) -> PrintedTables:
        """All tables in textbook form, and the number of parameters: prints, shows as HTML, has `.latex()`.

        `interval=0.95` adds the credible interval of every number, if the tables were counted by `fit`.

        >>> print(BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}}).tables())
        P(rain, grass) = P(rain) P(grass | rain)
                               true  false
        P(rain)                0.2   0.8
        P(grass | rain=true)   0.9   0.1
        P(grass | rain=false)  0.1   0.9
        the tables have 6 numbers, 3 of them free
        the full joint table would have 4, 3 of them free
        """
        from bayesbox.network.printed_tables import tables_of

        return tables_of(self, interval)

    def parents(self, node: str) -> list[str]:
        """The parents of a node, in the order of its table."""
        return list(self.graph.node(node).parents)

    def children(self, node: str) -> list[str]:
        """The children of a node."""
        return list(self.graph.children_of[self.graph.node(node).name])

    def ancestors(self, node: str) -> set[str]:
        """The ancestors of a node: those with a directed path to it."""
        return self.graph.ancestors([self.graph.node(node).name])

    def descendants(self, node: str) -> set[str]:
        """The descendants of a node: those with a directed path from it."""
        return self.graph.descendants([self.graph.node(node).name])

    def markov_blanket(self, node: str) -> set[str]:
        """The Markov blanket of a node: its parents, its children and the children's other parents."""
        return self.graph.markov_blanket(self.graph.node(node).name)

    def local_markov(self) -> list[str]:
        """The local Markov property: each node is independent of its non-descendants given its parents.

        >>> BayesianNetwork({"B": ["A"], "C": ["B"]}).local_markov()
        ['C _|_ A | B']
        """
        return [
            f"{name} _|_ {', '.join(others)}" + (f" | {', '.join(parents)}" if parents else "")
            for name, others, parents in self.graph.local_markov()
        ]

    def factorisation(self) -> str:
        """The joint distribution by the chain rule, as text.

        >>> BayesianNetwork({"B": ["A"], "C": ["A"]}).factorisation()
        'P(A, B, C) = P(A) P(B | A) P(C | A)'
        """
        return self.graph.factorisation()

    def d_separated(self, left: Names, right: Names, given: Names = ()) -> bool:
        """Whether two nodes, or sets of nodes, are d-separated given others."""
        return self.active_path(left, right, given) is None

    def active_path(self, left: Names, right: Names, given: Names = ()) -> list[str] | None:
        """An active path between two nodes given others; None if they are d-separated."""
        one, other, known = self._set(left), self._set(right), self._set(given)
        shared = set(one) & set(other) - set(known)
        return [min(shared)] if shared else active_path(self.graph, one, other, known)

    def path_text(self, path: Sequence[str]) -> str:
        """A path with its arrows."""
        return path_text(self.graph, list(path))

    def _set(self, names: Names) -> list[str]:
        return [self.graph.node(name).name for name in ([names] if isinstance(names, str) else names or ())]

    # -- answers -------------------------------------------------------------------------------------------------

    def query(
        self, text: str, *, approx: str | InferenceAlgorithm | None = None, **options: Any
    ) -> float | ProbabilityTable | bool:
        """The answer to P(...), a float if every target has a value, else a table; or to X _|_ Y | Z, a bool.

        `approx` names an approximate method for large networks, with its options as for `posteriors`; the answer
        then has its standard error, or a table of them, in `standard_error(s)`.
        """
        question = parse(text)
        if not isinstance(question, Independence):
            answer: float | ProbabilityTable = self.ask(question, approx=approx, **options)
            return answer
        return self.active_path_of(question) is None

    def active_path_of(self, question: Independence) -> list[str] | None:
        """The active path of a question about independence, which must name nodes without states."""
        valued = [term for term in (*question.left, *question.right, *question.given) if term.value is not None]
        if valued:
            raise BadOption(
                "d-separation applies to nodes, not to events",
                found=str(valued[0]),
                remedy=f"Ask about the node: {valued[0].name}",
            )
        sides = ([term.name for term in side] for side in (question.left, question.right, question.given))
        return self.active_path(*sides)

    def classifier(self, target: str) -> Any:
        """A scikit-learn classifier that predicts this node from the others: `NetworkClassifier`."""
        import bayesbox

        self.graph.node(target)
        return bayesbox.NetworkClassifier(self, target)

    def sample(self, n: int, seed: int | None = 0) -> Any:
        """`n` rows drawn from the joint distribution, as an Arrow table with one column per node."""
        import pyarrow as pa

        require_whole("n, the rows of a sample,", n)
        if seed is not None:
            require_whole("seed", seed)
        require_tables(self.graph)
        generator = np.random.default_rng(seed)
        parts = [slice(first, min(first + ROWS_AT_ONCE, n)) for first in range(0, n, ROWS_AT_ONCE)]
        codes: dict[str, NDArray[np.int32]] = {}
        graph = self.graph.expanded
        for name in graph.order:
            node = graph.nodes[name]
            assert node.table is not None
            bounds = np.ascontiguousarray(np.cumsum(node.table.reshape(-1, len(node.states)), axis=1).T)
            codes[name] = np.zeros(n, dtype=np.int32)
            for part in parts:
                code = codes[name][part]
                row = np.zeros(len(code), dtype=np.int64)
                for parent in node.parents:
                    row = row * len(graph.nodes[parent].states) + codes[parent][part]
                draw = generator.random(len(code)) * bounds[-1][row]
                for bound in bounds[:-1]:
                    code += bound[row] <= draw

        def column(name: str) -> pa.ChunkedArray:
            states = pa.array(self.graph.nodes[name].states, pa.string())
            chunks = [pa.DictionaryArray.from_arrays(codes[name][part], states).cast(pa.string()) for part in parts]
            return pa.chunked_array(chunks, pa.string())

        return pa.Table.from_arrays([column(name) for name in self.graph.nodes], names=list(self.graph.nodes))

    def compare(self, known: BayesianNetwork) -> Comparison:
        """The structural Hamming distance to a known structure: arcs missing, extra and reversed."""
        from bayesbox.network.learn.compare import compare

        if set(self.nodes) != set(known.nodes):
            differ = sorted(set(self.nodes) ^ set(known.nodes))
            raise BadData("the two networks have different nodes", found=", ".join(differ[:8]))
        return compare(self.nodes, self.edges, known.edges)

    # -- files and pictures --------------------------------------------------------------------------------------

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file in the format of its extension. JSON also holds the counts behind the tables, so that
        a network that is read again can be trained further."""
        from bayesbox.network.counts_json import learned_to_json
        from bayesbox.network.formats import format_of, write_graph

        learned = learned_to_json(self) if format_of(path) == "json" else None
        write_graph(self.graph, path, learned=learned)

    def svg(
        self,
        *,
        probabilities: bool = False,
        evidence: Mapping[Any, Any] | None = None,
        strengths: bool = False,
    ) -> Picture:
        """A drawing of the graph as SVG; on request, or with evidence, the posteriors of each node as bars.

        With `strengths` the width of an arc shows its strength: the share of bootstrap samples that have it, if the
        network was learned with a bootstrap, else the share of the child's remaining entropy that it removes
        (`strengths()`).

        >>> net = BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}})
        >>> net.svg(evidence={"grass": True})[:4]
        '<svg'
        """
        from bayesbox.explain.graph.picture import network_picture

        shown = self.posteriors(evidence or {}) if probabilities or evidence else None
        weights = self._arc_weights(evidence) if strengths else None
        drawn = network_picture(self.layout(probabilities=shown is not None), shown, self._known(evidence), weights)
        return Picture(drawn, f"network of {len(self.graph.nodes):,} nodes")

    def layout(self, *, probabilities: bool = False) -> GraphLayout:
        """The layout of the drawing as data: `.nodes`, `.arcs`, `.to_dict()`; `svg` draws it.

        With `probabilities` the nodes have room for the bars of their states.

        >>> net = BayesianNetwork({"grass": ["rain"]})
        >>> net.layout()["grass"]
        NodeBox(name='grass', x=56.5, y=125.0, width=65.0, height=30.0, layer=1)
        """
        from bayesbox.explain.graph.picture import network_layout

        states = {name: node.states for name, node in self.graph.nodes.items()} if probabilities else None
        return network_layout(self._structure(), states)

    def dot(self, *, probabilities: bool = False, evidence: Mapping[Any, Any] | None = None) -> str:
        """The graph in the DOT language, for Graphviz; posteriors as for `svg`.

        >>> print(BayesianNetwork({"grass": ["rain"]}).dot(), end="")
        digraph {
          node [shape=box, style=rounded];
          "rain";
          "grass";
          "rain" -> "grass";
        }
        """
        from bayesbox.explain.graph.dot import network_dot

        shown = self.posteriors(evidence or {}) if probabilities or evidence else None
        return network_dot(self._structure(), shown, self._known(evidence), name=self.graph.name)

    def _structure(self) -> dict[str, tuple[str, ...]]:
        return {name: node.parents for name, node in self.graph.nodes.items()}

    def _known(self, evidence: Mapping[Any, Any] | None) -> set[str]:
        """The nodes that evidence is about."""
        if not evidence:
            return set()
        findings = self.findings(evidence)
        return {self.model.names[place] for place in (*findings.states, *findings.likelihoods)}

    def __eq__(self, other: object) -> bool:
        return self.graph == other.graph if isinstance(other, BayesianNetwork) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


@describe_methods(METHODS["FactorGraph"])
class FactorGraph(FactorGraphResult, NetworkAnalysis):
    """A product of non-negative factors over named variables (a Markov network); `log_probability()` is log Z."""

    def __init__(self, model: FactorModel) -> None:
        self._model = model

    @property
    def model(self) -> FactorModel:
        """The variables and the factors."""
        return self._model

    def log_probability(self, evidence: Mapping[Any, Any] | None = None) -> float:
        """log Z: the natural log of the sum of the product over all states consistent with the evidence."""
        findings = self.findings(evidence)
        return self._propagation.posteriors(findings, max_bytes=self.max_bytes, max_seconds=self.max_seconds)[1]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the factor graph to a file in the UAI format."""
        from bayesbox.network.formats import write_factors

        write_factors(self._model, path)


def read_network(path: str | PathLike[str], *, normalize: bool = False) -> BayesianNetwork | FactorGraph:
    """Read a network: BIF, XMLBIF, UAI, Hugin NET, XDSL or JSON, by its extension; also compressed by gzip."""
    from bayesbox.network.formats import read_model

    found = read_model(path, normalize=normalize)
    if isinstance(found, FactorModel):
        return FactorGraph(found)
    network = BayesianNetwork.of(found)
    if found.learned is not None:
        from bayesbox.network.counts_json import learned_from_json

        learned_from_json(network, found.learned, where=file_name(path))
    return network
