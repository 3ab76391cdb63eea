"""What evidence on compact tables says of their steps.

A noisy-OR whose effect is absent has no cause that brought it about: every step of its chain is certainly in the lowest
state. Observed, the steps fall out of all tables, and the node becomes a factor for each parent,

    P(Y = lowest | x) = P(Z_0 = lowest) P(Z_1 = lowest | x_1) ... P(Z_n = lowest | x_n)

so that absent effects join no parents, however many they are. Only those that are present cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.factor_graph import FactorModel


def with_implied(model: FactorModel, findings: ObservedStates) -> ObservedStates:
    """The findings, with the steps observed that follow from them."""
    states = dict(findings.states)
    for each in model.compact:
        lowest = each.table.levels[0]
        if states.get(each.node) == lowest:
            states |= dict.fromkeys(each.variables, lowest)
    return findings if len(states) == len(findings.states) else ObservedStates(states, findings.likelihoods)


def rows_with_implied(model: FactorModel, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same for rows x variables of states."""
    if not model.compact:
        return rows
    found = rows.copy()
    for each in model.compact:
        lowest = each.table.levels[0]
        found[np.ix_(rows[:, each.node] == lowest, list(each.variables))] = lowest
    return found
