"""The layout of graphs: what every drawing must keep, on graphs made at random; and the texts made of it."""

from __future__ import annotations

import json
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.explain.graph.dot import network_dot
from bayesbox.explain.graph.layout import MARGIN, graph_layout
from bayesbox.explain.graph.picture import network_layout, network_picture


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 14))
    names = draw(st.permutations([f"n{place}" for place in range(count)]))
    parents = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=4)) if place else []
        for place, name in enumerate(names)
    }
    return {name: parents[name] for name in draw(st.permutations(names))}


SIZES = st.functions(like=lambda name: ..., returns=st.tuples(st.floats(10, 200), st.floats(10, 90)), pure=True)


@settings(max_examples=60, deadline=None)
@given(graphs(), SIZES)
def test_boxes_do_not_overlap_and_arcs_go_down(parents, size):
    found = graph_layout(parents, size)
    assert [box.name for box in found.nodes] == list(parents)
    for box in found.nodes:
        assert box.left >= MARGIN - 1e-6
        assert box.left + box.width <= found.width - MARGIN + 1e-6
        assert box.top >= MARGIN - 1e-6
        assert box.top + box.height <= found.height - MARGIN + 1e-6
    for one, other in combinations(found.nodes, 2):
        apart_x = abs(one.x - other.x) >= (one.width + other.width) / 2 - 1e-6
        apart_y = abs(one.y - other.y) >= (one.height + other.height) / 2 - 1e-6
        assert apart_x or apart_y
    assert [(arc.parent, arc.child) for arc in found.arcs] == [(p, name) for name in parents for p in parents[name]]
    for arc in found.arcs:
        above, below = found[arc.parent], found[arc.child]
        assert above.layer < below.layer
        assert arc.points[0] == (above.x, above.y + above.height / 2)
        assert arc.points[-1] == (below.x, below.top)
        heights = [y for _, y in arc.points]
        assert heights == sorted(heights)
        assert arc.curve[::3] == arc.points
        assert arc.path.count("C") == len(arc.points) - 1
    assert found == graph_layout(parents, size)
    assert json.loads(json.dumps(found.to_dict()))["nodes"][0]["name"] == next(iter(parents))


def test_an_unknown_node_has_no_place():
    with pytest.raises(KeyError):
        graph_layout({"a": []}, lambda name: (10.0, 10.0))["b"]


def test_pictures_hold_names_that_are_markup():
    parents = {'<a & "b">': [], "it\nself": ['<a & "b">']}
    drawn = network_picture(network_layout(parents))
    root = ElementTree.fromstring(drawn)
    assert next(root.iter("{http://www.w3.org/2000/svg}text")).text == '<a & "b">'
    dot = network_dot(parents)
    assert r'"<a & \"b\">" -> "it self";' in dot


def test_labels_of_dot_hold_posteriors():
    net = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.25, "grass": {True: 0.9, False: 0.1}}, name="lawn")
    dot = net.dot(evidence={"grass": True})
    assert dot.startswith('digraph "lawn" {')
    assert r'label="rain\ntrue: 75.0%\nfalse: 25.0%"' in dot
    assert 'fillcolor="#dfe7f3"' in dot


def test_an_empty_graph_is_an_empty_picture():
    assert network_picture(network_layout({})).startswith("<svg")


def test_many_states_are_not_all_drawn():
    states = [f"s{place}" for place in range(12)]
    net = bb.BayesianNetwork({"day": []}, {"day": [1 / 12] * 12}, states={"day": states})
    assert ">4 more<" in net.svg(probabilities=True)
    assert "4 more" in net.dot(probabilities=True)
