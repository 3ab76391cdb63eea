"""The calculation of an answer: one product, a sum of products, or variable elimination."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbox.described import Remedy
from bayesbox.dist.factor import Number
from bayesbox.errors import BadOption, ImpossibleEvidence, TooCostly
from bayesbox.explain.arithmetic import difference, quotient, sum_of
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.network.exact.eliminate import ObservedStates, eliminate
from bayesbox.network.work.asked import QuestionSum, States
from bayesbox.network.work.elimination import cell_of, elimination
from bayesbox.network.work.enumeration import one_product, terms

if TYPE_CHECKING:
    from bayesbox.network.query.notation import Query
    from bayesbox.network.questions import NetworkQuestions

SAMPLED = ("weighting", "gibbs")
METHODS = ("auto", "enumeration", "elimination")
MOST_TERMS = 16  # of sums printed term by term, if no method is given
MOST_GIVEN = 128  # if one is
MOST_STATES = 64  # of the targets
MOST_SUMMED = 8  # numbers of a printed sum
MOST_OTHERS = 3  # other states that are printed one by one

Values = Mapping[States, Number]


def answer_work(asked: QuestionSum, method: str = "auto", *, max_bytes: int | None = None) -> Work:
    """The calculation by the shortest method, unless one is given."""
    if method not in METHODS:
        raise BadOption("method must be one of auto, enumeration, elimination", found=method)
    if not asked.targets:
        return Work(asked.title, (Step("answer", (line(f"{asked.title} = 1, since all of it is given"),)),))
    shown, count = asked.shown(), len(asked.shown()) * asked.count(asked.hidden)
    if len(shown) > MOST_STATES:
        remedy = "Give some of the targets a value, or ask about fewer"
        raise BadOption(
            f"the calculation shows at most {MOST_STATES} states of the targets", found=len(shown), remedy=remedy
        )
    if method == "enumeration" and count > MOST_GIVEN:
        raise BadOption(
            f"the sum has {count:,} terms; at most {MOST_GIVEN} are printed",
            remedy="Try " + Remedy("method='elimination'", "--work-method elimination"),
        )
    joint: Values
    if method != "elimination" and not asked.hidden and len(shown) == 1:
        steps, joint = one_product(asked, shown[0])
    elif method == "enumeration" or (method == "auto" and count <= MOST_TERMS):
        steps, joint = terms(asked)
    else:
        steps, joint = elimination(asked, max_bytes)
        return Work(asked.title, (*steps, *_answers(asked, joint, sum_of(list(joint.values())))))
    findings = ObservedStates(asked.known, asked.likelihoods)
    places, model = asked.places, asked.model
    wanted = asked.targets if asked.count(asked.targets) <= MOST_STATES else ()
    table = eliminate(model, findings, wanted, factors=places, exact=True, max_bytes=max_bytes).table
    values = {states: table[states] for states in asked.cases(wanted)} if wanted else {}
    return Work(asked.title, (*steps, *_answers(asked, {**values, **joint}, table.sum())))


def _answers(asked: QuestionSum, joint: Values, total: Number) -> list[Step]:
    """P(evidence) as the sum of the joint over the targets, and the quotients."""
    if not total:
        known = ", ".join(asked.evidence)
        raise ImpossibleEvidence(f"the evidence has probability 0: {known or 'none'}")
    shown = asked.shown()
    whole = asked.count(asked.targets)
    if not asked.evidence and abs(float(total) - 1) < 1e-12:
        return [] if whole == len(shown) or not asked.hidden else _complement(asked, joint, total)
    steps = []
    summands = [(states, joint[states]) for states in shown]
    if len(shown) < whole <= MOST_OTHERS + len(shown):
        others = [states for states in asked.cases(asked.targets) if states not in shown]
        rows = [Row(asked.joint(states), (cell_of(joint[states], _same(asked, states)),)) for states in others]
        steps.append(Step("other states", tuple(rows)))
        summands += [(states, joint[states]) for states in others]
        parts = [value for _, value in summands]
    else:
        parts = [value for _, value in summands]
        if len(shown) < whole:
            rest = difference(total, sum_of(parts))
            name = f"the other {whole - len(shown):,} states together, in the same way"
            steps.append(Step("other states", (Row(name, (cell_of(rest),)),)))
            parts.append(rest)
    evidence = f"P({', '.join(asked.evidence)})" if asked.evidence else "sum of all"
    added = " + ".join(_number(value) for value in parts) if 1 < len(parts) <= MOST_SUMMED else ""
    if added or len(parts) > 1:
        steps.append(Step("evidence", (Row(evidence, (cell_of(total, added),)),)))
    quotients = tuple(
        Row(
            asked.posterior(states),
            (Cell(f"{_number(joint[states])} / {_number(total)}", quotient(joint[states], total)),),
        )
        for states in shown
    )
    return [*steps, Step("posterior", quotients)]


def _complement(asked: QuestionSum, joint: Values, total: Number) -> list[Step]:
    """Without evidence the joint is the answer; the other states have the remaining probability."""
    shown = asked.shown()
    rest = difference(total, sum_of([joint[states] for states in shown]))
    many = asked.count(asked.targets) - len(shown)
    others = [states for states in asked.cases(asked.targets) if states not in shown] if many == 1 else []
    name = asked.joint(others[0]) if others else f"the other {many:,} states together"
    return [Step("other states", (Row(name, (cell_of(rest),)),))]


def _same(asked: QuestionSum, states: States) -> str:
    event = asked.text(list(zip(asked.targets, states, strict=True)))
    return f"the same {'sum' if asked.hidden else 'product'} with {event}"


def _number(value: Number) -> str:
    return Cell(value=value).decimal()


def work_of(network: NetworkQuestions, query: Query, *, method: str, approx: str | None = None, **options: Any) -> Work:
    """The calculation of a network's answer to a question."""
    network = network.acted(query)
    parents_first = network._parents_first()
    if parents_first is None:
        raise BadOption("the calculation needs a Bayesian network, but this is a factor graph", found=repr(network))
    asked = asked_sum(network, query)
    if approx is None:
        if options:
            raise BadOption(
                f"`{next(iter(options))}` is an option of the approximations", remedy="Choose one: approx=..."
            )
        return answer_work(asked, method, max_bytes=network.max_bytes)
    if approx not in SAMPLED:
        raise BadOption(
            "the calculation is available for the sampling approximations: weighting or gibbs", found=approx
        )
    if method != "auto":
        raise BadOption("method applies to exact answers: choose one of method and approx", found=f"{method}, {approx}")
    from bayesbox.network.work.samples import samples_work

    order = [place for place in parents_first if place in asked.places]
    answers = [(f"the library's {approx}", network.ask(query, approx=approx, **options))]
    with contextlib.suppress(TooCostly):  # the reason to use samples
        answers.append(("exact", network.ask(query)))
    return samples_work(asked, order, approx, options.get("seed", 0), answers)


def asked_sum(network: NetworkQuestions, query: Query) -> QuestionSum:
    """The question by position; an error if it contradicts itself."""
    network = network.acted(query)
    model = network.model
    findings = network.findings(network.evidence_of(query, exact=not query.is_fitted))
    targets = tuple(dict.fromkeys(network._place(target.name) for target in query.targets))
    wanted: dict[int, int] = {}
    for target in query.targets:
        if target.value is None:
            continue
        place = network._place(target.name)
        state = network._code(place, target.value)
        if wanted.get(place, findings.states.get(place, state)) != state:
            raise BadOption(
                f"`{target}` contradicts the rest of the question, so its probability is 0", found=str(query)
            )
        wanted[place] = state
    named = [model.names[place] for place in targets]
    known = [model.names[place] for place in (*findings.states, *findings.likelihoods)]
    relevant = network._relevant(named, known)
    return QuestionSum(
        str(query),
        model,
        findings.states,
        findings.likelihoods,
        tuple(place for place in targets if place not in findings.states),
        wanted,
        tuple(range(len(model.factors)) if relevant is None else relevant),
    )
