"""`bayes calibrate`, and the calibration that `train` chooses."""

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.classifier.test_auto_calibration import mixed


@pytest.fixture
def data(folder):
    """A table of copied columns, and another of the same."""
    for name, seed in (("rows.csv", 1), ("more.csv", 7)):
        columns, labels = mixed(seed=seed)
        names = [*columns, "class"]
        lines = zip(*(np.asarray(column).astype(str) for column in columns.values()), labels, strict=True)
        (folder / name).write_text("\n".join([",".join(names), *map(",".join, lines)]) + "\n")
    return folder


def test_train_chooses_by_default_and_says_so(bayes, data):
    report = json.loads(bayes("train", "rows.csv", "-t", "class", "--json").out)
    found = report["calibration"]
    assert found["asked"] == "auto"
    assert found["name"].startswith("column weights")
    assert found["log_loss_after"] < found["log_loss_before"]
    assert set(found["candidates"]) >= {"none", "temperature", "isotonic", "dirichlet", "shares", "column weights"}
    plain = json.loads(bayes("train", "rows.csv", "-t", "class", "--calibrate", "none", "-o", "p.bayes", "--json").out)
    assert plain["calibration"] is None
    assert plain["digest"] == report["digest"]
    text = bayes("train", "rows.csv", "-t", "class", "--force").err
    assert f"log loss of 300 held-out rows {found['log_loss_before']:.3f} before" in text


def test_the_same_file_gives_the_same_bytes_as_python_and_by_threads(bayes, data):
    import bayesbox as bb

    bayes("train", "rows.csv", "-t", "class", "--threads", "1")
    bayes("train", "rows.csv", "-t", "class", "--threads", "3", "-o", "again.bayes")
    assert (data / "rows.bayes").read_bytes() == (data / "again.bayes").read_bytes()
    columns, labels = mixed(seed=1)
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    assert bb.load(data / "rows.bayes").classifier_.calibrated == clf.classifier_.calibrated


def test_update_marks_it_stale_and_calibrate_learns_it_again(bayes, data):
    bayes("train", "rows.csv", "-t", "class")
    updated = json.loads(bayes("update", "rows.bayes", "more.csv", "--json").out)
    assert updated["stale"]
    assert json.loads(bayes("show", "rows.bayes", "--json").out)["stale"]
    assert "bayes calibrate rows.bayes DATA" in bayes("show", "rows.bayes").out
    report = json.loads(bayes("calibrate", "rows.bayes", "rows.csv", "more.csv", "--json").out)
    assert (report["rows"], report["stale"], report["digest"]) == (600, False, updated["digest"])
    shown = json.loads(bayes("show", "rows.bayes", "--json").out)
    assert not shown["stale"]
    assert shown["calibration"]["rows"] == 600
    bayes("train", "rows.csv", "more.csv", "-t", "class", "-o", "whole.bayes")
    assert (data / "whole.bayes").read_bytes() == (data / "rows.bayes").read_bytes()


def test_a_certificate_and_a_merge_name_the_remedy(bayes, data):
    bayes("train", "rows.csv", "-t", "class")
    bayes("train", "more.csv", "-t", "class")
    merged = json.loads(bayes("merge", "rows.bayes", "more.bayes", "-o", "both.bayes", "--json").out)
    assert merged["stale"]
    bayes("update", "rows.bayes", "more.csv")
    (data / "gone.csv").write_text("".join((data / "rows.csv").read_text().splitlines(keepends=True)[:3]))
    bayes("forget", "rows.bayes", "gone.csv", "--certificate", "c.json")
    assert any("bayes calibrate MODEL DATA" in part for part in json.loads((data / "c.json").read_text())["derived"])


def test_calibrate_takes_new_rows_and_takes_away(bayes, data):
    bayes("train", "rows.csv", "-t", "class", "--calibrate", "none")
    plain = (data / "rows.bayes").read_bytes()
    report = json.loads(
        bayes("calibrate", "rows.bayes", "more.csv", "--held-out", "--kind", "temperature", "--json").out
    )
    assert report["calibration"]["name"] == "temperature"
    bayes("calibrate", "rows.bayes", "rows.csv", "--kind", "none")
    assert (data / "rows.bayes").read_bytes() == plain


def test_rows_that_were_never_learned_name_the_option(bayes, data):
    bayes("train", "rows.csv", "-t", "class", "--types", "copy0=category")
    (data / "new.csv").write_text((data / "more.csv").read_text().replace("True", "perhaps", 1))
    ended = bayes("calibrate", "rows.bayes", "new.csv", code=3)
    assert "--held-out" in ended.err


def test_evaluate_says_where_one_answer_is_better(bayes, folder):
    rng = np.random.default_rng(0)
    column = rng.integers(0, 30, 300).astype(str)
    label = np.where(rng.random(300) < 0.9, "good", "bad")
    rows = [",".join([*[f"v{value}"] * 8, each]) for value, each in zip(column, label, strict=True)]
    (folder / "n.csv").write_text("\n".join([",".join([*(f"c{i}" for i in range(8)), "y"]), *rows]) + "\n")
    assert "worse than always predicting good" in bayes("evaluate", "n.csv", "-t", "y", "--cv", "5").out
    report = json.loads(bayes("evaluate", "n.csv", "-t", "y", "--cv", "5", "--json").out)
    assert any(text.startswith("worse than always predicting good") for text in report["warnings"])
    assert "worse than always predicting good" in bayes("train", "n.csv", "-t", "y", "--calibrate", "none").err


def test_the_command_needs_neither_scipy_nor_sklearn(data):
    code = (
        "import sys; from bayesbox.cli.main import run;"
        "assert run(['train', 'rows.csv', '-t', 'class']) == 0;"
        "assert run(['predict', 'rows.bayes', 'rows.csv', '-o', 'out.csv']) == 0;"
        "assert run(['calibrate', 'rows.bayes', 'rows.csv']) == 0;"
        "sys.exit([m for m in ('scipy', 'sklearn') if m in sys.modules] or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
