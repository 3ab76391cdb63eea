"""Learning networks against pyAgrum, and against what bnlearn in R took on the same work when it was last measured.

`--data` names a folder with asia, alarm and insurance in BIF; without it a network made at random is learned, and with
it hailfinder too, which comes with pgmpy. Rows are sampled from the networks. A search counts only where its score is
at least the peer's; scores are compared with pyAgrum's first.
"""

from __future__ import annotations

import gzip
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyagrum as gum
import pyarrow as pa
import pyarrow.compute as pc

import bayesbox as bb
import harness
from networks import made_up

NAMES = ("asia", "alarm", "insurance")
BNLEARN = {  # seconds of bnlearn 5, alarm: the work and the rows, and how far ahead to be
    ("tables", 100_000): (0.130, 3),
    ("hill", 10_000): (1.29, 5),
    ("hill", 100_000): (5.15, 5),
    ("chow-liu", 10_000): (0.028, 1),
    ("chow-liu", 100_000): (0.207, 1),
    ("tan", 10_000): (0.033, 1),
    ("tan", 100_000): (0.319, 1),
}
HILL = 5  # how far ahead of pyAgrum a climb is to be, where it takes more than some milliseconds
HOLES = 0.2


@dataclass
class Work:
    """A network, rows of it as a frame of text and as a table of codes, and the peer's learner of the frame."""

    name: str
    truth: bb.BayesianNetwork
    rows: int
    text: Any  # of pandas
    coded: pa.Table

    def learner(self) -> gum.BNLearner:
        learner = gum.BNLearner(self.text)
        learner.useScoreBIC()
        return learner

    def fresh(self) -> bb.BayesianNetwork:
        """The structure without its tables."""
        states = {name: self.truth.states(name) for name in self.truth.nodes}
        return bb.BayesianNetwork({name: self.truth.parents(name) for name in self.truth.nodes}, states=states)

    def __str__(self) -> str:
        return f"{self.name}, {self.rows // 1000}k rows"


def run(session: harness.Session) -> None:
    gum.setNumberOfThreads(1)
    for name, truth in networks(session):
        for rows in (10_000,) if session.quick or name != "alarm" else (10_000, 100_000):
            text = truth.sample(rows, seed=1)
            coded = pa.table({column: text[column].dictionary_encode() for column in text.column_names})
            work = Work(name, truth, rows, text.to_pandas(), coded)
            require_same_scores(work)
            tables(session, work)
            climbing(session, work)
            trees(session, work)
        if name == "alarm":
            holes(session, truth)
    if session.data is not None and not session.quick:
        truth = hailfinder()
        text = truth.sample(20_000, seed=1)
        climbing(session, Work("hailfinder", truth, 20_000, text.to_pandas(), text))


def networks(session: harness.Session) -> Iterator[tuple[str, bb.BayesianNetwork]]:
    if session.data is None:
        yield "random20", made_up(20)
        return
    for name in NAMES:
        for path in sorted(session.data.rglob(f"{name}.bif"))[:1]:
            found = bb.read_network(path, normalize=True)
            assert isinstance(found, bb.BayesianNetwork)
            yield name, found


def hailfinder() -> bb.BayesianNetwork:
    """The network of 56 nodes that pgmpy ships."""
    spec = find_spec("pgmpy")
    assert spec is not None
    assert spec.origin is not None
    packed = Path(spec.origin).parent / "utils" / "example_models" / "hailfinder.bif.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hailfinder.bif"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        found = bb.read_network(path, normalize=True)
    assert isinstance(found, bb.BayesianNetwork)
    return found


def require_same_scores(work: Work) -> None:
    """BIC and log-likelihood of every family of the true structure; the peer's are in bits."""
    for score, choose in (("bic", "useScoreBIC"), ("loglik", "useScoreLog2Likelihood")):
        learner = work.learner()
        learner.useNoPrior()
        getattr(learner, choose)()
        theirs = sum(learner.score(name, work.truth.parents(name)) for name in work.truth.nodes) * math.log(2)
        ours = bb.BayesianNetwork({name: work.truth.parents(name) for name in work.truth.nodes}).score(
            work.coded, score
        )
        if not math.isclose(ours, theirs, rel_tol=1e-12):
            raise SystemExit(f"{work}: the {score} is {ours!r}, not {theirs!r}: nothing was timed")


def tables(session: harness.Session, work: Work) -> None:
    learner = work.learner()
    dag = gum.DAG()
    place = {name: learner.idFromName(name) for name in work.truth.nodes}
    for node in sorted(place.values()):
        dag.addNodeWithId(node)
    for parent, child in work.truth.edges:
        dag.addArc(place[parent], place[child])

    def theirs() -> gum.BayesNet:
        learner = work.learner()
        learner.useSmoothingPrior(1)
        return learner.learnParameters(dag)

    mine = work.fresh()
    target = 5 if work.rows == 100_000 else None
    session.compare(f"{work}: tables", lambda: mine.fit(work.text), "pyAgrum", theirs, target, rounds=3)
    recorded(session, work, "tables", lambda: mine.fit(work.coded))


def climbing(session: harness.Session, work: Work) -> None:
    learners: list[gum.BNLearner] = []
    dags: list[gum.DAG] = []

    def peer() -> None:
        learners.append(work.learner())
        learners[-1].useGreedyHillClimbing()
        dags.append(learners[-1].learnDAG())

    found: list[bb.BayesianNetwork] = []
    rounds = 1 if work.rows > 20_000 else 3
    mine, taken = harness.in_turn([lambda: found.append(bb.learn_network(work.text)), peer], rounds)
    dag, names = dags[-1], learners[-1].names()
    theirs = bb.BayesianNetwork({name: [names[p] for p in dag.parents(place)] for place, name in enumerate(names)})
    ours = found[-1]
    score, other = ours.score(work.text, "bic"), theirs.score(work.text, "bic")
    session.add(
        harness.Result(
            f"{work}: BIC of hill climbing", f"{score:.0f}", "as good", score >= other - 1e-6, "pyAgrum", f"{other:.0f}"
        )
    )
    truth = work.fresh().score(work.text, "bic")
    distance = f"distance (SHD) {ours.compare(work.truth).shd}, pyAgrum's {theirs.compare(work.truth).shd}"
    session.say(f"{work}: {distance}; the true structure has the BIC {truth:.0f}")
    session.ratio(f"{work}: hill climbing", mine, "pyAgrum", taken, HILL if len(work.truth.nodes) >= 20 else 1)
    recorded(session, work, "hill", lambda: bb.learn_network(work.coded))


def trees(session: harness.Session, work: Work) -> None:
    recorded(session, work, "chow-liu", lambda: bb.learn_network(work.coded, method="chow-liu"))
    target = work.truth.nodes[0]
    recorded(session, work, "tan", lambda: bb.learn_network(work.coded, method="tan", target=target))


def recorded(session: harness.Session, work: Work, what: str, run: harness.Run) -> None:
    """Beside bnlearn's time, as it was on one core of a machine of this kind."""
    if work.name != "alarm" or (what, work.rows) not in BNLEARN:
        return
    taken, ahead = BNLEARN[what, work.rows]
    session.ratio(f"{work}: {what}", harness.in_turn([run], 3)[0], "bnlearn, recorded", taken, ahead)


def holes(session: harness.Session, truth: bb.BayesianNetwork) -> None:
    """EM beside leaving rows out, and beside counting what can be counted."""
    rows = truth.sample(5_000, seed=2)
    random = np.random.default_rng(0)
    lost = {name: random.random(len(rows)) < HOLES for name in rows.column_names}
    holed = pa.table({name: pc.if_else(pa.array(lost[name]), None, rows[name]) for name in rows.column_names})

    def learned(table: Any, **options: Any) -> bb.BayesianNetwork:
        states = {name: truth.states(name) for name in truth.nodes}
        structure = {name: truth.parents(name) for name in truth.nodes}
        return bb.BayesianNetwork(structure, states=states).fit(table, **options)

    def error(network: bb.BayesianNetwork) -> float:
        return float(np.mean([np.abs(network.cpt(name) - truth.cpt(name)).mean() for name in truth.nodes]))

    begun = time.process_time()
    em = learned(holed)
    taken = time.process_time() - begun
    assert em.fit_ is not None
    rises = float(np.diff(em.fit_.history).min())
    whole, ignored, dropped = (
        error(learned(rows)),
        error(learned(holed, missing="ignore")),
        error(learned(holed, missing="drop")),
    )
    mine = error(em)
    work = f"alarm, 5k rows, {HOLES:.0%} of cells missing: error of a table"
    session.add(harness.Result(work, f"{mine:.4f}", "less", mine < dropped, "rows left out", f"{dropped:.4f}"))
    session.add(harness.Result(work, f"{mine:.4f}", "less", mine < ignored, "holes left out", f"{ignored:.4f}"))
    session.say(
        f"without holes {whole:.4f}; {len(em.fit_.history)} rounds in {harness.seconds(taken)}, "
        f"the objective rises by at least {rises:.3g} in each"
    )
    if rises < 0 or learned(rows, missing="em") != learned(rows, missing="drop"):
        raise SystemExit("EM falls, or does not equal counting where nothing is missing")


if __name__ == "__main__":
    harness.main(run)
