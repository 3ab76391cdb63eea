"""The graph of a network: tables as people write them, what is refused, and questions of structure."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from tests.oracle.enumeration import joint, random_network
from tests.refusal import refusal

import bayesbox as bb

FORMS = [
    {"true": 0.9, "false": 0.05},
    {True: 0.9, False: 0.05},
    {("true",): 0.9, ("false",): 0.05},
    {"true": {"true": 0.9, "false": 0.1}, "false": {"true": 0.05, "false": 0.95}},
    {"true": [0.9, 0.1], "false": [0.05, 0.95]},
    [0.9, 0.05],
    [[0.9, 0.1], [0.05, 0.95]],
    [0.9, 0.1, 0.05, 0.95],
    np.array([[0.9, 0.1], [0.05, 0.95]]),
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table(form):
    network = bb.BayesianNetwork({"J": ["A"]}, {"A": 0.5, "J": form})
    assert network.cpt("J").tolist() == [[0.9, 0.1], [0.05, 0.95]]
    assert network.states("J") == ["true", "false"]
    assert network.states("A") == ["true", "false"]


def test_two_parents_in_every_form():
    rows = np.array([[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]])
    tuples = {("t", "t"): 0.95, ("t", "f"): 0.94, ("f", "t"): 0.29, ("f", "f"): 0.001}
    nested = {"t": {"t": 0.95, "f": 0.94}, "f": {"t": 0.29, "f": 0.001}}
    for form in (tuples, nested, rows, rows.reshape(4, 2), rows.reshape(-1), rows[..., 0], [0.95, 0.94, 0.29, 0.001]):
        states = {"B": ["t", "f"], "E": ["t", "f"]}
        network = bb.BayesianNetwork({"A": ["B", "E"]}, {"B": [0.5, 0.5], "E": [0.5, 0.5], "A": form}, states=states)
        assert network.cpt("A") == pytest.approx(rows, abs=1e-16)


def test_states_from_keys_and_from_shapes():
    network = bb.BayesianNetwork(
        {"size": ["car"]},
        {"car": {"suv": 0.2, "sports": 0.8}, "size": {"suv": [0.1, 0.2, 0.7], "sports": [1, 0, 0]}},
    )
    assert network.states("car") == ["suv", "sports"]
    assert network.states("size") == ["0", "1", "2"]
    yes = bb.BayesianNetwork({"a": []}, {"a": 0.2}, states={"a": ["no", "yes"]})
    assert yes.cpt("a").tolist() == [0.8, 0.2]


@pytest.mark.parametrize(
    ("structure", "tables", "fields"),
    [
        ({"a": ["b"], "b": ["a"]}, None, {"node": "a", "what": "a -> b -> a"}),
        ({"a": ["a"]}, None, {"node": "a", "what": "a -> a"}),
        ({"a": ["b", "b"]}, None, {"node": "a", "found": "b"}),
        ({"a": ["b"]}, {"a": [0.1, 0.2]}, {"node": "b"}),
        ({"a": []}, {"a": [0.1, 0.8]}, {"node": "a", "row": 0, "found": 0.9}),
        ({"a": []}, {"a": [-0.5, 1.5]}, {"node": "a", "row": 0, "found": -0.5}),
        ({"a": []}, {"a": [float("nan"), 1.0]}, {"node": "a", "row": 0}),
        ({"a": []}, {"a": 1.5}, {"node": "a", "row": 0, "found": 1.5}),
        ({"a": []}, {"a": [[0.5, 0.5]] * 3}, {"node": "a", "found": (3, 2)}),
        ({"a": []}, {"a": "often"}, {"node": "a", "found": "often"}),
        ({"a": []}, {"a": {"x": "often", "y": 0.5}}, {"node": "a", "found": "often"}),
        ({"a": []}, {"a": {"x": [0.5, 0.5], "y": 0.5}}, {"node": "a", "found": [0.5, 0.5]}),
        ([("a", "b")], None, {"found": [("a", "b")]}),
        ({"a": []}, [0.5], {"found": [0.5]}),
        ({"a": ["b"]}, {"b": 0.5, "a": {"true": 0.5}}, {"node": "a", "what": "b=false"}),
        ({"a": []}, {"a": 0.5, "c": 0.5}, {"kind": "node", "name": "c"}),
    ],
)
def test_what_is_refused(structure, tables, fields):
    with refusal(bb.BadData, **fields):
        bb.BayesianNetwork(structure, tables)


def test_names_of_nodes_may_be_numbers():
    network = bb.BayesianNetwork({2: [1], 3: None}, {1: 0.5, 2: {0: 0.1, 1: 0.9}, 3: 0.5}, states={1: [0, 1]})
    assert network.query("P(2=true | 1=1)") == 0.9
    assert network.parents(2) == ["1"]


def test_what_cannot_be_normalized_is_refused():
    for row in ([0.0, 0.0], [1e308, 1e308]):
        with refusal(bb.BadData, node="a", row=0, where="P(a)"):
            bb.BayesianNetwork({"a": []}, {"a": row}, normalize=True)


def test_a_row_that_does_not_sum_is_named():
    tables = {"b": 0.5, "c": 0.5, "a": [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.4], [0.5, 0.5]]]}
    with refusal(bb.BadData, node="a", row=2, where="P(a | b=false, c=true)", found=0.9):
        bb.BayesianNetwork({"a": ["b", "c"]}, tables)
    assert bb.BayesianNetwork({"a": ["b", "c"]}, tables, normalize=True).cpt("a")[1, 0] == pytest.approx([5 / 9, 4 / 9])


def test_a_table_of_too_many_cells_is_not_made():
    names = [f"v{place}" for place in range(40)]
    with refusal(bb.BadData, node="top"):
        bb.BayesianNetwork({"top": names}, {**dict.fromkeys(names, 0.5), "top": 0.5})


def test_unknown_names_have_a_remedy():
    network = bb.BayesianNetwork({"smoker": []}, {"smoker": 0.3})
    with refusal(KeyError, kind="node", name="smokr"):
        network.parents("smokr")
    with refusal(bb.BadData, kind="state", name="yes", where="node `smoker`"):
        network.probability({"smoker": "yes"})


def test_markov_blanket():
    network = bb.BayesianNetwork({"x": ["p"], "c": ["x", "q"], "d": ["c"], "y": ["p"]})
    assert network.markov_blanket("x") == {"p", "c", "q"}
    assert network.children("x") == ["c"]
    assert network.topological_order.index("p") < network.topological_order.index("x")


@pytest.mark.parametrize("seed", range(60))
def test_d_separation_is_independence(seed):
    """Every d-separation holds in the numbers; in tables made at random, nothing else does."""
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=4, zeros=0, least_states=2, most_parents=2)
    table = joint(network)
    names = [name for name in network.nodes if len(network.states(name)) > 1]
    for left, right in itertools.combinations(names, 2):
        others = [name for name in network.nodes if name not in (left, right)]
        for size in range(len(others) + 1):
            for given in itertools.combinations(others, size):
                assert network.d_separated(left, right, given) == independent(network, table, left, right, given)


def test_d_separation_given_nothing():
    network = bb.BayesianNetwork({"c": ["a", "b"]})
    assert network.d_separated("a", "b", given=None)
    assert not network.d_separated("a", "b", given="c")


def independent(network, table, left, right, given):
    axes = [network.nodes.index(name) for name in (left, right, *given)]
    rest = tuple(axis for axis in range(table.ndim) if axis not in axes)
    summed = table.sum(axis=rest)
    order = np.argsort(np.argsort(axes))
    both = summed.transpose(order)
    total = both.sum(axis=(0, 1), keepdims=True)
    product = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    return bool(np.allclose(both * total, product, atol=1e-13))


def test_sample_is_a_frame_that_can_be_learned_from():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.25, "b": {"true": 0.9, "false": 0.5}})
    rows = network.sample(20_000, seed=7)
    assert isinstance(rows, pa.Table)
    assert rows == network.sample(20_000, seed=7)
    assert rows != network.sample(20_000, seed=8)
    table = bb.Joint(rows)
    assert table.query("P(a=true)") == pytest.approx(0.25, abs=0.02)
    assert table.query("P(b=true | a=true)") == pytest.approx(0.9, abs=0.02)
    assert network.sample(0).num_rows == 0


def test_html_and_drawing():
    network = bb.BayesianNetwork({"a<b": [], "c": ["a<b"]}, {"a<b": 0.5, "c": {"true": 0.1, "false": 0.2}})
    assert "a&lt;b" in network._repr_html_()
    assert network.svg(evidence={"c": "true"}).count("<rect") == 2 + 4


def test_a_network_without_nodes():
    network = bb.BayesianNetwork({})
    assert network.nodes == []
    assert network._repr_html_().startswith("<div")
