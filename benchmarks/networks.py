"""Bayesian networks against pyAgrum and pgmpy: reading, new and known patterns of evidence, tables of rows.

`--data` names a folder with networks in BIF, which may be compressed; without it, networks made at random are measured.
Every answer that is timed is compared with pyAgrum's first.
"""

from __future__ import annotations

import gzip
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyagrum as gum
from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader
from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
from pyagrum.skbn import BNClassifier

import bayesbox as bb
import harness

WITHIN = 1e-6  # pyAgrum reads numbers in single precision
SMALL_TABLES = ("alarm", "insurance", "win95pts", "hailfinder", "hepar2", "andes")
NEW = {"asia": 5.0}
NEW |= dict.fromkeys((*SMALL_TABLES, "pigs", "pathfinder", "munin2", "link"), 10)
NEW |= dict.fromkeys(("water", "mildew", "barley", "diabetes", "munin1"), 3)
KNOWN = dict.fromkeys(SMALL_TABLES, 100.0) | {"munin1": 5}
READ_FROM = 10_000  # bytes: smaller files are about the call, not the reading
TO_PGMPY = 60  # nodes, above which pgmpy takes too long to be waited for
ROWS = 10_000
PATIENCE = 5.0  # seconds of CPU that the peer may take for rows; it gets fewer where all would take longer

Evidence = dict[str, str]


@dataclass
class Peers:
    """A network in all three packages."""

    name: str
    path: Path
    ours: bb.BayesianNetwork
    agrum: gum.BayesNet

    def evidence(self, random: np.random.Generator) -> Evidence:
        """States of a tenth of the nodes, as they occur together."""
        row = self.ours.sample(1, seed=int(random.integers(2**31))).to_pylist()[0]
        known = random.permutation(self.ours.nodes)[: max(1, len(self.ours.nodes) // 10)]
        return {str(name): row[name] for name in known}

    def with_pattern(self, pattern: list[str], random: np.random.Generator) -> Evidence:
        """Other states of the same nodes."""
        row = self.ours.sample(1, seed=int(random.integers(2**31))).to_pylist()[0]
        return {name: row[name] for name in pattern}


def run(session: harness.Session) -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        for path in networks(session, Path(folder)):
            measure(session, path)


def networks(session: harness.Session, folder: Path) -> Iterator[Path]:
    """Files in BIF, those of the data or made up, smaller ones first."""
    if session.data is None:
        for nodes in (20, 60):
            path = folder / f"random{nodes}.bif"
            made_up(nodes).write(path)
            yield path
        return
    for path in sorted(session.data.rglob("*.bif*"), key=lambda each: each.stat().st_size):
        plain = path
        if path.suffix == ".gz":
            plain = folder / path.stem
            with gzip.open(path) as packed, plain.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        if path.suffix in (".bif", ".gz"):
            yield plain


def made_up(nodes: int) -> bb.BayesianNetwork:
    random = np.random.default_rng(nodes)
    structure, tables = {}, {}
    for place in range(nodes):
        above = [f"n{each}" for each in random.permutation(range(max(0, place - 5), place))[:3]]
        structure[f"n{place}"] = above
        tables[f"n{place}"] = random.dirichlet(np.ones(3), size=[3] * len(above))
    states = {name: ["a", "b", "c"] for name in structure}
    return bb.BayesianNetwork(structure, tables, states=states)


def measure(session: harness.Session, path: Path) -> None:
    try:
        agrum = gum.loadBN(str(path))
    except Exception as error:
        session.say(f"{path.stem}: pyAgrum cannot read it ({type(error).__name__})")
        bb.read_network(path)
        return
    ours = bb.read_network(path, normalize=True)
    assert isinstance(ours, bb.BayesianNetwork)
    peers = Peers(path.stem, path, ours, agrum)
    reads = often(lambda: gum.loadBN(str(path)))
    session.compare(
        f"{path.stem}: read",
        again(reads, lambda: bb.read_network(path, normalize=True)),
        "pyAgrum loadBN",
        again(reads, lambda: gum.loadBN(str(path))),
        20 if path.stat().st_size >= READ_FROM else None,
        rounds=3,
    )
    engine = gum.LazyPropagation(agrum)
    evidence = peers.evidence(np.random.default_rng(0))
    one = once(lambda: their_posteriors(engine, evidence))
    cases = max(3, min(40, int(0.4 / max(one, 1e-4))))
    rounds = 3 if one < 1 else 1
    new_patterns(session, peers, engine, cases, rounds)
    known_pattern(session, peers, engine, cases, rounds)
    if len(ours.nodes) <= TO_PGMPY:
        against_pgmpy(session, peers)
    rows(session, peers)


def once(run: harness.Run) -> float:
    return harness.in_turn([run], 1)[0]


def often(run: harness.Run) -> int:
    """How often to run what is short, so that the clock is not what is measured."""
    return max(1, min(50, int(0.2 / max(once(run), 1e-4))))


def again(times: int, run: harness.Run) -> harness.Run:
    def runs() -> None:
        for _ in range(times):
            run()

    return runs


def their_posteriors(engine: Any, evidence: Evidence) -> list[Any]:
    engine.setEvidence(evidence)
    engine.makeInference()
    return [engine.posterior(node) for node in engine.BN().nodes()]


def require_same(peers: Peers, engine: Any, cases: list[Evidence], what: str) -> None:
    names = [peers.agrum.variable(node).name() for node in peers.agrum.nodes()]
    for evidence in cases:
        theirs = their_posteriors(engine, evidence)
        ours = peers.ours.posteriors(evidence)
        for name, posterior in zip(names, theirs, strict=True):
            values = np.array(list(ours[name].values()))
            harness.require_equal(values, posterior.toarray(), within=WITHIN, what=f"{what}, {name}")


def new_patterns(session: harness.Session, peers: Peers, engine: Any, count: int, rounds: int) -> None:
    random = np.random.default_rng(1)
    cases = [peers.evidence(random) for _ in range(count)]
    require_same(peers, engine, cases[:20], f"{peers.name}: new patterns")

    def ours() -> None:
        for evidence in cases:
            peers.ours._propagation.clear()
            peers.ours.posteriors(evidence)

    def theirs() -> None:
        for evidence in cases:
            their_posteriors(engine, evidence)

    work = f"{peers.name}: all posteriors, new pattern"
    session.compare(work, ours, "pyAgrum LazyPropagation", theirs, NEW.get(peers.name), rounds=rounds)


def known_pattern(session: harness.Session, peers: Peers, engine: Any, count: int, rounds: int) -> None:
    random = np.random.default_rng(2)
    first = peers.evidence(random)
    cases = [first, *(peers.with_pattern(list(first), random) for _ in range(count - 1))]
    require_same(peers, engine, cases[:20], f"{peers.name}: known pattern")

    def ours() -> None:
        for evidence in cases:
            peers.ours.posteriors(evidence)

    def theirs() -> None:
        for evidence in cases:
            their_posteriors(engine, evidence)

    work = f"{peers.name}: all posteriors, known pattern"
    session.compare(work, ours, "pyAgrum LazyPropagation", theirs, KNOWN.get(peers.name), rounds=rounds)


def against_pgmpy(session: harness.Session, peers: Peers) -> None:
    model = VariableElimination(BIFReader(str(peers.path)).get_model())
    evidence = peers.evidence(np.random.default_rng(3))
    targets = [name for name in peers.ours.nodes if name not in evidence]

    def theirs() -> list[Any]:
        return [model.query([target], evidence, show_progress=False) for target in targets]

    def ours() -> Any:
        peers.ours._propagation.clear()
        return peers.ours.posteriors(evidence)

    found = ours()
    for target, each in zip(targets, theirs(), strict=True):
        values = np.array([found[target][state] for state in each.state_names[target]])
        harness.require_equal(values, each.values, within=WITHIN, what=f"{peers.name}: pgmpy, {target}")
    times = often(theirs)
    work = f"{peers.name}: all posteriors, one by one"
    session.compare(work, again(times, ours), "pgmpy VariableElimination", again(times, theirs), 30, rounds=3)


def rows(session: harness.Session, peers: Peers) -> None:
    """Rows in which only the class is not known; strings in, probabilities out."""
    target = max(peers.ours.nodes, key=lambda name: len(peers.ours.markov_blanket(name)))
    frame = peers.ours.sample(ROWS, seed=4).to_pandas().drop(columns=[target])
    peer = BNClassifier(type_processor=DiscreteTypeProcessor())
    peer.fromTrainedModel(peers.agrum, targetAttribute=target, targetModality="")
    ours = peers.ours.classifier(target)
    few = frame.iloc[:200]
    theirs = peer.predict_proba(few)
    taken = once(lambda: peer.predict_proba(few.iloc[:50])) / 50
    frame = frame.iloc[: max(200, int(PATIENCE / taken))]
    order = np.argsort(peer.classes_, kind="stable")
    if theirs.shape[1] == len(order):
        harness.require_equal(ours.predict_proba(few), theirs[:, order], within=WITHIN, what=f"{peers.name}: rows")
    session.compare(
        f"{peers.name}: {len(frame):,} rows, one class",
        lambda: ours.predict_proba(frame),
        "pyAgrum BNClassifier",
        lambda: peer.predict_proba(frame),
        100,
        rounds=3 if taken * len(frame) < 2 else 1,
    )


if __name__ == "__main__":
    harness.main(run)
