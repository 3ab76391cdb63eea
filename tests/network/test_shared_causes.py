"""Many compact tables with the same parents: diseases and findings, against full tables, enumeration and QuickScore."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import TooCostly
from bayesbox.network.exact import mpe_compact

GRAPH, PARTS = "bayesbox.network.graph", "bayesbox.network.exact.parts"


def diseases_and_findings(diseases, findings, parents, seed):
    """A network of two layers, every finding a noisy-OR of some diseases."""
    generator = np.random.default_rng(seed)
    names = [f"d{place}" for place in range(diseases)]
    structure = {name: [] for name in names}
    cpts = {name: float(generator.uniform(0.001, 0.1)) for name in names}
    for place in range(findings):
        own = [names[int(at)] for at in generator.choice(diseases, parents, replace=False)]
        structure[f"f{place}"] = own
        cpts[f"f{place}"] = bb.NoisyOr({name: float(generator.uniform(0.1, 0.9)) for name in own}, leak=0.01)
    return bb.BayesianNetwork(structure, cpts), cpts


def random_layers(generator):
    """Diseases, findings of all three kinds, one of them a parent of another, and an ordinary node below."""
    names = [f"d{place}" for place in range(4)]
    structure = {"d0": [], "d1": ["d0"], "d2": [], "d3": []}
    cpts = {"d0": 0.3, "d1": {True: 0.6, False: 0.2}, "d2": 0.4, "d3": 0.1}

    def chance():
        return float(generator.choice([0.0, 1.0, generator.random(), generator.random()]))

    for place in range(3):
        own = [str(name) for name in generator.permutation(names)[: int(generator.integers(2, 5))]]
        own += [f"f{place - 1}"] if place and generator.integers(2) else []
        structure[f"f{place}"] = own
        kind = bb.NoisyAnd if generator.random() < 0.3 else bb.NoisyOr
        leak = float(generator.choice([0.0, 0.1])) if kind is bb.NoisyOr else float(generator.choice([1.0, 0.9]))
        cpts[f"f{place}"] = kind({name: chance() for name in own}, leak=leak)
    severe = {name: {"true": generator.dirichlet(np.ones(3)).tolist()} for name in names}
    structure |= {"pain": names, "calls": ["pain", "f0"]}
    cpts["pain"] = bb.NoisyMax(severe, order=["none", "mild", "severe"], leak=[0.9, 0.06, 0.04])
    cpts["calls"] = generator.dirichlet(np.ones(2), size=(3, 2))
    return bb.BayesianNetwork(structure, cpts, states={"pain": ["none", "mild", "severe"]})


def evidence_of(generator, net):
    known = [name for name in net.nodes if generator.random() < 0.35]
    return {name: str(generator.choice(net.states(name))) for name in known}


@pytest.fixture
def taken_apart(monkeypatch):
    """Every compact table taken apart, and posteriors in parts, however small they are."""
    monkeypatch.setattr(f"{GRAPH}.SMALL_CELLS", 0)
    monkeypatch.setattr(f"{GRAPH}.ALONE_CELLS", 0)
    monkeypatch.setattr(f"{PARTS}.LOG2_SMALL", 0)
    monkeypatch.setattr(mpe_compact, "SMALL", -1.0)


@pytest.mark.parametrize("seed", range(200))
def test_in_parts_as_by_full_tables(seed, taken_apart):
    generator = np.random.default_rng([5, seed])
    net = random_layers(generator)
    full = bb.BayesianNetwork.of(net.graph.tabular)
    assert net.model.compact
    assert not full.model.compact
    evidence = evidence_of(generator, net)
    log = full.log_probability(evidence)
    assert net.log_probability(evidence) == pytest.approx(log, abs=1e-10)
    if math.isinf(log):
        for ask in (net.posteriors, net.mpe):
            with pytest.raises(bb.ImpossibleEvidence):
                ask(evidence)
        return
    wanted = full.posteriors(evidence)
    found = net.posteriors(evidence)
    for name in net.nodes:
        assert found[name] == pytest.approx(wanted[name], abs=1e-12)
    rows = {name: [evidence.get(name), None] for name in net.nodes}
    both = net.posteriors(rows)
    assert both["calls"]["true"][0] == pytest.approx(wanted["calls"]["true"], abs=1e-12)
    assert both["calls"]["true"][1] == pytest.approx(full.posteriors()["calls"]["true"], abs=1e-12)
    states, value = net.explanation(evidence)
    assert value == pytest.approx(full.explanation(evidence)[1], abs=1e-9)
    assert full.log_probability(states) == pytest.approx(value, abs=1e-9)


def test_what_to_ask_next_in_parts(taken_apart):
    generator = np.random.default_rng(8)
    net = random_layers(generator)
    full = bb.BayesianNetwork.of(net.graph.tabular)
    mine, theirs = net.ask_next({"f1": True}, "d2"), full.ask_next({"f1": True}, "d2")
    assert {each.node: each.information for each in mine} == pytest.approx(
        {each.node: each.information for each in theirs}, abs=1e-10
    )


def quick_score(cpts, parents, present, absent, diseases):
    """P(evidence) with each disease present, and in all: the signed sum over the sets of findings that are present."""
    priors = np.array([cpts[name] for name in diseases], dtype=np.longdouble)

    def fails(finding):
        own = np.ones(len(diseases), dtype=np.longdouble)
        for name in parents[finding]:
            own[diseases.index(name)] -= cpts[finding].causes[name]
        return own

    never = np.prod([fails(each) for each in absent], axis=0)
    total, with_each = np.longdouble(0), np.zeros(len(diseases), dtype=np.longdouble)
    for size in range(len(present) + 1):
        for some in itertools.combinations(present, size):
            product = never * np.prod([fails(each) for each in some], axis=0) if some else never
            leaks = np.longdouble(1 - 0.01) ** (len(absent) + size) * (-1) ** size
            sums = 1 - priors + priors * product
            all_of_them = np.prod(sums) * leaks
            total += all_of_them
            with_each += all_of_them / sums * priors * product
    return with_each / total, total


@pytest.mark.parametrize("parents", [20, 100])
def test_a_hundred_diseases_and_thirty_findings(parents):
    net, cpts = diseases_and_findings(100, 30, parents, seed=1)
    present, absent = [f"f{place}" for place in range(6)], [f"f{place}" for place in range(6, 24)]
    evidence = {**dict.fromkeys(present, True), **dict.fromkeys(absent, False)}
    diseases = net.nodes[:100]
    shares, total = quick_score(cpts, {name: net.parents(name) for name in net.nodes}, present, absent, diseases)
    found = net.posteriors(evidence)
    assert [found[name]["true"] for name in diseases] == pytest.approx(shares.astype(float).tolist(), abs=1e-10)
    assert net.log_probability(evidence) == pytest.approx(float(np.log(total)), abs=1e-8)
    unknown = {**evidence, "f29": False}
    ratio = math.exp(net.log_probability(unknown) - net.log_probability(evidence))
    assert found["f29"]["false"] == pytest.approx(ratio, rel=1e-9)
    assert net.cost(evidence).cases == 1


def test_absent_findings_join_no_diseases():
    net, _ = diseases_and_findings(60, 40, 50, seed=2)
    absent = {f"f{place}": False for place in range(40)}
    assert net.cost(absent).bytes < 50_000
    ten = {f"f{place}": place < 10 for place in range(40)}
    assert net.cost(ten).cases == 1  # one step of each of the ten at a time
    assert net.cost(ten).bytes < 2**28


def test_effects_that_are_many_and_present_are_refused():
    net, _ = diseases_and_findings(60, 40, 50, seed=2)
    with pytest.raises(TooCostly):
        net.posteriors({f"f{place}": True for place in range(40)})


def noisy_or_of(count, seed, most=0.6):
    generator = np.random.default_rng(seed)
    names = [f"x{place}" for place in range(count)]
    priors, effects = generator.random(count) * most, generator.random(count)
    noisy = bb.NoisyOr(dict(zip(names, effects.tolist(), strict=True)), leak=0.001)
    return (
        bb.BayesianNetwork({"y": names}, {**dict(zip(names, priors.tolist(), strict=True)), "y": noisy}),
        priors,
        effects,
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_most_probable_of_eighteen_causes_by_enumeration(seed):
    net, priors, effects = noisy_or_of(18, seed)
    cases = (np.arange(2**18)[:, None] >> np.arange(18)) & 1
    joint = np.where(cases, np.log(priors), np.log1p(-priors)).sum(axis=1)
    fails = np.log1p(-0.001) + (cases * np.log1p(-effects)).sum(axis=1)
    for there, values in ((True, joint + np.log(-np.expm1(fails))), (False, joint + fails)):
        states, value = net.explanation({"y": there})
        assert value == pytest.approx(values.max(), abs=1e-9)
        assert [states[f"x{place}"] == "true" for place in range(18)] == cases[values.argmax()].astype(bool).tolist()


@pytest.mark.parametrize("count", [30, 200])
def test_the_most_probable_of_many_causes(count):
    """No change of one or two causes is better, and the effect that is not known takes its better state."""
    net, priors, effects = noisy_or_of(count, 3, most=0.4)
    states, value = net.explanation({"y": True})
    there = np.array([states[f"x{place}"] == "true" for place in range(count)])

    def log_of(case):
        fails = np.log1p(-0.001) + np.log1p(-effects)[case].sum()
        return np.where(case, np.log(priors), np.log1p(-priors)).sum() + math.log(-math.expm1(fails))

    assert value == pytest.approx(log_of(there), abs=1e-9)
    for some in itertools.combinations_with_replacement(range(min(count, 40)), 2):
        other = there.copy()
        other[list(set(some))] ^= True
        assert log_of(other) <= value + 1e-9
    assert net.explanation({})[1] == pytest.approx(
        max(net.explanation({"y": each})[1] for each in (True, False)), abs=1e-9
    )


def test_the_most_probable_diseases_and_findings():
    net, _ = diseases_and_findings(100, 30, 20, seed=1)
    evidence = {f"f{place}": place < 3 for place in range(24)}
    states, value = net.explanation(evidence)
    assert net.log_probability(states) == pytest.approx(value, abs=1e-9)
    for name in net.nodes[:100]:
        other = {**states, name: "false" if states[name] == "true" else "true"}
        assert net.log_probability(other) <= value + 1e-9


def test_time_that_runs_out_is_refused():
    net, _ = diseases_and_findings(100, 30, 100, seed=1)
    net.max_seconds = 1e-9
    with pytest.raises(TooCostly):
        net.mpe({f"f{place}": True for place in range(30)})
