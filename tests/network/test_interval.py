"""How sure the tables and answers of a network are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.explain.credible import CredibleInterval, IntervalTable
from bayesbox.network.analyse import interval as module

ROWS = {
    "rain": ["yes", "no", "no", "no", "yes", "no"] * 4,
    "sprinkler": ["off", "on", "off", "on", "off", "off"] * 4,
    "wet": ["yes", "yes", "no", "yes", "yes", "yes"] * 4,
}
STRUCTURE = {"sprinkler": ["rain"], "wet": ["rain", "sprinkler"]}


@pytest.fixture(scope="module")
def net() -> bb.BayesianNetwork:
    return bb.BayesianNetwork(STRUCTURE).fit(ROWS)


def test_a_share_that_was_counted_has_the_interval_of_its_beta(net: bb.BayesianNetwork) -> None:
    found = net.interval("P(rain=yes)", 0.9, draws=100_000)
    assert isinstance(found, CredibleInterval)
    assert tuple(found) == pytest.approx(tuple(beta.ppf([0.05, 0.95], 8 + 1, 16 + 1)), abs=0.003)
    assert found.estimate == net.query("P(rain=yes)") == pytest.approx(9 / 26)
    tables = net.tables(interval=0.9)
    [cell, _] = tables["rain"].rows[1].cells
    assert (cell.low, cell.high) == pytest.approx(tuple(beta.ppf([0.05, 0.95], 17, 9)), abs=1e-9)  # of no
    assert "intervals by the Dirichlet prior that laplace implies" in str(tables)


@pytest.mark.parametrize("question", ["P(rain=yes | wet=yes)", "P(rain | wet=no, sprinkler~(on:0.3, off:0.9))"])
def test_draws_are_answered_as_each_network_would_by_itself(net: bb.BayesianNetwork, question: str) -> None:
    random = np.random.default_rng(5)
    counts = module.require_counts(net)
    answers = []
    for _ in range(800):
        graph = {}
        for name, node in net.graph.nodes.items():
            cells = module.cell_posteriors(net, node, counts[name])
            table = np.array([random.dirichlet([cell.alpha for cell in row]) for row in cells])
            graph[name] = table.reshape(net.cpt(name).shape)
        one = bb.BayesianNetwork(STRUCTURE, graph, states={name: net.states(name) for name in net.nodes})
        value = one.query(question)
        answers.append(value["yes"] if hasattr(value, "keys") else value)
    found = net.interval(question, 0.8, draws=20_000)
    pair = found["yes"] if isinstance(found, IntervalTable) else found
    assert tuple(pair) == pytest.approx(tuple(np.quantile(answers, [0.1, 0.9])), abs=0.035)


def test_tables_of_answers_and_joints(net: bb.BayesianNetwork) -> None:
    found = net.interval("P(rain, sprinkler | wet=yes)")
    assert isinstance(found, IntervalTable)
    table = net.query("P(rain, sprinkler | wet=yes)")
    assert set(found) == set(table)
    assert all(found[key].estimate == table[key] and found[key].low <= table[key] <= found[key].high for key in table)
    assert list(found.to_frame().columns) == ["rain", "sprinkler", "estimate", "low", "high"]
    assert "rain  sprinkler" in str(found)
    mixed = net.interval("P(rain, sprinkler=on | wet=yes)")
    assert mixed["yes"].estimate == table["yes", "on"]
    assert tuple(net.interval("P(rain=yes | rain=yes)")) == (1, 1)


def test_a_seed_gives_the_same_again_whatever_the_chunks(
    net: bb.BayesianNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = net.interval("P(rain=yes | wet=yes)", draws=500)
    assert first == net.interval("P(rain=yes | wet=yes)", draws=500)
    assert first != net.interval("P(rain=yes | wet=yes)", draws=500, seed=1)
    small = bb.BayesianNetwork(STRUCTURE).fit(ROWS)
    monkeypatch.setattr(module, "CHUNKS", (500, 20))
    small.max_bytes = 16 * 8 * 20  # fits twenty draws at once
    found = small.interval("P(rain=yes | wet=yes)", draws=500)
    assert tuple(found) == pytest.approx(tuple(first), abs=0.1)
    small.max_bytes = 1
    with pytest.raises(bb.BadData):
        small.interval("P(rain=yes | wet=yes)", draws=500)


def test_rules_without_a_prior_and_other_rules() -> None:
    for rule, alpha in (("mle", 8.5), ("m:4", 10), ("lidstone:2", 10)):
        fitted = bb.BayesianNetwork(STRUCTURE).fit(ROWS, smoothing=rule)
        cells = module.cell_posteriors(fitted, fitted.graph.nodes["rain"], module.require_counts(fitted)["rain"])
        assert cells[0][fitted.states("rain").index("yes")].alpha == alpha


def test_where_nothing_was_counted_the_remedy_is_named(net: bb.BayesianNetwork) -> None:
    given = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.2, "b": {True: 0.9, False: 0.1}})
    with pytest.raises(bb.BadOption, match="given, not counted") as caught:
        given.interval("P(a=true)")
    assert "net.fit(rows)" in str(caught.value)
    with pytest.raises(bb.BadOption, match="given, not counted"):
        given.tables(interval=0.95)
    holes = {name: [None, *column[1:]] if name == "wet" else column for name, column in ROWS.items()}
    with pytest.raises(bb.BadOption, match="missing values"):
        bb.BayesianNetwork(STRUCTURE).fit(holes).interval("P(rain=yes)")
    with pytest.raises(bb.BadOption, match="level"):
        net.interval("P(rain=yes)", 95)


def test_intervals_are_right_as_often_as_they_say() -> None:
    """Networks drawn from the prior that Laplace implies, rows from them: a 90 % interval holds the truth in 90 %."""
    random = np.random.default_rng(6)
    states = {"A": ["x", "y"], "B": ["x", "y"], "C": ["x", "y"]}
    inside = []
    for number in range(200):
        cpts = {
            "A": random.dirichlet([1, 1]),
            "B": random.dirichlet([1, 1], size=2),
            "C": random.dirichlet([1, 1], size=(2, 2)).reshape(2, 2, 2),
        }
        structure = {"B": ["A"], "C": ["A", "B"]}
        world = bb.BayesianNetwork(structure, cpts, states=states)
        fitted = bb.BayesianNetwork(structure, states=states).fit(world.sample(30, seed=number))
        low, high = fitted.interval("P(A=x | C=y)", 0.9, draws=400, seed=number)
        inside.append(low <= world.query("P(A=x | C=y)") <= high)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.075)


def test_by_command(tmp_path: Path, net: bb.BayesianNetwork, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "net.json")
    net.write(path)
    assert run(["query", path, "P(rain=yes | wet=yes)", "--interval", "90%", "--draws", "1000", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert shown.strip() == repr(net.interval("P(rain=yes | wet=yes)", 0.9, draws=1000, seed=3))
    assert run(["query", path, "P(rain | wet=yes)", "--json", "--interval"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["level"] == 0.95
    assert [row["levels"] for row in facts["rows"]] == [["no"], ["yes"]]
    assert run(["show", path, "--tables", "--interval"]) == 0
    assert "95 % interval" in capsys.readouterr().out
    assert run(["network", "show", path, "--tables", "--interval", ".9"]) == 0
    assert capsys.readouterr().out.strip() == str(net.tables(interval=0.9))
    assert run(["network", "show", path, "--interval", ".9"]) == 2
    assert "--interval requires --tables" in capsys.readouterr().err
    bif = str(tmp_path / "net.bif")
    net.write(bif)
    assert run(["query", bif, "P(rain=yes)", "--interval"]) == 2
    assert "bayes network learn" in capsys.readouterr().err
    for wrong, word in (
        (["--interval", "2"], "between 0 and 1"),
        (["--interval", "much"], "level such as"),
        (["--draws", "500"], "--interval"),
        (["--interval", ".9", "--approx", "gibbs"], "cannot be combined"),
    ):
        assert run(["query", path, "P(rain=yes)", *wrong]) == 2
        assert word in capsys.readouterr().err
