"""Posteriors over the possible states: states that the tables rule out are removed first."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.conditioning import AnswerPlan
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.exact.junction import Posteriors, Propagation
from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.schema.arrays import AnyArray

IMPOSSIBLE = -1


def propagation_of(compiled: CompiledModel) -> Propagation:
    """The junction trees of a model, without its impossible states."""
    possible = compiled.factors.possible_states().astype(bool)
    if possible.all() and min(compiled.model.cards, default=2) > 1:
        return Propagation(compiled)
    return PossiblePropagation(compiled.model, possible)


class PossiblePropagation(Propagation):
    """The junction trees of a model reduced to its possible states; a variable with one state counts as observed."""

    def __init__(self, whole: FactorModel, possible: NDArray[np.bool_]) -> None:
        left = [np.flatnonzero(each) for each in np.split(possible, whole.offsets[1:-1])]
        states = tuple(
            tuple(names[state] for state in some.tolist()) for names, some in zip(whole.states, left, strict=True)
        )
        factors = tuple(
            FactorTable(each.scope, np.ascontiguousarray(each.table[np.ix_(*(left[place] for place in each.scope))]))
            for each in whole.factors
        )
        super().__init__(CompiledModel(FactorModel(whole.names, states, factors)))
        self._whole = whole
        self._left = left
        self._columns: NDArray[np.int64] = np.flatnonzero(possible)  # positions of the possible states among all
        self._certain = {place: 0 for place, some in enumerate(left) if len(some) == 1}
        self._codes = [np.full(card, IMPOSSIBLE, dtype=np.int32) for card in whole.cards]
        for codes, some in zip(self._codes, left, strict=True):
            codes[some] = np.arange(len(some))

    def _of_what_is_left(self, findings: ObservedStates) -> ObservedStates | None:
        """The same evidence in terms of the possible states; None if some of it is impossible."""
        states = {place: int(self._codes[place][state]) for place, state in findings.states.items()}
        if IMPOSSIBLE in states.values():
            return None
        likelihoods: dict[int, AnyArray] = {
            place: values[self._left[place]] for place, values in findings.likelihoods.items()
        }
        return ObservedStates(self._certain | states, likelihoods)

    def given_each(
        self,
        findings: ObservedStates,
        variable: int,
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> Posteriors:
        """The posteriors given the evidence and each state of a variable, one row per state."""
        rows, width = self._whole.cards[variable], int(self._whole.offsets[-1])
        every = Posteriors(np.zeros((rows, width)), np.full(rows, -np.inf))
        left = self._of_what_is_left(findings)
        if left is not None:
            found = super().given_each(left, variable, max_bytes=max_bytes, max_seconds=max_seconds)
            every.table[np.ix_(self._left[variable], self._columns)] = found.table
            every.log_evidence[self._left[variable]] = found.log_evidence
        return every

    def cost(self, findings: ObservedStates, *, max_bytes: int | None = None) -> AnswerPlan:
        """The plan of these posteriors; nothing is computed."""
        left = self._of_what_is_left(findings)
        return AnswerPlan((), 0, 0.0, 0.0) if left is None else super().cost(left, max_bytes=max_bytes)

    def posteriors(
        self, findings: ObservedStates, *, max_bytes: int | None = None, max_seconds: float | None = None
    ) -> tuple[list[float], float]:
        """P(state | evidence) of all states of all variables for one case, and log P(evidence)."""
        cells = [0.0] * int(self._whole.offsets[-1])
        left = self._of_what_is_left(findings)
        if left is None:
            return cells, -math.inf
        found, log_evidence = super().posteriors(left, max_bytes=max_bytes, max_seconds=max_seconds)
        for column, value in zip(self._columns.tolist(), found, strict=True):
            cells[column] = value
        return cells, log_evidence

    def of_rows(
        self,
        states: NDArray[np.int32],
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
        threads: int | None = None,
    ) -> Posteriors:
        """The posteriors of many cases: rows x variables of states, negative where unobserved."""
        coded = states.copy()
        impossible = np.zeros(len(states), dtype=np.bool_)
        for place, codes in enumerate(self._codes):
            known = states[:, place] >= 0
            coded[known, place] = codes[states[known, place]]
            impossible |= known & (coded[:, place] == IMPOSSIBLE)
        coded[:, list(self._certain)] = 0
        found = super().of_rows(coded, max_bytes=max_bytes, max_seconds=max_seconds, threads=threads)
        table = np.zeros((len(states), int(self._whole.offsets[-1])))
        table[:, self._columns] = found.table
        return Posteriors(table, np.where(impossible, -np.inf, found.log_evidence))
