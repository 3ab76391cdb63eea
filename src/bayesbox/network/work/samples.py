"""The first samples of likelihood weighting and of Gibbs sampling, by the textbook algorithms.

Parents are drawn before children. The package's own sampler is better than these (see `approximate/weighting.py`), so
its estimate is shown too, and the exact answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbox.errors import ImpossibleEvidence
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.network.work.asked import QuestionSum, States

SHOWN = 5  # samples printed in full
DRAWN = (10, 100, 1000)  # the estimate is shown after this many
MOST_WORK = 200_000  # single draws in total: fewer samples for large networks
MOST_DRAWS = 12  # single draws of Gibbs sampling printed in full
TRIES = 10_000  # draws to find a state consistent with the evidence

Case = dict[int, int]
Answers = Sequence[tuple[str, Any]]  # the answers of the package, with their names


def samples_work(asked: QuestionSum, order: Sequence[int], method: str, seed: int, answers: Answers) -> Work:
    """The calculation by one of the two methods."""
    random = np.random.default_rng(seed)
    steps, weights = (_weighting if method == "weighting" else _gibbs)(asked, order, random)
    return Work(f"{asked.title} by {method}", (*steps, _estimates(asked, weights, answers)))


def _counts(order: Sequence[int]) -> list[int]:
    """The numbers of samples after which the estimate is shown."""
    return [many for many in DRAWN if many * len(order) <= MOST_WORK] or [DRAWN[0]]


def _numbers(asked: QuestionSum, place: int, case: Case) -> Any:
    """P(state | parents in this case) of each state of a node."""
    *parents, _ = asked.model.factors[place].scope
    return asked.model.factors[place].table[tuple(case[parent] for parent in parents)]


def _draw(shares: Any, random: np.random.Generator) -> int:
    bounds = np.cumsum(shares)
    return min(int(np.searchsorted(bounds, random.random() * bounds[-1], side="right")), len(bounds) - 1)


def _sample(asked: QuestionSum, order: Sequence[int], random: np.random.Generator) -> tuple[Case, list[float]]:
    """A sampled case, and the factors of its weight."""
    case, factors = dict(asked.known), []
    for node in order:
        numbers = _numbers(asked, node, case)
        if node in asked.known:
            factors.append(float(numbers[case[node]]))
        else:
            case[node] = _draw(numbers, random)
    factors += [float(asked.likelihoods[node][case[node]]) for node in asked.likelihoods]
    return case, factors


def _weighting(
    asked: QuestionSum, order: Sequence[int], random: np.random.Generator
) -> tuple[list[Step], list[tuple[Case, float]]]:
    drawn = [node for node in order if node not in asked.known]
    names = [asked.factor_name(node) for node in order if node in asked.known]
    names += [f"L({asked.model.names[node]})" for node in asked.likelihoods]
    first = f"drawn parents first: {asked.text([(node, None) for node in drawn])}"
    weight = f"a sample counts by its weight {' x '.join(names)}" if names else "every sample has the weight 1"
    rows, found = [], []
    for count in range(_counts(order)[-1]):
        case, factors = _sample(asked, order, random)
        found.append((case, float(np.prod(factors))))
        if count < SHOWN:
            event = asked.text([(node, case[node]) for node in drawn])
            formula = " x ".join(f"{number:.7g}" for number in factors)
            rows.append(Row(f"sample {count + 1}", (Cell(event), Cell(formula, found[-1][1]))))
    steps = [Step("method", (line(first), line(weight))), Step("samples", tuple(rows), ("drawn", "weight"))]
    return steps, found


def _gibbs(
    asked: QuestionSum, order: Sequence[int], random: np.random.Generator
) -> tuple[list[Step], list[tuple[Case, float]]]:
    case = _start(asked, order, random)
    drawn = [node for node in order if node not in asked.known]
    begun = asked.text([(node, case[node]) for node in drawn])
    lines = [line(f"begun at {begun}"), line("then one node after another is drawn given all others")]
    rows: list[Row] = []
    found = []
    for sweep in range(_counts(order)[-1]):
        for node in drawn:
            products = _given_others(asked, node, case)
            shares = products / products.sum()
            state = _draw(shares, random)
            if len(rows) < MOST_DRAWS:
                rest = asked.text([(other, case[other]) for other in drawn if other != node])
                cells = (Cell(rest), Cell(_listed(products)), Cell(_listed(shares)), Cell(_state(asked, node, state)))
                rows.append(Row(f"sweep {sweep + 1}, {asked.model.names[node]}", cells))
            case[node] = state
        found.append((dict(case), 1.0))
    columns = ("the others", "products of its factors", "P(its states | the others)", "drawn")
    return [Step("method", tuple(lines)), Step("draws", tuple(rows), columns)], found


def _start(asked: QuestionSum, order: Sequence[int], random: np.random.Generator) -> Case:
    for _ in range(TRIES):
        case, factors = _sample(asked, order, random)
        if np.prod(factors) > 0:
            return case
    raise ImpossibleEvidence(f"none of {TRIES:,} samples is consistent with the evidence")


def _given_others(asked: QuestionSum, node: int, case: Case) -> Any:
    """The product of a node's factors for each of its states, with all other nodes fixed."""
    products = np.ones(asked.model.cards[node])
    for place in asked.places:
        scope = asked.model.factors[place].scope
        if node in scope:
            at = tuple(slice(None) if variable == node else case[variable] for variable in scope)
            products = products * asked.model.factors[place].table[at]
    if node in asked.likelihoods:
        products = products * np.asarray(asked.likelihoods[node], dtype=np.float64)
    return products


def _listed(numbers: Any) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)


def _state(asked: QuestionSum, node: int, state: int) -> str:
    return asked.model.states[node][state]


def _estimates(asked: QuestionSum, found: Sequence[tuple[Case, float]], answers: Answers) -> Step:
    """The weighted share of each state after some of the samples, and the answers of the package."""
    shown = asked.shown()
    rows = []
    for many in DRAWN:
        if many > len(found):
            break
        total = sum(weight for _, weight in found[:many])
        cells = tuple(
            Cell(value=_share(asked, states, found[:many]) / total) if total else Cell("-") for states in shown
        )
        rows.append(Row(f"after {many:,} samples", cells))
    for name, answer in answers:
        cells = tuple(Cell(value=_answered(asked, answer, states)) for states in shown)
        error = getattr(answer, "standard_error", None)
        rows.append(Row(name + ("" if error is None else f" (standard error {error:.2g})"), cells))
    return Step("estimates", tuple(rows), tuple(asked.posterior(states) for states in shown))


def _share(asked: QuestionSum, states: States, found: Sequence[tuple[Case, float]]) -> float:
    event = list(zip(asked.targets, states, strict=True))
    return float(sum(weight for case, weight in found if all(case[node] == state for node, state in event)))


def _answered(asked: QuestionSum, answer: Any, states: States) -> float:
    if isinstance(answer, float):
        return float(answer)
    free = [(node, state) for node, state in zip(asked.targets, states, strict=True) if node not in asked.wanted]
    key = tuple(_state(asked, node, state) for node, state in free)
    return float(answer[key])
