"""What to ask next, conflict and the strength of arcs, against sums over the whole joint distribution."""

from __future__ import annotations

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from tests.oracle.enumeration import joint, marginal, random_evidence, random_network, weighed

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence, UnknownNode

SEEDS = range(20)


def mutual(table):
    """I(X; Y) in bits of a table of X and Y, term by term."""
    table = table / table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    cells = itertools.product(range(len(rows)), range(len(columns)))
    terms = (table[i, j] * math.log2(table[i, j] / (rows[i] * columns[j])) for i, j in cells if table[i, j] > 0)
    return math.fsum(terms)


def case(seed):
    """A network of seven nodes with possible evidence, part of it likelihoods, that leaves two nodes unknown."""
    generator = np.random.default_rng(seed)
    while True:
        network = random_network(generator, nodes=7)
        evidence = random_evidence(generator, network)
        known = [name for name, value in evidence.items() if isinstance(value, str)]
        total = weighed(network, joint(network), evidence)
        if total.sum() > 1e-12 and len(known) <= 5:
            return network, evidence, known, total


@pytest.mark.parametrize("seed", SEEDS)
def test_expected_information_is_that_of_the_joint_distribution(seed):
    network, evidence, known, total = case(seed)
    for target in (name for name in network.nodes if name not in known):
        found = network.ask_next(evidence, target)
        assert {each.node for each in found} == set(network.nodes) - set(known) - {target}
        for each in found:
            assert each.information == pytest.approx(mutual(marginal(network, total, [each.node, target])), abs=1e-10)
        assert [each.information for each in found] == sorted((each.information for each in found), reverse=True)
        shares = marginal(network, total, [target]) / total.sum()
        assert list(found.posterior.values()) == pytest.approx(shares.tolist(), abs=1e-12)
        assert found.entropy == pytest.approx(-sum(p * math.log2(p) for p in shares if p > 0), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_arc_strengths_are_those_of_the_joint_distribution(seed):
    network, evidence, _, total = case(seed)
    found = network.strengths(evidence)
    assert len(found) == len(network.edges)
    for parent, child in network.edges:
        others = [name for name in network.parents(child) if name != parent]
        table = marginal(network, total, [*others, parent, child]) / total.sum()
        slices = table.reshape(-1, *table.shape[-2:])
        conditional = math.fsum(each.sum() * mutual(each) for each in slices if each.sum() > 0)
        arc = found[parent, child]
        assert arc.conditional == pytest.approx(conditional, abs=1e-10)
        assert arc.mutual == pytest.approx(mutual(table.reshape(-1, *table.shape[-2:]).sum(axis=0)), abs=1e-10)
        assert 0 <= arc.share <= 1 + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_conflict_is_that_of_the_joint_distribution(seed):
    network, evidence, _, total = case(seed)
    evidence = {name: value for name, value in evidence.items() if value is not None}
    every = joint(network)
    alone = {name: weighed(network, every, {name: value}).sum() for name, value in evidence.items()}
    found = network.conflict(evidence)
    assert float(found) == pytest.approx(
        math.fsum(map(math.log2, alone.values())) - math.log2(total.sum()) if len(evidence) > 1 else 0.0, abs=1e-9
    )
    assert {each.node: each.probability for each in found.findings} == pytest.approx(alone)
    pairs = {}
    for one, other in itertools.combinations([name for name in network.nodes if name in evidence], 2):
        both = weighed(network, every, {one: evidence[one], other: evidence[other]}).sum()
        pairs[one, other] = math.log2(alone[one] * alone[other] / both)
    got = {(pair.first.split("=")[0], pair.second.split("=")[0]): pair.bits for pair in found.pairs}
    assert got == pytest.approx(pairs, abs=1e-9)
    for rare in found.rare_cases:  # with it as one finding more, no conflict is left
        assert float(network.conflict({**evidence, rare.node: rare.state})) <= 1e-9


def asia():
    return bb.BayesianNetwork(
        {"tub": ["asia"], "lung": ["smoke"], "bronc": ["smoke"], "either": ["tub", "lung"], "xray": ["either"]},
        {
            "asia": 0.01, "smoke": 0.5, "tub": {True: 0.05, False: 0.01}, "lung": {True: 0.1, False: 0.01},
            "bronc": {True: 0.6, False: 0.3}, "xray": {True: 0.98, False: 0.05},
            "either": {(True, True): 1, (True, False): 1, (False, True): 1, (False, False): 0},
        },
    )  # fmt: skip


def test_costs_change_the_order():
    network = asia()
    free = network.ask_next({"smoke": True}, "lung")
    assert [each.node for each in free][:2] == ["either", "xray"]
    paid = network.ask_next({"smoke": True}, "lung", costs={"either": 50, "xray": 2})
    assert paid.best.node == "xray"
    assert paid.best.worth == pytest.approx(paid.best.information / 2)
    assert {each.node: each.information for each in paid} == {each.node: each.information for each in free}
    assert "bits per cost" in str(paid)
    assert "cost" not in str(free)


def test_results_show_themselves():
    network = asia()
    found = network.ask_next({"xray": True}, "lung")
    assert found.to_frame()["node"].tolist() == [each.node for each in found]
    assert "<table>" in found._repr_html_()
    assert "lung" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["questions"][0] == found[0].to_dict()
    conflict = network.conflict({"xray": True, "smoke": False, "tub": False})
    assert conflict > 0
    assert conflict.rare_cases[0].node in ("lung", "either")
    assert "the findings conflict" in str(conflict)
    assert "<table>" in conflict._repr_html_()
    assert len(conflict.to_frame()) == 3
    again = pickle.loads(pickle.dumps(conflict))
    assert float(again) == float(conflict)
    assert again.parts == conflict.parts
    json.dumps(conflict.to_dict())
    strengths = network.strengths()
    assert strengths.to_frame()["parent"].tolist() == [each.parent for each in strengths]
    assert len(strengths) == len(network.edges)
    assert "->" in str(strengths)
    with pytest.raises(KeyError):
        strengths["lung", "smoke"]


def test_a_copy_says_all_and_a_stranger_nothing():
    network = bb.BayesianNetwork(
        {"copy": ["coin"], "other": []}, {"coin": 0.5, "copy": {True: 1, False: 0}, "other": 0.3}
    )
    found = network.ask_next(None, "coin")
    assert {each.node: each.information for each in found} == pytest.approx({"copy": 1.0, "other": 0.0})


def test_what_cannot_be_asked():
    network = asia()
    with pytest.raises(BadOption):
        network.ask_next({"lung": True}, "lung")
    with pytest.raises(UnknownNode):
        network.ask_next({}, "lungs")
    with pytest.raises(UnknownNode):
        network.ask_next({}, "lung", costs={"x-ray": 2})
    for cost in (0, -1, math.inf, math.nan, "2", True):
        with pytest.raises(BadOption):
            network.ask_next({}, "lung", costs={"xray": cost})
    impossible = {"either": False, "tub": True}
    for ask in (lambda: network.ask_next(impossible, "lung"), lambda: network.conflict(impossible)):
        with pytest.raises(ImpossibleEvidence):
            ask()
    with pytest.raises(ImpossibleEvidence):
        network.strengths(impossible)


def test_a_factor_graph_is_asked_alike():
    network = asia()
    graph = bb.FactorGraph(network.model)
    found = graph.ask_next({"xray": "true"}, "lung")
    assert [each.information for each in found] == pytest.approx(
        [each.information for each in network.ask_next({"xray": "true"}, "lung")]
    )
    evidence = {"xray": "true", "smoke": "false"}
    assert float(graph.conflict(evidence)) == pytest.approx(float(network.conflict(evidence)))
