"""Guaranteed bounds: the most probable cases are computed exactly, and the rest is bounded from above.

Some variables C are chosen so that, once they are known, the rest has small tables. With the most probable cases c
first,

    L(s) = sum over the computed cases c of P(x = s, C = c, e),    L = sum of L(s) over s
    R   >= sum over all other cases of P(C = c, e),  by mini-buckets (core: case_search.hpp)

    L(s) / (L + R)  <=  P(x = s | e)  <=  (L(s) + R) / (L + R),      log L  <=  log P(e)  <=  log(L + R)

The answer is L(s) / L. With all cases R is 0 and the answer is exact. If many cases are about equally probable, as on
large grids, the bounds are very wide, and a note says so.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbox._core import CaseSearch, JunctionTree
from bayesbox.errors import NotSettled
from bayesbox.network.approximate.algorithm import InferenceAlgorithm, register_inference
from bayesbox.network.approximate.estimate import Approximation, proven_impossible
from bayesbox.network.exact.compiled import EvidenceCase
from bayesbox.network.exact.tree_by_cases import ROWS_AT_ONCE, added

BOUND_CELLS = 64  # times the cells of the tables of a case, since they are computed once
NARROW = 1e-12  # a remainder below this changes nothing
WIDE = 0.5  # bounds wider than this are reported as wide
ROUNDING = 1e-12  # of sums over many cases


@register_inference("bounds")
@dataclass(frozen=True)
class Bounds(InferenceAlgorithm):
    """The maximum number of cases computed, and of cells in a table of one."""

    cases: int = 4_096
    table_cells: int = 2**12

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:  # noqa: ARG002
        """The posteriors of a case, with their bounds."""
        search = CaseSearch(*case.arguments, cells=self.table_cells, bound_cells=BOUND_CELLS * self.table_cells)
        variables = search.variables.tolist()
        known = (case.states >= 0).astype(np.uint8)
        known[variables] = 1
        tree = JunctionTree(case.compiled.factors, known, case.soft, math.inf)
        sums, top, done = np.zeros(int(case.model.offsets[-1])), -math.inf, 0
        while done < self.cases:
            some = search.next(min(ROWS_AT_ONCE, self.cases - done))
            if not len(some):
                break
            states = np.tile(case.states, (len(some), 1))
            states[:, variables] = some
            sums, top = added(sums, top, *tree.run(states, case.likelihoods, threads=1))
            done += len(some)
            if search.log_rest() < top + math.log(NARROW):
                break
        log_rest = search.log_rest()
        cards = case.model.cards
        total = float(sums[: cards[0]].sum()) if cards else 1.0
        if math.isinf(top) and math.isinf(log_rest):
            raise proven_impossible()
        if math.isinf(top):  # none of the cases tried is possible
            return self._nothing(case, log_rest)
        log_low = top + math.log(total)
        rest = math.exp(min(log_rest - log_low, 700.0))
        table = sums / total
        lower = np.clip(table / (1 + rest) - ROUNDING, 0, 1)
        upper = np.clip((table + rest) / (1 + rest) + ROUNDING, 0, 1)
        for variable in np.flatnonzero(case.states >= 0).tolist():
            part = slice(int(case.model.offsets[variable]), int(case.model.offsets[variable + 1]))
            table[part] = lower[part] = upper[part] = np.arange(part.stop - part.start) == case.states[variable]
        log_high = log_low + math.log1p(rest)
        off = float(np.maximum(upper - table, table - lower).max(initial=0.0))
        if rest / (1 + rest) > WIDE:
            _warn(f"{done:,} cases leave bounds {rest / (1 + rest):.2g} wide")
        count = f"{done:,} cases of {len(variables)} variables" if variables else "one case"
        left = "" if log_rest > -math.inf else ", all there are"
        note = f"{count}{left}: certainly within {off:.2g}"
        return Approximation(
            self.name,
            table,
            log_evidence=log_low,
            notes=(note,),
            lower=lower,
            upper=upper,
            log_evidence_bounds=(log_low, log_high),
        )

    def _nothing(self, case: EvidenceCase, log_rest: float) -> Approximation:
        """The answer if all cases tried are impossible."""
        _warn(f"none of {self.cases:,} cases is possible, so nothing is known")
        even = np.concatenate([np.full(card, 1 / card) for card in case.model.cards])
        lower, upper = np.zeros(len(even)), np.ones(len(even))
        bounds = (-math.inf, log_rest)
        return Approximation(self.name, even, lower=lower, upper=upper, log_evidence_bounds=bounds)


def _warn(what: str) -> None:
    warnings.warn(
        f"{what}: how far the answers are off cannot be said. Try more cases, or larger tables (table_cells)",
        NotSettled,
        stacklevel=3,
    )
