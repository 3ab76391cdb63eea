"""Methods about evidence that any product of tables has: what to ask next, and whether findings disagree."""

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
    """The analysis of evidence, and of what else would be informative."""

    def ask_next(self, evidence: Evidence | None, target: object, costs: Costs | None = None) -> NodeQuestions:
        """The unknown nodes, the most informative about the target first.

        Parameters
        ----------
        evidence : mapping from node to state, or None
            What is known so far, as for `posteriors`.
        target : str
            The node to find out about.
        costs : mapping from node to cost, or None
            What it costs to observe a node, a positive number; 1 by default. The nodes are then ordered by
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
        """Jeffrey's rule: the evidence that gives some nodes the given probabilities.

        Virtual evidence states how likely a finding is in each state; Jeffrey's rule states the probabilities after the
        finding. In questions the former is written `D~0.7` and the latter `D:=0.7`. With several nodes the result is
        the distribution nearest to that given the evidence, by iterative proportional fitting.

        Parameters
        ----------
        beliefs : mapping from node to a mapping from state to probability
            The probabilities after the update.
        evidence : mapping from node to state, or None
            What else is known, as for `posteriors`.

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
        """Jensen's measure of conflict between findings in bits, and its parts.

        The measure is log2 of the product of the findings' probabilities over their probability together. Above 0 they
        are less probable together than if they were independent: one of them may be wrong, or the case is rare.

        Parameters
        ----------
        evidence : mapping from node to state
            What was found, as for `posteriors`.

        Returns
        -------
        Conflict
            A number of bits with `.findings`, `.pairs` (the conflict of each pair) and `.rare_cases` (states of
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
