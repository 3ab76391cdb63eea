"""What to ask next: all nodes at once, against asking node by node, with our posteriors and with pyAgrum.

Node by node, each state of each node is entered as evidence in turn, and the entropy of the target is averaged. Where
pyAgrum is installed, its mutual information of the target with each node is taken as well. Answers are compared first.
`--data` names a folder with networks in BIF; without it, networks made at random are measured.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bayesbox as bb
import harness

AIMS = {"alarm": 0.0005, "andes": 0.004, "pigs": 0.015}  # seconds
EXACT, SINGLE = 1e-10, 1e-4  # pyAgrum reads numbers in single precision
TIMES = 10
LARGE = 20  # nodes from which on a ratio is asked for: with fewer, the call is what is measured


def run(session: harness.Session) -> None:
    warnings.simplefilter("ignore")
    if session.data is None:
        for nodes in (20, 60):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"random{nodes}.bif"
                made_up(nodes).write(path)
                measure(session, path)
        return
    for path in sorted(session.data.rglob("*.bif"), key=lambda each: each.stat().st_size):
        measure(session, path)


def made_up(nodes: int) -> bb.BayesianNetwork:
    random = np.random.default_rng(nodes)
    structure, tables = {}, {}
    for place in range(nodes):
        above = [f"n{each}" for each in random.permutation(range(max(0, place - 5), place))[:3]]
        structure[f"n{place}"] = above
        tables[f"n{place}"] = random.dirichlet(np.ones(3), size=[3] * len(above))
    return bb.BayesianNetwork(structure, tables, states={name: ["a", "b", "c"] for name in structure})


def measure(session: harness.Session, path: Path) -> None:
    network = bb.read_network(path, normalize=True)
    assert isinstance(network, bb.BayesianNetwork)
    target = network.nodes[len(network.nodes) // 2]
    found = {each.node: each.information for each in network.ask_next({}, target)}

    def ours() -> None:
        for _ in range(TIMES):
            network.ask_next({}, target)

    def by_node() -> dict[str, float]:
        return {name: node_by_node(network, target, name) for name in found}

    apart = max(abs(value - found[name]) for name, value in by_node().items())
    assert apart <= EXACT, (path.stem, apart)
    [mine] = harness.in_turn([ours], session.rounds)
    mine /= TIMES
    [theirs] = harness.in_turn([by_node], 1 if len(found) > 100 else session.rounds)
    session.ratio(f"{path.stem}: what to ask next", mine, "node by node, ours", theirs, aim(found))
    if path.stem in AIMS:
        session.amount(f"{path.stem}: what to ask next", mine, AIMS[path.stem], harness.seconds)
    against_agrum(session, path, found, target, mine)


def node_by_node(network: bb.BayesianNetwork, target: str, node: str) -> float:
    """The mean fall of the target's entropy, by entering every state of a node."""
    now = network.posteriors({})
    total = entropy(now[target])
    for state, share in now[node].items():
        if share > 0:
            total -= share * entropy(network.posteriors({node: state})[target])
    return total


def aim(found: dict[str, float]) -> float | None:
    """How many times faster it is to be."""
    return 10 if len(found) >= LARGE else None


def entropy(shares: dict[str, float]) -> float:
    return -math.fsum(p * math.log2(p) for p in shares.values() if p > 0)


def against_agrum(session: harness.Session, path: Path, found: dict[str, float], target: str, mine: float) -> None:
    try:
        import pyagrum as gum
    except ModuleNotFoundError:
        return
    model = gum.loadBN(str(path))

    def theirs() -> dict[str, Any]:
        engine = gum.LazyPropagation(model)
        return {name: engine.jointMutualInformation([target, name]) for name in found}

    apart = max(abs(value - found[name]) for name, value in theirs().items())
    assert apart <= SINGLE, (path.stem, apart)
    [other] = harness.in_turn([theirs], 1 if len(found) > 100 else session.rounds)
    session.ratio(f"{path.stem}: what to ask next", mine, "pyAgrum, node by node", other, aim(found))


if __name__ == "__main__":
    harness.main(run)
