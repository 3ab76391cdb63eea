"""The calculation of the Bayes optimal classifier: the sum over the hypotheses, compared with the MAP hypothesis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from bayesbox.dist.factor import Number, given_value
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step, line

MOST_TERMS = 6  # the most hypotheses shown in a sum


def sum_over_hypotheses(
    title: str,
    classes: tuple[str, ...],
    names: Sequence[str],
    weights: Sequence[float],
    answers: Sequence[Sequence[float]],
) -> ClassWork:
    """The calculation of P(class | x) = the sum over h of P(h | rows) P(class | h, x), with the names of the
    hypotheses.

    >>> print(sum_over_hypotheses("three", ("+", "-"), "abc", (0.4, 0.3, 0.3), ((1, 0), (0, 1), (0, 1))))
    three
           P(h | rows)
    h1: a  0.4 = 2/5
    h2: b  0.3 = 3/10
    h3: c  0.3 = 3/10
                           +                                      -
    P(class | h1, x)       1                                      0
    P(class | h2, x)       0                                      1
    P(class | h3, x)       0                                      1
    posterior: sum over h  0.4 x 1 + 0.3 x 0 + 0.3 x 0 = 2/5      0.4 x 0 + 0.3 x 1 + 0.3 x 1 = 3/5
                           = 0.4                                  = 0.6
    the most probable hypothesis, h1, alone gives +
    so the class is -, by the sum over all hypotheses
    """
    shares = [_number(weight) for weight in weights]
    found = [[_number(p) for p in answer] for answer in answers]
    hypotheses = [Row(f"h{place}: {name}", (share,)) for place, (name, share) in _numbered(names, shares)]
    given = [Row(f"P(class | h{place}, x)", tuple(each)) for place, each in enumerate(found, start=1)]
    sums = [_sum(shares, [answer[k] for answer in found]) for k in range(len(classes))]
    posterior = tuple(_float(each.value) for each in sums)
    best = max(range(len(classes)), key=lambda k: (posterior[k], -k))
    likely = max(range(len(weights)), key=lambda h: (weights[h], -h))
    alone = classes[max(range(len(classes)), key=lambda k: (answers[likely][k], -k))]
    steps = (
        Step("hypotheses", tuple(hypotheses), ("P(h | rows)",)),
        Step("likelihood", tuple(given), classes),
        Step("posterior", (Row("posterior: sum over h", tuple(sums)),), classes),
        Step(
            "decision",
            (
                line(f"the most probable hypothesis, h{likely + 1}, alone gives {alone}"),
                line(f"so the class is {classes[best]}, by the sum over all hypotheses"),
            ),
        ),
    )
    return ClassWork(title, steps, classes, posterior, {"map_class": alone})


def _numbered(names: Sequence[str], shares: Sequence[Cell]) -> list[tuple[int, tuple[str, Cell]]]:
    return list(enumerate(zip(names, shares, strict=True), start=1))


def _number(p: float) -> Cell:
    """A probability as a cell, as an exact fraction if it is one."""
    if not p:
        return Cell(value=Fraction(0))
    text, value = given_value(p)
    return Cell(text if isinstance(value, Fraction) and value.denominator != 1 else "", value)


def _sum(shares: Sequence[Cell], answers: Sequence[Cell]) -> Cell:
    terms = [f"{_float(a.value):.6g} x {_float(b.value):.6g}" for a, b in zip(shares, answers, strict=True)]
    text = " + ".join(terms) if len(terms) <= MOST_TERMS else f"sum of {len(terms)} products"
    products: list[Number] = []
    for a, b in zip(shares, answers, strict=True):
        if not isinstance(a.value, Fraction) or not isinstance(b.value, Fraction):
            return Cell(
                text, math.fsum(_float(a.value) * _float(b.value) for a, b in zip(shares, answers, strict=True))
            )
        products.append(a.value * b.value)
    return Cell(text, sum((each for each in products if isinstance(each, Fraction)), Fraction(0)))


def _float(value: Number | float | None) -> float:
    return 0.0 if value is None else float(value)
