"""Rows that are changed on purpose, and what models make of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.classifier.experiment.changes import NoiseLevels, RowChange, changes
from bayesbox.cli.main import run

ROWS = 2_000


def table() -> pa.Table:
    random = np.random.default_rng(0)
    label = random.choice(["a", "b", "c"], ROWS)
    return pa.table(
        {
            "number": random.normal(size=ROWS) + (label == "a"),
            "level": pa.array(np.where(random.random(ROWS) < 0.8, label, "other")).dictionary_encode(),
            "class": label,
        }
    )


def change(experiment: str, **levels: object) -> RowChange:
    [found] = [each for each in changes(NoiseLevels.of(**levels), "class") if each.experiment == experiment]
    return found


def test_wrong_labels_are_those_of_other_classes_in_the_share_that_is_asked_for() -> None:
    before = table()
    made = change("label noise", label_noise=0.3).training
    assert made is not None
    after = made(before, np.random.default_rng(1))
    wrong = np.array(before["class"].to_pylist()) != np.array(after["class"].to_pylist())
    assert abs(wrong.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / ROWS)
    others = np.array(after["class"].to_pylist())[wrong & (np.array(before["class"].to_pylist()) == "a")]
    assert abs((others == "b").mean() - 0.5) < 0.15
    assert after.drop_columns("class").equals(before.drop_columns("class"))
    assert after.schema == before.schema


def test_noise_points_are_added_and_have_values_of_their_columns() -> None:
    before = table()
    made = change("noise points", noise_points=0.25).training
    assert made is not None
    after = made(before, np.random.default_rng(1))
    assert len(after) == ROWS + ROWS // 4
    assert after.slice(0, ROWS).equals(before)
    added = after.slice(ROWS)
    assert set(added["number"].to_pylist()) <= set(before["number"].to_pylist())
    pairs = set(zip(before["number"].to_pylist(), before["level"].to_pylist(), strict=True))
    own = [pair in pairs for pair in zip(added["number"].to_pylist(), added["level"].to_pylist(), strict=True)]
    assert np.mean(own) < 0.6  # a row of its own, not one of the old


def test_columns_are_added_and_values_are_missing() -> None:
    before = table()
    more = change("irrelevant columns", irrelevant=3).all_rows
    copied = change("copies", copies=2).all_rows
    gaps = change("missing values", missing=0.4).all_rows
    assert more is not None
    assert copied is not None
    assert gaps is not None
    assert more(before, np.random.default_rng(1)).column_names[3:] == ["irrelevant 1", "irrelevant 2", "irrelevant 3"]
    twice = copied(before, np.random.default_rng(1))
    assert twice.column_names[3:] == [f"{name} again {time}" for name in ("number", "level") for time in (1, 2)]
    assert twice["level again 2"].to_pylist() == before["level"].to_pylist()
    empty = gaps(before, np.random.default_rng(1))
    assert empty["class"].null_count == 0
    for name in ("number", "level"):
        assert abs(empty[name].null_count / ROWS - 0.4) < 0.06


@pytest.fixture
def people(tmp_path: Path) -> str:
    random = np.random.default_rng(3)
    label = np.where(random.random(120) < 0.5, "yes", "no")
    lines = ["age,car,class"]
    for place, each in enumerate(label):
        car = random.choice(["suv", "van"], p=[0.8, 0.2] if each == "yes" else [0.3, 0.7])
        lines.append(f"{random.normal() * 5 + 40 + 5 * (each == 'yes'):.3f},{car},{each}")
        assert place < 120
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_by_command_and_in_python_alike(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--robustness", "--cv", "4", "--label-noise", "10%,.4", "--noise-points", "none", "--model", "naive"]
    assert run(["evaluate", people, "-t", "class", *options, "--copies", "1,2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["change"] for each in found["changes"]] == [
        "as they are",
        "10 % of the training labels wrong",
        "40 % of the training labels wrong",
        "10 irrelevant columns",
        "every column twice",
        "every column three times",
        "20 % of the values missing",
    ]
    rows = [line.split(",") for line in Path(people).read_text().splitlines()[1:]]
    X = {"age": [float(row[0]) for row in rows], "car": [row[1] for row in rows]}
    y = [row[2] for row in rows]
    same = bb.robustness(bb.NaiveBayes(), X, y, cv=4, label_noise=[0.1, 0.4], noise_points=(), copies=[1, 2])
    assert [each.accuracy for each in same.found] == [each["accuracy"] for each in found["changes"]]
    assert [each.log_loss for each in same.found] == pytest.approx([each["log_loss"] for each in found["changes"]])
    assert run(["evaluate", people, "-t", "class", "--cv", "4", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert found["changes"][0]["accuracy"] == plain["accuracy"]["value"]
    assert run(["evaluate", people, "-t", "class", "--label-noise", ".1"]) == 2
    assert "--label-noise requires --robustness" in capsys.readouterr().err


def test_what_is_learned_is_noisy_and_what_is_judged_is_clean() -> None:
    """A model that is sure of a clean column stays right, though its training labels are wrong."""
    random = np.random.default_rng(4)
    y = random.choice(["a", "b"], 300)
    found = bb.robustness(bb.NaiveBayes(), {"copy": y}, y, label_noise=0.3, noise_points=0.3, irrelevant=(), copies=())
    by_change = {each.experiment: each for each in found.found}
    assert by_change["as they are"].accuracy == 1
    assert by_change["label noise"].accuracy == 1
    assert by_change["noise points"].accuracy == 1
    assert by_change["label noise"].log_loss > by_change["as they are"].log_loss


def test_the_result_shows_itself() -> None:
    X, y = {"a": ["x", "y"] * 10, "b": list(range(20))}, ["no", "yes"] * 10
    found = bb.robustness([bb.NaiveBayes(), bb.NaiveBayes(smoothing="m:2"), bb.AODE()], X, y, cv=2)
    assert found.models == ["NaiveBayes 1", "NaiveBayes 2", "AODE"]
    lines = str(found).splitlines()
    assert lines[0] == "cross-validation, 2 folds, seed 0: X"
    assert lines[3].split()[:3] == ["as", "they", "are"]
    assert all(len(line) <= 100 for line in lines)
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert len(frame) == 6 * 3
    assert frame["accuracy_change"][:3].tolist() == [0, 0, 0]
    assert str(bb.robustness({"mine": bb.NaiveBayes()}, X, y, cv=2)).count("mine") == 1
    assert found.to_dict()["changes"][0]["model"] == "NaiveBayes 1"


def test_a_seed_gives_the_same_again_and_another_does_not() -> None:
    X, y = {"a": ["x", "y", "y", "x", "y"] * 8}, ["no", "yes", "yes", "no"] * 10
    one, same, other = (bb.robustness(bb.NaiveBayes(), X, y, seed=seed).found for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_few_rows_have_as_many_folds() -> None:
    X = {"heavy": ["No", "No", "Yes", "No", "Yes", "No", "No"]}
    found = bb.robustness(bb.NaiveBayes(), X, ["+", "+", "+", "-", "-", "-", "-"])
    assert found.notes == ("only 7 rows have a label, so 7 folds are used instead of 10",)
    assert "7 folds, seed 0" in found.how
    for rows in range(2, 5):
        bb.robustness(bb.NaiveBayes(), {"a": list("xyzw")[:rows]}, list("+-+-")[:rows])
    with pytest.raises(bb.BadData, match="two rows"):
        bb.robustness(bb.NaiveBayes(), {"a": ["x"]}, ["+"])
    with pytest.raises(bb.BadOption, match="more folds than labelled rows"):
        bb.robustness(bb.NaiveBayes(), X, ["+", "+", "+", "-", "-", "-", "-"], cv=10)


def test_weights_count() -> None:
    X, y = {"a": ["x", "y", "x", "y", "x", "y"] * 5}, ["no", "yes", "no", "yes", "yes", "no"] * 5
    weighted = bb.robustness(bb.NaiveBayes(), X, y, sample_weight=[1, 1, 1, 1, 0, 0] * 5, cv=3, label_noise=())
    assert weighted.found[0].accuracy == 1


@pytest.mark.parametrize(
    "levels", [{"label_noise": 0}, {"missing": 1.0}, {"irrelevant": 0}, {"copies": 1.5}, {"noise_points": -1}]
)
def test_levels_that_mean_nothing_are_refused(levels: dict[str, float]) -> None:
    with pytest.raises(bb.BadOption, match=next(iter(levels))):
        bb.robustness(bb.NaiveBayes(), {"a": ["x", "y"]}, ["+", "-"], **levels)  # type: ignore[arg-type]


def test_other_models_are_refused() -> None:
    for model, word in itertools.product([[], "naive", bb.TextClassifier()], ["robustness"]):
        with pytest.raises(bb.BadOption, match=word):
            bb.robustness(model, {"a": ["x", "y"]}, ["+", "-"])
    with pytest.raises(bb.BadData, match="2 rows"):
        bb.robustness(bb.NaiveBayes(), {"a": ["x", "y"]}, ["+"])
