"""Bayesian networks of the textbooks: lung cancer, the burglary alarm, five nodes, naive Bayes as a network."""

import json
from fractions import Fraction

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.main import run

STRUCTURE = {"B": [], "E": [], "A": ["B", "E"], "J": ["A"], "M": ["A"]}
TABLES = {
    "B": 0.001,
    "E": 0.002,
    "A": {"true": {"true": 0.95, "false": 0.94}, "false": {"true": 0.29, "false": 0.001}},
    "J": {"true": 0.9, "false": 0.05},
    "M": {"true": 0.7, "false": 0.01},
}


@pytest.fixture
def burglary():
    return bb.BayesianNetwork(STRUCTURE, TABLES)


@pytest.fixture
def graph():
    return bb.BayesianNetwork({"X3": ["X1", "X2"], "X4": ["X2"], "X5": ["X4"]})


def test_lung_cancer():
    rows = {(True, True): 0.8, (True, False): 0.5, (False, True): 0.7, (False, False): 0.1}
    net = bb.BayesianNetwork({"LC": ["FH", "S"]}, {"FH": 0.3, "S": 0.4, "LC": rows})
    for (history, smoker), expected in rows.items():
        text = f"P(LC=true | FH={str(history).lower()}, S={str(smoker).lower()})"
        assert net.query(text) == expected
        assert net.fraction(text) == Fraction(str(expected))


def test_burglary_joint(burglary):
    case = {"B": "false", "E": "false", "A": "true", "J": "true", "M": "true"}
    assert burglary.probability(case) == pytest.approx(31405563 / 50000000000, rel=1e-14)
    assert burglary.fraction("P(B=false, E=false, A=true, J=true, M=true)") == Fraction(31405563, 50000000000)


def test_burglary_posteriors(burglary):
    called = {"J": "true", "M": "true"}
    assert burglary.fraction("P(B=true | J=true, M=true)") == Fraction(592242590, 2084100239)
    assert burglary.query("P(B | J=true, M=true)")["true"] == pytest.approx(592242590 / 2084100239, abs=1e-15)
    assert burglary.posteriors(called)["B"]["true"] == pytest.approx(592242590 / 2084100239, abs=1e-15)
    assert burglary.posteriors(called)["E"]["true"] == pytest.approx(0.1760668, abs=5e-8)
    assert burglary.query("P(E=true | J=true, M=true)") == pytest.approx(0.1760668, abs=5e-8)
    assert burglary.query("P(A=true)") == pytest.approx(0.002516442, abs=5e-10)
    assert burglary.query("P(B=true | J~0.9, M=true)") < burglary.query("P(B=true | J=true, M=true)")


def test_burglary_most_probable(burglary):
    assert burglary.mpe({"J": "true", "M": "true"}) == {
        "B": "false",
        "E": "false",
        "A": "true",
        "J": "true",
        "M": "true",
    }


def test_burglary_by_the_command(burglary, tmp_path, capsys):
    for extension in ("bif", "xmlbif", "net", "xdsl", "json"):
        path = str(tmp_path / f"burglary.{extension}")
        burglary.write(path)
        assert run(["query", path, "P(B=true | J=true, M=true)"]) == 0
        assert capsys.readouterr().out == "592242590/2084100239 = 0.2841718\n"
        assert run(["query", path, "P(E | J=true, M=true)", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert rows[0]["levels"] == ["true"]
        assert rows[0]["probability"] == pytest.approx(0.1760668, abs=5e-8)
    assert run(["query", path, "J _|_ M | A"]) == 0
    assert capsys.readouterr().out == "independent: every path is blocked\n"
    assert run(["query", path, "P(B, E, A | J=true, M=true)", "--mpe", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == {"B": "false", "E": "false", "A": "true"}


def test_five_nodes(graph):
    assert graph.d_separated("X5", ["X1", "X2", "X3"], given=["X4"])
    assert graph.d_separated("X4", ["X1", "X3"], given=["X2"])
    assert graph.parents("X3") == ["X1", "X2"]
    assert graph.descendants("X2") == {"X3", "X4", "X5"}
    for below in ("X3", "X4", "X5"):
        assert "X2" in graph.ancestors(below)
    assert graph.query("X5 _|_ X1, X2, X3 | X4")
    assert not graph.d_separated("X1", "X2", given="X3")
    assert graph.active_path("X1", "X5", given="X3") == ["X1", "X3", "X2", "X4", "X5"]
    assert graph.path_text(["X1", "X3", "X2"]) == "X1 -> X3 <- X2"
    assert set(graph.local_markov()) == {
        "X1 _|_ X2, X4, X5",
        "X2 _|_ X1",
        "X3 _|_ X4, X5 | X1, X2",
        "X4 _|_ X1, X3 | X2",
        "X5 _|_ X1, X2, X3 | X4",
    }
    assert graph.factorisation() == "P(X1, X2, X3, X4, X5) = P(X1) P(X2) P(X3 | X1, X2) P(X4 | X2) P(X5 | X4)"
    with refusal(bb.BadData, what="tables"):
        graph.query("P(X1=true)")


def test_hidden_markov_model_as_a_network():
    """Two hidden days: the forward sum by hand."""
    step = {"rain": {"rain": 0.7, "dry": 0.3}, "dry": {"rain": 0.4, "dry": 0.6}}
    show = {"rain": {"walk": 0.1, "shop": 0.9}, "dry": {"walk": 0.6, "shop": 0.4}}
    net = bb.BayesianNetwork(
        {"S1": [], "S2": ["S1"], "W1": ["S1"], "W2": ["S2"]},
        {"S1": {"rain": 0.6, "dry": 0.4}, "S2": step, "W1": show, "W2": show},
    )
    one = {"rain": 0.6 * 0.1, "dry": 0.4 * 0.6}
    two = {s: sum(one[r] * step[r][s] for r in one) * show[s]["shop"] for s in one}
    evidence = {"W1": "walk", "W2": "shop"}
    assert net.probability(evidence) == pytest.approx(sum(two.values()), rel=1e-14)
    assert net.posteriors(evidence)["S2"]["rain"] == pytest.approx(two["rain"] / sum(two.values()), rel=1e-14)


@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize("smoothing", ["laplace", "mle", "lidstone:0.5", "m:2"])
def test_naive_bayes_is_a_network(smoothing, missing):
    generator = np.random.default_rng(3)
    rows = [
        {
            "car": str(generator.choice(["suv", "sports", "truck"])),
            "flag": bool(generator.random() < 0.3),
            "town": None if generator.random() < 0.2 else str(generator.choice(["a", "b"])),
        }
        for _ in range(80)
    ]
    labels = [str(generator.choice(["x", "y", "z"])) for _ in rows]
    clf = bb.NaiveBayes(smoothing=smoothing, missing=missing).fit(rows, labels)
    net = clf.to_network()
    assert net.edges == [("class", "car"), ("class", "flag"), ("class", "town")]
    direct = clf.predict_proba(rows)
    level = "(missing)" if missing == "level" else None
    for row, expected in zip(rows, direct, strict=True):
        evidence = {name: level if value is None else value for name, value in row.items()}
        found = net.posteriors(evidence)["class"]
        assert [found[label] for label in clf.classes_] == pytest.approx(expected.tolist(), abs=1e-12)
    if missing == "ignore":
        found = net.posteriors(rows)["class"]
        table = np.column_stack([found[label] for label in clf.classes_])
        assert np.abs(table - direct).max() < 1e-12


def test_naive_bayes_with_numbers_is_refused_by_name():
    clf = bb.NaiveBayes().fit({"age": [1.5, 2.5, 3.5, 9.0], "car": ["a", "b", "a", "b"]}, ["x", "x", "y", "y"])
    with refusal(bb.BadOption, what="`age`"):
        clf.to_network()
