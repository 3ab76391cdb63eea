"""The posteriors of a network with compact tables, in parts where all at once would be too large.

Nodes below all evidence sum to 1: what is above the evidence needs none of them. So the posteriors of the nodes above
it come from a junction tree of these alone, and each node below from a sum of its own. A network of diseases and
findings, of which some are present, is then as wide as the findings that are present; those that are absent cost
nothing, and those that are not known are asked for one after another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import TooCostly
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.conditioning import AnswerPlan
from bayesbox.network.exact.eliminate import ObservedStates, eliminate
from bayesbox.network.exact.implied import rows_with_implied, with_implied
from bayesbox.network.exact.junction import Posteriors, Propagation
from bayesbox.network.exact.orders import KEPT, best_order, most_bytes
from bayesbox.network.exact.possible import propagation_of
from bayesbox.network.exact.tree_by_cases import BYTES_A_CELL
from bayesbox.network.factor_graph import FactorModel, FactorTable

LOG2_SMALL = 25  # of the bytes of a tree of all nodes, above which it is made in parts if there are such
SUMS_TO_ONE = 2e-16


class PropagationInParts(Propagation):
    """The junction trees of a Bayesian network with compact tables: a table for each variable, in their order."""

    def __init__(self, compiled: CompiledModel) -> None:
        super().__init__(compiled)
        self._whole = propagation_of(compiled)

    def posteriors(
        self, findings: ObservedStates, *, max_bytes: int | None = None, max_seconds: float | None = None
    ) -> tuple[list[float], float]:
        """P(state | evidence) of all states of all variables for one case, and log P(evidence)."""
        findings = with_implied(self.model, findings)
        core = self._above({*findings.states, *findings.likelihoods, *self._inexact})
        below = [variable for variable in range(self.model.visible) if variable not in core]
        if below:
            try:
                return self._whole.posteriors(
                    findings, max_bytes=min(most_bytes(max_bytes), 2**LOG2_SMALL), max_seconds=0
                )
            except TooCostly:
                return self._in_parts(findings, sorted(core), below, max_bytes, max_seconds)
        return self._whole.posteriors(findings, max_bytes=max_bytes, max_seconds=max_seconds)

    def _in_parts(
        self,
        findings: ObservedStates,
        core: Sequence[int],
        below: Sequence[int],
        max_bytes: int | None,
        max_seconds: float | None,
    ) -> tuple[list[float], float]:
        cells = np.zeros(int(self.model.offsets[-1]))
        offsets, log_evidence = self.model.offsets, 0.0
        if core:
            place = {variable: at for at, variable in enumerate(core)}
            part = Propagation(CompiledModel(_part(self.model, core, place)))
            found, log_evidence = part.posteriors(_moved(findings, place), max_bytes=max_bytes, max_seconds=max_seconds)
            cells[[each for v in core for each in range(offsets[v], offsets[v + 1])]] = found
        if math.isinf(log_evidence):
            return cells.tolist(), log_evidence
        for variable in below:
            factors = sorted(self._above({*core, variable}))
            joint = eliminate(
                self.model, findings, [variable], factors=factors, max_bytes=max_bytes, max_seconds=max_seconds
            )
            cells[offsets[variable] : offsets[variable + 1]] = joint.table / joint.table.sum()
        return cells.tolist(), log_evidence

    def of_rows(
        self,
        states: NDArray[np.int32],
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
        threads: int | None = None,
    ) -> Posteriors:
        """The posteriors of many cases: rows x variables of states, negative where unobserved."""
        rows = rows_with_implied(self.model, states)
        try:
            return self._whole.of_rows(rows, max_bytes=max_bytes, max_seconds=0, threads=threads)
        except TooCostly:
            found = [
                self.posteriors(each, max_bytes=max_bytes, max_seconds=max_seconds) for each in findings_of_rows(rows)
            ]
            return Posteriors(np.array([table for table, _ in found]), np.array([log for _, log in found]))

    def given_each(
        self,
        findings: ObservedStates,
        variable: int,
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> Posteriors:
        """The posteriors given the evidence and, row by row, each state of a variable besides."""
        findings = with_implied(self.model, findings)
        try:
            return self._whole.given_each(findings, variable, max_bytes=max_bytes, max_seconds=0)
        except TooCostly:
            found = [
                self.posteriors(
                    ObservedStates({**findings.states, variable: state}, findings.likelihoods),
                    max_bytes=max_bytes,
                    max_seconds=max_seconds,
                )
                for state in range(self.model.cards[variable])
            ]
            return Posteriors(np.array([table for table, _ in found]), np.array([log for _, log in found]))

    def cost(self, findings: ObservedStates, *, max_bytes: int | None = None) -> AnswerPlan:
        """What these posteriors take: those of the nodes above the evidence, where all at once would be too large."""
        findings = with_implied(self.model, findings)
        core = sorted(self._above({*findings.states, *findings.likelihoods, *self._inexact}))
        hidden = [v for v in range(len(self.model.cards)) if v not in findings.states]
        if not core or len(core) == len(self.model.cards) or self._log2_bytes(hidden) <= LOG2_SMALL:
            return self._whole.cost(findings, max_bytes=max_bytes)
        place = {variable: at for at, variable in enumerate(core)}
        part = Propagation(CompiledModel(_part(self.model, core, place)))
        return part.cost(_moved(findings, place), max_bytes=max_bytes)

    def _log2_bytes(self, hidden: Sequence[int]) -> float:
        """Of a tree of all variables."""
        left = set(hidden)
        scopes = [[v for v in factor.scope if v in left] for factor in self.model.factors]
        stage = [0 if v in left else KEPT for v in range(len(self.model.cards))]
        return best_order(self.model.cards, scopes, stage).log2_cells + math.log2(BYTES_A_CELL)

    def clear(self) -> None:
        """Drop the cached trees."""
        self._whole.clear()

    @cached_property
    def _inexact(self) -> set[int]:
        """The variables whose rows do not quite sum to 1."""
        return {
            each.scope[-1]
            for each in self.model.factors
            if (np.abs(each.table.sum(axis=-1) - 1) > SUMS_TO_ONE * (each.table.shape[-1] + 1)).any()
        }

    def _above(self, variables: Iterable[int]) -> set[int]:
        """These, and all from which a directed path leads to one of them."""
        found, waiting = set(variables), list(variables)
        while waiting:
            for parent in self.model.factors[waiting.pop()].scope[:-1]:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found


def findings_of_rows(rows: NDArray[np.int32]) -> list[ObservedStates]:
    """Rows x variables of states, -1 if not known, each as findings."""
    return [ObservedStates({int(place): int(row[place]) for place in np.flatnonzero(row >= 0)}) for row in rows]


def _part(model: FactorModel, variables: Sequence[int], place: dict[int, int]) -> FactorModel:
    """The model of some variables with all that is above them."""
    return FactorModel(
        tuple(model.names[v] for v in variables),
        tuple(model.states[v] for v in variables),
        tuple(FactorTable(tuple(place[u] for u in model.factors[v].scope), model.factors[v].table) for v in variables),
    )


def _moved(findings: ObservedStates, place: dict[int, int]) -> ObservedStates:
    """The same findings, by the places of the variables in a part."""
    return ObservedStates(
        {place[variable]: state for variable, state in findings.states.items()},
        {place[variable]: values for variable, values in findings.likelihoods.items()},
    )
