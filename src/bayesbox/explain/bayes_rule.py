"""Bayes' rule by itself: P(h | e) = P(e | h) P(h) / P(e), for numbers and for whole distributions."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.explain.rule_work import work_of_hypotheses, work_of_numbers

SUM_TOLERANCE = 1e-9


def bayes_rule(prior: Any, likelihood: Any, evidence: float | Fraction | None = None, *, work: bool = False) -> Any:
    """The posterior; with `work`, the work behind it, which prints, shows as HTML and has `.latex()`.

    With numbers: P(h), P(e | h) and P(e) give P(h | e).

    >>> bayes_rule(prior=0.00002, likelihood=0.5, evidence=0.05)
    0.0002
    >>> bayes_rule(prior=Fraction(1, 50000), likelihood=Fraction(1, 2), evidence=Fraction(1, 20))
    Fraction(1, 5000)

    With a prior over hypotheses and one likelihood for each, or a list of these, the posterior after one piece of
    evidence is the prior of the next.

    >>> bayes_rule(prior={"fair": 0.5, "loaded": 0.5}, likelihood=[{"fair": 0.25, "loaded": 0.75}] * 2)
    {'fair': 0.1, 'loaded': 0.9}
    >>> print(bayes_rule(prior=0.00002, likelihood=0.5, evidence=0.05, work=True))
    Bayes' rule: P(h | e) = P(e | h) P(h) / P(e)
    P(h) = 1/50000 = 2e-05
    P(e | h) = 1/2 = 0.5
    P(e) = 1/20 = 0.05
    P(h | e) = 0.5 x 2e-05 / 0.05 = 1/5000 = 0.0002
    """
    if isinstance(prior, Mapping):
        if evidence is not None:
            raise BadOption("with a prior over hypotheses the evidence follows by itself", remedy="Leave it out")
        given = _each_evidence(likelihood)
        found = _updated(prior, given)  # refuses what is impossible, so it goes first
        return work_of_hypotheses(prior, given) if work else found
    if evidence is None:
        raise BadOption("the rule needs P(e), the probability of the evidence", remedy="Give evidence=")
    prior, likelihood = _probability("prior", prior), _probability("likelihood", likelihood)
    evidence = _probability("evidence", evidence)
    if evidence == 0:
        raise ImpossibleEvidence("the evidence has probability 0, so nothing follows from it")
    answer = likelihood * prior / evidence
    if answer > 1 + SUM_TOLERANCE:
        raise BadOption(
            "P(e) is at least P(e | h) P(h), so these three do not belong together",
            found=f"{evidence} < {likelihood * prior}",
        )
    if work:
        return work_of_numbers(prior, likelihood, evidence)
    return min(answer, type(answer)(1))


def _each_evidence(likelihood: Any) -> list[Any]:
    """One likelihood, or several, as a list of dicts."""
    steps = [likelihood] if isinstance(likelihood, Mapping) or not isinstance(likelihood, Iterable) else [*likelihood]
    if not all(isinstance(step, Mapping) for step in steps):
        what = "with a prior over hypotheses a likelihood is a dict of them, or a list of dicts"
        raise BadOption(what, found=likelihood)
    return steps


def _updated(prior: Mapping[Any, float], steps: Sequence[Mapping[Any, float]]) -> dict[Any, float]:
    weights = {hypothesis: [_probability("prior", value)] for hypothesis, value in prior.items()}
    total = math.fsum(value for [value] in weights.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise BadOption("a prior sums to 1", found=total)
    for step in steps:
        if set(step) != set(prior):
            raise BadOption("a likelihood names the same hypotheses as the prior", found=list(step))
        for hypothesis, value in step.items():
            weights[hypothesis].append(_probability("likelihood", value))
    logs = {h: math.fsum(math.log(v) for v in vs) if 0 not in vs else -math.inf for h, vs in weights.items()}
    best = max(logs.values())
    if best == -math.inf:
        raise ImpossibleEvidence("the evidence is impossible under every hypothesis")
    if best > -600:  # no product can underflow: multiply as one would by hand
        products = {h: math.prod(vs) for h, vs in weights.items()}
    else:
        products = {h: math.exp(value - best) for h, value in logs.items()}
    exact = all(isinstance(product, Fraction) for product in products.values())
    whole = sum(products.values()) if exact else math.fsum(products.values())
    return {h: product / whole for h, product in products.items()}


def _probability(what: str, value: Any) -> Any:
    """A fraction as it is, any other number from 0 to 1 as a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) <= 1:
        raise BadOption(f"a {what} is a number from 0 to 1", found=value)
    return value if isinstance(value, Fraction) else float(value)
