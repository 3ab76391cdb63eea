"""Jeffrey's rule: new probabilities of some nodes, expressed as virtual evidence.

    P'(x) = sum over d of q(d) P(x | d, e)          Jeffrey's rule for a node D with new probabilities q, given e

Virtual evidence states how likely the finding is in each state, and the result depends on the prior; Jeffrey's rule
states the result. It is virtual evidence with the likelihood q(d) / P(d | e). For several nodes the likelihoods are
found by iterative proportional fitting, which converges to the distribution nearest to P(. | e), by the
Kullback-Leibler divergence, among all with these probabilities; the order of the nodes does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.network.exact.eliminate import ObservedStates, as_fractions

if TYPE_CHECKING:
    from bayesbox.network.questions import NetworkQuestions

ROUNDS = 1_000
CLOSE = 1e-13


def jeffrey_likelihoods(
    network: NetworkQuestions, evidence: Mapping[Any, Any], beliefs: Mapping[Any, Mapping[Any, Any]], *, exact: bool
) -> dict[str, dict[str, Any]]:
    """The likelihoods, by node and state, that give these nodes these probabilities together with the evidence."""
    findings = network.findings(evidence)
    wanted: dict[int, Any] = {}
    for name, given in beliefs.items():
        place = network._place(name)
        if place in findings.states or place in findings.likelihoods:
            known = network.model.names[place]
            raise BadOption(f"`{known}` has evidence besides its probabilities", remedy="Give one of them")
        wanted[place] = _shares(network, place, given)
    if exact and len(wanted) > 1:
        raise BadOption(
            "probabilities of several nodes are fitted in steps, so the answer is not a fraction",
            remedy="Ask for it as a decimal: query(...)",
        )
    one = len(wanted) == 1
    likelihoods = _one(network, findings, wanted, exact=exact) if one else _fitted(network, findings, wanted)
    model = network.model
    return {
        model.names[place]: dict(zip(model.states[place], values, strict=True)) for place, values in likelihoods.items()
    }


def _shares(network: NetworkQuestions, place: int, given: Mapping[Any, Any]) -> Any:
    shares = network._likelihood(place, given)
    if not math.isclose(float(sum(shares)), 1.0, abs_tol=1e-9):
        raise BadOption(
            f"the probabilities of `{network.model.names[place]}` must sum to 1",
            found=float(sum(shares)),
            remedy="Give a likelihood, which need not, as virtual evidence",
        )
    return shares


def _one(
    network: NetworkQuestions, findings: ObservedStates, wanted: Mapping[int, Any], *, exact: bool
) -> dict[int, list[Any]]:
    """One node: q(d) / P(d | e), up to a factor."""
    ((place, shares),) = wanted.items()
    prior = network._marginal(findings, (place,), exact=exact).table
    if not prior.sum() > 0:
        raise ImpossibleEvidence("the evidence has probability 0, so nothing follows from it")
    new = as_fractions(shares) if exact else np.asarray(shares, dtype=np.float64)
    _require_possible(network, place, prior, new)
    nothing = Fraction(0) if exact else 0.0
    return {place: [share / before if share else nothing for share, before in zip(new, prior, strict=True)]}


def _fitted(network: NetworkQuestions, findings: ObservedStates, wanted: Mapping[int, Any]) -> dict[int, list[float]]:
    """Several nodes: iterative proportional fitting until all have their probabilities."""
    new = {place: np.asarray(shares, dtype=np.float64) for place, shares in wanted.items()}
    likelihoods: dict[int, Any] = {place: np.ones(len(shares)) for place, shares in new.items()}
    offsets = network.model.offsets
    for _ in range(ROUNDS):
        furthest = 0.0
        for place, shares in new.items():
            case = ObservedStates(findings.states, {**findings.likelihoods, **likelihoods})
            cells, log_evidence = network._propagation.posteriors(case, max_bytes=network.max_bytes)
            if math.isinf(log_evidence):
                raise ImpossibleEvidence("no distribution has these probabilities and is consistent with the evidence")
            now = np.asarray(cells[int(offsets[place]) : int(offsets[place + 1])])
            _require_possible(network, place, now, shares)
            furthest = max(furthest, float(np.abs(now - shares).max()))
            factor = np.divide(shares, now, out=np.zeros(len(now)), where=now > 0)
            likelihoods[place] = likelihoods[place] * factor
            likelihoods[place] /= likelihoods[place].max()
        if furthest < CLOSE:
            return {place: values.tolist() for place, values in likelihoods.items()}
    if furthest > 1e-9:
        raise BadOption(
            f"the probabilities of {len(new)} nodes were not reached in {ROUNDS:,} rounds",
            found=f"off by {furthest:.2g}",
            remedy="They may contradict each other under this network",
        )
    return {place: values.tolist() for place, values in likelihoods.items()}


def _require_possible(network: NetworkQuestions, place: int, before: Any, new: Any) -> None:
    for state, prior, share in zip(network.model.states[place], before, new, strict=True):
        if share and not prior:
            raise ImpossibleEvidence(
                f"`{network.model.names[place]}={state}` has probability 0, and no evidence makes it possible"
            )
