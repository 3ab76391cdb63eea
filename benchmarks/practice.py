"""Networks in practice: noisy-OR with many parents, the effect of acting, and sensitivity of all cells.

The peer for noisy-OR and for effects is pyAgrum where it is installed; answers are compared first. Sensitivity is
measured against changing each number and asking again, with our own answers, since the peer has none. `--data` names a
folder with alarm in BIF; without it a network made at random is taken.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import bayesbox as bb
import harness
from ask_next import made_up

PARENTS = 20
LEAK = 0.01
TIMES = 20
CHANGED = 40  # cells that are changed one by one, from which the time of all is taken


def run(session: harness.Session) -> None:
    warnings.simplefilter("ignore")
    noisy_or(session)
    effects(session)
    sensitivity(session)


def noisy_or(session: harness.Session) -> None:
    """All posteriors given the effect, the network made anew each time."""
    names = [f"x{place}" for place in range(PARENTS)]
    random = np.random.default_rng(0)
    priors, weights = random.uniform(0.05, 0.3, PARENTS).tolist(), random.uniform(0.1, 0.9, PARENTS).tolist()

    def ours() -> Any:
        noisy = bb.NoisyOr(dict(zip(names, weights, strict=True)), leak=LEAK)
        net = bb.BayesianNetwork({"y": names}, {**dict(zip(names, priors, strict=True)), "y": noisy})
        return net.posteriors({"y": "true"})

    absent = (1 - LEAK) * float(np.prod([1 - p * w for p, w in zip(priors, weights, strict=True)]))
    expected = [p * (1 - absent / (1 - p * w) * (1 - w)) / (1 - absent) for p, w in zip(priors, weights, strict=True)]
    harness.require_equal(np.array([ours()[name]["true"] for name in names]), np.array(expected), within=1e-12)
    theirs = agrum_noisy_or(names, priors, weights)
    what = f"noisy-OR of {PARENTS} parents: make, all posteriors"
    if theirs is None:
        [mine] = harness.in_turn([ours], session.rounds)
        session.amount(what, mine, 0.02, harness.seconds)
        return
    harness.require_equal(np.array(theirs()), np.array(expected), within=1e-6)
    session.compare(what, ours, "pyAgrum, NoisyOR", theirs, 10.0)


def agrum_noisy_or(names: list[str], priors: list[float], weights: list[float]) -> Any:
    """The same by pyAgrum; None where it is not installed."""
    try:
        import pyagrum as gum
    except ImportError:
        return None

    def theirs() -> list[float]:
        net = gum.BayesNet()
        for name in names:
            net.add(gum.LabelizedVariable(name, name, 2))
        net.addNoisyORNet(gum.LabelizedVariable("y", "y", 2), LEAK)
        for name, prior, weight in zip(names, priors, weights, strict=True):
            net.addWeightedArc(name, "y", weight)
            net.cpt(name)[:] = [1 - prior, prior]
        engine = gum.LazyPropagation(net)
        engine.setEvidence({"y": 1})
        engine.makeInference()
        return [float(engine.posterior(name)[1]) for name in names]

    return theirs


def effects(session: harness.Session) -> None:
    """P(y | do(x)) by the front door: the formula found, and worked out."""
    random = np.random.default_rng(1)
    tables = {
        "u": random.dirichlet(np.ones(2)),
        "x": random.dirichlet(np.ones(2), size=2),
        "z": random.dirichlet(np.ones(2), size=2),
        "y": random.dirichlet(np.ones(2), size=(2, 2)),
    }
    structure: dict[str, list[str]] = {"u": [], "x": ["u"], "z": ["x"], "y": ["z", "u"]}
    net = bb.BayesianNetwork(structure, tables, states={name: ["0", "1"] for name in structure})
    truth = net.query("P(y=1 | do(x=1))")

    def ours() -> float:
        return float(net.identify("P(y=1 | do(x=1))", latent=["u"]).answer())  # type: ignore[arg-type]

    harness.require_equal(np.array([ours()]), np.array([truth]), within=1e-12)
    theirs = agrum_effect(net)
    if theirs is None:
        [mine] = harness.in_turn([ours], session.rounds)
        session.amount("front door: identify and answer", mine, 0.02, harness.seconds)
        return
    harness.require_equal(np.array([theirs()]), np.array([truth]), within=1e-6)
    session.compare("front door: identify and answer", ours, "pyAgrum, causalImpact", theirs, None)


def agrum_effect(net: bb.BayesianNetwork) -> Any:
    """The same by pyAgrum; None where it is not installed."""
    try:
        import pyagrum as gum
        import pyagrum.causal as causal
    except ImportError:
        return None
    first = net.query("P(x)")
    observed = gum.fastBN("x->z;z->y;x->y")  # the observed distribution, with the arc that the latent node makes
    observed.cpt("x")[:] = [first["0"], first["1"]]
    for state in ("0", "1"):
        found = net.query(f"P(z | x={state})")
        observed.cpt("z")[{"x": int(state)}] = [found["0"], found["1"]]
        for other in ("0", "1"):
            answer = net.query(f"P(y | x={state}, z={other})")
            observed.cpt("y")[{"x": int(state), "z": int(other)}] = [answer["0"], answer["1"]]
    model = causal.CausalModel(observed, [("u", ["x", "y"])])  # in place of the arc between the two

    def theirs() -> float:
        _, table, _ = causal.causalImpact(model, on="y", doing="x", values={"x": 1})
        return float(table[1])

    return theirs


def sensitivity(session: harness.Session) -> None:
    """All cells at once, against changing each and asking again."""
    found = sorted(session.data.rglob("alarm.bif")) if session.data else []
    net = bb.read_network(found[0]) if found else made_up(37)
    assert isinstance(net, bb.BayesianNetwork)
    name = "alarm" if found else "random37"
    target = net.nodes[3]
    leaves = [node for node in net.nodes if not net.children(node) and node != target]
    known = ", ".join(f"{node}={net.states(node)[0]}" for node in leaves)
    question = f"P({target}={net.states(target)[0]} | {known})"
    cells = list(net.sensitivity(question))

    def ours() -> Any:
        return net.sensitivity(question)

    def one_by_one() -> list[float]:
        answers = []
        for cell in cells[:: max(1, len(cells) // CHANGED)][:CHANGED]:
            table = net.cpt(cell.node)
            assert table is not None
            row = tuple(net.states(parent).index(state) for parent, state in cell.given)
            place = net.states(cell.node).index(cell.state)
            value = 0.5 * (cell.value + 0.5)
            rest = table[row].sum() - table[(*row, place)]
            scale = (1 - value) / rest if rest > 0 else 0.0
            changed = table[row] * scale if rest > 0 else np.full(len(table[row]), (1 - value) / (len(table[row]) - 1))
            changed[place] = value
            table[row] = changed
            answers.append(float(net.with_cpt(cell.node, table).query(question)))  # type: ignore[arg-type]
        return answers

    some = cells[:: max(1, len(cells) // CHANGED)][:CHANGED]
    direct = [cell.at(0.5 * (cell.value + 0.5)) for cell in some]
    harness.require_equal(np.array(direct), np.array(one_by_one()), within=1e-9, what="sensitivity")
    mine, theirs = harness.in_turn([ours, one_by_one], session.rounds)
    session.ratio(
        f"{name}: sensitivity of {len(cells):,} cells",
        mine,
        "cell by cell, ours",
        theirs * len(cells) / len(some),
        100.0,
    )


if __name__ == "__main__":
    harness.main(run)
