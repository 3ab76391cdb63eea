"""The network widget of notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from bayesbox.network.method_docs import METHODS
from bayesbox.schema.parameters import describe_methods

if TYPE_CHECKING:
    from bayesbox.app.widgets import NetworkWidget
    from bayesbox.network.network import BayesianNetwork


@describe_methods(METHODS["HasNetworkWidget"])
class HasNetworkWidget:
    """A network with an interactive widget for notebooks."""

    def widget(self, target: str | None = None, evidence: Mapping[str, Any] | None = None) -> NetworkWidget:
        """An interactive widget: click states, or set `w.evidence = {...}` in the next cell.

        `w.evidence` and `w.posteriors` are the current values; with a `target` the widget suggests what to ask next.
        Needs `bayesbox[notebook]`.

        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}})
        >>> round(net.widget(evidence={"grass": True}).posteriors["rain"]["true"], 3)
        0.692
        """
        from bayesbox.app.widgets import NetworkWidget

        return NetworkWidget(cast("BayesianNetwork", self), target, evidence)
