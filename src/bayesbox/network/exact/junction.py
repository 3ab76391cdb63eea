"""All posteriors at once: a junction tree, compiled for each set of observed variables and cached."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import JunctionTree
from bayesbox.errors import TooCostly
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.conditioning import AnswerPlan, require_time
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.exact.orders import most_bytes, require_affordable
from bayesbox.network.exact.tree_by_cases import BYTES_A_CELL, CasesOfTree
from bayesbox.stat.cores import cores

MOST_PLANS = 32

Mask = NDArray[np.uint8] | bytearray  # one per variable
Pattern = tuple[frozenset[int], frozenset[int]]  # the observed variables, and those with likelihoods
MOST_KEPT_CELLS = 2.0**24
FEW_PATTERNS = 24  # sets of observed variables, up to which each has its own plan
TRIED = 6  # of them, to estimate the size of their plans
MAKE_A_VARIABLE, MAKE_A_CELL = 1600.0, 12.0  # costs of plans and runs, roughly in nanoseconds: only ratios matter
RUN_A_CELL, RUN_A_SOFT_CELL = 2.2, 4.0
WORTH_A_THREAD = 1e5  # cells in all rows; with fewer, a second thread costs more than it saves


def _log2_limit(max_bytes: int | None) -> float:
    """log2 of the cells that tables may have."""
    return math.log2(most_bytes(max_bytes) / BYTES_A_CELL)


class Posteriors(NamedTuple):
    """P(state | evidence), an array of rows x all states of all variables, and log P(evidence) of each row."""

    table: NDArray[np.float64]
    log_evidence: NDArray[np.float64]


class Propagation:
    """The junction trees of one model."""

    def __init__(self, compiled: CompiledModel) -> None:
        self.compiled = compiled
        self.model = compiled.model
        self._plans: OrderedDict[Pattern, JunctionTree] = OrderedDict()
        self._kept_cells = 0.0

    def plan(self, observed: NDArray[np.uint8], soft: NDArray[np.uint8], max_bytes: int | None = None) -> JunctionTree:
        """The junction tree for a pattern of observed variables and of likelihoods; TooCostly if it is too large."""
        key = (frozenset(np.flatnonzero(observed).tolist()), frozenset(np.flatnonzero(soft).tolist()))
        return self._kept(key) or self._made(key, observed, soft, max_bytes)

    def _kept(self, key: Pattern) -> JunctionTree | None:
        found = self._plans.get(key)
        if found is not None:
            self._plans.move_to_end(key)
        return found

    def _made(self, key: Pattern, observed: Mask, soft: Mask, max_bytes: int | None) -> JunctionTree:
        made = JunctionTree(self.compiled.factors, observed, soft, _log2_limit(max_bytes))
        require_affordable(made.log2_cells, BYTES_A_CELL, max_bytes)
        self._plans[key] = made
        self._kept_cells += 2.0**made.log2_cells
        while len(self._plans) > 1 and (len(self._plans) > MOST_PLANS or self._kept_cells > MOST_KEPT_CELLS):
            _, oldest = self._plans.popitem(last=False)
            self._kept_cells -= 2.0**oldest.log2_cells
        return made

    def clear(self) -> None:
        """Drop the cached trees."""
        self._plans.clear()
        self._kept_cells = 0.0

    def posteriors(
        self, findings: ObservedStates, *, max_bytes: int | None = None, max_seconds: float | None = None
    ) -> tuple[list[float], float]:
        """P(state | evidence) of all states of all variables for one case, and log P(evidence).

        If its tables would exceed the memory limit, it is computed case by case, within the time limit.
        """
        try:
            return self._at_once(findings, max_bytes)
        except TooCostly:
            if max_seconds == 0:  # no time for cases, so do not search for any
                raise
            found, log_evidence = self._by_cases([findings], max_bytes, max_seconds)
            return found[0].tolist(), float(log_evidence[0])

    def cost(self, findings: ObservedStates, *, max_bytes: int | None = None) -> AnswerPlan:
        """The plan of these posteriors; nothing is computed."""
        case = self.compiled.case(findings)
        cases = CasesOfTree(self.compiled, (case.states >= 0).astype(np.uint8), case.soft, _log2_limit(max_bytes))
        return cases.plan

    def _by_cases(self, rows: Sequence[ObservedStates], max_bytes: int | None, max_seconds: float | None) -> Posteriors:
        """The posteriors of cases that all observe the same variables."""
        every = [self.compiled.case(findings) for findings in rows]
        first = every[0]
        observed = (first.states >= 0).astype(np.uint8)
        cases = CasesOfTree(self.compiled, observed, first.soft, _log2_limit(max_bytes), max_seconds)
        at_once = cases.log2_at_once + math.log2(BYTES_A_CELL)
        require_time(cases.plan, max_bytes, max_seconds, at_once=at_once, fits=cases.fits, times=len(rows))
        found = [cases.run(case) for case in every]
        return Posteriors(np.array([table for table, _ in found]), np.array([log for _, log in found]))

    def _at_once(self, findings: ObservedStates, max_bytes: int | None) -> tuple[list[float], float]:
        key = (frozenset(findings.states), frozenset(findings.likelihoods))
        tree = self._kept(key)
        if tree is not None and not findings.likelihoods:
            return tree.run_once(dict(findings.states))
        if not findings.likelihoods:
            observed, nothing = bytearray(len(self.model.cards)), bytearray(len(self.model.cards))
            for place in findings.states:
                observed[place] = 1
            return self._made(key, observed, nothing, max_bytes).run_once(dict(findings.states))
        case = self.compiled.case(findings)
        tree = tree or self._made(key, (case.states >= 0).astype(np.uint8), case.soft, max_bytes)
        table, log_evidence = tree.run(case.states[None], case.likelihoods)
        return table[0].tolist(), float(log_evidence[0])

    def of_rows(
        self,
        states: NDArray[np.int32],
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
        threads: int | None = None,
    ) -> Posteriors:
        """The posteriors of many cases: rows x variables of states, negative where unobserved.

        Rows that observe the same variables share a plan; if nearly every row observes different ones, all rows share
        one plan with one-hot likelihoods as evidence, since making a plan costs more than running it.
        """
        if not len(states):
            return Posteriors(np.empty((0, int(self.model.offsets[-1]))), np.empty(0))
        observed = (states >= 0).astype(np.uint8)
        patterns, group = np.unique(np.packbits(observed, axis=1), axis=0, return_inverse=True)
        group = group.reshape(-1)
        if len(patterns) == 1:
            return self._of_pattern(states, max_bytes, max_seconds, threads)
        one_for_all = self._static(observed, len(patterns), max_bytes)
        if one_for_all is not None:
            return self._run(one_for_all, states, threads)
        table = np.empty((len(states), int(self.model.offsets[-1])))
        log_evidence = np.empty(len(states))
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(group))[:-1]):
            table[rows], log_evidence[rows] = self._of_pattern(states[rows], max_bytes, max_seconds, threads)
        return Posteriors(table, log_evidence)

    def _of_pattern(
        self, states: NDArray[np.int32], max_bytes: int | None, max_seconds: float | None, threads: int | None
    ) -> Posteriors:
        """The posteriors of rows that observe the same variables."""
        observed = (states[0] >= 0).astype(np.uint8)
        try:
            return self._run(self.plan(observed, np.zeros_like(observed), max_bytes), states, threads)
        except TooCostly:
            if max_seconds == 0:
                raise
            places = np.flatnonzero(observed).tolist()
            rows = [ObservedStates({place: int(row[place]) for place in places}) for row in states]
            return self._by_cases(rows, max_bytes, max_seconds)

    def given_each(
        self,
        findings: ObservedStates,
        variable: int,
        *,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> Posteriors:
        """The posteriors given the evidence and each state of a variable, one row per state, with one plan."""
        case = self.compiled.case(findings)
        states = np.tile(case.states, (self.model.cards[variable], 1))
        states[:, variable] = np.arange(len(states))
        try:
            tree = self.plan((states[0] >= 0).astype(np.uint8), case.soft, max_bytes)
        except TooCostly:
            if max_seconds == 0:
                raise
            every = [
                ObservedStates({**findings.states, variable: state}, findings.likelihoods)
                for state in range(len(states))
            ]
            return self._by_cases(every, max_bytes, max_seconds)
        return self._run(tree, states, None, case.likelihoods)

    def _static(self, observed: NDArray[np.uint8], patterns: int, max_bytes: int | None) -> JunctionTree | None:
        """One plan for all rows if that is faster, judged by the sizes of some plans; else None."""
        if patterns <= FEW_PATTERNS:
            return None
        always, ever = (
            np.asarray(observed.all(axis=0), dtype=np.uint8),
            np.asarray(observed.any(axis=0), dtype=np.uint8),
        )
        nothing = np.zeros_like(always)
        some: list[NDArray[np.uint8]] = list(observed[np.linspace(0, len(observed) - 1, TRIED).astype(np.int64)])
        try:
            own = float(np.mean([2.0 ** self.plan(each, nothing, max_bytes).log2_cells for each in some]))
            tree = self.plan(always, ever - always, max_bytes)
        except TooCostly:
            return None
        made = patterns * (observed.shape[1] * MAKE_A_VARIABLE + own * MAKE_A_CELL) + len(observed) * own * RUN_A_CELL
        return tree if len(observed) * 2.0**tree.log2_cells * RUN_A_SOFT_CELL < made else None

    @staticmethod
    def _run(
        tree: JunctionTree,
        states: NDArray[np.int32],
        threads: int | None,
        likelihoods: NDArray[np.float64] | None = None,
    ) -> Posteriors:
        worth = len(states) * 2.0**tree.log2_cells > WORTH_A_THREAD
        return Posteriors(*tree.run(states, likelihoods, threads=(threads or cores()) if worth else 1))
