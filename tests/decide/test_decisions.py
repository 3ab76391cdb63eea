"""Decisions: by cost, with a threshold, or none; against plain enumeration."""

import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.decide.costs import cheapest, cost_matrix
from bayesbox.decide.thresholds import answers_at, best_threshold
from bayesbox.errors import BadData, BadOption

ROWS = {"fever": ["high", "high", "none", "none", "none", "high", "none", "none"]}
LABELS = ["ill", "ill", "well", "well", "well", "well", "ill", "well"]


def test_the_cheapest_answer_is_that_of_the_sums():
    rng = np.random.default_rng(0)
    posterior, matrix = rng.dirichlet(np.ones(4), 30), rng.uniform(0, 9, (4, 4))
    for row, answer in zip(posterior, cheapest(posterior, matrix), strict=True):
        sums = [sum(row[true] * matrix[true, each] for true in range(4)) for each in range(4)]
        assert answer == int(np.argmin(sums))


def test_without_costs_the_most_probable_class_is_decided():
    posterior = np.random.default_rng(1).dirichlet(np.ones(3), 50)
    assert np.array_equal(cheapest(posterior, cost_matrix({}, ("a", "b", "c"))), posterior.argmax(axis=1))


def test_costs_move_the_answers_of_an_estimator():
    clf = bb.NaiveBayes().fit(ROWS, LABELS)
    asked = {"fever": ["none", "high"]}
    assert clf.decide(asked).tolist() == clf.predict(asked).tolist() == ["well", "ill"]
    assert clf.decide(asked, costs={("ill", "well"): 50}).tolist() == ["ill", "ill"]
    sure = clf.predict_proba(asked).max(axis=1)
    assert clf.decide(asked, abstain=float(sure.max())).tolist().count(None) == 1


@pytest.mark.parametrize("costs", [{("ill", "dead"): 1}, {("ill", "well"): float("nan")}])
def test_costs_that_mean_nothing_are_refused(costs):
    with pytest.raises(BadOption):
        bb.NaiveBayes().fit(ROWS, LABELS).decide(ROWS, costs=costs)


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("accuracy", lambda y, p: (y == p).mean()),
        ("f1", f1_score),
        ("balanced", balanced_accuracy_score),
        ("youden", lambda y, p: 2 * balanced_accuracy_score(y, p) - 1),
    ],
)
def test_no_threshold_is_better(metric, score):
    rng = np.random.default_rng(2)
    true = rng.random(80) < 0.3
    p = np.clip(rng.normal(0.3 + 0.2 * true, 0.2), 0.01, 0.99).round(2)
    found = best_threshold(p, true, metric)
    assert found.score == pytest.approx(score(true, p >= found.value))
    assert found.score >= max(score(true, p >= cut) for cut in np.linspace(0, 1, 101)) - 1e-12


@pytest.mark.parametrize("mirrored", [False, True])
def test_of_equal_thresholds_the_nearest_to_a_half_is_taken(mirrored):
    """0.15 and 0.75 judge three of four rows rightly; mirrored, 0.25 and 0.85 do."""
    p, true = np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, True, False, True])
    if mirrored:
        p, true = 1 - p, ~true
    found = best_threshold(p, true, "accuracy")
    assert found.score == 0.75
    assert found.value == pytest.approx(0.25 if mirrored else 0.75)


def test_the_threshold_of_an_estimator():
    clf = bb.NaiveBayes().fit(ROWS, LABELS)
    found = clf.best_threshold(ROWS, LABELS, "ill", metric="accuracy")
    assert found.score == pytest.approx(0.75)
    with refusal(BadOption, found="dead"):
        clf.best_threshold(ROWS, LABELS, "dead")
    with refusal(BadOption, kind="metric", name="luck", choices=("accuracy", "balanced", "f1", "youden")):
        clf.best_threshold(ROWS, LABELS, "ill", metric="luck")
    with pytest.raises(BadData):
        clf.best_threshold(ROWS, ["ill"] * 8, "ill")


def test_a_threshold_decides():
    posterior = np.array([[0.3, 0.6, 0.1], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    assert answers_at(posterior, 0, 0.2).tolist() == [0, 0, 2]
    assert answers_at(posterior, 2, 0.9).tolist() == [1, 1, 0]
    assert answers_at(posterior, 0, 0.0).tolist() == [0, 0, 0]
    clf = bb.NaiveBayes().fit(ROWS, LABELS)
    p = clf.predict_proba(ROWS)[:, 0]
    for least in (0.0, 0.3, float(p.max()), 1.0):
        assert clf.decide(ROWS, threshold={"ill": least}).tolist() == np.where(p >= least, "ill", "well").tolist()
    for wrong in ({"dead": 0.1}, {"ill": 2.0}, {}, {"ill": 0.1, "well": 0.2}):
        with pytest.raises(BadOption):
            clf.decide(ROWS, threshold=wrong)
    with refusal(BadOption, found={"ill": 0.1}):
        clf.decide(ROWS, threshold={"ill": 0.1}, costs={("ill", "well"): 2})


def test_weights_are_repetitions():
    rng = np.random.default_rng(5)
    p, true, weights = rng.random(40).round(1), rng.random(40) < 0.4, rng.integers(1, 4, 40)
    for metric in ("accuracy", "balanced", "f1", "youden"):
        once = best_threshold(p, true, metric, weights.astype(float))
        again = best_threshold(np.repeat(p, weights), np.repeat(true, weights), metric)
        assert once.value == again.value
        assert once.score == pytest.approx(again.score)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("way", [("--loo",), ("--cv", "4"), ()])
def test_the_threshold_by_command(tmp_path, capsys, classes, way):
    draw = np.random.default_rng(classes)
    names = ["a", "b:c", "d"][:classes]
    labels = draw.integers(0, classes, 60)
    lines = [f"{value:.3f},{names[label]}" for value, label in zip(draw.normal(labels, 1.0), labels, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,label", *lines]) + "\n")
    model, rows = str(tmp_path / "m.bayes"), str(tmp_path / "rows.csv")
    assert run(["train", rows, "-t", "label", "-o", model]) == 0
    capsys.readouterr()
    data = [rows, "-t", "label", *way] if way else [model, rows]
    for name, metric in [(names[0], "f1"), (names[1], "balanced")]:
        asked = name if metric == "f1" else f"{name}:{metric}"
        assert run(["evaluate", *data, "--threshold", asked, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["threshold"]
        assert (found["class"], found["metric"]) == (name, metric)
        assert run(["predict", model, rows, "--threshold", f"{name}={found['value']}"]) == 0
        answers = np.array(capsys.readouterr().out.split()[1:]) == name
        true = labels == names.index(name)
        score = f1_score(true, answers) if metric == "f1" else balanced_accuracy_score(true, answers)
        if not way:
            assert score == pytest.approx(found["score"])
    assert run(["evaluate", *data, "--threshold", names[1]]) == 0
    shown = capsys.readouterr()
    assert "predicting b:c if P(b:c) is" in shown.out
    assert "--threshold 'b:c=" in shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("predict", "m.bayes", "rows.csv", "--threshold", "dead=0.2"), "unknown class"),
        (("predict", "m.bayes", "rows.csv", "--threshold", "ill"), "class=0.2"),
        (("predict", "m.bayes", "rows.csv", "--threshold", "ill=2"), "between 0 and 1"),
        (
            ("predict", "m.bayes", "rows.csv", "--threshold", "ill=.2", "--cost", "ill->well=2"),
            "choose one of",
        ),
        (("evaluate", "m.bayes", "rows.csv", "--threshold", "dead"), "unknown class"),
        (("evaluate", "rows.csv", "-t", "state", "--compare", "--threshold", "ill"), "one model"),
    ],
)
def test_thresholds_that_mean_nothing(tmp_path, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    lines = ["fever,state", *(f"{fever},{state}" for fever, state in zip(ROWS["fever"], LABELS, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    assert run(["train", "rows.csv", "-t", "state", "-o", "m.bayes"]) == 0
    assert run(list(arguments)) in (2, 3)
    assert words in capsys.readouterr().err


def test_by_command(tmp_path, capsys):
    lines = ["fever,state", *(f"{fever},{state}" for fever, state in zip(ROWS["fever"], LABELS, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    model, rows = str(tmp_path / "m.bayes"), str(tmp_path / "rows.csv")
    assert run(["train", rows, "-t", "state", "-o", model]) == 0
    capsys.readouterr()
    assert run(["predict", model, rows, "--cost", "ill->well=50"]) == 0
    assert capsys.readouterr().out.split() == ["prediction", *["ill"] * 8]
    assert run(["predict", model, rows, "--abstain", ".7"]) == 0
    assert "unsure" in capsys.readouterr().out
    assert run(["predict", model, rows, "--cost", "ill:well"]) == 2
    assert run(["predict", model, rows, "--cost", "ill->dead=3"]) == 2
