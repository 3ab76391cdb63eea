"""Sensitivity against networks whose tables were changed, and cross-entropy against sums over all states."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.oracle.enumeration import joint, marginal, random_evidence, random_network, weighed

import bayesbox as bb
from bayesbox.errors import BadData, BadOption


def changed(net, node, row, place, value):
    """The network with one cell of a table changed, and its row in proportion."""
    table = net.cpt(node).reshape(-1, len(net.states(node)))
    rest = np.delete(np.arange(table.shape[1]), place)
    total = table[row, rest].sum()
    table[row, rest] = table[row, rest] * (1 - value) / total if total > 0 else (1 - value) / len(rest)
    table[row, place] = value
    return net.with_cpt(node, table)


def answer(net, evidence, target, state):
    """P(target=state | evidence) by the whole joint distribution; None where the evidence is impossible."""
    table = weighed(net, joint(net), evidence)
    shares = marginal(net, table, [target])
    return None if shares.sum() < 1e-14 else float(shares[state] / shares.sum())


@pytest.mark.parametrize("seed", range(200))
def test_the_answer_is_the_ratio_of_linear_functions_of_every_cell(seed):
    generator = np.random.default_rng([31, seed])
    while True:
        net = random_network(generator, nodes=int(generator.integers(2, 6)), zeros=0.1 if seed % 2 else 0)
        evidence = random_evidence(generator, net)
        free = [name for name in net.nodes if not isinstance(evidence.get(name), str)]
        if free and weighed(net, joint(net), evidence).sum() > 1e-9:
            break
    target = str(generator.choice(free))
    state = int(generator.integers(len(net.states(target))))
    terms = [f"{name}={value}" for name, value in evidence.items() if isinstance(value, str)]
    terms += [
        f"{name}~({', '.join(f'{state}:{share:.6f}' for state, share in value.items())})"
        for name, value in evidence.items()
        if isinstance(value, dict)
    ]
    evidence = {
        name: {state: round(share, 6) for state, share in value.items()} if isinstance(value, dict) else value
        for name, value in evidence.items()
    }
    given = f" | {', '.join(terms)}" if terms else ""
    found = net.sensitivity(f"P({target}=s{state}{given})", spread=0.2)
    assert found.value == pytest.approx(answer(net, evidence, target, state), abs=1e-10)
    cells = list(found)
    for cell in generator.permutation(len(cells))[:6].tolist():
        each = cells[cell]
        row = 0
        for parent, parent_state in each.given:
            row = row * len(net.states(parent)) + net.states(parent).index(parent_state)
        place = net.states(each.node).index(each.state)
        assert each.value == net.cpt(each.node).reshape(-1, len(net.states(each.node)))[row, place]
        for value in (0.3, 0.8, each.value * 0.8, min(each.value * 1.2, 1)):
            truth = answer(changed(net, each.node, row, place, value), evidence, target, state)
            if truth is not None:
                assert each.at(value) == pytest.approx(truth, abs=1e-8)
        assert each.low == pytest.approx(each.at(each.value * 0.8), abs=1e-12)
        a, b, c, d = each.coefficients
        slope = (a * d - b * c) / (c * each.value + d) ** 2
        assert each.derivative == pytest.approx(slope, rel=1e-6, abs=1e-9)
    depend = {cell.node for cell in cells}
    known = [name for name in evidence if evidence[name] is not None]
    above = set().union(*(net.ancestors(name) for name in [target, *known])) | {target, *known}
    assert depend == {name for name in above if len(net.states(name)) > 1}


def alarm():
    return bb.BayesianNetwork(
        {"A": ["B", "E"], "J": ["A"]},
        {
            "B": 0.01,
            "E": 0.02,
            "A": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
            "J": {True: 0.9, False: 0.05},
        },
    )


def test_the_result_prints_draws_and_is_plain_data():
    found = alarm().sensitivity("P(B=true | J=true)")
    assert [cell.swing for cell in found] == sorted((cell.swing for cell in found), reverse=True)
    assert "P(J=true | A=false)" in str(found)
    assert found.svg().startswith("<svg")
    assert found.svg().count("<rect") == 1 + 2 * min(len(found), 15)
    assert found.to_frame().shape[0] == len(found) == 16
    assert found.to_dict()["cells"][0]["given"] == dict(found.cells[0].given)
    assert found.of("B", "true").derivative > 0
    with pytest.raises(KeyError):
        found.of("B", "maybe")
    with pytest.raises(BadOption):
        found.of("B", "true").at(2)


def test_acting_and_compact_tables():
    net = alarm()
    acted = net.sensitivity("P(J=true | do(A=true))")
    assert {cell.node for cell in acted} == {"J"}
    noisy = net.with_cpt("A", bb.NoisyOr({"B": 0.9, "E": 0.3}, leak=0.001))
    found = noisy.sensitivity("P(B=true | J=true)")
    cell = next(each for each in found if each.node == "A" and each.given == (("B", "true"),) and each.state == "true")
    assert str(cell) == "P(A=true | B=true alone)"
    for value in (0.1, 0.5, 1.0):
        other = net.with_cpt("A", bb.NoisyOr({"B": value, "E": 0.3}, leak=0.001))
        assert cell.at(value) == pytest.approx(other.query("P(B=true | J=true)"), abs=1e-12)


def test_what_sensitivity_refuses():
    net = alarm()
    for question, spread in (("P(B)", 0.1), ("P(B=true)", 0), ("P(B=true)", 2), ("P(B=true | B=false)", 0.1)):
        with pytest.raises(BadOption):
            net.sensitivity(question, spread=spread)


@pytest.mark.parametrize("seed", range(200))
def test_cross_entropy_is_the_sum_over_all_states(seed):
    generator = np.random.default_rng([32, seed])
    nodes = int(generator.integers(1, 6))
    one = random_network(generator, nodes=nodes, most_states=2, least_states=2)
    other = random_network(generator, nodes=nodes, most_states=2, least_states=2, zeros=0)
    first = joint(one)
    second = joint(other).transpose([other.nodes.index(name) for name in one.nodes])
    there = first > 0
    expected = float(-(first[there] * np.log2(second[there])).sum())
    entropy = float(-(first[there] * np.log2(first[there])).sum())
    found = one.cross_entropy(other)
    assert float(found) == pytest.approx(expected, abs=1e-10)
    assert found.entropy == pytest.approx(entropy, abs=1e-10)
    assert found.divergence == pytest.approx(expected - entropy, abs=1e-9)
    assert one.cross_entropy(one).divergence == pytest.approx(0, abs=1e-12)


def test_what_one_network_rules_out_is_infinitely_far():
    one = bb.BayesianNetwork({"a": []}, {"a": 0.5})
    found = one.cross_entropy(one.with_cpt("a", 1.0))
    assert found == float("inf")
    assert found.to_dict()["divergence"] is None
    assert one.with_cpt("a", 1.0).cross_entropy(one) == 1
    turned = bb.BayesianNetwork({"a": []}, {"a": {"false": 0.5, "true": 0.5}})
    assert one.cross_entropy(turned) == 1
    uneven = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.2, "b": {True: 0.9, False: 0.3}})
    swapped = bb.BayesianNetwork(  # the order of the states does not matter
        {"b": ["a"]},
        {"a": {"false": 0.8, "true": 0.2}, "b": [[0.7, 0.3], [0.1, 0.9]]},
        states={"a": ["false", "true"], "b": ["false", "true"]},
    )
    assert uneven.cross_entropy(swapped).divergence == pytest.approx(0, abs=1e-12)
    assert pickle.loads(pickle.dumps(one.cross_entropy(one))).entropy == 1
    with pytest.raises(BadData):
        one.cross_entropy(bb.BayesianNetwork({"b": []}, {"b": 0.5}))
    with pytest.raises(BadData):
        one.cross_entropy(bb.BayesianNetwork({"a": []}, {"a": [0.5, 0.5]}, states={"a": ["x", "y"]}))
