"""The display of networks and factor graphs: a line, a table of nodes, and a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesbox.display.blocks import Block, PictureBlock, table_of
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.network.factor_graph import FactorModel
from bayesbox.network.graph import Graph

MOST_DRAWN = 60  # nodes; a notebook draws smaller networks only


class NetworkResult(Result):
    """A Bayesian network as a result: its nodes with their states and parents."""

    graph: Graph

    def svg(self) -> Picture:
        """The drawing of the network."""
        raise NotImplementedError

    def _headline(self) -> str:
        name = f"{self.graph.name}: " if self.graph.name else ""
        return f"BayesianNetwork({name}{len(self.graph.nodes):,} nodes, {len(self.graph.edges):,} edges)"

    def _title(self) -> str:
        name = f"{self.graph.name}, a" if self.graph.name else "a"
        return f"{name} Bayesian network of {len(self.graph.nodes):,} nodes and {len(self.graph.edges):,} edges"

    def _blocks(self) -> Sequence[Block]:
        drawn = [PictureBlock(self.svg())] if 0 < len(self.graph.nodes) <= MOST_DRAWN else []
        return [*drawn, table_of(self._frame())]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        nodes = self.graph.nodes.values()
        return {
            "node": [node.name for node in nodes],
            "states": [", ".join(node.states) for node in nodes],
            "parents": [", ".join(node.parents) for node in nodes],
        }


class FactorGraphResult(Result):
    """A factor graph as a result: its variables with their states."""

    _model: FactorModel

    def _headline(self) -> str:
        return f"FactorGraph({len(self._model.names):,} variables, {len(self._model.factors):,} factors)"

    def _title(self) -> str:
        return f"a factor graph of {len(self._model.names):,} variables and {len(self._model.factors):,} factors"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        names, factors = self._model.names, self._model.factors
        return {
            "variable": list(names),
            "states": [", ".join(states) for states in self._model.states],
            "factors": [sum(place in factor.scope for factor in factors) for place in range(len(names))],
        }
