"""What the server sends and what the engine works out are the same traits, to 1e-12; and the paths that are open."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from tests.web.engine import run_deno
from tests.web.test_parity import network

import bayesbox as bb
from bayesbox.app.document.classifier import classifier_document
from bayesbox.app.document.network import network_document
from bayesbox.app.networks import network_answer, network_spec
from bayesbox.app.rows import row_answer, row_spec, rulers_of

SCRIPT = """
import { networkAnswer, rulersOf, whatIfAnswer } from "../../src/bayesbox/app/web/answers.js";
import { openPaths } from "../../src/bayesbox/app/web/bayesball.js";
import { Classifier, Network } from "../../src/bayesbox/app/web/engine.js";
const asked = JSON.parse(await new Response(Deno.stdin.readable).text());
const model = new Classifier(asked.model);
const network = new Network(asked.network);
console.log(JSON.stringify({
  rows: asked.rows.map((row) => whatIfAnswer(model, asked.spec, row)),
  rulers: rulersOf(model, asked.spec, 1, 0),
  evidence: asked.evidence.map((each) => networkAnswer(network, each, asked.target)),
  open: asked.given.map(([target, known]) => [...openPaths(asked.network.nodes, target, new Set(known)).nodes]),
}));
"""


def people() -> tuple[dict[str, Any], Any]:
    draw = np.random.default_rng(8)
    label = draw.integers(0, 3, 500)
    rows = {
        "age": draw.normal(40 + 9 * label, 6).round(1),
        "car": np.array(["suv", "van", "sports"])[(label + (draw.random(500) < 0.3)) % 3],
        "member": draw.random(500) < 0.3 + 0.2 * label,
    }
    return rows, np.array(["low", "mid", "high"])[label]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The questions, the answers of the library, and those of the page."""
    rows, labels = people()
    model = bb.NaiveBayes(calibration="temperature").fit(rows, labels)
    classifier, net = model.classifier_, network(9, 4, zeros=False)
    asked = [{}, {"age": 41.5}, {"car": "van", "member": "true"}, {"age": 60, "car": "suv", "member": "false"}]
    sample = net.sample(3, seed=1).to_pylist()
    evidence = [{"hard": {name: row[name] for name in net.nodes[2:5]}, "soft": {}} for row in sample]
    evidence += [
        {"hard": {}, "soft": {}},
        {"hard": {}, "soft": {net.nodes[3]: {s: 0.5**k for k, s in enumerate(net.states(net.nodes[3]))}}},
    ]
    given = [[target, list(known)] for target in net.nodes for known in itertools.combinations(net.nodes[::2], 2)]
    target, spec = net.nodes[0], row_spec(classifier)
    questions = {
        "model": classifier_document(classifier),
        "spec": spec,
        "rows": asked,
        "network": network_document(net),
        "evidence": evidence,
        "target": target,
        "given": given,
    }
    script = tmp_path_factory.mktemp("web") / "script.js"
    script.write_text(SCRIPT.replace("../../src", _source()))
    page = json.loads(run_deno("run", "-q", "--no-check", str(script), given=json.dumps(questions)))
    library = {
        "rows": [row_answer(classifier, row) for row in asked],
        "rulers": rulers_of(classifier, spec, [1, 0], {}),
        "evidence": [network_answer(net, each, target) for each in evidence],
        "open": [
            [node for node in net.nodes if node not in known and (node == of or not net.d_separated(of, node, known))]
            for of, known in given
        ],
    }
    for side in (page, library):
        side["questions"] = [row["ask"] for row in side["rows"]]
        side["flips"] = [row["flip"] for row in side["rows"]]
    return {"page": page, "library": library}


def _source() -> str:
    from pathlib import Path

    return (Path(__file__).parents[2] / "src").as_uri()


def close(one: Any, other: Any, *, of: str = "") -> None:
    """The same JSON, its numbers to 1e-12 of 1."""
    if isinstance(one, dict):
        assert isinstance(other, dict), of
        assert one.keys() == other.keys(), of
        for name in one:
            close(one[name], other[name], of=f"{of}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), of
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            close(left, right, of=f"{of}[{place}]")
    elif isinstance(one, float) or isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-11, abs_tol=1e-12), f"{of}: {one} and {other}"
    else:
        assert one == other, of


def test_rows_have_the_same_answers(both: dict[str, Any]) -> None:
    for page, library in zip(both["page"]["rows"], both["library"]["rows"], strict=True):
        for only in ("work", "ask", "flip", "notes", "interval"):  # compared by themselves
            page.pop(only, None)
            library.pop(only, None)
        close(page, library)


def test_the_page_asks_next_as_the_library_does(both: dict[str, Any]) -> None:
    compared = 0
    for page, library in zip(both["page"]["questions"], both["library"]["questions"], strict=True):
        own, expected = ({each["column"]: each["bits"] for each in side} for side in (page, library))
        assert own.keys() == expected.keys()
        for name, bits in own.items():
            close_enough = 5e-3 if name == "age" else 1e-9  # numbers are weighed at some points in the page
            assert bits == pytest.approx(expected[name], abs=close_enough)
            compared += 1
    assert compared > 3


def test_a_flip_gives_another_class(both: dict[str, Any]) -> None:
    for side in ("page", "library"):
        flips = [each for each in both[side]["flips"] if each is not None]
        assert flips
        assert all(0 < each["probability"] <= 1 for each in flips)
    row, flip = {"age": 60, "car": "suv", "member": "false"}, both["library"]["flips"][3]
    rows, labels = people()
    model = bb.NaiveBayes(calibration="temperature").fit(rows, labels)
    changed = {**row, **flip["changes"]}
    answer = row_answer(model.classifier_, changed)
    assert answer["posterior"][answer["label"]] == pytest.approx(flip["probability"])
    assert model.classes_[answer["label"]] == flip["prediction"]


def test_rulers_are_the_same(both: dict[str, Any]) -> None:
    close(both["page"]["rulers"], both["library"]["rulers"])


def test_evidence_has_the_same_answers(both: dict[str, Any]) -> None:
    for page, library in zip(both["page"]["evidence"], both["library"]["evidence"], strict=True):
        page["ask"], library["ask"] = (sorted(each["ask"], key=lambda one: one["name"]) for each in (page, library))
        close(page, library)


def test_open_paths_are_those_that_are_not_d_separated(both: dict[str, Any]) -> None:
    for page, library in zip(both["page"]["open"], both["library"]["open"], strict=True):
        assert sorted(page) == sorted(library)


def test_the_spec_of_a_network_has_a_place_for_each_node() -> None:
    net = network(9, 4, zeros=False)
    spec = network_spec(net)
    assert [node["name"] for node in spec["nodes"]]
    assert {node["name"] for node in spec["nodes"]} == set(net.nodes)
    assert {(edge["from"], edge["to"]) for edge in spec["edges"]} == set(net.edges)
    for node in spec["nodes"]:
        assert node["table"] == net.cpt(node["name"]).ravel().tolist()
        assert 0 < node["x"] < spec["width"]
        assert 0 < node["y"] < spec["height"]
