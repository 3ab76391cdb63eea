"""What evidence on compact tables implies about their steps.

If the effect of a noisy-OR is absent, no cause produced it: every step of its chain is in the lowest state. As observed
variables the steps drop out of all tables, and the node becomes one factor per parent,

    P(Y = lowest | x) = P(Z_0 = lowest) P(Z_1 = lowest | x_1) ... P(Z_n = lowest | x_n)

so absent effects do not couple their parents, however many there are. Only effects that are present add cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.factor_graph import FactorModel


def with_implied(model: FactorModel, findings: ObservedStates) -> ObservedStates:
    """The evidence, with the steps that it implies marked as observed."""
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
