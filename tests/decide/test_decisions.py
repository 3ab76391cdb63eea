"""Decisions: by cost, with a threshold, or none; against plain enumeration."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.decide.costs import cheapest, cost_matrix
from bayesbox.decide.thresholds import best_threshold
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


def test_the_threshold_of_an_estimator():
    clf = bb.NaiveBayes().fit(ROWS, LABELS)
    found = clf.best_threshold(ROWS, LABELS, "ill", metric="accuracy")
    assert found.score == pytest.approx(0.75)
    with pytest.raises(BadOption, match="no such class"):
        clf.best_threshold(ROWS, LABELS, "dead")
    with pytest.raises(BadOption, match="no metric"):
        clf.best_threshold(ROWS, LABELS, "ill", metric="luck")
    with pytest.raises(BadData, match="rows of others"):
        clf.best_threshold(ROWS, ["ill"] * 8, "ill")


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
