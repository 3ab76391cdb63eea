"""`NetworkDisplay`: a network with its posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.display.picture import Picture
from bayesbox.errors import BadOption
from bayesbox.estimators.displays.base import COLORS, PlotDisplay
from bayesbox.estimators.method_docs import METHODS
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.parameters import describe_methods


@describe_methods(METHODS["NetworkDisplay"])
class NetworkDisplay(PlotDisplay):
    """The graph of a network; with evidence, or `probabilities=True`, also the posterior of each node.

    Examples
    --------
    >>> import bayesbox as bb
    >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}})
    >>> bb.NetworkDisplay.from_network(net, evidence={"grass": True})
    NetworkDisplay(2 nodes, 1 edges, given grass=True)
    """

    def __init__(
        self, network: BayesianNetwork, *, evidence: Mapping[Any, Any] | None = None, probabilities: bool = False
    ) -> None:
        self.network = network
        self.evidence = dict(evidence or {})
        self.probabilities = probabilities or bool(evidence)

    @classmethod
    def from_network(
        cls,
        network: BayesianNetwork,
        *,
        evidence: Mapping[Any, Any] | None = None,
        probabilities: bool = False,
        ax: object = None,
    ) -> NetworkDisplay:
        """The display of a Bayesian network."""
        if not isinstance(network, BayesianNetwork):
            raise BadOption("NetworkDisplay needs a BayesianNetwork", found=type(network).__name__)
        return cls(network, evidence=evidence, probabilities=probabilities)._plotted_on(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        evidence: Mapping[Any, Any] | None = None,
        probabilities: bool = False,
        ax: Any = None,
    ) -> NetworkDisplay:
        """The display of a fitted classifier: `TAN`, `KDB`, `NaiveBayes` of categories, or `NetworkClassifier`."""
        network = estimator.network if isinstance(getattr(estimator, "network", None), BayesianNetwork) else None
        if network is None and not hasattr(estimator, "to_network"):
            raise BadOption("this model is not a network", found=type(estimator).__name__)
        found = estimator.to_network() if network is None else network
        return cls.from_network(found, evidence=evidence, probabilities=probabilities, ax=ax)

    def svg(self) -> Picture:
        """The drawing as SVG."""
        return self.network.svg(probabilities=self.probabilities, evidence=self.evidence or None)

    def _draw(self, ax: Any) -> None:
        layout = self.network.layout()
        shown = self.network.posteriors(self.evidence) if self.probabilities else {}
        known = {str(name) for name in self.evidence}
        for arc in layout.arcs:
            x, y = zip(*arc.points, strict=True)
            ax.plot(x[:-1], y[:-1], color="gray", linewidth=1)
            ax.annotate(
                "", arc.points[-1], arc.points[-2], arrowprops={"arrowstyle": "->", "color": "gray", "shrinkA": 0}
            )
        for box in layout.nodes:
            best = max(shown[box.name].items(), key=lambda each: each[1]) if box.name in shown else None
            text = box.name if best is None else f"{box.name}\n{best[0]}: {best[1]:.2f}"
            face = "#dfe7f3" if box.name in known else "white"
            style = {"boxstyle": "round", "facecolor": face, "edgecolor": COLORS[0]}
            ax.text(box.x, box.y, text, ha="center", va="center", bbox=style, fontsize=9)
        ax.set(xlim=(0, layout.width), ylim=(layout.height, 0))
        ax.set_axis_off()

    def _headline(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.evidence.items())
        sizes = f"{len(self.network.nodes):,} nodes, {len(self.network.edges):,} edges"
        return f"NetworkDisplay({sizes}{f', given {given}' if given else ''})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        if not self.probabilities:
            return self.network._frame()
        return self.network.posteriors(self.evidence)._frame()
