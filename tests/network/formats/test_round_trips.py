"""What is written is read back as it was, bit for bit, in every format that holds names."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.enumeration import random_network
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadModelFile, ModelLocked
from bayesbox.file.lock import FileLock
from bayesbox.network import formats
from bayesbox.network.formats import net
from bayesbox.network.formats.uai import read_evidence

NAMED = ["bif", "xmlbif", "xml", "net", "xdsl", "json", "bif.gz", "json.gz"]


@pytest.mark.parametrize("extension", NAMED)
def test_random_networks(extension, tmp_path):
    for seed in range(15):
        network = random_network(np.random.default_rng(seed))
        path = tmp_path / f"network.{extension}"
        network.write(path)
        assert bb.read_network(path) == network
        first = path.read_bytes()
        bb.read_network(path).write(path)
        assert path.read_bytes() == first


def test_uai_keeps_the_tables(tmp_path):
    for seed in range(15):
        network = random_network(np.random.default_rng(seed))
        network.write(tmp_path / "network.uai")
        found = bb.read_network(tmp_path / "network.uai")
        for mine, theirs in zip(network.model.factors, found.model.factors, strict=True):
            assert mine.scope == theirs.scope
            assert np.array_equal(mine.table, theirs.table)


def test_states_of_every_shape(tmp_path):
    """States as repositories have them, and subnormal and long numbers."""
    states = ["<5", "5-12", "12+", "Asy/Patch", ">=7.5", "a b", "ä&<>'"]
    row = [0.1, 0.2, 5e-324, 1 / 3, 0.1 + 0.2 - 1e-17, 1e-300, 0.0]
    row[-1] = 1 - sum(row)
    network = bb.BayesianNetwork(
        {"child": ["top"]}, {"top": row, "child": dict.fromkeys(states, 0.5)}, states={"top": states}
    )
    for extension in NAMED:
        network.write(tmp_path / f"x.{extension}")
        assert bb.read_network(tmp_path / f"x.{extension}") == network, extension


def test_names_that_a_format_cannot_hold_are_refused(tmp_path):
    network = bb.BayesianNetwork({'a "quoted" name': []}, {'a "quoted" name': 0.5})
    for extension in ("bif", "net", "xdsl"):
        with refusal(bb.BadModelFile, found='a "quoted" name'):
            network.write(tmp_path / f"x.{extension}")
        assert not (tmp_path / f"x.{extension}").exists()
    network.write(tmp_path / "x.json")
    assert bb.read_network(tmp_path / "x.json") == network
    for extension, title in (("bif", 'the "best" network'), ("xmlbif", "nul \0 network")):
        with pytest.raises(bb.BadModelFile):
            bb.BayesianNetwork({"a": []}, {"a": 0.5}, name=title).write(tmp_path / f"y.{extension}")


def test_bif_as_others_write_it(tmp_path):
    """Comments, properties, quotes, defaults, states between spaces, a table with parents: the node slowest."""
    text = """
    // the dog problem
    network "Dog-Problem" { property "credal-set constant-density-bounded 1.1"; }
    variable "light-on" { type discrete [2] { "true" "false" }; property "position = (218, 195)"; }
    variable family-out { type discrete [ 2 ] { true, false }; }
    variable bark { type discrete [ 2 ] { true, false }; } /* a
    comment */
    probability ( family-out ) { table 0.15 0.85; }
    probability ( "light-on" | family-out ) { table 0.6 0.05 0.4 0.95; }
    probability ( bark | family-out ) { default 0.5, 0.5; (true) 0.99, 0.01; }
    """
    (tmp_path / "dog.bif").write_text(text)
    network = bb.read_network(tmp_path / "dog.bif")
    assert network.graph.name == "Dog-Problem"
    assert network.cpt("light-on").tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert network.cpt("bark").tolist() == [[0.99, 0.01], [0.5, 0.5]]


def test_hugin_and_genie_as_others_write_them(tmp_path):
    text = """
    net { node_size = (80 40); }  % a comment
    node rain { label = "Rain; today"; position = (10 20); states = ("yes" "no"); }
    discrete node grass { states = ("wet" "dry"); }
    potential ( rain ) { data = ( 0.2 0.8 ); }
    potential ( grass | rain ) { data = (( 0.9 0.1 ) % yes
                                        ( 0.1 0.9 )); }
    """
    (tmp_path / "x.net").write_text(text)
    assert bb.read_network(tmp_path / "x.net").cpt("grass").tolist() == [[0.9, 0.1], [0.1, 0.9]]
    xdsl = """<?xml version="1.0" encoding="ISO-8859-1"?><smile version="1.0" id="n" numsamples="1000"><nodes>
    <cpt id="rain"><state id="yes" /><state id="no" /><probabilities>0.2 0.8</probabilities></cpt>
    <deterministic id="wet"><state id="a" /><state id="b" /><parents>rain</parents>
    <resultingstates>b a</resultingstates></deterministic></nodes><extensions><genie/></extensions></smile>"""
    (tmp_path / "x.xdsl").write_text(xdsl)
    assert bb.read_network(tmp_path / "x.xdsl").cpt("wet").tolist() == [[0, 1], [1, 0]]


def test_markov_files_give_factor_graphs(tmp_path):
    """Two variables, three factors, one of them a constant: Z is 2 (3*5 + 1*7 + 4*11 + 2*13)."""
    text = "MARKOV\n2\n2 2\n3\n2 0 1\n1 0\n0\n\n4\n 5 7 11 13\n\n2\n 3 2\n\n1\n 2\n"
    (tmp_path / "x.uai").write_text(text)
    graph = bb.read_network(tmp_path / "x.uai")
    assert isinstance(graph, bb.FactorGraph)
    total = 2 * (3 * 5 + 3 * 7 + 2 * 11 + 2 * 13)
    assert graph.log_probability() == pytest.approx(np.log(total), rel=1e-15)
    assert graph.log_probability({0: 1}) == pytest.approx(np.log(2 * 2 * 24), rel=1e-15)
    assert graph.posteriors({"1": "0"})["0"]["0"] == pytest.approx(15 / 37, rel=1e-15)
    assert graph.query("P(0=1)") == pytest.approx(48 / 84, rel=1e-15)
    assert graph.mpe() == {"0": "1", "1": "1"}
    graph.write(tmp_path / "y.uai")
    again = bb.read_network(tmp_path / "y.uai")
    assert all(np.array_equal(a.table, b.table) for a, b in zip(graph.model.factors, again.model.factors, strict=True))


def test_evidence_of_both_forms():
    assert read_evidence(b"2 3 0 7 1\n", where="x") == {"3": "0", "7": "1"}
    assert read_evidence(b"1\n2 3 0 7 1\n", where="x") == {"3": "0", "7": "1"}
    assert read_evidence(b"0", where="x") == {}
    with pytest.raises(bb.BadModelFile):
        read_evidence(b"2 3 0", where="x")


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.bif.gz"
    path.write_bytes(gzip.compress(b" " * (80 * 2**20)))
    with refusal(bb.BadModelFile, where="bomb.bif.gz"):
        bb.read_network(path)


def test_a_gzip_that_is_cut_off(tmp_path):
    path = tmp_path / "x.bif.gz"
    path.write_bytes(gzip.compress(b"network x { }" * 100)[:-20])
    with refusal(bb.BadModelFile, where="x.bif.gz"):
        bb.read_network(path)


PIECES = [
    "0.25",
    ".5",
    "1.",
    "+0.5",
    "-0.5",
    "1e-400",
    "1e400",
    "0x1",
    "nan",
    "1,5",
    "0.5)",
    "(0.5",
    "%c\n0.5",
    "\n.25",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4))
def test_numbers_in_bulk_are_numbers_one_by_one(pieces):
    """A text that is not ASCII is read number by number: the same table, or the same refusal."""
    text = f"node rain {{ states = (a b); }}\npotential (rain) {{ data = ({' '.join(pieces)}); }}\n"
    outcomes = []
    for last in ("% end\n", "% ünd\n"):
        try:
            outcomes.append(net.read((text + last).encode(), where="x").nodes["rain"].table.tolist())
        except BadModelFile as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_nodes_of_a_file_are_made_when_asked_for(tmp_path):
    """A graph that was read goes through pickle and copy before and after its nodes are there."""
    import copy
    import pickle

    path = tmp_path / "rain.bif"
    path.write_text(
        "network rain {} variable a { type discrete [ 2 ] { y, n }; } variable b { type discrete [ 2 ] { y, n }; } "
        "probability ( a ) { table 0.25, 0.75; } probability ( b | a ) { (y) 0.5, 0.5; (n) 0.125, 0.875; }"
    )
    fresh = bb.read_network(path).graph
    assert "nodes" not in vars(fresh)
    for other in (pickle.loads(pickle.dumps(bb.read_network(path).graph)), copy.deepcopy(bb.read_network(path).graph)):
        assert other == fresh
        assert other.order == ["a", "b"]
        assert other.name == "rain"
    assert pickle.loads(pickle.dumps(fresh)) == fresh
    assert fresh.nodes["b"].table.tolist() == [[0.5, 0.5], [0.125, 0.875]]


def test_one_writer_at_a_time(tmp_path, monkeypatch):
    path = tmp_path / "rain.json"
    network = random_network(np.random.default_rng(0))
    network.write(path)
    before = path.read_bytes()
    monkeypatch.setattr(formats, "WAIT", 0.05)
    with FileLock(path, verb="another"), refusal(ModelLocked, verb="another", waited=0.05):
        network.write(path)
    assert path.read_bytes() == before
    network.write(path)
    assert [each.name for each in tmp_path.iterdir()] == ["rain.json"]
