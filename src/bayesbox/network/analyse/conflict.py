"""Whether findings disagree: Jensen's measure of conflict, and its parts.

Findings with a common explanation are more probable together than if they were independent. The measure compares:

    conflict(e1, ..., en) = log2( P(e1) ... P(en) / P(e1, ..., en) )     in bits

It is above 0 if the findings are less probable together than if they were independent: one of them is wrong, or the
case is rare. A state h of another node explains a conflict as a rare case if conflict(e, h) <= 0, that is, if log2( P(h
| e) / P(h) ) is at least the conflict. (F. V. Jensen, B. Chamberlain, T. Nordahl and F. Jensen, Analysis in HUGIN of
data conflict, UAI 1990.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.file.reader import Json
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.factor_graph import FactorModel

BIT = math.log(2)
MOST_SHOWN = 10


class FindingProbability(NamedTuple):
    """A finding and its prior probability."""

    node: str
    value: str
    probability: float


class PairConflict(NamedTuple):
    """The conflict of two findings alone, in bits."""

    first: str
    second: str
    bits: float


class RareCase(NamedTuple):
    """A state that would explain the conflict, and how many bits the findings raise its probability by."""

    node: str
    state: str
    prior: float
    posterior: float
    bits: float


@dataclass(frozen=True)
class ConflictParts:
    """The parts of a conflict: the findings, their pairs, and the rare cases that would explain it."""

    findings: tuple[FindingProbability, ...]
    log_probability: float
    pairs: tuple[PairConflict, ...]
    rare_cases: tuple[RareCase, ...]


class Conflict(Result, float):
    """The conflict of findings in bits, a number; above 0 they are less probable together than if independent.

    `findings` have their probabilities, `pairs` the conflict of each pair, the highest first, and `rare_cases` are the
    states of other nodes that would explain all of it, the most probable first.
    """

    parts: ConflictParts

    def __new__(cls, bits: float, parts: ConflictParts) -> Conflict:
        found = super().__new__(cls, bits)
        found.parts = parts
        return found

    def __getnewargs__(self) -> tuple[float, ConflictParts]:  # type: ignore[override]  # float takes one
        return float(self), self.parts

    @property
    def findings(self) -> tuple[FindingProbability, ...]:
        """The findings, each with its prior probability."""
        return self.parts.findings

    @property
    def pairs(self) -> tuple[PairConflict, ...]:
        """The conflict of each pair of findings, the highest first."""
        return self.parts.pairs

    @property
    def rare_cases(self) -> tuple[RareCase, ...]:
        """The states of other nodes that would explain the conflict, the most probable first."""
        return self.parts.rare_cases

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "conflict": float(self),
            "findings": [each._asdict() for each in self.findings],
            "pairs": [each._asdict() for each in self.pairs],
            "rare_cases": [each._asdict() for each in self.rare_cases],
        }

    def _headline(self) -> str:
        return f"Conflict({float(self):.4g} bits of {len(self.findings)} findings)"

    def _title(self) -> str:
        words = "the findings conflict" if self > 0 else "the findings support each other" if self < 0 else ""
        return f"conflict {float(self):.4f} bits" + (f": {words}" if words else "")

    def _blocks(self) -> Sequence[Block]:
        blocks: list[Block] = [
            TableBlock(
                ["finding", "probability"], [[f"{each.node}={each.value}", each.probability] for each in self.findings]
            )
        ]
        if self.pairs:
            rows = [[each.first, each.second, each.bits] for each in self.pairs]
            blocks.append(TableBlock(["two findings", "", "conflict in bits"], rows, most=MOST_SHOWN))
        if self > 0 and self.rare_cases:
            rows = [[f"{each.node}={each.state}", each.prior, each.posterior] for each in self.rare_cases]
            names = ["a rare case that would explain it", "P", "P given the findings"]
            blocks.append(TableBlock(names, rows, most=MOST_SHOWN))
        elif self > 0:
            blocks.append(TextBlock("No single state explains the conflict: check the findings for errors."))
        return blocks

    def _frame(self) -> Mapping[str, Sequence[object]]:
        names = ("first", "second", "bits")
        return {name: [getattr(each, name) for each in self.pairs] for name in names}


Propagate = Callable[[ObservedStates], tuple[list[float], float]]
"""From findings to P(state) of all states of all variables, and the log of the probability of the findings."""


def conflict_of(model: FactorModel, findings: ObservedStates, propagate: Propagate) -> Conflict | None:
    """The conflict of findings, states or likelihoods; None if they are impossible."""
    before, log_all = propagate(ObservedStates({}))
    after, log_evidence = propagate(findings)
    if math.isinf(log_evidence):
        return None
    found = _likelihoods(model, findings)
    places = list(found)
    single = {place: _mean(model, before, place, likelihood) for place, likelihood in found.items()}
    bits = (math.fsum(map(math.log, single.values())) - (log_evidence - log_all)) / BIT
    if len(found) < 2:
        bits = 0.0  # by definition, without rounding error
    texts = {place: _finding_text(model, findings, place) for place in found}
    names = {place: f"{model.names[place]}={texts[place]}" for place in found}
    pairs = []
    for at, first in enumerate(places[:-1]):
        given, _ = propagate(_only(findings, first))
        for second in places[at + 1 :]:
            together = _mean(model, given, second, found[second])
            pairs.append(PairConflict(names[first], names[second], math.log(single[second] / together) / BIT))
    pairs.sort(key=lambda each: -each.bits)
    parts = ConflictParts(
        tuple(FindingProbability(model.names[place], texts[place], single[place]) for place in found),
        log_evidence - log_all,
        tuple(pairs),
        tuple(_rare_cases(model, before, after, findings, bits)) if bits > 0 else (),
    )
    return Conflict(bits, parts)


def _likelihoods(model: FactorModel, findings: ObservedStates) -> dict[int, list[float]]:
    """The likelihoods of the states of each variable with evidence, in the order of the model."""
    found = {}
    for place in sorted({*findings.states, *findings.likelihoods}):
        values = [float(each) for each in findings.likelihoods.get(place, [1.0] * model.cards[place])]
        state = findings.states.get(place)
        found[place] = [value if state in (None, at) else 0.0 for at, value in enumerate(values)]
    return found


def _mean(model: FactorModel, cells: Sequence[float], place: int, likelihood: Sequence[float]) -> float:
    start = int(model.offsets[place])
    return math.fsum(p * value for p, value in zip(cells[start : start + len(likelihood)], likelihood, strict=True))


def _only(findings: ObservedStates, place: int) -> ObservedStates:
    """One of several findings."""
    return ObservedStates(
        {place: findings.states[place]} if place in findings.states else {},
        {place: findings.likelihoods[place]} if place in findings.likelihoods else {},
    )


def _finding_text(model: FactorModel, findings: ObservedStates, place: int) -> str:
    state = findings.states.get(place)
    if state is not None:
        return model.states[place][state]
    shares = zip(model.states[place], findings.likelihoods[place], strict=True)
    return f"({', '.join(f'{name}:{float(value):g}' for name, value in shares)})"


def _rare_cases(
    model: FactorModel, before: Sequence[float], after: Sequence[float], findings: ObservedStates, bits: float
) -> list[RareCase]:
    found = []
    for place, name in enumerate(model.names[: model.visible]):
        if place in findings.states or place in findings.likelihoods:
            continue
        start = int(model.offsets[place])
        for at, state in enumerate(model.states[place]):
            prior, posterior = before[start + at], after[start + at]
            if prior > 0 and posterior > 0 and math.log(posterior / prior) >= bits * BIT:
                found.append(RareCase(name, state, prior, posterior, math.log(posterior / prior) / BIT))
    return sorted(found, key=lambda each: -each.posterior)
