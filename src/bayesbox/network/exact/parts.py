"""The posteriors of a network with compact tables, computed in parts if one tree would be too large.

Nodes below all evidence sum to 1, so the evidence and its ancestors do not need them. The posteriors of these come from
a junction tree of their own, and each node below from a separate sum. A network of diseases and findings then costs
only as much as the findings that are present require; absent findings are free, and unknown ones are computed one at a
time.
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

LOG2_SMALL = 25  # of the bytes of a tree of all nodes; a larger one is split into parts if possible
SUMS_TO_ONE = 2e-16


class PropagationInParts(Propagation):
    """The junction trees of a Bayesian network with compact tables: one table per variable, in order."""

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
        """The posteriors given the evidence and each state of a variable, one row per state."""
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
        """The plan of these posteriors: of the nodes above the evidence only, if a single tree would be too large."""
        findings = with_implied(self.model, findings)
        core = sorted(self._above({*findings.states, *findings.likelihoods, *self._inexact}))
        hidden = [v for v in range(len(self.model.cards)) if v not in findings.states]
        if not core or len(core) == len(self.model.cards) or self._log2_bytes(hidden) <= LOG2_SMALL:
            return self._whole.cost(findings, max_bytes=max_bytes)
        place = {variable: at for at, variable in enumerate(core)}
        part = Propagation(CompiledModel(_part(self.model, core, place)))
        return part.cost(_moved(findings, place), max_bytes=max_bytes)

    def _log2_bytes(self, hidden: Sequence[int]) -> float:
        """log2 of the bytes of a tree of all variables."""
        left = set(hidden)
        scopes = [[v for v in factor.scope if v in left] for factor in self.model.factors]
        stage = [0 if v in left else KEPT for v in range(len(self.model.cards))]
        return best_order(self.model.cards, scopes, stage).log2_cells + math.log2(BYTES_A_CELL)

    def clear(self) -> None:
        """Drop the cached trees."""
        self._whole.clear()

    @cached_property
    def _inexact(self) -> set[int]:
        """The variables whose rows do not sum to 1 exactly."""
        return {
            each.scope[-1]
            for each in self.model.factors
            if (np.abs(each.table.sum(axis=-1) - 1) > SUMS_TO_ONE * (each.table.shape[-1] + 1)).any()
        }

    def _above(self, variables: Iterable[int]) -> set[int]:
        """These variables and all their ancestors."""
        found, waiting = set(variables), list(variables)
        while waiting:
            for parent in self.model.factors[waiting.pop()].scope[:-1]:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found


def findings_of_rows(rows: NDArray[np.int32]) -> list[ObservedStates]:
    """Each row of an array of states (rows x variables, -1 if unknown) as evidence."""
    return [ObservedStates({int(place): int(row[place]) for place in np.flatnonzero(row >= 0)}) for row in rows]


def _part(model: FactorModel, variables: Sequence[int], place: dict[int, int]) -> FactorModel:
    """The model of some variables and their ancestors."""
    return FactorModel(
        tuple(model.names[v] for v in variables),
        tuple(model.states[v] for v in variables),
        tuple(FactorTable(tuple(place[u] for u in model.factors[v].scope), model.factors[v].table) for v in variables),
    )


def _moved(findings: ObservedStates, place: dict[int, int]) -> ObservedStates:
    """The same evidence, with the positions of the variables in a part."""
    return ObservedStates(
        {place[variable]: state for variable, state in findings.states.items()},
        {place[variable]: values for variable, values in findings.likelihoods.items()},
    )
