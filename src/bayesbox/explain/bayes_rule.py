"""Bayes' rule, P(h | e) = P(e | h) P(h) / P(e), for numbers and for distributions."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesbox.dist.factor import Logged, Number, log_of
from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.explain.arithmetic import product_of, quotient, sum_of
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.short_cell import in_formula
from bayesbox.explain.steps import Cell, Row, Step, Work, line

SUM_TOLERANCE = 1e-9
RULE = "Bayes' rule: P(h | e) = P(e | h) P(h) / P(e)"
MOST_TERMS = 6  # of a printed sum
MOST_NAMED = 4  # pieces of evidence named individually
MOST_BITS = 4096  # of a fraction, before it is replaced by a logarithm
SHORT = 12  # digits of a decimal that is read exactly


def bayes_rule(prior: Any, likelihood: Any, evidence: float | Fraction | None = None, *, work: bool = False) -> Any:
    """The posterior; with `work`, its calculation, which prints, shows as HTML and has `.latex()`.

    With numbers: P(h), P(e | h) and P(e) give P(h | e).

    Parameters
    ----------
    prior : P(h), a number or Fraction; or a dict from hypothesis to probability
    likelihood : P(e | h), a number; if the prior is a dict, a dict by hypothesis, or a list of such dicts
    evidence : P(e), a number, or None (default) if the prior is a dict
    work : bool, default False; return the calculation instead of the posterior

    Returns
    -------
    P(h | e), a number, or a dict by hypothesis

    Examples
    --------
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
            raise BadOption("with a prior over hypotheses the evidence is computed", remedy="Remove it")
        given = _each_evidence(likelihood)
        found = _updated(prior, given)  # raises an error if impossible, so it comes first
        return work_of_hypotheses(prior, given) if work else found
    if evidence is None:
        raise BadOption("P(e), the probability of the evidence, is needed", remedy="Pass evidence=")
    prior, likelihood = _probability("prior", prior), _probability("likelihood", likelihood)
    evidence = _probability("evidence", evidence)
    if evidence == 0:
        raise ImpossibleEvidence("the evidence has probability 0, so the posterior is undefined")
    answer = likelihood * prior / evidence
    if answer > 1 + SUM_TOLERANCE:
        raise BadOption(
            "P(e) must be at least P(e | h) P(h), so these three numbers are inconsistent",
            found=f"{evidence} < {likelihood * prior}",
        )
    if work:
        return work_of_numbers(prior, likelihood, evidence)
    return min(answer, type(answer)(1))


def _each_evidence(likelihood: object) -> list[Any]:
    """One likelihood, or several, as a list of dicts."""
    steps = [likelihood] if isinstance(likelihood, Mapping) or not isinstance(likelihood, Iterable) else [*likelihood]
    if not all(isinstance(step, Mapping) for step in steps):
        what = "with a prior over hypotheses, a likelihood must be a dict over them, or a list of dicts"
        raise BadOption(what, found=likelihood)
    return steps


def _updated(prior: Mapping[Any, float], steps: Sequence[Mapping[Any, float]]) -> dict[Any, float]:
    weights = {hypothesis: [_probability("prior", value)] for hypothesis, value in prior.items()}
    total = math.fsum(value for [value] in weights.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise BadOption("a prior must sum to 1", found=total)
    for step in steps:
        if set(step) != set(prior):
            raise BadOption("a likelihood must name the same hypotheses as the prior", found=list(step))
        for hypothesis, value in step.items():
            weights[hypothesis].append(_probability("likelihood", value))
    logs = {h: math.fsum(math.log(v) for v in vs) if 0 not in vs else -math.inf for h, vs in weights.items()}
    best = max(logs.values())
    if best == -math.inf:
        raise ImpossibleEvidence("the evidence is impossible under every hypothesis")
    if best > -600:  # no product can underflow: multiply directly
        products = {h: math.prod(vs) for h, vs in weights.items()}
    else:
        products = {h: math.exp(value - best) for h, value in logs.items()}
    exact = all(isinstance(product, Fraction) for product in products.values())
    whole = sum(products.values()) if exact else math.fsum(products.values())
    return {h: product / whole for h, product in products.items()}


def _probability(what: str, value: object) -> Any:
    """A probability: a fraction unchanged, any other number as a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) <= 1:
        raise BadOption(f"a {what} must be a number between 0 and 1", found=value)
    return value if isinstance(value, Fraction) else float(value)


# -- the calculation -------------------------------------------------------------------------------------------------


def work_of_numbers(prior: float | Fraction, likelihood: float | Fraction, evidence: float | Fraction) -> Work:
    """The calculation from three numbers, exactly, each read as its shortest decimal or fraction."""
    p, given, e = (written_number(value) for value in (prior, likelihood, evidence))
    steps = (
        Step("prior", (line("P(h)", value=p),)),
        Step("likelihood", (line("P(e | h)", value=given),)),
        Step("evidence", (line("P(e)", value=e),)),
        Step(
            "posterior",
            (
                line(
                    "P(h | e)",
                    f"{in_formula(given)} x {in_formula(p)} / {in_formula(e)}",
                    min(given * p / e, Fraction(1)),
                ),
            ),
        ),
    )
    return Work(RULE, steps)


def work_of_hypotheses(prior: Mapping[Any, Any], evidence: Sequence[Mapping[Any, Any]]) -> ClassWork:
    """The calculation for each piece of evidence in turn: the posterior after one is the prior of the next."""
    names = tuple(map(str, prior))
    now: list[Number] = [written_number(value) for value in prior.values()]
    steps = [_row("prior", "P(h)", names, now)]
    chances: list[tuple[str, Number]] = []
    for place, likelihood in enumerate(evidence):
        this, before = _named(len(evidence), place), _all_named(place)
        given: list[Number] = [written_number(likelihood[name]) for name in prior]
        joint = [product_of([p, q]) for p, q in zip(now, given, strict=True)]
        total = sum_of(joint)
        behind = f" | {before}" if before else ""
        formulas = [f"{in_formula(p)} x {in_formula(q)}" for p, q in zip(now, given, strict=True)]
        steps.append(_row("likelihood", f"P({this} | h)", names, given))
        steps.append(_row("joint", f"joint: P(h, {this}{behind})", names, joint, formulas))
        terms = " + ".join(map(in_formula, joint)) if len(joint) <= MOST_TERMS else f"the sum of {len(joint)} joints"
        steps.append(Step("evidence", (line(f"evidence: P({this}{behind})", terms, total),)))
        now = [_manageable(quotient(value, total)) for value in joint]
        after = this if len(evidence) == 1 else _all_named(place + 1)
        steps.append(_row("posterior", f"posterior: P(h | {after})", names, now))
        chances.append((f"P({this}{behind})", total))
    if len(chances) > 1:
        parts = " x ".join(in_formula(value) for _, value in chances) if len(chances) <= MOST_TERMS else ""
        whole = product_of([value for _, value in chances])
        steps.append(Step("all evidence", (line(f"P({_all_named(len(evidence))})", parts, whole),)))
    shares = tuple(float(value) for value in now)
    best = names[max(range(len(names)), key=lambda place: (shares[place], -place))]
    steps.append(Step("decision", (line(f"so the most probable is {best}"),)))
    return ClassWork(f"{RULE}, with P(e) the sum of P(e | h) P(h)", tuple(steps), names, shares)


def written_number(value: float | Fraction) -> Fraction:
    """The exact number that a float was written as: its short decimal, or a simple fraction; fractions are unchanged.

    >>> written_number(0.00002), written_number(1 / 3), written_number(0.1 + 0.2)
    (Fraction(1, 50000), Fraction(1, 3), Fraction(7500000000000001, 25000000000000000))
    """
    if isinstance(value, Fraction):
        return value
    text = repr(value)
    simple = Fraction(value).limit_denominator(1_000_000)
    if len(text.partition("e")[0].replace(".", "").strip("0")) > SHORT and float(simple) == value:
        return simple
    return Fraction(text)


def _row(
    step: str, name: str, columns: tuple[str, ...], values: Sequence[Number], formulas: Sequence[str] = ()
) -> Step:
    cells = [Cell(text, value) for text, value in zip(formulas or [""] * len(values), values, strict=True)]
    return Step(step, (Row(name, tuple(cells)),), columns)


def _named(pieces: int, place: int) -> str:
    return "e" if pieces == 1 else f"e{place + 1}"


def _all_named(pieces: int) -> str:
    """The first pieces of evidence.

    >>> _all_named(0), _all_named(2), _all_named(9)
    ('', 'e1, e2', 'e1 to e9')
    """
    if pieces > MOST_NAMED:
        return f"e1 to e{pieces}"
    return ", ".join(f"e{place + 1}" for place in range(pieces))


def _manageable(value: Number) -> Number:
    """A fraction, replaced by a logarithm if it grows too long."""
    if isinstance(value, Fraction) and value.denominator.bit_length() > MOST_BITS:
        return Logged(log_of(value))
    return value
