"""Bayes' rule worked out: three numbers and their quotient, or the box of hypotheses, evidence after evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesbox.dist.factor import Logged, Number, log_of
from bayesbox.explain.arithmetic import product_of, quotient, sum_of
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.short_cell import in_formula
from bayesbox.explain.steps import Cell, Row, Step, Work, line

RULE = "Bayes' rule: P(h | e) = P(e | h) P(h) / P(e)"
MOST_TERMS = 6  # of a sum that is written out
MOST_NAMED = 4  # pieces of evidence that are named one by one
MOST_BITS = 4096  # of a fraction, before it goes on as a logarithm
SHORT = 12  # digits of a decimal that is taken as it is written


def work_of_numbers(prior: float | Fraction, likelihood: float | Fraction, evidence: float | Fraction) -> Work:
    """The quotient of three numbers, exact where each is taken for the decimal or the fraction that names it."""
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
    """The box of each piece of evidence in turn: the posterior after one is the prior of the next."""
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
    """A number as it is written: a fraction as it is, a float as its short decimal, or the simple fraction that it is.

    >>> written_number(0.00002), written_number(1 / 3), written_number(0.1 + 0.2)
    (Fraction(1, 50000), Fraction(1, 3), Fraction(30000000000000004, 100000000000000000))
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
    """A fraction that does not grow without end."""
    if isinstance(value, Fraction) and value.denominator.bit_length() > MOST_BITS:
        return Logged(log_of(value))
    return value
