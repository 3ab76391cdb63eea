"""Changes of a network against the joint distribution written out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.enumeration import joint, marginal, random_network

import bayesbox as bb
from bayesbox.errors import BadOption, BadTable, UnknownNode


@pytest.mark.parametrize("seed", range(200))
def test_a_removed_arc_keeps_the_child_given_its_other_parents(seed):
    generator = np.random.default_rng([5, seed])
    net = random_network(generator, nodes=int(generator.integers(2, 6)))
    if not net.edges:
        return
    parent, child = net.edges[int(generator.integers(len(net.edges)))]
    others = [name for name in net.parents(child) if name != parent]
    changed = net.without_edge(parent, child)
    assert changed.parents(child) == others
    table = marginal(net, joint(net), [*others, child])
    np.testing.assert_allclose(changed.cpt(child) * table.sum(axis=-1, keepdims=True), table, atol=1e-12)
    for name in net.nodes:
        if name != child:
            assert (changed.cpt(name) == net.cpt(name)).all()
    assert (parent, child) in net.edges  # the network itself is as it was


@pytest.mark.parametrize("seed", range(200))
def test_a_new_arc_changes_no_probability_until_it_has_a_table(seed):
    generator = np.random.default_rng([6, seed])
    net = random_network(generator, nodes=int(generator.integers(2, 6)))
    order = net.topological_order
    pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :] if (a, b) not in net.edges]
    if not pairs:
        return
    parent, child = pairs[int(generator.integers(len(pairs)))]
    changed = net.with_edge(parent, child)
    np.testing.assert_allclose(joint(changed), joint(net), atol=1e-15)
    assert changed.without_edge(parent, child).cpt(child) == pytest.approx(net.cpt(child))
    table = generator.dirichlet(np.ones(len(net.states(child))), size=changed.cpt(child).shape[:-1])
    assert (net.with_edge(parent, child, table).cpt(child) == table).all()


@pytest.mark.parametrize("seed", range(200))
def test_a_removed_leaf_is_marginalised_and_comes_back(seed):
    generator = np.random.default_rng([7, seed])
    net = random_network(generator, nodes=int(generator.integers(2, 6)))
    leaf = next(name for name in reversed(net.topological_order) if not net.children(name))
    changed = net.without_node(leaf)
    kept = [name for name in net.nodes if name != leaf]
    np.testing.assert_allclose(joint(changed), marginal(net, joint(net), kept), atol=1e-12)
    back = changed.with_node(leaf, net.states(leaf), net.parents(leaf), net.cpt(leaf))
    assert {name: back.cpt(name).tolist() for name in net.nodes} == {name: net.cpt(name).tolist() for name in net.nodes}


def test_a_removed_root_leaves_the_marginals_of_its_children():
    net = bb.BayesianNetwork(
        {"b": ["a"], "c": ["a"]}, {"a": 0.25, "b": {True: 0.9, False: 0.1}, "c": {True: 1, False: 0}}
    )
    changed = net.without_node("a")
    assert changed.edges == []
    assert changed.query("P(b=true)") == pytest.approx(net.query("P(b=true)"))
    assert changed.query("P(c=true)") == pytest.approx(0.25)


def test_rows_that_never_occur_are_averaged_evenly():
    net = bb.BayesianNetwork(
        {"b": ["a"], "c": ["a", "b"]},
        {
            "a": 1.0,
            "b": {True: 1.0, False: 0.0},
            "c": {(True, True): 0.5, (True, False): 0.25, (False, True): 0.75, (False, False): 0.25},
        },
    )
    assert net.without_edge("a", "c").cpt("c")[1].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("seed", range(50))
def test_new_names_change_nothing_else(seed):
    generator = np.random.default_rng([8, seed])
    net = random_network(generator, nodes=int(generator.integers(2, 6)))
    names = dict(zip(net.nodes, generator.permutation(net.nodes).tolist(), strict=True))
    states = {name: {"s0": "lowest"} for name in net.nodes[:1]}
    changed = net.renamed(names, states=states)
    assert changed.edges == [(names[one], names[other]) for one, other in net.edges]
    assert changed.states(names[net.nodes[0]])[0] == "lowest"
    np.testing.assert_array_equal(joint(changed), joint(net))
    back = changed.renamed({new: old for old, new in names.items()}, states={names[net.nodes[0]]: {"lowest": "s0"}})
    assert back == net


def test_structures_without_tables_are_edited_too():
    net = bb.BayesianNetwork({"b": ["a"]})
    changed = net.with_node("c", ["x", "y", "z"], ["b"]).with_edge("a", "c").without_edge("a", "b")
    assert changed.edges == [("b", "c"), ("a", "c")]
    assert changed.cpt("c") is None
    rows = {"a": ["t", "f"], "b": ["t", "t"], "c": ["x", "y"]}
    assert changed.fit(rows).query("P(c=x | a=t)") > 0.3


def test_a_new_node_is_uniform_until_it_has_a_table():
    net = bb.BayesianNetwork({"a": []}, {"a": 0.5}).with_node("b", ["x", "y", "z", "w"], ["a"])
    assert net.query("P(b=x)") == 0.25
    assert net.with_cpt("b", {"true": [1, 0, 0, 0], "false": [0, 0, 0, 1]}).query("P(b=x)") == 0.5


def test_what_editing_refuses():
    net = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.5, "b": {True: 0.1, False: 0.2}})
    for call, error in (
        (lambda: net.with_edge("b", "a"), BadTable),  # a cycle
        (lambda: net.with_edge("a", "a"), BadTable),
        (lambda: net.with_edge("a", "b"), BadOption),
        (lambda: net.without_edge("b", "a"), BadOption),
        (lambda: net.with_node("a"), BadOption),
        (lambda: net.with_node("c", parents=["d"]), UnknownNode),
        (lambda: net.without_node("c"), UnknownNode),
        (lambda: net.without_node("a").without_node("b"), BadOption),
        (lambda: net.with_cpt("b", 0.5), BadTable),
        (lambda: net.renamed({"a": "b"}), BadTable),
        (lambda: net.renamed(states={"a": {"true": "false"}}), BadTable),
        (lambda: net.renamed(states={"a": "yes"}), BadOption),
    ):
        with pytest.raises(error):
            call()
