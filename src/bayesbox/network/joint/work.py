"""The calculation of an answer from a table: counts over counts, and both sides of the equation of independence."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesbox.dist.factor import decimal
from bayesbox.explain.short_cell import LONGEST
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.network.query.notation import Query, Term
from bayesbox.network.query.probability_table import ProbabilityTable

if TYPE_CHECKING:
    from bayesbox.network.joint.independence import ChanceTest, Verdict
    from bayesbox.network.joint.query import Answer

MOST_ROWS = 200  # of a table of answers


def answer_work(found: Answer) -> Work:
    """The rows that fit the evidence, those of them that fit the question too, and their ratio."""
    query = found.query
    given = ", ".join(str(term) for term in query.evidence)
    steps = []
    if found.left_out:
        rows = "rows with a missing value in a column of the question are dropped"
        steps.append(Step("left out", (line(rows, value=found.left_out),)))
    soft = any(not isinstance(term, Term) for term in query.evidence)
    weighed = ", each weighted by the likelihood of its value" if soft else ""
    steps.append(Step("evidence", (line(f"rows{f' with {given}' if given else ''}{weighed}", value=found.weighed),)))
    if not isinstance(found.value, ProbabilityTable):
        steps.append(Step("answer", (Row(str(query), (_ratio(found.value * found.weighed, found.weighed),)),)))
        return Work(str(query), tuple(steps))
    listed = list(found.value.fractions.items())
    answers = []
    for key, value in listed[:MOST_ROWS]:
        states = dict(zip(found.value.columns, key if isinstance(key, tuple) else (key,), strict=True))
        targets = tuple(
            term if term.value is not None else Term(term.name, states[term.name]) for term in query.targets
        )
        answers.append(Row(str(Query(targets, query.evidence)), (_ratio(value * found.weighed, found.weighed),)))
    if len(listed) > MOST_ROWS:
        answers.append(line(f"and {len(listed) - MOST_ROWS:,} more"))
    return Work(str(query), (*steps, Step("answer", tuple(answers))))


def verdict_work(found: Verdict) -> Work:
    """P(a, b | c), P(a | c) and P(b | c) as counts over counts, the product, and whether the two sides are equal."""
    both, one, other = found.parts
    left, right = (_short(value) for value in found.factors)
    product = f"{one} {other}"
    sides = tuple(
        Row(str(query), (_ratio(count, found.counts.given),))
        for query, count in zip((both, one, other), found.counts, strict=False)
    )
    equal = found.joint == found.product
    judged = "equals" if equal else "is not"
    verdict = f"{_short(found.joint)} {judged} {_short(found.product)}"
    if found.witness == found.question:
        decided = f"{verdict}, so they are {'' if found.independent else 'not '}independent"
    elif found.independent:
        decided = f"{verdict}, and likewise for every other value: they are independent"
    else:
        decided = f"{verdict}, where the difference is largest: they are not independent"
    steps = [
        Step("joint", sides[:1]),
        Step("factors", sides[1:]),
        Step("product", (Row(product, (Cell(f"{left} x {right}", found.product),)),)),
        Step("decision", (line(decided),)),
        Step("chance", (line(_test("chi-square", found.chi_square)), line(_test("G", found.g)))),
    ]
    if found.left_out:
        rows = "rows dropped, with a missing value"
        steps.append(Step("left out", (line(rows, value=found.left_out),)))
    return Work(str(found.question), tuple(steps))


def factors_text(factors: Sequence[Fraction]) -> str:
    """The factors of a product, if each is short.

    >>> factors_text([Fraction(6, 11), Fraction(4, 11)])
    '6/11 x 4/11'
    """
    texts = [str(value) for value in factors]
    return " x ".join(texts) if all(len(text) <= LONGEST for text in texts) else ""


def _ratio(count: Fraction, given: Fraction) -> Cell:
    return Cell(f"{_number(count)}/{_number(given)}", count / given)


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else decimal(float(value))


def _short(value: Fraction) -> str:
    return str(value) if len(str(value)) <= LONGEST else f"{float(value):.7g}"


def _test(name: str, test: ChanceTest) -> str:
    freedom = f"{test.degrees} degree{'' if test.degrees == 1 else 's'} of freedom"
    return f"{name} test: statistic {test.statistic:.6g}, {freedom}, p {test.p_value:.6g}"
