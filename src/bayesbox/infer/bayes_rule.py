"""Bayes' rule by itself: P(h | e) = P(e | h) P(h) / P(e), for numbers and for whole distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.errors import BadOption, ImpossibleEvidence

SUM_TOLERANCE = 1e-9


def bayes_rule(prior: Any, likelihood: Any, evidence: float | None = None) -> Any:
    """The posterior.

    With numbers: P(h), P(e | h) and P(e) give P(h | e).

    >>> bayes_rule(prior=0.00002, likelihood=0.5, evidence=0.05)
    0.0002

    With a prior over hypotheses and one likelihood for each, or a list of these, the posterior after one piece of
    evidence is the prior of the next.

    >>> bayes_rule(prior={"fair": 0.5, "loaded": 0.5}, likelihood=[{"fair": 0.25, "loaded": 0.75}] * 2)
    {'fair': 0.1, 'loaded': 0.9}
    """
    if isinstance(prior, Mapping):
        if evidence is not None:
            raise BadOption("with a prior over hypotheses the evidence follows by itself", remedy="Leave it out")
        return _updated(prior, likelihood)
    if evidence is None:
        raise BadOption("the rule needs P(e), the probability of the evidence", remedy="Give evidence=")
    _probability("prior", prior)
    _probability("likelihood", likelihood)
    _probability("evidence", evidence)
    if evidence == 0:
        raise ImpossibleEvidence("the evidence has probability 0, so nothing follows from it")
    answer = likelihood * prior / evidence
    if answer > 1 + SUM_TOLERANCE:
        raise BadOption(
            "P(e) is at least P(e | h) P(h), so these three do not belong together",
            found=f"{evidence} < {likelihood * prior}",
        )
    return min(answer, 1.0)


def _updated(prior: Mapping[Any, float], likelihood: Any) -> dict[Any, float]:
    for value in prior.values():
        _probability("prior", value)
    if abs(math.fsum(prior.values()) - 1) > SUM_TOLERANCE:
        raise BadOption("a prior sums to 1", found=math.fsum(prior.values()))
    steps: Sequence[Mapping[Any, float]] = [likelihood] if isinstance(likelihood, Mapping) else list(likelihood)
    weights = {hypothesis: [value] for hypothesis, value in prior.items()}
    for step in steps:
        if set(step) != set(prior):
            raise BadOption("a likelihood names the same hypotheses as the prior", found=list(step))
        for hypothesis, value in step.items():
            _probability("likelihood", value)
            weights[hypothesis].append(value)
    logs = {h: math.fsum(math.log(v) for v in vs) if 0 not in vs else -math.inf for h, vs in weights.items()}
    best = max(logs.values())
    if best == -math.inf:
        raise ImpossibleEvidence("the evidence is impossible under every hypothesis")
    if best > -600:  # no product can underflow: multiply as one would by hand
        products = {h: math.prod(vs) for h, vs in weights.items()}
    else:
        products = {h: math.exp(value - best) for h, value in logs.items()}
    total = math.fsum(products.values())
    return {h: product / total for h, product in products.items()}


def _probability(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadOption(f"a {what} is a number from 0 to 1", found=value)
