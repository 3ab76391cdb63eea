"""A question prepared for its calculation: the factors with the evidence inserted, the targets and the hidden
variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from bayesbox.network.exact.eliminate import ObservedStates, Table, cut_tables
from bayesbox.network.factor_graph import FactorModel

States = tuple[int, ...]
Event = Sequence[tuple[int, int | None]]  # variables with their states; None for a variable without a state


class NamedFactor(NamedTuple):
    """A factor: its name, the variables of its axes, and its numbers as fractions."""

    name: str
    scope: tuple[int, ...]
    table: Table

    def at(self, case: Mapping[int, int]) -> Fraction:
        """The number for these states."""
        number = self.table[tuple(case[variable] for variable in self.scope)]
        assert isinstance(number, Fraction)
        return number


@dataclass(frozen=True)
class QuestionSum:
    """A question about a product of factors.

    `known` are the observed variables, `targets` the others in the question, of which `wanted` are those with a state;
    `hidden` are the remaining variables of the relevant factors.
    """

    title: str
    model: FactorModel
    known: Mapping[int, int]
    likelihoods: Mapping[int, Table]
    targets: tuple[int, ...]
    wanted: Mapping[int, int]
    places: tuple[int, ...]  # of the relevant factors

    @property
    def factors(self) -> list[NamedFactor]:
        """The relevant factors, sliced at the observed states, as fractions."""
        cut = cut_tables(self.model, ObservedStates(self.known, self.likelihoods), self.places, exact=True)
        names = [self.factor_name(place) for place in self.places]
        names += [f"L({self.model.names[variable]})" for variable in self.likelihoods]
        return [NamedFactor(name, each.scope, each.table) for name, each in zip(names, cut, strict=True)]

    @property
    def hidden(self) -> tuple[int, ...]:
        """The variables that are summed out."""
        within = {variable for place in self.places for variable in self.model.factors[place].scope}
        return tuple(sorted(within - {*self.known, *self.targets}))

    def factor_name(self, place: int, case: Mapping[int, int] | None = None) -> str:
        """P(node | parents) as text, with the known states or those of a case."""
        states = {**self.known, **(case or {})}
        *parents, node = [self.text([(variable, states.get(variable))]) for variable in self.model.factors[place].scope]
        return f"P({node} | {', '.join(parents)})" if parents else f"P({node})"

    def text(self, event: Event) -> str:
        """Variables with their states."""
        return ", ".join(
            self.model.names[variable] + ("" if state is None else f"={self.model.states[variable][state]}")
            for variable, state in event
        )

    @property
    def evidence(self) -> list[str]:
        """The evidence, each finding as text."""
        soft = [f"{self.model.names[variable]}~" for variable in self.likelihoods]
        return [self.text([finding]) for finding in self.known.items()] + soft

    def joint(self, states: States | None) -> str:
        """P(targets, evidence) as text; the targets without states for None."""
        listed: Event = [(v, None if states is None else states[at]) for at, v in enumerate(self.targets)]
        return f"P({', '.join([*([self.text(listed)] if listed else []), *self.evidence])})"

    def posterior(self, states: States) -> str:
        """P(targets | evidence) as text."""
        event = self.text(list(zip(self.targets, states, strict=True)))
        return f"P({event} | {', '.join(self.evidence)})" if self.evidence else f"P({event})"

    def shown(self) -> list[States]:
        """The requested states of the targets."""
        return list(
            itertools.product(
                *([self.wanted[v]] if v in self.wanted else range(self.model.cards[v]) for v in self.targets)
            )
        )

    def cases(self, variables: Sequence[int]) -> Iterator[States]:
        """All combinations of states of some variables."""
        return itertools.product(*(range(self.model.cards[variable]) for variable in variables))

    def count(self, variables: Sequence[int]) -> int:
        """The number of combinations of states of some variables."""
        counted = 1
        for variable in variables:
            counted *= self.model.cards[variable]
        return counted
