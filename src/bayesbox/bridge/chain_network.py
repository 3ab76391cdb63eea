"""A hidden Markov model as a Bayesian network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbox.errors import BadOption, require_whole
from bayesbox.network.network import BayesianNetwork
from bayesbox.sequence.model import ChainModel


def network_of(model: ChainModel, length: int) -> BayesianNetwork:
    """The hidden Markov model of `length` steps as a network: state1, state2, ... and the columns of each step."""
    require_whole("length", length, least=1)
    structure: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    domains: dict[str, Sequence[Any]] = {}
    for step in range(1, length + 1):
        state = f"state{step}"
        structure[state] = [] if step == 1 else [f"state{step - 1}"]
        tables[state] = np.exp(model.log_start) if step == 1 else np.exp(model.log_transition)
        domains[state] = list(model.states)
        for each in model.conditionals:
            table = each.level_table()
            if table is None:
                raise BadOption(
                    f"column `{each.columns[0]}` has a density, but the nodes of a network have states",
                    remedy="Bin the numbers first",
                )
            name = f"symbol{step}" if len(model.conditionals) == 1 else f"{each.columns[0]}{step}"
            structure[name] = [state]
            tables[name] = table.shares().T
            domains[name] = list(table.levels)
    return BayesianNetwork(structure, tables, states=domains)
