"""All approximations beside the exact answer: the errors are those against enumeration, and fall with the samples."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.network.approximate.beside_exact import ApproximateAnswers
from bayesbox.network.factor_graph import FactorModel, FactorTable

ALARM = bb.BayesianNetwork(
    {"A": ["B", "E"], "J": ["A"], "M": ["A"]},
    {
        "B": 0.001,
        "E": 0.002,
        "J": {True: 0.9, False: 0.05},
        "M": {True: 0.7, False: 0.01},
        "A": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
    },
)
QUESTION = "P(B=true | J=true, M=true)"


@pytest.fixture(scope="module")
def found() -> ApproximateAnswers:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what a method warns of is a note
        return ALARM.approximations(QUESTION, samples=20_000)


def test_errors_are_those_against_enumeration(found: ApproximateAnswers) -> None:
    exact = 592242590 / 2084100239
    assert found.exact is not None
    assert found.exact[""] == pytest.approx(exact, abs=1e-12)
    for each in found.answers:
        alone = ALARM.query(QUESTION, approx=each.method, **({"samples": 20_000} if "samples" in each.about else {}))
        assert each.probabilities[""] == alone
        assert each.error == pytest.approx(abs(float(alone) - exact), abs=1e-12)
    package = ["weighting", "gibbs", "blockgibbs", "bounds", "loopy", "meanfield"]
    assert [each.method for each in found.answers][:6] == package
    assert found["bounds"].error == pytest.approx(0, abs=1e-12)  # all cases
    assert found["loopy"].error == pytest.approx(0, abs=1e-12)  # a polytree
    assert found["weighting"].stated == ALARM.query(QUESTION, approx="weighting", samples=20_000).standard_error
    assert found["meanfield"].stated is None
    with pytest.raises(KeyError):
        found["guessing"]


def test_the_error_falls_with_the_root_of_the_samples(found: ApproximateAnswers) -> None:
    for method in ("weighting", "gibbs"):
        falls = {each.samples: each for each in found.by_samples if each.method == method}
        assert list(falls) == [100, 1_000, 10_000]
        assert falls[100].error > falls[1_000].error > falls[10_000].error
        assert 3 < falls[100].error / falls[10_000].error < 30  # about 10
        assert 3 < falls[100].stated / falls[10_000].stated < 60
    by_hand = [ALARM.query(QUESTION, approx="weighting", samples=1_000, seed=seed) for seed in range(10)]
    off = np.array(by_hand, dtype=float) - found.exact[""]
    weighting = next(each for each in found.by_samples if each.method == "weighting" and each.samples == 1_000)
    assert weighting.error == pytest.approx(np.sqrt((off**2).mean()))


def test_it_prints_and_becomes_a_frame(found: ApproximateAnswers) -> None:
    lines = str(found).splitlines()
    assert lines[0] == QUESTION
    assert lines[2].split() == ["method", "P", "error", "stated", "error"]
    assert lines[3].split() == ["exact", "0.2841718"]
    assert all(len(line) <= 100 for line in lines)
    assert repr(found).startswith(f"ApproximateAnswers({QUESTION}: errors weighting ")
    assert "<table>" in found._repr_html_()
    assert "<svg" in found._repr_html_()
    frame = found.to_frame()
    assert list(frame["method"]) == [each.method for each in found.answers]
    assert frame["difference"].abs().tolist() == pytest.approx([each.error for each in found.answers])
    assert list(found.fall_frame()["samples"]) == [100, 1_000, 10_000] * 3
    assert found.svg().count("<polyline") == len(found.answers)


def test_tables_and_joints() -> None:
    one = ALARM.approximations("P(A, B | J=true)", samples=5_000, sizes=[500], runs=2)
    assert one.columns == ("A", "B")
    assert set(one.exact) == set(itertools.product(["true", "false"], repeat=2))
    for each in one.answers:
        largest = max(abs(each.probabilities[state] - p) for state, p in one.exact.items())
        assert each.error == largest
        assert sum(each.probabilities.values()) == pytest.approx(1)
    wide = bb.BayesianNetwork({"B": ["A"]}, {"A": dict.fromkeys("uvwxyz", 1 / 6), "B": dict.fromkeys("uvwxyz", 0.5)})
    text = str(wide.approximations("P(A | B=true)", samples=500, runs=0))
    assert "exact" in text
    assert len([line for line in text.splitlines() if line.strip()[:2] in {f"{c} " for c in "uvwxyz"}]) == 6


def test_where_exact_is_refused_the_approximations_are_given_alone() -> None:
    network = bb.BayesianNetwork.of(ALARM.graph)
    network.max_bytes = 1
    found = network.approximations(QUESTION, samples=2_000, sizes=[100, 1_000], runs=3)
    assert found.exact is None
    assert "tables" in found.refused
    assert all(each.error is None for each in (*found.answers, *found.by_samples))
    assert found["weighting"].probabilities[""] == pytest.approx(0.284, abs=0.05)
    assert f"exact: {found.refused}" in str(found)
    assert "error of" not in str(found)
    with pytest.raises(bb.BadOption, match="exact answer"):
        found.svg()


def test_factor_graphs_take_what_they_can() -> None:
    model = FactorModel(
        ("a", "b"), (("x", "y"), ("p", "q")), (FactorTable((0, 1), np.array([[4.0, 1.0], [1.0, 2.0]])),)
    )
    found = bb.FactorGraph(model).approximations("P(a=x)", samples=4_000, runs=2)
    assert found.exact[""] == pytest.approx(5 / 8)
    assert found["gibbs"].error < 0.05
    assert found["weighting"].error < 0.05
    assert {each.method for each in found.by_samples} == {"gibbs", "weighting", "blockgibbs"}


def test_what_is_impossible_or_no_number_is_refused() -> None:
    sure = bb.BayesianNetwork({"B": ["A"]}, {"A": 1.0, "B": {True: 0.5, False: 0.5}})
    with pytest.raises(bb.ImpossibleEvidence):
        sure.approximations("P(B | A=false)")
    with pytest.raises(bb.BadOption):
        ALARM.approximations(QUESTION, samples=0)
    with pytest.raises(bb.BadOption):
        ALARM.approximations(QUESTION, sizes=[0.5])


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "alarm.bif")
    ALARM.write(path)
    assert run(["query", path, QUESTION, "--approx", "all", "--samples", "3000", "--seed", "4"]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip("\n") == str(bb.read_network(path).approximations(QUESTION, samples=3000, seed=4))
    assert run(["query", path, QUESTION, "--approx", "all", "--samples", "3000", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["exact"][0]["probability"] == pytest.approx(0.28417183536439)
    package = ["weighting", "gibbs", "blockgibbs", "bounds", "loopy", "meanfield"]
    assert [each["method"] for each in facts["methods"]] == package
    assert facts["by_samples"][0]["samples"] == 100
    assert run(["query", path, QUESTION, "--approx", "all", "--show-work"]) == 2
    assert "--approx weighting or --approx gibbs" in capsys.readouterr().err
