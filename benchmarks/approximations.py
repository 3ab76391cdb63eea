"""Approximate inference against exact inference: how many answers lie within three of the standard errors they state.

`--data` names a folder with networks in BIF, of which alarm is taken; without it, one made at random. Evidence is drawn
two ways: states as they occur together, and states at random, which together may be rare. Of estimates whose errors are
right and normal, 99.73 % lie within three of them.

Then every approximation on hard factor graphs: those of the UAI competition in the folder that exact inference does not
answer at once within 2 GiB, against the published marginals, and some of our own, against exact answers. For each the
mean and the worst error, the share of marginals within three stated errors or within the bounds, and the seconds;
"cannot say" if the method states none. A small problem is answered with several seeds, until a thousand marginals are
counted: those of one run go together. Last, the method a user would take, which is the one that states the least error.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesbox as bb
import harness
import networks
import uai
from bayesbox.network.formats.uai import read_evidence

SETS = 1000
MOST_KNOWN = 8
AT_LEAST = 0.997
NORMAL = 0.9973  # of normal errors, within three
HARD_METHODS = ("weighting", "gibbs", "blockgibbs", "bounds", "loopy", "meanfield")
SEEDED = ("weighting", "gibbs", "blockgibbs")
MARGINALS = 1000
HOLDING, CLOSE = 0.99, 0.01
PRINTED = 1e-6  # what published marginals are rounded by
WIDE = 0.5  # bounds that are wider say next to nothing


def run(session: harness.Session) -> None:
    warnings.simplefilter("ignore", bb.DataWarning)
    network = chosen(session)
    sets = SETS // 20 if session.quick else SETS
    for kind in ("occurring", "random"):
        cases = list(evidence_sets(network, sets // 2, kind))
        for method in ("weighting", "gibbs"):
            measure(session, network, cases, method, kind)
    bounds(session, network, list(evidence_sets(network, sets // 2, "random")))
    for name, graph, evidence, truth in hard_ones(session):
        answers = [on_hard_one(session, name, graph, evidence, truth, method) for method in HARD_METHODS]
        believed = [each for each in answers if each is not None]
        if not believed:
            session.add(harness.Result(f"{name}: mean error", "cannot say", f"< {CLOSE}", False))
            continue
        stated, method, off = min(believed)
        session.add(harness.Result(f"{name}: mean error of {method}", f"{off:.5f}", f"< {CLOSE}", off < CLOSE))
        session.say(f"which states the least, {stated:.2g}")


def hard_ones(session: harness.Session) -> Iterator[tuple[str, Any, dict[str, str], np.ndarray]]:
    """A name, a graph, evidence, and the marginals of all its variables one after another."""
    for path in sorted(session.data.rglob("*.uai")) if session.data and not session.quick else []:
        graph, evidence = bb.read_network(path), _evidence(path)
        if graph.cost(evidence).conditioned_on:
            values = [value for _, some in uai.marginals(path.with_name(path.name + ".MAR")) for value in some]
            yield path.stem, graph, evidence, np.array(values, dtype=np.float64)
    for name, make in uai.made(quick=session.quick).items():
        graph, evidence = make()
        found = graph.posteriors(evidence)
        yield name, graph, evidence, np.array([share for each in found for share in found[each].values()])


def _evidence(path: Path) -> dict[str, str]:
    return read_evidence(path.with_name(path.name + ".evid").read_bytes(), where=path.name)


def on_hard_one(
    session: harness.Session, name: str, graph: Any, evidence: dict[str, str], truth: np.ndarray, method: str
) -> tuple[float, str, float] | None:
    """The mean error that a method states, its name, and the mean error it has; None if it states none."""
    count = len(truth)  # of the nodes; the steps of compact tables come after
    seeds = range(1 if method not in SEEDED or session.quick else max(1, -(-MARGINALS // count)))
    offs, insides, stated, taken = [], [], [], []
    for seed in seeds:
        begun = time.process_time()
        options = {"seed": seed} if method in SEEDED else {}
        about = graph.posteriors(evidence, approx=method, **options).approximation
        taken.append(time.process_time() - begun)
        off = np.abs(about.table[:count] - truth)
        offs.append(off)
        if about.errors is not None:
            insides.append(off <= 3 * about.errors[:count] + PRINTED)
            stated.append(about.errors[:count].mean())
        elif about.lower is not None and about.widest < WIDE:
            insides.append((about.lower[:count] <= truth + PRINTED) & (truth <= about.upper[:count] + PRINTED))
            stated.append((about.upper - about.lower)[:count].mean())
    off = np.array(offs)
    share = float(np.mean(insides)) if insides else None
    said = "cannot say" if share is None else f"{share:.1%}"
    holds = None if share is None else share >= HOLDING
    session.add(harness.Result(f"{name}, {method}: within what is stated", said, f">= {HOLDING:.0%}", holds))
    session.say(
        f"mean error {off.mean():.5f}, worst {off.max():.4f}"
        + (f", stated {np.mean(stated):.2g}" if stated else "")
        + f"; {harness.seconds(float(np.median(taken)))}"
        + (f"; {len(insides)} of {len(seeds)} seeds" if len(seeds) > 1 else "")
    )
    return (float(np.mean(stated)), method, float(off.mean())) if stated else None


def chosen(session: harness.Session) -> bb.BayesianNetwork:
    found = sorted(session.data.rglob("alarm.bif")) if session.data else []
    network = bb.read_network(found[0]) if found else networks.made_up(30)
    assert isinstance(network, bb.BayesianNetwork)
    return network


def evidence_sets(network: bb.BayesianNetwork, count: int, kind: str) -> Iterator[dict[str, str]]:
    random = np.random.default_rng(len(kind))
    while count:
        known = random.permutation(network.nodes)[: int(random.integers(0, MOST_KNOWN + 1))]
        row: dict[str, Any] = network.sample(1, seed=int(random.integers(2**31))).to_pylist()[0]
        evidence = {
            str(name): row[name] if kind == "occurring" else str(random.choice(network.states(name))) for name in known
        }
        if np.isfinite(network.log_probability(evidence)):
            count -= 1
            yield evidence


def measure(
    session: harness.Session, network: bb.BayesianNetwork, cases: list[dict[str, str]], method: str, kind: str
) -> None:
    scores: list[float] = []
    taken = 0.0
    for seed, evidence in enumerate(cases):
        start = time.process_time()
        found = network.posteriors(evidence, approx=method, seed=seed)
        taken += time.process_time() - start
        exact = network.posteriors(evidence)
        errors = found.standard_errors  # type: ignore[attr-defined]
        scores += [
            (found[name][state] - exact[name][state]) / errors[name][state]
            for name in network.nodes
            if name not in evidence
            for state in exact[name]
        ]
    sizes = np.abs(scores)
    within = float((sizes <= 3).mean())
    session.add(
        harness.Result(
            f"{method}, {len(cases)} {kind} sets: within three errors",
            f"{within:.2%}",
            f">= {AT_LEAST:.1%}",
            within >= AT_LEAST,
        )
    )
    session.say(
        f"{len(scores):,} states, of normal errors {NORMAL:.2%} would be; the farthest {sizes.max():.1f} errors off, "
        f"half within {np.median(sizes):.2f}; "
        f"{harness.seconds(taken / len(cases))} a set"
    )


def bounds(session: harness.Session, network: bb.BayesianNetwork, cases: list[dict[str, str]]) -> None:
    """Loopy propagation's error, and mean field's bound, for which there is no error to state."""
    worst, rest, above = [], 0, 0
    for evidence in cases:
        exact = network.posteriors(evidence)
        loopy = network.posteriors(evidence, approx="loopy")
        rest += loopy.approximation.residual <= 1e-12  # type: ignore[attr-defined]
        worst.append(max(abs(loopy[name][state] - exact[name][state]) for name in exact for state in exact[name]))
        bound = network.posteriors(evidence, approx="meanfield").approximation  # type: ignore[attr-defined]
        above += bound.log_evidence > network.log_probability(evidence) + 1e-9
    share = f"{above / len(cases):.2%}"
    session.add(harness.Result(f"meanfield, {len(cases)} random sets: bound above", share, "0", above == 0))
    session.say(
        f"loopy: at rest in {rest} of {len(cases)} sets; the farthest state off by {np.median(worst):.4f} (median)"
    )


if __name__ == "__main__":
    harness.main(run)
