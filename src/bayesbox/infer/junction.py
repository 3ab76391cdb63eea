"""All posteriors at once: a junction tree, compiled for each set of observed variables and kept for the next time."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import JunctionTree, factor_model
from bayesbox.infer.eliminate import Findings
from bayesbox.infer.orders import MOST_BYTES, flat, require_affordable
from bayesbox.model.factor_graph import FactorModel

BYTES_A_CELL = 20  # the tables as they are, as a run changes them, and where their cells go
MOST_PLANS = 32
MOST_KEPT_CELLS = 2.0**24


class Posteriors(NamedTuple):
    """P(state | evidence), rows x all states of all variables, and log P(evidence) of each row."""

    table: NDArray[np.float64]
    log_evidence: NDArray[np.float64]


class Propagation:
    """The junction trees of one model."""

    def __init__(self, model: FactorModel) -> None:
        self.model = model
        members, ends = flat(factor.scope for factor in model.factors)
        cards = np.array(model.cards, dtype=np.int64)
        self._factors = factor_model(cards, members, ends, [factor.table.reshape(-1) for factor in model.factors])
        self._plans: OrderedDict[bytes, JunctionTree] = OrderedDict()
        self._kept_cells = 0.0

    def plan(self, observed: NDArray[np.uint8], soft: NDArray[np.uint8], max_bytes: int = MOST_BYTES) -> JunctionTree:
        """The junction tree for observed variables and ones with likelihoods; TooCostly where it would be too large."""
        key = observed.tobytes() + soft.tobytes()
        found = self._plans.get(key)
        if found is not None:
            self._plans.move_to_end(key)
            return found
        limit = float(np.log2(max_bytes / BYTES_A_CELL))
        made = JunctionTree(self._factors, observed, soft, limit)
        require_affordable(made.log2_cells, BYTES_A_CELL, max_bytes)
        self._plans[key] = made
        self._kept_cells += 2.0**made.log2_cells
        while len(self._plans) > 1 and (len(self._plans) > MOST_PLANS or self._kept_cells > MOST_KEPT_CELLS):
            _, oldest = self._plans.popitem(last=False)
            self._kept_cells -= 2.0**oldest.log2_cells
        return made

    def posteriors(self, findings: Findings, *, max_bytes: int = MOST_BYTES) -> Posteriors:
        """The posteriors of one case."""
        count = len(self.model.cards)
        states = np.zeros((1, count), dtype=np.int32)
        observed, soft = np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.uint8)
        for variable, state in findings.states.items():
            states[0, variable], observed[variable] = state, 1
        likelihoods = None
        if findings.likelihoods:
            likelihoods = np.ones(int(self.model.offsets[-1]))
            for variable, values in findings.likelihoods.items():
                soft[variable] = 1
                start = int(self.model.offsets[variable])
                likelihoods[start : start + len(values)] = np.asarray(values, dtype=np.float64)
        table, log_evidence = self.plan(observed, soft, max_bytes).run(states, likelihoods)
        return Posteriors(table, log_evidence)

    def of_rows(self, states: NDArray[np.int32], *, max_bytes: int = MOST_BYTES) -> Posteriors:
        """The posteriors of many cases: rows x variables of states, negative where unobserved.

        Rows that observe the same variables share a plan.
        """
        observed = (states >= 0).astype(np.uint8)
        patterns, group = np.unique(np.packbits(observed, axis=1), axis=0, return_inverse=True)
        group = group.reshape(-1)
        table = np.empty((len(states), int(self.model.offsets[-1])))
        log_evidence = np.empty(len(states))
        soft = np.zeros(states.shape[1], dtype=np.uint8)
        for place in range(len(patterns)):
            rows = np.flatnonzero(group == place)
            tree = self.plan(observed[rows[0]], soft, max_bytes)
            table[rows], log_evidence[rows] = tree.run(np.ascontiguousarray(states[rows], dtype=np.int32))
        return Posteriors(table, log_evidence)
