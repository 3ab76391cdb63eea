"""`bayes hmm`: train by labels and without, decode, score, forecast; the same figures as the library's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bayesbox as bb

from .conftest import Bayes

DAYS = """town,day,seen,weather
A,1,walk,dry
A,2,walk,dry
A,3,shop,dry
A,4,clean,rain
A,5,clean,rain
B,2,clean,rain
B,1,shop,rain
B,3,walk,dry
"""
HOW = ("--sequence", "town", "--order", "day")


@pytest.fixture
def days(folder):
    (folder / "days.csv").write_text(DAYS)
    (folder / "new.csv").write_text("day,seen\n1,walk\n2,\n3,clean\n")
    return folder


@pytest.fixture
def model(days, bayes):
    bayes("hmm", "train", "days.csv", "--labels", "weather", *HOW, "-o", "days.bayes")
    return bb.HiddenMarkovModel.load(days / "days.bayes")


def test_train_by_labels_is_counting(model):
    again = bb.HiddenMarkovModel().fit(
        [["walk", "walk", "shop", "clean", "clean"], ["shop", "clean", "walk"]],
        [["dry", "dry", "dry", "rain", "rain"], ["rain", "rain", "dry"]],
    )
    assert model.transition_.tolist() == again.transition_.tolist()
    assert model.emission_.tolist() == again.emission_.tolist()


def test_train_without_labels(days, bayes):
    ended = bayes("hmm", "train", "days.csv", "--states", 3, "--ignore", "weather", *HOW, "-o", "m.bayes", "--json")
    assert ended.json["states"] == [0, 1, 2]
    assert ended.json["sequences"] == 2
    assert ended.json["steps"] == 8
    assert ended.json["rounds"] > 0
    told = bayes("hmm", "train", "days.csv", "--ignore", "weather,town,day")
    assert "rounds of Baum-Welch" in told.err
    assert told.out == ""
    assert (days / "days.bayes").exists()


def test_decode(model, bayes):
    lines = bayes("hmm", "decode", "days.bayes", "new.csv", "--order", "day", "--proba").out.splitlines()
    assert lines[0] == "day,state,P(dry),P(rain)"
    assert [line.split(",")[1] for line in lines[1:]] == model.predict(["walk", None, "clean"]).tolist()
    shares = model.predict_proba(["walk", None, "clean"])
    assert [float(line.split(",")[2]) for line in lines[1:]] == shares[:, 0].tolist()
    rows = bayes("hmm", "decode", "days.bayes", "days.csv", "--sequence", "town", "--json").out.splitlines()
    assert json.loads(rows[5]) == {"town": "B", "step": 1, "state": "rain"}


def test_order_of_a_column_that_was_ignored(folder, bayes):
    """By numbers, though the model leaves the column out: 9 comes before 10."""
    (folder / "steps.csv").write_text("day,seen\n10,clean\n9,shop\n8,walk\n")
    for given in (["--ignore", "day"], ["--ignore", "day", "--order", "day"]):
        bayes("hmm", "train", "steps.csv", *given, "-o", "steps.bayes")
        found = bayes("hmm", "decode", "steps.bayes", "steps.csv", "--order", "day", "--proba", "--json").out
        hmm = bb.HiddenMarkovModel.load(folder / "steps.bayes")
        shares = [json.loads(line)["P(0)"] for line in found.splitlines()]
        assert shares == hmm.predict_proba(["walk", "shop", "clean"])[::-1, 0].tolist()


def test_score(model, bayes, folder):
    bayes("hmm", "score", "days.bayes", "days.csv", *HOW, "-o", "scores.csv")
    lines = (folder / "scores.csv").read_text().splitlines()
    assert lines[0] == "town,steps,log_likelihood"
    assert float(lines[2].split(",")[2]) == model.score(["shop", "clean", "walk"])


def test_forecast(model, bayes):
    lines = bayes("hmm", "forecast", "days.bayes", "new.csv", "--order", "day", "--steps", 2).out.splitlines()
    assert lines[0] == "step,P(dry),P(rain),P(seen=clean),P(seen=shop),P(seen=walk)"
    found = model.forecast(["walk", None, "clean"], 2)
    assert [float(cell) for cell in lines[2].split(",")[1:3]] == found.states[1].tolist()


def test_numbers(days, bayes):
    (days / "level.csv").write_text("level\n" + "\n".join(["0.1", "0.3", "0.2", "9.1", "9.5", "", "9.2", "0.0"]) + "\n")
    bayes("hmm", "train", "level.csv", "-o", "level.bayes")
    states = bayes("hmm", "decode", "level.bayes", "level.csv").out.splitlines()[1:]
    assert len({line.split(",")[1] for line in states[:3]}) == 1
    assert "level mean" in bayes("hmm", "forecast", "level.bayes", "level.csv").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "days.bayes"), 2, "a model and data"),
        (("train", "days.csv", "--sequence", "twon"), 3, "Did you mean `town`"),
        (("train", "absent.csv"), 74, "absent.csv"),
        (("decode", "days.csv", "days.csv"), 4, "days.csv"),
        (("decode", "days.bayes", "days.csv", "--order", "dya"), 3, "Did you mean `day`"),
        (("train", "days.csv", "--smoothing", "none"), 2, "smoothing must be one of mle"),
    ],
)
def test_errors(model, bayes, arguments, code, message):
    assert message in bayes("hmm", *arguments, code=code).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--states", "3"], "the labels name 2 states"),
        (["--states", "3..5"], "the labels name 2 states"),
        (["--rounds", "5"], "--rounds applies to unknown states"),
        (["--states", "auto", "--choose", "cv"], "--choose applies to unknown states"),
        (["--choose", "bic"], "--choose requires --states auto or a range such as 2..6"),
    ],
)
def test_what_says_nothing_where_all_labels_are_known(days, bayes, arguments, message):
    given = ("hmm", "train", "days.csv", "--labels", "weather", *HOW, "-o", "m.bayes")
    assert message in bayes(*given, *arguments, code=2).err
    assert not (days / "m.bayes").exists()
    assert bayes(*given, "--states", "2", "--json").json["states"] == ["dry", "rain"]


def test_number_of_states_is_chosen(days, bayes):
    given = ("days.csv", "--ignore", "weather", *HOW, "-o", "m.bayes")
    ended = bayes("hmm", "train", *given, "--states", "1..3", "--json")
    scores = ended.json["scores"]
    assert list(scores) == ["1", "2", "3"]
    assert len(ended.json["states"]) == int(min(scores, key=scores.get))
    told = bayes("hmm", "train", *given, "--states", "auto", "--choose", "cv")
    assert "held-out log-likelihood per step by the number of states: 1: " in told.err
    wrong = bayes("hmm", "train", "days.csv", "--states", "few", code=2)
    assert "2..6" in wrong.err


def test_show(model, bayes):
    lines = bayes("show", "days.bayes").out.splitlines()
    assert lines[0] == "days.bayes: hidden Markov model with 2 states, counted from known states"
    assert next(line.split() for line in lines if "dry" in line.split()[:1]) == ["dry", "0.5", "0.6", "0.4"]
    assert f"digest {model.book_.digest()}" in lines
    found = bayes("show", "days.bayes", "--json").json
    assert found["kind"] == "hidden-markov"
    assert found["transition"]["rain"]["dry"] == model.transition_[1, 0]
    assert found["columns"]["seen"]["dry"] == dict(zip(model.symbols_, model.emission_[0].tolist(), strict=True))
    assert "town" in bayes("show", "days.bayes", "--column", "town", code=3).err


def test_diff(model, bayes, days):
    (days / "more.csv").write_text(DAYS + "C,1,shop,dry\nC,2,walk,dry\n")
    bayes("hmm", "train", "more.csv", "--labels", "weather", *HOW, "-o", "more.bayes")
    assert bayes("diff", "days.bayes", "days.bayes").out.startswith("the same tallies")
    found = bayes("diff", "days.bayes", "more.bayes", "--json").json
    by_name = {each["column"]: each["rows"] for each in found["differences"]}
    assert by_name == {"(first states)": 1.0, "(transitions)": 1.0, "(classes)": 2.0, "seen": 2.0}
    assert not found["equal"]
    (days / "flat.csv").write_text("a,b\nx,yes\ny,no\n")
    bayes("train", "flat.csv", "-t", "b", "-o", "flat.bayes")
    assert "hidden Markov" in bayes("diff", "days.bayes", "flat.bayes", code=2).err


def test_drawing(model, bayes, folder):
    told = bayes("hmm", "decode", "days.bayes", "new.csv", "--order", "day", "--svg", "days.svg")
    assert "path and P(state) written to days.svg" in told.err
    drawn = (folder / "days.svg").read_text()
    assert drawn.startswith("<svg")
    assert drawn.count("<circle") == 2  # one of the three steps is missing
    assert drawn.count("<polygon") == 2
    assert ">1</text>" in drawn  # the days as they are written, not 1.0
    assert ">1.0</text>" not in drawn
    one = bayes("hmm", "decode", "days.bayes", "days.csv", *HOW, "--svg", "no.svg", "-o", "path.csv", code=3)
    assert "one sequence" in one.err


def test_update_forget_and_merge_are_exact(model, bayes, days):
    whole = model.book_.digest()
    (days / "north.csv").write_text("".join(DAYS.splitlines(keepends=True)[:6]))
    (days / "south.csv").write_text("".join([DAYS.splitlines(keepends=True)[0], *DAYS.splitlines(keepends=True)[6:]]))
    for name in ("north", "south"):
        bayes("hmm", "train", f"{name}.csv", "--labels", "weather", *HOW, "-o", f"{name}.bayes")
    found = bayes("hmm", "merge", "north.bayes", "south.bayes", "-o", "both.bayes", "--json").json
    assert found["digest"] == whole
    assert found["steps"] == 8
    assert (
        bayes("hmm", "update", "north.bayes", "south.csv", "--labels", "weather", *HOW, "--json").json["digest"]
        == whole
    )
    told = bayes("hmm", "forget", "both.bayes", "north.csv", "--labels", "weather", *HOW, "-o", "left.bayes").err
    assert bb.HiddenMarkovModel.load(days / "left.bayes").book_ == bb.HiddenMarkovModel.load(days / "south.bayes").book_
    assert f"digest before {whole}" in told
    again = bayes("hmm", "forget", "left.bayes", "north.csv", "--labels", "weather", *HOW, code=3)
    assert "never learned" in again.err
    assert "--labels" in bayes("hmm", "update", "both.bayes", "south.csv", code=2).err
    assert "-o" in bayes("hmm", "merge", "both.bayes", "south.bayes", code=2).err
    assert "bayes hmm" in bayes("predict", "days.bayes", "new.csv", code=4).err


@pytest.mark.parametrize(
    ("action", "option"),
    [
        ("train", ["--proba"]),
        ("train", ["--steps", "2"]),
        ("decode", ["--states", "3"]),
        ("decode", ["--labels", "act"]),
        ("score", ["--steps", "2"]),
        ("forecast", ["--proba"]),
        ("merge", ["--order", "day"]),
        ("update", ["--smoothing", "mle"]),
    ],
)
def test_options_of_another_action_are_refused(bayes: Bayes, action: str, option: list[str]) -> None:
    words = f"{option[0]} does not apply to {action}"
    assert words in bayes("hmm", action, "days.bayes", "days.csv", *option, code=2).err


def test_a_chain_is_written_to_a_file(bayes: Bayes) -> None:
    assert "a model cannot be written to standard output" in bayes("hmm", "train", "days.csv", "-o", "-", code=2).err


def test_faults_of_the_rows_are_told_with_their_file(bayes: Bayes, folder: Path) -> None:
    (folder / "days.csv").write_text("day,weather,act\n1,rain,shop\n2,dry,walk\n3,rain,walk\n")
    (folder / "odd.csv").write_text("day,size\n1,2\n,inf\n")
    for option, words in (
        (["--order", "night"], "odd.csv: no column `night`"),
        (["--order", "day"], "column `day` orders the steps"),
        ([], "odd.csv, row 2: column `size` contains an infinite value"),
    ):
        assert words in bayes("hmm", "train", "odd.csv", *option, "-o", "odd.bayes", code=3).err
    bayes("hmm", "train", "days.csv", "--labels", "weather", "--ignore", "day", "-o", "days.bayes")
    assert "odd.csv: no column `act`" in bayes("hmm", "decode", "days.bayes", "odd.csv", code=3).err
    before = (folder / "days.bayes").read_bytes()
    told = bayes("hmm", "forget", "days.bayes", "days.csv", "--labels", "weather", code=3).err
    assert "days.bayes: these are all the steps that the model has learned" in told
    assert (folder / "days.bayes").read_bytes() == before


WEATHER = {
    "start": {"rain": 0.6, "dry": "2/5"},
    "transition": {"rain": {"rain": 0.7, "dry": 0.3}, "dry": {"rain": 0.4, "dry": 0.6}},
    "emission": {"rain": {"walk": "1/10", "shop": 0.4, "clean": 0.5}, "dry": {"walk": 0.6, "shop": 0.3, "clean": 0.1}},
}


@pytest.fixture
def tables(folder):
    (folder / "weather.json").write_text(json.dumps(WEATHER))
    (folder / "seen.csv").write_text("day,seen\n1,walk\n2,shop\n3,clean\n")
    return folder


def test_models_of_given_tables(tables, bayes):
    facts = bayes("hmm", "train", "--tables", "weather.json", "-o", "weather.bayes", "--json").json
    assert facts["states"] == ["rain", "dry"]
    assert facts["parameters"] == 7
    assert bb.HiddenMarkovModel.load(tables / "weather.bayes").predict(["walk", "clean"]).tolist() == ["dry", "rain"]
    asked = ("seen.csv", "--order", "day")
    assert (
        bayes("hmm", "decode", "--tables", "weather.json", *asked).out
        == bayes("hmm", "decode", "weather.bayes", *asked).out
        == "day,state\n1,dry\n2,rain\n3,rain\n"
    )
    assert "from given tables" in bayes("hmm", "train", "--tables", "weather.json").err
    assert (tables / "weather.bayes").exists()


def test_tables_that_are_refused(tables, bayes):
    (tables / "bad.json").write_text(json.dumps({**WEATHER, "start": {"rain": 0.9, "dry": 0.4}}))
    assert "bad.json" in bayes("hmm", "score", "--tables", "bad.json", "seen.csv", code=2).err
    (tables / "part.json").write_text(json.dumps({"start": [1]}))
    assert "`emission`" in bayes("hmm", "score", "--tables", "part.json", "seen.csv", code=3).err
    assert "remove DATA" in bayes("hmm", "train", "--tables", "weather.json", "seen.csv", code=2).err
    assert "also needs DATA" in bayes("hmm", "score", "--tables", "weather.json", code=2).err
    assert "--states" in bayes("hmm", "train", "--tables", "weather.json", "--states", "2", code=2).err
    assert "does not apply to merge" in bayes("hmm", "merge", "--tables", "weather.json", code=2).err
    assert "FILES" in bayes("hmm", "train", code=2).err


def test_work_of_sequences(tables, bayes):
    asked = ("--tables", "weather.json", "seen.csv", "--order", "day", "--show-work")
    lines = bayes("hmm", "score", *asked).out.splitlines()
    assert "P(sequence) = 0.02904 + 0.004572 = 8403/250000 = 0.033612" in lines
    told = bayes("hmm", "decode", *asked, "--svg", "trellis.svg")
    assert told.out.splitlines()[-1] == "so the path is dry, rain, rain"
    assert (tables / "trellis.svg").read_text().startswith("<svg")
    steps = bayes("hmm", "score", *asked, "--work-method", "baum-welch", "--json").json["steps"]
    assert {"gamma", "xi", "start", "transition", "emission"} <= {step["name"] for step in steps}
    assert r"\begin{tabular}" in bayes("hmm", "decode", *asked, "--latex").out
    assert bayes("hmm", "decode", *asked, "--html").out.startswith("<!doctype html>")


def test_work_that_is_refused(tables, bayes):
    asked = ("--tables", "weather.json", "seen.csv", "--order", "day")
    assert "--show-work" in bayes("hmm", "score", *asked, "--latex", code=2).err
    assert "--show-work" in bayes("hmm", "score", *asked, "--work-method", "forward", code=2).err
    assert "--show-work does not apply to forecast" in bayes("hmm", "forecast", *asked, "--show-work", code=2).err
    assert "--proba" in bayes("hmm", "decode", *asked, "--show-work", "--proba", code=2).err
    assert (
        "trellis"
        in bayes("hmm", "decode", *asked, "--show-work", "--work-method", "forward", "--svg", "x.svg", code=2).err
    )
    (tables / "two.csv").write_text("town,seen\nA,walk\nB,shop\n")
    several = bayes("hmm", "score", "--tables", "weather.json", "two.csv", "--sequence", "town", "--show-work", code=3)
    assert "two.csv" in several.err


def test_tables_of_a_model_file(tables, bayes):
    bayes("hmm", "train", "--tables", "weather.json", "-o", "weather.bayes")
    assert "P(next | dry)   0.4   0.6" in bayes("show", "weather.bayes", "--tables").out
    facts = bayes("show", "weather.bayes", "--tables", "--json").json
    assert facts["parameters"] == {"free": 7}
    assert facts["tables"][0]["rows"][0]["cells"][0]["fraction"] == "3/5"
    assert r"\begin{tabular}" in bayes("show", "weather.bayes", "--tables", "--latex").out
    assert "--tables" in bayes("show", "weather.bayes", "--latex", code=2).err
    assert "--column" in bayes("show", "weather.bayes", "--tables", "--column", "0", code=2).err


def test_tables_of_counted_states(model, bayes):
    assert model.origin_ == "counted"
    lines = bayes("show", "days.bayes", "--tables").out.splitlines()
    assert "P(next | dry)   (2 + 1)/(3 + 2) = 3/5 = 0.6  (1 + 1)/(3 + 2) = 2/5 = 0.4" in lines
