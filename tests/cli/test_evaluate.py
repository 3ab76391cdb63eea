"""`bayes evaluate`: what it prints, the keys of --json, the picture, and the exit code of every ending."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from bayesbox.cli import evaluate
from bayesbox.cli.main import run
from bayesbox.cli.print.compare import compare
from bayesbox.errors import BadData

LISTED = """
    how data target rows unlabelled skipped weight folds repeats seed classes accuracy accuracy_by_repeat log_loss brier
    calibration_error auc baseline macro per_class confusion bins unseen absent before_calibration intervals by
    warnings threshold
"""
KEYS = LISTED.split()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with rows to learn, rows to judge, and a model."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    for name, rows in (("people.csv", 90), ("test.csv", 60)):
        label = random.choice(["no", "yes"], rows, p=[0.6, 0.4])
        age = 30 + 8 * (label == "yes") + random.normal(0, 6, rows)
        car = np.where(random.random(rows) < 0.3 + 0.4 * (label == "yes"), "suv", "van")
        lines = [f"{a:.2f},{c},{k % 3},{y}" for k, (a, c, y) in enumerate(zip(age, car, label, strict=True))]
        (tmp_path / name).write_text("\n".join(["age,car,times,label", *lines]) + "\n")
    assert run(["train", "people.csv", "-t", "label", "--ignore", "times", "-o", "people.bayes"]) == 0
    return tmp_path


@pytest.fixture
def bayes(folder, capsys):
    """Run the verb: exit code, standard output, standard error."""
    capsys.readouterr()

    def call(*arguments):
        code = run(["evaluate", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_model_and_data(bayes):
    code, out, err = bayes("people.bayes", "test.csv")
    assert (code, err) == (0, "")
    assert out.startswith("rows of a file: test.csv, target label\n60 rows\n")
    for word in (
        "accuracy",
        "log loss",
        "Brier score",
        "calibration error",
        "area under ROC",
        "macro mean",
        "confusion",
    ):
        assert f"\n  {word}" in out or f"\n{word}" in out


def test_json_holds_the_keys_that_the_help_lists(bayes):
    code, out, _ = bayes("people.bayes", "test.csv", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found) == KEYS
    assert (found["how"], found["rows"], found["classes"], found["folds"]) == ("rows", 60, ["no", "yes"], None)
    assert len(found["bins"]) == 15
    assert np.array(found["confusion"]).sum() == 60
    _, text, _ = bayes("--help")
    listed = text.split("Keys of --json: ")[1].split("Examples")[0].split(";")[0].replace(".", " ").replace("\n", " ")
    assert [word.strip() for word in listed.split(",")] == KEYS


def test_cross_validation(bayes):
    options = ("people.csv", "-t", "label", "--ignore", "times", "--cv", 5, "--repeats", 2, "--seed", 3, "--json")
    code, out, err = bayes(*options)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["how"], found["folds"], found["repeats"], found["seed"]) == ("cross-validation", 5, 2, 3)
    assert len(found["accuracy_by_repeat"]) == 2
    assert bayes(*options, "--threads", 3)[1] == out == bayes(*options, "--threads", 1)[1]
    assert bayes(*options[:-2], 4, "--json")[1] != out


def test_ten_folds_where_nothing_is_said(bayes):
    assert bayes("people.csv", "-t", "label")[1].startswith("cross-validation, 10 folds, seed 0: people.csv")
    assert bayes("people.csv", "-t", "label")[1] == bayes("people.csv", "-t", "label", "--cv", 10)[1]


def test_leave_one_out(bayes):
    code, out, _ = bayes("people.csv", "-t", "label", "--loo", "--json")
    assert (code, json.loads(out)["how"], json.loads(out)["rows"]) == (0, "leave-one-out", 90)


def test_options_of_learning_count(bayes):
    common = ("people.csv", "-t", "label", "--json")
    plain = bayes(*common)[1]
    for option in (["--smoothing", "m:20"], ["--ignore", "age"], ["--types", "times=category"], ["--weight", "times"]):
        code, out, _ = bayes(*common, *option)
        assert code == 0
        assert json.loads(out)["log_loss"]["value"] != json.loads(plain)["log_loss"]["value"], option
    weighted = json.loads(bayes(*common, "--weight", "times")[1])
    assert (weighted["rows"], weighted["weight"]) == (90, 90)
    assert json.loads(bayes(*common, "--bins", 5)[1])["bins"][1]["start"] == 0.2


def test_a_prior_changes_the_predictions_of_a_model(bayes):
    plain = json.loads(bayes("people.bayes", "test.csv", "--json")[1])
    other = json.loads(bayes("people.bayes", "test.csv", "--json", "--prior", "yes=.99,no=.01")[1])
    assert np.array(other["confusion"])[:, 1].sum() > np.array(plain["confusion"])[:, 1].sum()


def test_the_picture(bayes, folder):
    code, out, err = bayes("people.bayes", "test.csv", "--json", "--svg", "out.svg")
    assert (code, err) == (0, "reliability diagram written to out.svg\n")
    tree = ET.parse(folder / "out.svg")
    points = [each for each in tree.iter() if each.tag.endswith("circle")]
    assert len(points) == sum(each["n"] > 0 for each in json.loads(out)["bins"]) > 1
    assert bayes("people.bayes", "test.csv", "--svg", "nowhere/out.svg")[0] == 74


def test_a_label_never_seen(bayes, folder):
    (folder / "new.csv").write_text("age,car,label\n30,suv,yes\n30,van,maybe\n30,van,\n")
    code, out, err = bayes("people.bayes", "new.csv")
    assert (code, err) == (0, "")
    assert "2 rows, 1 without a label dropped" in out
    assert "labels not seen in training, counted as errors: maybe (1)" in out
    found = json.loads(bayes("people.bayes", "new.csv", "--json")[1])
    assert (found["log_loss"]["value"], found["log_loss"]["low"]) == ("inf", None)
    assert found["unseen"] == {"maybe": 1}


def test_a_column_that_is_not_there_is_told(bayes, folder):
    (folder / "new.csv").write_text("age,label\n30,yes\n30,no\n")
    code, _, err = bayes("people.bayes", "new.csv")
    assert code == 0
    assert "new.csv has no column `car`" in err


def test_impossible_rows_of_all_folds_are_added_up(bayes, folder):
    (folder / "odd.csv").write_text("a,b,label\n" + "x,x,p\n" * 7 + "y,y,q\n" * 7 + "x,y,p\ny,x,q\n")
    options = ("odd.csv", "-t", "label", "--cv", 4, "--smoothing", "mle", "--seed", 1)
    code, out, _ = bayes(*options, "--json")
    expected = "2 of 8 rows are impossible in every class; they get the class prior"
    assert (code, json.loads(out)["warnings"]) == (0, [expected])  # one in each of two folds of four rows
    assert f"note: {expected}" in bayes(*options)[2]


def test_broken_rows_are_counted(bayes, folder):
    (folder / "broken.csv").write_text("age,car,label\n30,suv,yes\n30,van\n20,van,no\n")
    assert bayes("people.bayes", "broken.csv")[0] == 3
    code, out, err = bayes("people.bayes", "broken.csv", "--bad-rows", "skip", "--json")
    assert (code, json.loads(out)["rows"], json.loads(out)["skipped"]) == (0, 2, 1)
    assert "1 malformed row skipped" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "Missing argument"),
        (["people.bayes"], 2, "no data"),
        (["people.csv"], 2, "people.csv is not a model"),
        (["people.bayes", "test.csv", "--cv", "5"], 2, "--cv applies to training"),
        (["people.bayes", "test.csv", "--loo"], 2, "--loo applies to training"),
        (["people.bayes", "test.csv", "--smoothing", "mle"], 2, "--smoothing applies to training"),
        (["people.bayes", "test.csv", "--seed", "0"], 2, "--seed applies to training"),
        (["people.csv", "-t", "label", "--loo", "--cv", "3"], 2, "choose one of --loo and --cv"),
        (["people.csv", "-t", "label", "--loo", "--weight", "times"], 2, "--loo counts every row once"),
        (["people.csv", "-t", "label", "--cv", "1"], 2, "--cv"),
        (["people.csv", "-t", "label", "--cv", "91"], 2, "there are more folds than labelled rows (90)"),
        (["people.csv", "-t", "label", "--smoothing", "nothing"], 2, "smoothing must be one of mle"),
        (["people.csv", "-t", "lable"], 3, "Did you mean `label`"),
        (["people.bayes", "test.csv", "-t", "lable"], 3, "Did you mean `label`"),
        (["people.bayes", "test.csv", "--weight", "wieght"], 3, "wieght"),
        (["unlabelled.csv", "-t", "label"], 3, "no row has a label"),
        (["people.bayes", "unlabelled.csv"], 3, "no row has a label"),
        (["damaged.bayes", "test.csv"], 4, "damaged.bayes"),
        (["text.bayes", "test.csv"], 4, "this is not a bayesbox model"),
        (["gone.bayes", "test.csv"], 74, "gone.bayes"),
        (["people.bayes", "gone.csv"], 74, "gone.csv"),
        (["gone.csv", "-t", "label"], 74, "gone.csv"),
    ],
)
def test_endings(bayes, folder, arguments, code, words):
    (folder / "unlabelled.csv").write_text("age,car,label\n30,suv,\n31,van,\n")
    (folder / "damaged.bayes").write_bytes((folder / "people.bayes").read_bytes()[:-40])
    (folder / "text.bayes").write_text("age,car\n")
    found, out, err = bayes(*arguments)
    assert (found, out) == (code, "")
    assert words in err
    assert err.count("\n") == 1, "one line"


def test_a_model_is_known_by_its_first_bytes(folder):
    (folder / "renamed.csv").write_bytes((folder / "people.bayes").read_bytes())
    assert evaluate.is_model("renamed.csv")
    assert not evaluate.is_model("people.csv")
    assert run(["evaluate", "renamed.csv", "test.csv"]) == 0


def test_calibration_is_judged_before_and_after(bayes, tmp_path):
    options = ("people.csv", "-t", "label", "--ignore", "times", "--cv", 5, "--calibrate", "dirichlet")
    code, out, _ = bayes(*options, "--svg", tmp_path / "r.svg")
    assert code == 0
    assert "reliability before calibration" in out
    assert "before calibration" in (tmp_path / "r.svg").read_text()
    _, out, _ = bayes(*options, "--json")
    assert json.loads(out)["before_calibration"]["calibration_error"] >= 0
    code, _, err = bayes("people.csv", "-t", "label", "--loo", "--calibrate", "isotonic")
    assert (code, "--cv" in err) == (2, True)


def test_all_kinds_are_compared(bayes, monkeypatch):
    from bayesbox.classifier import registry

    models = [("naive", {}), ("naive", {"numeric": "mdl"}), ("kdb:x", {})]
    monkeypatch.setattr(registry, "compared_models", lambda: models)
    options = ("people.csv", "-t", "label", "--ignore", "times", "--cv", 3, "--compare")
    code, out, err = bayes(*options)
    assert code == 0
    assert "naive, mdl" in out
    assert "kdb:x is not compared" in err
    _, out, _ = bayes(*options, "--json")
    losses = [each["log_loss"] for each in json.loads(out)["models"]]
    assert losses[:2] == sorted(losses[:2])
    assert losses[2] is None
    assert bayes("people.bayes", "test.csv", "--compare")[0] == 2


def test_robustness(bayes):
    options = ("people.csv", "-t", "label", "--ignore", "times", "--cv", 3, "--robustness")
    code, out, _ = bayes(*options)
    assert code == 0
    assert "every column twice" in out
    found = json.loads(bayes(*options, "--json")[1])["changes"]
    assert len(found) == 18
    plain = {each["model"]: each for each in found if each["change"] == "as they are"}
    _, out, _ = bayes("people.csv", "-t", "label", "--ignore", "times", "--cv", 3, "--json")
    assert plain["naive"]["accuracy"] == json.loads(out)["accuracy"]["value"]
    assert bayes("people.csv", "--robustness")[0] == 2


def test_one_class_is_known_for_sure(bayes, folder):
    (folder / "one.csv").write_text("age,class\n1,+\n2,+\n3,+\n")
    _, shown, _ = bayes("one.csv", "-t", "class", "--cv", "3")
    assert "class shares alone: 0.0000" in shown
    assert "-0.0000" not in shown


def test_a_refusal_in_a_comparison_is_whole_but_for_its_remedy():
    """It was cut at the first stop, which may be within the name of a file."""

    def judge(model, options):
        raise BadData("the data have no rows", where="v. 2/rows.csv", remedy="Give some")

    assert set(compare(judge).refused.values()) == {"v. 2/rows.csv: the data have no rows"}


def test_metrics_by_the_values_of_a_column(bayes):
    code, out, _ = bayes("people.bayes", "test.csv", "--by", "car")
    assert code == 0
    assert "by car" in out
    rows = [line.split(",") for line in Path("test.csv").read_text().splitlines()[1:]]
    for options in (
        ("people.bayes", "test.csv"),
        ("test.csv", "-t", "label", "--cv", 3),
        ("test.csv", "-t", "label", "--loo"),
    ):
        found = json.loads(bayes(*options, "--by", "car", "--json")[1])["by"]
        assert found["column"] == "car"
        sizes = {each["group"]: each["rows"] for each in found["groups"]}
        assert sizes == {car: sum(row[1] == car for row in rows) for car in ("suv", "van")}
        assert all(each["accuracy"]["low"] < each["accuracy"]["high"] for each in found["groups"])
    by_threads = [bayes("people.bayes", "test.csv", "--by", "car", "--json", "--threads", n)[1] for n in (1, 3)]
    assert by_threads[0] == by_threads[1]
    assert bayes("people.bayes", "test.csv", "--by", "colour")[0] == 3
    assert bayes("people.csv", "-t", "label", "--by", "car", "--compare")[0] == 2


def test_a_comparison_has_areas_intervals_and_paired_differences(bayes, monkeypatch):
    from bayesbox.classifier import registry

    monkeypatch.setattr(registry, "compared_models", lambda: [("naive", {}), ("tan", {})])
    options = ("people.csv", "-t", "label", "--ignore", "times", "--cv", 3, "--compare")
    out = bayes(*options)[1]
    assert "AUC" in out
    assert "paired by row" in out
    found = json.loads(bayes(*options, "--json")[1])
    best, other = found["models"]
    assert found["best"] == best["model"]
    assert best["difference"]["log_loss"] == {"value": 0, "low": 0, "high": 0}
    paired = other["difference"]["log_loss"]
    assert paired["value"] == pytest.approx(other["log_loss"] - best["log_loss"])
    assert paired["low"] < paired["value"] < paired["high"]
    alone = json.loads(bayes("people.csv", "-t", "label", "--ignore", "times", "--cv", 3, "--json")[1])
    naive = next(each for each in found["models"] if each["model"] == "naive")
    assert naive["intervals"]["auc"]["low"] == alone["intervals"]["auc"]["low"]
    assert naive["auc"] == alone["auc"]
