"""A junction tree run case by case, within a memory limit."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import JunctionTree
from bayesbox.network.exact.compiled import CompiledModel, EvidenceCase
from bayesbox.network.exact.conditioning import AnswerPlan, Conditioned, cases_of, conditioned, log2_work, plan_of
from bayesbox.network.exact.orders import best_order

BYTES_A_CELL = 28  # at the peak: the tables, the working copy of a run, and the index of their cells
SECONDS_A_CELL = 3e-9  # for one run of a tree, on a slow core
ROWS_AT_ONCE = 16  # cases that the core runs in one call


class CasesOfTree:
    """The junction tree of a model for a pattern of evidence and conditioned variables; a run for each case."""

    def __init__(
        self,
        compiled: CompiledModel,
        observed: NDArray[np.uint8],
        soft: NDArray[np.uint8],
        log2_limit: float,
        max_seconds: float | None = None,
    ) -> None:
        model, self.compiled = compiled.model, compiled
        hidden = ~observed.astype(bool)
        scopes = [[v for v in factor.scope if hidden[v]] for factor in model.factors]
        stage = np.where(hidden, 0, -1).tolist()
        self.log2_at_once = best_order(model.cards, scopes, stage).log2_cells
        target, work = log2_limit, log2_work(max_seconds, SECONDS_A_CELL)
        for _ in range(8):  # separators need memory too, so the limit may need some slack
            found = conditioned(model.cards, scopes, stage, hidden & ~soft.astype(bool), target, work)
            known = observed.copy()
            known[list(found.variables)] = 1
            self.tree = JunctionTree(compiled.factors, known, soft, log2_limit)
            if self.tree.log2_cells <= log2_limit or found.log2_cells > target:
                break
            target -= max(self.tree.log2_cells - log2_limit, 0.25)
        self.variables = found.variables
        self.fits = self.tree.log2_cells <= log2_limit

    @property
    def plan(self) -> AnswerPlan:
        """The plan: cases, memory and time."""
        cut = Conditioned(self.variables, [], self.tree.log2_cells)
        return plan_of(self.compiled.model, cut, BYTES_A_CELL, SECONDS_A_CELL)

    def run(self, case: EvidenceCase) -> tuple[NDArray[np.float64], float]:
        """P(state | evidence) of all states of all variables, and log P(evidence)."""
        cards = self.compiled.model.cards
        sums, top = np.zeros(int(self.compiled.model.offsets[-1])), -math.inf
        every = cases_of(cards, self.variables)
        while some := list(itertools.islice(every, ROWS_AT_ONCE)):
            states = np.tile(case.states, (len(some), 1))
            for row, each in enumerate(some):
                states[row, list(each)] = list(each.values())
            table, log_evidence = self.tree.run(states, case.likelihoods, threads=1)
            sums, top = added(sums, top, table, log_evidence)
        total = sums[: cards[0]].sum() if cards else 1.0
        if not total > 0:
            return sums, -math.inf
        return sums / total, top + math.log(total)


def added(
    sums: NDArray[np.float64], top: float, table: NDArray[np.float64], log_evidence: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Running sums in units of exp(top), with rows of `table` added, each in units of exp(its log evidence)."""
    possible = np.flatnonzero(log_evidence > -math.inf)
    if not len(possible):
        return sums, top
    most = max(top, float(log_evidence[possible].max()))
    weights = np.exp(log_evidence[possible] - most)
    return sums * math.exp(top - most) + weights @ table[possible], most
