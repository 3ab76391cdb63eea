"""Interventions against the truncated product, and what is identified against interventions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.enumeration import joint, marginal, random_network

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence, UnknownNode
from bayesbox.network.act.mixed_graph import MixedGraph


def positive(generator, least, most, **options):
    """A network in which everything is possible."""
    nodes = int(generator.integers(least, most))
    return random_network(generator, nodes=nodes, zeros=0, least_states=2, **options)


@pytest.mark.parametrize("seed", range(200))
def test_do_is_the_truncated_product(seed):
    generator = np.random.default_rng([1, seed])
    net = positive(generator, 2, 6)
    first, *others = generator.permutation(net.nodes).tolist()
    state = int(generator.integers(len(net.states(first))))
    weight = net.cpt(first)  # the factor of the node that is set is divided out
    scope = [*net.parents(first), first]
    shape = [len(net.states(name)) if name in scope else 1 for name in net.nodes]
    order = sorted(range(len(scope)), key=lambda axis: net.nodes.index(scope[axis]))
    kept = np.moveaxis(joint(net) / weight.transpose(order).reshape(shape), net.nodes.index(first), 0)[state]
    target = others[0]
    axis = [name for name in net.nodes if name != first].index(target)
    expected = kept.sum(axis=tuple(place for place in range(kept.ndim) if place != axis))
    found = net.query(f"P({target} | do({first}=s{state}))")
    np.testing.assert_allclose([found[each] for each in net.states(target)], expected, atol=1e-12)
    assert net.query(f"P({target}=s0 | do({first}=s{state}))") == pytest.approx(float(expected[0]), abs=1e-12)
    assert net.do({first: f"s{state}"}).parents(first) == []


def sprinkler():
    return bb.BayesianNetwork(
        {"hose": ["season"], "rain": ["season"], "wet": ["hose", "rain"]},
        {
            "season": 0.6,
            "hose": {True: 0.1, False: 0.7},
            "rain": {True: 0.8, False: 0.2},
            "wet": {(True, True): 0.99, (True, False): 0.9, (False, True): 0.8, (False, False): 0.0},
        },
    )


def test_notation_and_exact_fractions():
    net = sprinkler()
    hose, rain = Fraction(1), Fraction(6, 10) * Fraction(8, 10) + Fraction(4, 10) * Fraction(2, 10)
    assert net.fraction("P(wet=true | do(hose=true))") == hose * (
        rain * Fraction(99, 100) + (1 - rain) * Fraction(9, 10)
    )
    assert str(net.query("P(rain | do(hose=true), wet=true)")).startswith("P(rain | do(hose=true), wet=true)")
    assert net.query("P(season=true | do(hose=true))") == pytest.approx(0.6)
    assert net.query("P(season=true | hose=true)") < 0.2
    assert net.query("P(hose=true | do(hose=true))") == 1
    both = net.query("P(wet=true | do(hose=false, rain=false))")
    assert both == net.query("P(wet=true | do(hose=false), do(rain=false))") == 0
    assert "do(hose=true)" in str(net.work("P(wet=true | do(hose=true))"))
    assert float(net.query("P(wet=true | do(hose=true))", approx="weighting", samples=20_000)) == pytest.approx(
        float(net.fraction("P(wet=true | do(hose=true))")), abs=0.01
    )


def test_a_policy_sets_a_node_by_chance():
    net = sprinkler()
    mixed = net.do({"hose": {"true": 0.25, "false": 0.75}}).query("P(wet=true)")
    parts = [net.query(f"P(wet=true | do(hose={state}))") for state in ("true", "false")]
    assert mixed == pytest.approx(0.25 * parts[0] + 0.75 * parts[1])


def test_an_interval_of_an_effect_goes_by_the_tables_that_are_left():
    rows = sprinkler().sample(400, seed=3)
    net = bb.BayesianNetwork({"hose": ["season"], "rain": ["season"], "wet": ["hose", "rain"]}).fit(rows)
    low, high = net.interval("P(wet=true | do(hose=true))", draws=200)
    assert low < net.query("P(wet=true | do(hose=true))") < high


def test_what_do_refuses():
    net = sprinkler()
    with pytest.raises(UnknownNode):
        net.do({"hoses": True})
    with pytest.raises(UnknownNode):
        net.query("P(wet | do(hose=maybe))")
    with pytest.raises(BadOption, match="state that is set"):
        net.query("P(wet | do(hose))")
    with pytest.raises(BadOption, match="set twice"):
        net.query("P(wet | do(hose=true, hose=false))")
    with pytest.raises(ImpossibleEvidence):
        net.query("P(wet | do(hose=true), hose=false)")
    with pytest.raises(BadOption, match="networks"):
        bb.Joint({"a": ["x", "y"]}).query("P(a | do(a=x))")
    with pytest.raises(BadOption, match="dict"):
        net.do("hose")


# -- adjustment and identification ---------------------------------------------------------------------------------


def latent_of(generator, net, kept):
    return [name for name in net.nodes if name not in kept and generator.random() < 0.5]


@pytest.mark.parametrize("seed", range(200))
def test_what_is_identified_is_the_effect(seed):
    generator = np.random.default_rng([2, seed])
    net = positive(generator, 3, 7, most_states=2)
    cause, effect = generator.permutation(net.nodes)[:2].tolist()
    latent = latent_of(generator, net, (cause, effect))
    question = f"P({effect} | do({cause}=s1))"
    found = net.identify(question, latent=latent)
    sets = net.adjustment_sets(cause, effect, latent=latent)
    if sets.back_door or sets.front_door:
        assert found.identifiable
    if found.identifiable:
        answer, truth = found.answer(), net.query(question)
        assert [answer[state] for state in net.states(effect)] == pytest.approx(
            [truth[state] for state in net.states(effect)], abs=1e-9
        )
        assert not any(name in found.estimand.free for name in latent)
    else:
        assert_hedge(net, latent, found.hedge, {cause}, {effect})


def assert_hedge(net, latent, hedge, causes, effects):
    """The definition: both are connected by hidden common causes, and the inner one leads to the effect unset."""
    graph = MixedGraph.of(net.graph, latent)
    outer, inner = frozenset(hedge.outer), frozenset(hedge.inner)
    assert inner < outer
    assert outer & causes
    assert not inner & causes
    assert graph.within(outer).components() == [outer]
    assert graph.within(inner).components() == [inner]
    roots = {name for name in inner if not any(name in graph.parents[other] for other in inner)}
    assert roots <= graph.without_arcs_into(causes).ancestors(effects)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_identified_given_findings_is_the_conditional_effect(seed):
    generator = np.random.default_rng([3, seed])
    net = positive(generator, 4, 7, most_states=2)
    cause, effect, given = generator.permutation(net.nodes)[:3].tolist()
    latent = latent_of(generator, net, (cause, effect, given))
    question = f"P({effect}=s0 | do({cause}=s1), {given}=s0)"
    found = net.identify(question, latent=latent)
    if found.identifiable:
        assert found.answer() == pytest.approx(net.query(question), abs=1e-9)


@pytest.mark.parametrize("seed", range(200))
def test_back_doors_adjust_and_are_all_the_minimal_ones(seed):
    generator = np.random.default_rng([4, seed])
    net = positive(generator, 3, 6, most_states=2)
    cause, effect = generator.permutation(net.nodes)[:2].tolist()
    latent = latent_of(generator, net, (cause, effect))
    sets = net.adjustment_sets(cause, effect, latent=latent)
    truth = net.query(f"P({effect} | do({cause}=s1))")
    for some in sets.back_door:
        table = marginal(net, joint(net), [effect, cause, *some])
        given = table[:, 1] / table[:, 1].sum(axis=0)
        adjusted = (given * table.sum(axis=(0, 1))).reshape(len(given), -1).sum(axis=1)
        assert adjusted == pytest.approx([truth[state] for state in net.states(effect)], abs=1e-9)
    # the definition, tried on every subset
    cut = without_arcs_from(net, cause)
    free = [name for name in net.nodes if name not in (cause, effect, *latent) and name not in net.descendants(cause)]
    blocking = [
        set(some)
        for size in range(len(free) + 1)
        for some in itertools.combinations(free, size)
        if cut.d_separated(cause, effect, some)
    ]
    minimal = [some for some in blocking if not any(other < some for other in blocking)]
    assert sorted(map(sorted, sets.back_door)) == sorted(map(sorted, minimal))


@pytest.mark.parametrize("seed", range(200))
def test_front_doors_give_the_effect_and_are_all_the_minimal_ones(seed):
    generator = np.random.default_rng([5, seed])
    net = positive(generator, 5, 8, most_states=2, most_parents=2)
    pairs = [(a, b) for a in net.nodes for b in net.descendants(a) if (a, b) not in net.edges] or net.edges
    if not pairs:
        return
    cause, effect = sorted(pairs)[int(generator.integers(len(pairs)))]
    latent = latent_of(generator, net, (cause, effect))
    found = net.adjustment_sets(cause, effect, latent=latent).front_door
    truth = net.query(f"P({effect} | do({cause}=s1))")
    for some in found:
        table = marginal(net, joint(net), [effect, cause, *some])  # y, x, z ...
        table = table.reshape(*table.shape[:2], -1)
        x = table.sum(axis=(0, 2))
        z_given_x = table[:, 1].sum(axis=0) / x[1]
        y_given = table / table.sum(axis=0)
        value = ((y_given * x[None, :, None]).sum(axis=1) * z_given_x).sum(axis=1)
        assert value == pytest.approx([truth[state] for state in net.states(effect)], abs=1e-9)
    # the definition, tried on every subset
    free = [name for name in net.nodes if name not in (cause, effect, *latent)]
    serving = [
        set(some)
        for size in range(1, len(free) + 1)
        for some in itertools.combinations(free, size)
        if serves_as_front_door(net, cause, effect, some)
    ]
    assert sorted(map(sorted, found)) == sorted(
        sorted(some) for some in serving if not any(other < some for other in serving)
    )


def serves_as_front_door(net, cause, effect, some):
    """On every directed path; no back door to them; the cause blocks every back door from them."""
    if cause not in net.ancestors(effect):
        return False
    left = net
    for name in some:
        left = without_arcs_from(left, name)
    if cause in left.ancestors(effect):
        return False
    return without_arcs_from(net, cause).d_separated(cause, some) and left.d_separated(some, effect, [cause])


def without_arcs_from(net, cause):
    for child in net.children(cause):
        net = net.without_edge(cause, child)
    return net


@pytest.mark.parametrize(
    ("structure", "latent", "question", "formula"),
    [
        ({"y": ["x"]}, [], "P(y | do(x))", "P(y | x)"),
        ({"x": ["z"], "y": ["x", "z"]}, [], "P(y | do(x))", "sum over z of P(z) P(y | z, x)"),
        ({"x": ["u"], "y": ["x", "u"]}, ["u"], "P(y | do(x))", None),  # the bow
        (  # the front door
            {"x": ["u"], "z": ["x"], "y": ["z", "u"]},
            ["u"],
            "P(y | do(x))",
            "sum over z of P(z | x) sum over x' of P(x') P(y | x', z)",
        ),
        ({"x": ["i", "u"], "y": ["x", "u"]}, ["u"], "P(y | do(x))", None),  # an instrument does not identify
        ({"m": ["a", "b"], "x": ["a"], "y": ["b", "x"]}, ["a", "b"], "P(y | do(x))", "P(y | x)"),  # M-bias
        ({"x": ["y"]}, [], "P(y | do(x))", "P(y)"),  # the effect comes before
    ],
)
def test_known_graphs(structure, latent, question, formula):
    net = bb.BayesianNetwork(structure)
    assert net.identify(question, latent=latent).formula == formula


def test_the_napkin_is_identified_though_no_door_is_open():
    net = bb.BayesianNetwork({"w": ["u", "v"], "z": ["w"], "x": ["z", "u"], "y": ["x", "v"]})
    sets = net.adjustment_sets("x", "y", latent=["u", "v"])
    assert (sets.back_door, sets.front_door) == ([], [])
    assert net.identify("P(y | do(x))", latent=["u", "v"]).identifiable


def test_the_adjustment_result_prints_and_is_plain_data():
    net = bb.BayesianNetwork({"x": ["z"], "y": ["x", "z"]})
    found = net.adjustment_sets("x", "y")
    assert found.to_dict()["back_door"] == [["z"]]
    assert "back door: adjust for z" in str(found)
    assert found.to_frame()["adjust_for"].tolist() == ["z"]
    assert net.identify("P(y | do(x))").to_dict()["identifiable"] is True


def test_what_identification_refuses():
    net = sprinkler()
    for question in ("P(wet)", "P(wet | do(wet=true))", "P(wet | do(hose), rain~0.5)", "P(wet | do(hose), hose=true)"):
        with pytest.raises(BadOption):
            net.identify(question)
    with pytest.raises(BadOption, match="latent"):
        net.identify("P(wet | do(hose))", latent=["hose"])
    with pytest.raises(BadOption, match="needed"):
        net.identify("P(wet | do(hose))").answer()
    with pytest.raises(BadOption, match="same"):
        net.adjustment_sets("wet", "wet")
