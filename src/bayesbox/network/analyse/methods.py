"""The questions about evidence that any product of tables answers: what to ask next, and whether findings disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbox.errors import BadOption
from bayesbox.network.query.evidence import Evidence, impossible_evidence
from bayesbox.network.questions import NetworkQuestions

if TYPE_CHECKING:
    from bayesbox.network.analyse.ask_next import Costs, NodeQuestions
    from bayesbox.network.analyse.conflict import Conflict


class NetworkAnalysis(NetworkQuestions):
    """What evidence says, and what would say more."""

    def ask_next(self, evidence: Evidence | None, target: object, costs: Costs | None = None) -> NodeQuestions:
        """The unknown nodes, those first that are expected to say most of the target.

        Parameters
        ----------
        evidence : mapping from node to state, or None
            What is known so far, as for `posteriors`.
        target : str
            The node to find out about.
        costs : mapping from node to cost, or None
            What it costs to ask for a node, a positive number; 1 if none is given. The nodes are then ordered by
            information per cost.

        Returns
        -------
        NodeQuestions
            Prints as a table, has `.to_frame()` and `.to_dict()`; each of its `NodeQuestion`s has `node`,
            `information` (the expected information about the target, in bits: their mutual information given the
            evidence), `cost` and `worth`.

        See Also
        --------
        posteriors, conflict

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"fever": ["flu"], "cough": ["flu"]}, {
        ...     "flu": 0.1, "fever": {True: 0.9, False: 0.05}, "cough": {True: 0.6, False: 0.3}})
        >>> print(net.ask_next({}, "flu"))
        flu: remaining uncertainty 0.4690 bits
        <BLANKLINE>
          ask for  information in bits
          fever                 0.2663  ####################
          cough                 0.0247  ##
        """
        from bayesbox.network.analyse.ask_next import node_questions

        place = self._place(target)
        findings = self.findings(evidence)
        if place in findings.states:
            raise BadOption(
                f"the target `{self.model.names[place]}` is already known",
                found=self.model.states[place][findings.states[place]],
                remedy="Remove it from the evidence",
            )
        found = self._propagation.given_each(findings, place, max_bytes=self.max_bytes, max_seconds=self.max_seconds)
        questions = node_questions(self.model, found, set(findings.states), place, costs)
        if questions is None:
            raise impossible_evidence(evidence)
        return questions

    def jeffrey(self, beliefs: Mapping[Any, Any], evidence: Evidence | None = None) -> dict[str, Any]:
        """Jeffrey's rule: the evidence after which some nodes have the probabilities that are given.

        Virtual evidence gives how likely a finding is in each state, Jeffrey's rule what the probabilities are once it
        is in; in questions the one is written `D~0.7` and the other `D:=0.7`. Several nodes have their probabilities
        together: the distribution is the nearest one to that given the evidence, by iterative proportional fitting.

        Parameters
        ----------
        beliefs : mapping from node to a mapping from state to probability
            What the probabilities are from now on.
        evidence : mapping from node to state, or None
            What is known besides, as for `posteriors`.

        Returns
        -------
        dict
            The evidence with likelihoods of these nodes, for `posteriors`, `mpe` and the like.

        See Also
        --------
        posteriors, query

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"fever": ["flu"]}, {"flu": 0.1, "fever": {True: 0.9, False: 0.05}})
        >>> after = net.posteriors(net.jeffrey({"fever": {"true": 0.7, "false": 0.3}}))
        >>> round(after["fever"]["true"], 10), round(after["flu"]["true"], 10)
        (0.7, 0.4701348748)
        >>> round(net.query("P(flu=true | fever:=0.7)"), 10)
        0.4701348748
        """
        from bayesbox.network.query.jeffrey import jeffrey_likelihoods

        known = dict(evidence or {})
        return known | jeffrey_likelihoods(self, known, beliefs, exact=False)

    def conflict(self, evidence: Evidence) -> Conflict:
        """Whether the findings disagree: Jensen's measure of conflict in bits, and what it is made of.

        The measure is log2 of the product of the findings' probabilities over their probability together. Above 0 they
        are less probable together than if they were independent: one of them may be wrong, or the case is a rare one.

        Parameters
        ----------
        evidence : mapping from node to state
            What was found, as for `posteriors`.

        Returns
        -------
        Conflict
            A number of bits with `.findings`, `.pairs` (the conflict of each two of them) and `.rare_cases` (states of
            other nodes that would explain it); it prints as tables, and has `.to_frame()` and `.to_dict()`.

        See Also
        --------
        ask_next, log_probability

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"fever": ["flu"], "cough": ["flu"]}, {
        ...     "flu": 0.1, "fever": {True: 0.9, False: 0.05}, "cough": {True: 0.6, False: 0.3}})
        >>> net.conflict({"fever": True, "cough": False}), net.conflict({"fever": True, "cough": True}) < 0
        (Conflict(0.4222 bits of 2 findings), True)
        """
        from bayesbox.network.analyse.conflict import conflict_of

        findings = self.findings(evidence)
        found = conflict_of(
            self.model,
            findings,
            lambda each: self._propagation.posteriors(each, max_bytes=self.max_bytes, max_seconds=self.max_seconds),
        )
        if found is None:
            raise impossible_evidence(evidence)
        return found
