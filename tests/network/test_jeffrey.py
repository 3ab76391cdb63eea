"""Jeffrey's rule against its definition, and against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.enumeration import joint, marginal, random_network

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence


@pytest.mark.parametrize("seed", range(200))
def test_one_node_is_the_mixture_of_its_states(seed):
    generator = np.random.default_rng([21, seed])
    net = random_network(generator, nodes=int(generator.integers(2, 6)), zeros=0, least_states=2)
    node, other = generator.permutation(net.nodes)[:2].tolist()
    states = net.states(node)
    shares = generator.dirichlet(np.ones(len(states)))
    text = ", ".join(f"{state}:{Fraction(repr(float(share)))}" for state, share in zip(states, shares, strict=True))
    parts = [net.query(f"P({other} | {node}={state})") for state in states]
    if sum(Fraction(repr(float(share))) for share in shares) == 1:
        found = net.query(f"P({other} | {node}:=({text}))")
        for state in net.states(other):
            mixed = sum(share * part[state] for share, part in zip(shares, parts, strict=True))
            assert found[state] == pytest.approx(mixed, abs=1e-12)
    after = net.posteriors(net.jeffrey({node: dict(zip(states, shares.tolist(), strict=True))}))
    assert list(after[node].values()) == pytest.approx(shares.tolist(), abs=1e-12)
    mixed = [sum(s * part[state] for s, part in zip(shares, parts, strict=True)) for state in net.states(other)]
    assert list(after[other].values()) == pytest.approx(mixed, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_several_nodes_have_their_probabilities_together_and_nothing_else_changes(seed):
    generator = np.random.default_rng([22, seed])
    net = random_network(generator, nodes=5, zeros=0, least_states=2)
    nodes = generator.permutation(net.nodes)[:2].tolist()
    wanted = {name: generator.dirichlet(3 * np.ones(len(net.states(name)))) for name in nodes}
    beliefs = {name: dict(zip(net.states(name), shares.tolist(), strict=True)) for name, shares in wanted.items()}
    after = net.posteriors(net.jeffrey(beliefs))
    for name, shares in wanted.items():
        assert list(after[name].values()) == pytest.approx(shares.tolist(), abs=1e-9)
    # iterative proportional fitting of the joint distribution itself
    table = joint(net)
    for _ in range(500):
        for name, shares in wanted.items():
            shape = [-1 if each == name else 1 for each in net.nodes]
            table = table * (shares / marginal(net, table, [name])).reshape(shape)
    for name in net.nodes:
        assert list(after[name].values()) == pytest.approx(marginal(net, table, [name]).tolist(), abs=1e-8)


def test_fractions_evidence_and_refusals():
    net = bb.BayesianNetwork(
        {"b": ["a"], "c": ["b"]}, {"a": 0.5, "b": {True: 0.9, False: 0.2}, "c": {True: 0.7, False: 0.1}}
    )
    assert (
        net.fraction("P(c=true | b:=(true:1/3, false:2/3))") == Fraction(1, 3) * Fraction(7, 10) + Fraction(2, 3) / 10
    )
    with_a = net.query("P(c=true | a=true, b:=0.5)")  # what is known besides is put in first
    assert with_a == pytest.approx(0.5 * 0.7 + 0.5 * 0.1)
    assert "b~" in str(net.work("P(a=true | b:=0.5)"))
    with pytest.raises(BadOption, match="sum to 1"):
        net.query("P(c | b:=(true:0.5, false:0.6))")
    with pytest.raises(BadOption, match="besides"):
        net.query("P(c | b:=0.5, b=true)")
    with pytest.raises(BadOption, match="sum to 1"):
        net.jeffrey({"b": {"true": 1, "false": 1}})
    with pytest.raises(BadOption, match="fraction"):
        net.fraction("P(c=true | a:=0.5, b:=0.4)")
    with pytest.raises(ImpossibleEvidence):
        net.do({"b": True}).query("P(c | b:=0.5)")
    with pytest.raises(BadOption, match="networks"):
        bb.Joint({"a": ["x", "y"]}).query("P(a | a:=(x:0.5, y:0.5))")
