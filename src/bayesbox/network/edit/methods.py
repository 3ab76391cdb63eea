"""The editing methods of a network; each returns a new network and leaves the original unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from bayesbox.errors import BadOption
from bayesbox.network.graph import Graph

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork


class NetworkEditing:
    """Edits of nodes, arcs, tables and names; tables are kept as far as they fit, counts are not."""

    graph: Graph

    def with_node(
        self, name: object, states: Sequence[Any] | None = None, parents: Iterable[Any] = (), cpt: Any = None
    ) -> BayesianNetwork:
        """The network with one more node.

        Parameters
        ----------
        name : str
            The name of the new node.
        states : list, or None
            Its states; true and false by default.
        parents : list of names
            Existing nodes.
        cpt : a table, or None
            As in `cpts`: P(node | parents); by default every state is equally probable.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        without_node, with_edge, with_cpt

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"rain": []}, {"rain": 0.2})
        >>> net.with_node("grass", ["wet", "dry"], ["rain"], {True: [0.9, 0.1], False: [0.1, 0.9]}).edges
        [('rain', 'grass')]
        """
        from bayesbox.network.edit.change import node_added

        has_tables = self.graph.has_tables and bool(self.graph.nodes)
        return self._edited(node_added(self.graph, name, states, parents, cpt, has_tables=has_tables))

    def without_node(self, name: object) -> BayesianNetwork:
        """The network without a node; the tables of its children are averaged over it.

        The average is weighted by P(node | other parents of the child), as in `without_edge`.

        Parameters
        ----------
        name : str
            The node.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        with_node, without_edge

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.5, "grass": {True: 0.75, False: 0.25}})
        >>> net.without_node("rain").query("P(grass=true)")
        0.5
        """
        from bayesbox.network.edit.change import node_removed

        if len(self.graph.nodes) == 1:
            raise BadOption("a network has at least one node", found=name)
        return self._edited(node_removed(self.graph, name))

    def with_edge(self, parent: object, child: object, cpt: Any = None) -> BayesianNetwork:
        """The network with one more arc, from `parent` to `child`.

        The new parent comes last among the child's parents. Without `cpt` the child's table is repeated for each state
        of the parent: the probabilities do not change until `with_cpt` changes them.

        Parameters
        ----------
        parent, child : str
            The two ends of the arc.
        cpt : a table, or None
            P(child | parents), as in `cpts`.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        without_edge, with_cpt

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": [], "rain": []}, {"rain": 0.2, "grass": 0.3})
        >>> net.with_edge("rain", "grass").cpt("grass").tolist()
        [[0.3, 0.7], [0.3, 0.7]]
        """
        from bayesbox.network.edit.change import arc_added

        return self._edited(arc_added(self.graph, parent, child, cpt))

    def without_edge(self, parent: object, child: object, cpt: Any = None) -> BayesianNetwork:
        """The network without the arc from `parent` to `child`.

        Without `cpt` the child's table is averaged over the parent, weighted by the network's own P(parent | other
        parents), so P(child | other parents) does not change.

        Parameters
        ----------
        parent, child : str
            The two ends of the arc.
        cpt : a table, or None
            P(child | parents), as in `cpts`.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        with_edge, without_node

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.5, "grass": {True: 0.75, False: 0.25}})
        >>> net.without_edge("rain", "grass").cpt("grass").tolist()
        [0.5, 0.5]
        """
        from bayesbox.network.edit.change import arc_removed

        return self._edited(arc_removed(self.graph, parent, child, cpt))

    def with_cpt(self, name: object, cpt: Any) -> BayesianNetwork:
        """The network with another table of a node, in any form that `cpts` accepts.

        Parameters
        ----------
        name : str
            The node.
        cpt : a table
            P(node | parents), in full or a NoisyOr and the like.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        with_edge, renamed

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}})
        >>> net.with_cpt("rain", 0.5).query("P(grass=true)")
        0.5
        """
        from bayesbox.network.edit.change import table_changed

        return self._edited(table_changed(self.graph, name, cpt))

    def renamed(
        self, names: Mapping[Any, Any] | None = None, *, states: Mapping[Any, Mapping[Any, Any]] | None = None
    ) -> BayesianNetwork:
        """The network with nodes and states renamed.

        Parameters
        ----------
        names : mapping from node to its new name, or None
            Nodes that are not named keep theirs.
        states : mapping from node to a mapping from state to its new name, or None
            By the old names of the nodes.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        with_cpt, with_node

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {True: 0.9, False: 0.1}})
        >>> net.renamed({"grass": "lawn"}, states={"rain": {"true": "wet"}}).query("P(lawn=true | rain=wet)")
        0.9
        """
        from bayesbox.network.edit.change import renamed_graph

        return self._edited(renamed_graph(self.graph, names or {}, states or {}))

    def _edited(self, graph: Graph) -> BayesianNetwork:
        own = cast("BayesianNetwork", self)
        changed = type(own).of(graph)
        changed.max_bytes = own.max_bytes
        changed._open = own._open & frozenset(graph.nodes)
        return changed
