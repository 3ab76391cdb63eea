"""The engine in the page answers as the library does, to 1e-12, on everything that it accepts."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.export.cases import CASES, asked, people
from tests.web.engine import answers, plain_rows

import bayesbox as bb
from bayesbox.app.document.classifier import classifier_document
from bayesbox.app.document.network import network_document
from bayesbox.errors import CannotExport

CLOSE = 1e-12

DENSITIES = [
    *("gaussian", "student", "lognormal", "robust", "kernel", "gaussian:rounded", "gaussian:spacing"),
    *("width:5", "frequency:4", "mdl", "modl", "auto"),
]
MODELS: dict[str, Any] = {f"naive, {density}": bb.NaiveBayes(numeric=density) for density in DENSITIES}
MODELS |= {
    f"calibrated by {kind}": bb.NaiveBayes(calibration=kind)
    for kind in ("temperature", "isotonic", "dirichlet", "shares", "auto")
}
MODELS |= {
    "averaged": bb.AveragedNaiveBayes(),
    "averaged, student": bb.AveragedNaiveBayes(numeric="student"),
    "tan": bb.TAN(),
    "kdb": bb.KDB(2),
    "kdb, unseen levels smoothed": bb.KDB(1, unseen="smooth"),
    "aode": bb.AODE(),
    "aode, calibrated": bb.AODE(calibration="isotonic"),
}
TABLES = {
    "full": bb.FullBayes(),
    "full, missing is a level": bb.FullBayes(missing="level"),
    "full, unseen levels smoothed": bb.FullBayes(unseen="smooth"),
}


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)
        yield


def categories(table: pa.Table) -> pa.Table:
    zips = pa.array([None if each is None else str(each) for each in table["zip"].to_pylist()])
    chosen = table.select(['the "car"', "member", "zip"])
    return chosen.set_column(2, "zip", zips)


def question(model: Any, rows: pa.Table) -> dict[str, Any]:
    return {"document": classifier_document(model.classifier_), "rows": plain_rows(rows)}


def worst(found: Any, expected: np.ndarray) -> float:
    return float(np.abs(np.array(found, dtype=float) - expected).max())


def test_every_model_answers_as_the_library() -> None:
    learned, rows = people(400, 0), asked()
    X, y = learned.drop_columns(["risk"]), learned["risk"]
    fitted = {name: (model.fit(X, y), rows) for name, model in MODELS.items()}
    fitted |= {name: (model.fit(categories(X), y), categories(rows)) for name, model in TABLES.items()}
    prior = {"low": 0.2, "it's high": 0.5, "middling": 0.3}
    fitted["another base rate"] = fitted["naive, robust"][0].with_prior(prior), rows
    fitted["another base rate, calibrated"] = fitted["calibrated by isotonic"][0].with_prior(prior), rows
    for name, make in CASES.items():
        fitted[name] = make()
    found = answers([question(model, table) for model, table in fitted.values()])
    off = {
        name: worst(shares, model.predict_proba(table))
        for (name, (model, table)), shares in zip(fitted.items(), found, strict=True)
    }
    assert {name: each for name, each in off.items() if not each < CLOSE} == {}


def test_the_page_changes_the_base_rate_by_itself() -> None:
    learned, rows = people(300, 2), asked()
    shares = [0.2, 0.5, 0.3]
    model = bb.NaiveBayes(calibration="dirichlet").fit(learned.drop_columns(["risk"]), learned["risk"])
    [found] = answers([question(model, rows) | {"prior": shares}])
    changed = model.with_prior(dict(zip(model.classes_.tolist(), shares, strict=True)))
    assert worst(found, changed.predict_proba(rows)) < CLOSE


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (bb.FullBayes(), "numbers that depend on each other"),
        (bb.AutoBayes(), "a model of the kind auto"),
        (bb.NaiveBayes(columns={"day": bb.Date()}), "`day`"),
        (bb.NaiveBayes(columns={"note": bb.Words()}), "`note`"),
    ],
    ids=["full", "auto", "date", "words"],
)
def test_what_the_engine_does_not_accept_is_said(model: Any, why: str) -> None:
    rows = {
        "age": [30.5, 41.2, 28.9, 55.1, 60.3, 33.3] * 4,
        "size": [1.5, 1.7, 2.9, 1.1, 1.3, 1.3] * 4,
        "day": ["2024-01-05", "2024-02-06", "2024-03-07", "2024-01-08", "2024-05-09", "2024-06-11"] * 4,
        "note": ["a cheap offer", "see you soon", "cheap cheap", "soon then", "an offer", "see the offer"] * 4,
    }
    if isinstance(model, bb.FullBayes | bb.AutoBayes):
        del rows["day"], rows["note"]
    elif "day" in model.columns:
        del rows["note"]
    else:
        del rows["day"]
    model.fit(rows, ["a", "b", "b", "a", "a", "b"] * 4)
    with pytest.raises(CannotExport) as refused:
        classifier_document(model.classifier_)
    assert why in str(refused.value)


def network(nodes: int, seed: int, *, zeros: bool) -> bb.BayesianNetwork:
    """A random network of nodes with two to four states and up to three parents."""
    draw = np.random.default_rng(seed)
    names = [f"node {place}" for place in range(nodes)]
    sizes = draw.integers(2, 5, nodes)
    structure: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for place, name in enumerate(names):
        parents = sorted(draw.choice(place, size=min(place, int(draw.integers(0, 4))), replace=False)) if place else []
        table = draw.dirichlet(np.ones(sizes[place]), size=[sizes[each] for each in parents])
        if zeros:
            table = np.where((draw.random(table.shape) < 0.2) & (table < table.max(-1, keepdims=True)), 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        else:
            table = np.round(table, 7)  # rows that do not quite sum to 1
            table[..., 0] += 1 - table.sum(axis=-1) + 3e-8
        structure[name], tables[name] = [names[each] for each in parents], table
    states = {name: [f"s{each}" for each in range(size)] for name, size in zip(names, sizes, strict=True)}
    return bb.BayesianNetwork(structure, tables, states=states)


def test_every_network_answers_as_the_library() -> None:
    nets = [network(nodes, seed, zeros=seed % 2 == 1) for seed, nodes in enumerate((1, 4, 8, 15, 25, 37))]
    cases = []
    for seed, net in enumerate(nets):
        draw = np.random.default_rng(seed)
        rows = net.sample(4, seed=seed).to_pylist()
        chosen = [draw.choice(net.nodes, size=min(3, len(net.nodes) - 1), replace=False) for _ in rows]
        cases.append([{}, *({str(name): row[name] for name in some} for row, some in zip(rows, chosen, strict=True))])
    last = nets[3].nodes[-1]
    soft = {"hard": {}, "soft": {last: {state: 0.1 * (at + 1) for at, state in enumerate(nets[3].states(last))}}}
    questions = [
        {"document": network_document(net), "evidence": [{"hard": each} for each in some], "target": net.nodes[0]}
        for net, some in zip(nets, cases, strict=True)
    ]
    *found, [softly] = answers([*questions, {"document": network_document(nets[3]), "evidence": [soft]}])
    for net, some, got in zip(nets, cases, found, strict=True):
        for evidence, answer in zip(some, got, strict=True):
            _compare(net, evidence, answer)
    expected = nets[3].posteriors(soft["soft"])
    for node, state in _states(nets[3]):
        assert softly["posteriors"][node][state] == pytest.approx(expected[node][state], abs=CLOSE)


def _states(net: bb.BayesianNetwork) -> list[tuple[str, str]]:
    return [(node, state) for node in net.nodes for state in net.states(node)]


def _compare(net: bb.BayesianNetwork, evidence: dict[str, str], answer: dict[str, Any]) -> None:
    expected = net.posteriors(evidence)
    for node, state in _states(net):
        assert answer["posteriors"][node][state] == pytest.approx(expected[node][state], abs=CLOSE)
    assert answer["logEvidence"] == pytest.approx(net.log_probability(evidence), abs=CLOSE)
    states, log = net.explanation(evidence)
    assert answer["mpe"]["log"] == pytest.approx(log, abs=CLOSE)
    assert answer["mpe"]["states"] == pytest.approx(states) or net.log_probability(answer["mpe"]["states"]) == (
        pytest.approx(log, abs=CLOSE)
    )
    bits = {each["name"]: each["bits"] for each in answer["ask"]}
    target = net.nodes[0]
    for name in itertools.islice(bits, 4):
        assert bits[name] == pytest.approx(_information(net, evidence, target, name), abs=1e-10)


def _information(net: bb.BayesianNetwork, evidence: dict[str, str], target: str, name: str) -> float:
    """I(target; name | evidence) in bits, from the joint table of the two."""
    if target in evidence:
        return 0.0
    now = net.posteriors(evidence)
    total = 0.0
    for state in net.states(name):
        if now[name][state] <= 0:
            continue
        then = net.posteriors({**evidence, name: state})[target]
        for own, share in then.items():
            if share > 0:
                total += now[name][state] * share * np.log2(share / now[target][own])
    return total


def test_impossible_evidence_and_a_table_too_large_are_said() -> None:
    net = bb.BayesianNetwork({"B": ["A"]}, {"A": 1.0, "B": {True: 0.5, False: 0.5}})
    [[found]] = answers([{"document": network_document(net), "evidence": [{"hard": {"A": "false"}}]}])
    assert found["logEvidence"] == "-Infinity"
    nodes = [f"n{place}" for place in range(16)]
    pairs = {f"pair {a} {b}": [a, b] for a, b in itertools.combinations(nodes, 2)}
    every = [*nodes, *pairs]
    wide = bb.BayesianNetwork(pairs, states={name: list("abc") for name in every})
    wide = wide.fit(pa.table({name: ["a", "b", "c"] for name in every}))
    with pytest.raises(AssertionError, match="too large for the page"):
        answers([{"document": network_document(wide), "evidence": [{"hard": {}}]}])
