"""The methods that measure how robust a network's answers are, and its distance from another network."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.query.evidence import Evidence, impossible_evidence
from bayesbox.network.query.notation import parse_query

if TYPE_CHECKING:
    from bayesbox.network.analyse.cross_entropy import CrossEntropy
    from bayesbox.network.analyse.sensitivity import Sensitivity
    from bayesbox.network.analyse.strengths import ArcStrengths
    from bayesbox.network.network import BayesianNetwork


class NetworkDoubt:
    """Sensitivity to the entries of the tables, the strength of arcs, and the distance from another network."""

    def sensitivity(self, text: str, *, spread: float = 0.1) -> Sensitivity:
        """The sensitivity of an answer to each entry of the tables, the most influential first.

        As one entry changes, the others of its row keep their proportions; the answer is then a ratio of two linear
        functions of the entry, which is computed exactly.

        Parameters
        ----------
        text : str
            P(...) of an event: every target has a value.
        spread : float
            The relative change of each entry for `low` and `high`.

        Returns
        -------
        Sensitivity
            The cells, each with its `value`, the `derivative` of the answer, the answers `low` and `high`, and
            `at(value)`; prints as a table, has `.to_frame()`, `.to_dict()` and `.svg()`, the tornado.

        See Also
        --------
        interval, strengths

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"fever": ["flu"]}, {"flu": 0.1, "fever": {True: 0.9, False: 0.05}})
        >>> found = net.sensitivity("P(flu=true | fever=true)")
        >>> cell = found.of("fever", "true", {"flu": "false"})
        >>> round(cell.derivative, 6), round(cell.at(0.1), 6)  # twice as many false alarms
        (-4.444444, 0.5)
        >>> net.with_cpt("fever", {True: 0.9, False: 0.1}).query("P(flu=true | fever=true)")
        0.5
        """
        from bayesbox.network.analyse.sensitivity import sensitivity_of

        return sensitivity_of(cast("BayesianNetwork", self), parse_query(text), spread=spread)

    def cross_entropy(self, other: BayesianNetwork) -> CrossEntropy:
        """The cross-entropy of another network relative to this one, in bits, and the divergence.

        Parameters
        ----------
        other : BayesianNetwork
            A network with the same nodes and states; its arcs may differ.

        Returns
        -------
        CrossEntropy
            A number of bits with `.entropy`, `.divergence` (Kullback-Leibler) and `.nodes`, the contribution of each
            node.

        See Also
        --------
        compare, sensitivity

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.5, "grass": {True: 1, False: 0}})
        >>> apart = bb.BayesianNetwork({"grass": [], "rain": []}, {"rain": 0.5, "grass": 0.5})
        >>> found = net.cross_entropy(apart)
        >>> found, found.divergence
        (CrossEntropy(2 bits, divergence 1), 1.0)
        """
        from bayesbox.network.analyse.cross_entropy import cross_entropy_of

        return cross_entropy_of(cast("BayesianNetwork", self), other)

    def strengths(self, evidence: Evidence | None = None) -> ArcStrengths:
        """The strength of each arc, in bits.

        `conditional` is I(parent; child | other parents), what the parent adds to the others, `mutual` is I(parent;
        child), and `share` the fraction of H(child | other parents) that the parent removes. The probabilities are
        those of the network, given the evidence if there is any.

        Parameters
        ----------
        evidence : mapping from node to state, or None
            What is known, as for `posteriors`.

        Returns
        -------
        ArcStrengths
            The arcs, the strongest first; it prints as a table, has `.to_frame()` and `.to_dict()`, and
            `found[parent, child]` is one of them.

        See Also
        --------
        ask_next, learn_network

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain", "hose"]}, {"rain": 0.2, "hose": 0.1, "grass": {
        ...     (True, True): 0.99, (True, False): 0.9, (False, True): 0.9, (False, False): 0.01}})
        >>> print(net.strengths())
        strength of the arcs, in bits
          arc            given other parents  by itself   share
          rain -> grass               0.4867     0.3676  72.8 %  ####################
          hose -> grass               0.2789     0.1598  60.5 %  ###########
        """
        from bayesbox.network.analyse.strengths import strengths_of

        network = cast("BayesianNetwork", self)
        compact = bool(network.graph.compact_nodes)
        compiled = CompiledModel(network.graph.tabular.model) if compact else network._compiled
        found = strengths_of(compiled, network.findings(evidence), network.max_bytes)
        if found is None:
            raise impossible_evidence(evidence)
        return found

    def _arc_weights(self, evidence: Evidence | None) -> dict[tuple[str, str], float]:
        """The strength of each arc, from 0 to 1."""
        network = cast("BayesianNetwork", self)
        found = network.learning_.strengths if network.learning_ is not None else {}
        if found:
            return {arc: found.get(arc, (0.0, 0.0))[0] for arc in network.edges}
        return {(each.parent, each.child): each.share for each in self.strengths(evidence)}
