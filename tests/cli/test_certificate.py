"""Forgetting with a certificate, its verification, and the difference of two models."""

import json

import pytest

from bayesbox.classifier.certificate import Certificate
from bayesbox.cli.main import run
from bayesbox.errors import BadData

HEADER = "age,car,risk\n"
ROWS = ["25,sports,low", "20,vintage,high", "25,sports,low", "45,suv,high", "20,sports,high", ",suv,high"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.csv").write_text(HEADER + "\n".join(ROWS) + "\n")
    (tmp_path / "gone.csv").write_text(HEADER + "\n".join(ROWS[3:5]) + "\n")
    (tmp_path / "rest.csv").write_text(HEADER + "\n".join(ROWS[:3] + ROWS[5:]) + "\n")
    assert run(["train", "all.csv", "-t", "risk", "-o", "all.bayes"]) == 0
    assert run(["forget", "all.bayes", "gone.csv", "-o", "less.bayes", "--certificate", "gone.json"]) == 0
    return tmp_path


def statements(capsys):
    return json.loads(capsys.readouterr().out)["statements"]


def test_everything_holds(folder, capsys):
    capsys.readouterr()
    code = run(["verify", "gone.json", "less.bayes", "--rows", "gone.csv", "--rest", "rest.csv", "--json"])
    found = statements(capsys)
    assert code == 0
    assert len(found) == 4
    assert all(found.values())


def test_the_digests_are_those_of_training(folder, capsys):
    certificate = json.loads((folder / "gone.json").read_text())
    capsys.readouterr()
    for name, field in (("all", "before"), ("gone", "rows"), ("rest", "after")):
        run(["train", f"{name}.csv", "-t", "risk", "-o", "new.bayes", "--json"])
        assert json.loads(capsys.readouterr().out)["digest"] == certificate[field]
    assert certificate["count"] == 2


@pytest.mark.parametrize(
    ("model", "rows", "rest", "wrong"),
    [
        ("all.bayes", "gone.csv", "rest.csv", {"the model has the tallies after"}),
        (
            "less.bayes",
            "rest.csv",
            "rest.csv",
            {"the rows are those taken out", "the rest and the rows give the tallies before"},
        ),
        (
            "less.bayes",
            "gone.csv",
            "all.csv",
            {"training on the rest gives the tallies after", "the rest and the rows give the tallies before"},
        ),
    ],
)
def test_what_does_not_hold_is_named(folder, capsys, model, rows, rest, wrong):
    capsys.readouterr()
    code = run(["verify", "gone.json", model, "--rows", rows, "--rest", rest, "--json"])
    assert code == 3
    assert {name for name, holds in statements(capsys).items() if not holds} == wrong


def test_a_certificate_is_written_after_the_model(folder):
    """One that stayed when saving failed would state what was not done."""
    code = run(["forget", "all.bayes", "gone.csv", "-o", "nowhere/x.bayes", "--certificate", "more.json"])
    assert code == 74
    assert sorted(path.name for path in folder.iterdir() if "more" in path.name or "tmp" in path.name) == []


def test_a_certificate_that_cannot_be_written_changes_no_model(folder):
    before = (folder / "all.bayes").read_bytes()
    assert run(["forget", "all.bayes", "gone.csv", "--certificate", "nowhere/gone.json"]) == 74
    assert (folder / "all.bayes").read_bytes() == before


def checks(bayes, *options, code):
    ended = bayes("verify", *options, "--json", code=code)
    return {each["statement"]: each["outcome"] for each in ended.json["checks"]}, ended.json["holds"]


def test_an_invented_certificate_is_not_confirmed(folder, bayes):
    """It has the digest of the model, which anybody can read; nothing else of it is true."""
    after = json.loads((folder / "gone.json").read_text())["after"]
    invented = Certificate(before="0" * 64, rows="1" * 64, after=after, count=1_000_000)
    (folder / "invented.json").write_text(invented.text())
    found, holds = checks(bayes, "invented.json", "less.bayes", code=3)
    assert not holds
    assert found.pop("the model has the tallies after") == "right"
    assert set(found.values()) == {"not checked"}
    found, holds = checks(bayes, "invented.json", "less.bayes", "--rows", "gone.csv", code=3)
    assert not holds
    assert found["the rows are those taken out"] == "wrong"
    assert found["the rest and the rows give the tallies before"] == "wrong"


def test_what_was_not_checked_is_said_with_what_would_check_it(folder, bayes):
    needs = {
        each["statement"]: each["needs"]
        for each in bayes("verify", "gone.json", "less.bayes", "--rows", "gone.csv", "--json").json["checks"]
        if each["outcome"] == "not checked"
    }
    assert set(needs) == {"the certificate is signed by this key", "training on the rest gives the tallies after"}
    assert needs["training on the rest gives the tallies after"].startswith("--rest")
    lines = bayes("verify", "gone.json", "less.bayes", "--rows", "gone.csv").out.splitlines()
    assert sum(line.startswith("not checked") for line in lines) == 2
    assert sum(line.startswith("right") for line in lines) == 3


def test_a_certificate_of_the_first_format_is_read(folder, bayes):
    written = json.loads((folder / "gone.json").read_text())
    first = {**{key: written[key] for key in ("before", "rows", "after", "count", "derived")}}
    (folder / "first.json").write_text(json.dumps({"format": "bayesbox certificate 1", **first}))
    bayes("verify", "first.json", "less.bayes", "--rows", "gone.csv", "--rest", "rest.csv")


LEDGER = {
    "model": "the model has the ledger after",
    "before": "the ledgers after and of the rows give the one before",
    "rows": "the rows are, row by row, those taken out",
    "rest": "the rest are, row by row, the rows of the model",
}


@pytest.fixture
def ledger(folder, bayes):
    """The same rows with a ledger."""
    bayes("train", "all.csv", "-t", "risk", "-o", "all.bayes", "--ledger")
    bayes("forget", "all.bayes", "gone.csv", "-o", "less.bayes", "--certificate", "gone.json")
    return folder


def test_a_ledger_names_the_rows(ledger, bayes):
    found, holds = checks(bayes, "gone.json", "less.bayes", "--rows", "gone.csv", "--rest", "rest.csv", code=0)
    assert holds
    assert [found[name] for name in LEDGER.values()] == ["right"] * 4
    assert found["training on the rest gives the tallies after"] == "not checked"
    found, _ = checks(bayes, "gone.json", "less.bayes", "--rest", "rest.csv", "--retrain", code=0)
    assert found["training on the rest gives the tallies after"] == "right"
    assert found[LEDGER["rest"]] == "right"
    assert found[LEDGER["rows"]] == "not checked"


def test_without_the_rows_a_ledger_does_not_confirm_either(ledger, bayes):
    """Somebody who makes up a certificate can make up ledgers that fit each other."""
    found, holds = checks(bayes, "gone.json", "less.bayes", code=3)
    assert not holds
    assert found[LEDGER["model"]] == found[LEDGER["before"]] == "right"


def test_rows_with_the_same_tallies_are_told_apart(folder, bayes):
    """Two rows exchanged values: every tally is the same, and the rows are not those that were taken out."""
    (folder / "all.csv").write_text("a,b,c\nu,x,+\nu,y,+\nv,x,+\nv,y,+\n")
    (folder / "gone.csv").write_text("a,b,c\nu,x,+\nv,y,+\n")
    (folder / "mixed.csv").write_text("a,b,c\nu,y,+\nv,x,+\n")
    bayes("train", "all.csv", "-t", "c", "-o", "m.bayes", "--ledger")
    bayes("forget", "m.bayes", "gone.csv", "--certificate", "c.json")
    found, _ = checks(bayes, "c.json", "m.bayes", "--rows", "mixed.csv", "--rest", "gone.csv", "--retrain", code=3)
    assert found["the rows are those taken out"] == found["training on the rest gives the tallies after"] == "right"
    assert found[LEDGER["rows"]] == found[LEDGER["rest"]] == "wrong"
    checks(bayes, "c.json", "m.bayes", "--rows", "gone.csv", "--rest", "mixed.csv", "--retrain", code=0)


def test_a_model_that_lost_its_ledger_is_not_the_one_after(ledger, bayes):
    bayes("train", "rest.csv", "-t", "risk", "-o", "bare.bayes")
    found, _ = checks(bayes, "gone.json", "bare.bayes", "--rows", "gone.csv", code=3)
    assert found["the model has the tallies after"] == "right"
    assert found[LEDGER["model"]] == "wrong"


@pytest.mark.parametrize(
    "changed", [1, {}, {"before": "0" * 64, "rows": "AAAA", "after": "0" * 64}, {"rows": 1}, {"after": "x"}]
)
def test_what_is_no_ledger_of_a_certificate(ledger, bayes, changed):
    written = json.loads((ledger / "gone.json").read_text())
    wrong = changed if changed in (1, {}) else {**written["ledger"], **changed}
    (ledger / "bad.json").write_text(json.dumps({**written, "ledger": wrong}))
    with pytest.raises(BadData):
        Certificate.from_text((ledger / "bad.json").read_text(), where="bad.json")
    bayes("verify", "bad.json", "less.bayes", code=3)


def test_show_and_diff_print_the_ledger(ledger, bayes):
    shown = bayes("show", "all.bayes", "--json").json["ledger"]
    assert f"ledger {shown}" in bayes("show", "all.bayes").out
    both = bayes("diff", "all.bayes", "less.bayes", "--json").json["ledgers"]
    assert both["all.bayes"] == shown
    assert both["less.bayes"] not in (None, shown)
    assert shown in bayes("diff", "all.bayes", "less.bayes").out
    assert "the same rows" in bayes("diff", "all.bayes", "all.bayes").out
    bayes("train", "all.csv", "-t", "risk", "-o", "bare.bayes")
    assert bayes("show", "bare.bayes", "--json").json["ledger"] is None
    assert "ledger" not in bayes("diff", "bare.bayes", "bare.bayes").out
    assert "only one" in bayes("diff", "bare.bayes", "all.bayes").out


def test_a_merge_says_that_the_ledger_is_lost(ledger, bayes):
    bayes("train", "all.csv", "-t", "risk", "-o", "bare.bayes")
    assert len(bayes("merge", "all.bayes", "bare.bayes", "-o", "both.bayes", "--json").json["warnings"]) == 1
    assert bayes("show", "both.bayes", "--json").json["ledger"] is None


def test_rows_never_learned_leave_no_certificate(folder):
    (folder / "other.csv").write_text(HEADER + "99,truck,low\n")
    assert run(["forget", "all.bayes", "other.csv", "--certificate", "other.json"]) == 3
    assert not (folder / "other.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other"}',
        json.dumps({"format": "bayesbox certificate 1", "before": "x"}),
        json.dumps(
            {
                "format": "bayesbox certificate 1",
                "before": "a" * 64,
                "rows": "a" * 64,
                "after": "z" * 64,
                "count": 1,
                "derived": [],
            }
        ),
        json.dumps(
            {
                "format": "bayesbox certificate 1",
                "before": "a" * 64,
                "rows": "a" * 64,
                "after": "a" * 64,
                "count": -1,
                "derived": [],
            }
        ),
    ],
)
def test_what_is_no_certificate(folder, text):
    (folder / "bad.json").write_text(text)
    assert run(["verify", "bad.json", "less.bayes"]) == 3
    with pytest.raises(BadData):
        Certificate.from_text(text, where="bad.json")


def test_a_certificate_that_is_not_there(folder, capsys):
    assert run(["verify", "none.json", "less.bayes"]) == 74
    assert "none.json" in capsys.readouterr().err


def test_difference(folder, capsys):
    capsys.readouterr()
    assert run(["diff", "all.bayes", "less.bayes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"] is False
    by_column = {each["column"]: each for each in found["differences"]}
    assert set(by_column) == {"(classes)", "age", "car"}
    assert by_column["(classes)"]["details"] == ["high -2"]
    assert by_column["car"]["rows"] == 2
    assert sorted(by_column["car"]["details"]) == ["sports in high -1", "suv in high -1"]
    assert by_column["age"]["details"] == [
        "high: n -2, mean 28.3333 to 20, std 11.7851 to 0",
    ]


def test_no_difference(folder, capsys):
    assert run(["update", "less.bayes", "gone.csv"]) == 0
    capsys.readouterr()
    assert run(["diff", "all.bayes", "less.bayes"]) == 0
    assert capsys.readouterr().out.startswith("the same tallies")


def test_a_column_in_one_only(folder, capsys):
    (folder / "other.csv").write_text("age,risk\n25,low\n20,high\n")
    run(["train", "other.csv", "-t", "risk", "-o", "other.bayes"])
    capsys.readouterr()
    run(["diff", "all.bayes", "other.bayes", "--json"])
    found = {each["column"]: each for each in json.loads(capsys.readouterr().out)["differences"]}
    assert found["car"]["what"] == "only in one"
    assert found["car"]["rows"] == 6


def test_rules_that_differ_are_told(folder, capsys):
    assert run(["train", "all.csv", "-t", "risk", "-o", "one.bayes"]) == 0
    assert run(["train", "all.csv", "-t", "risk", "-o", "two.bayes", "--smoothing", "mle", "--missing", "level"]) == 0
    capsys.readouterr()
    assert run(["diff", "one.bayes", "two.bayes"]) == 0
    out = capsys.readouterr().out
    assert "the same tallies" in out
    assert "rules: smoothing laplace in one.bayes, mle in two.bayes" in out
    assert run(["diff", "one.bayes", "two.bayes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"]
    assert found["rules"] == {"smoothing": ["laplace", "mle"], "missing": ["ignore", "level"]}


def test_a_certificate_with_another_number_of_rows_does_not_hold(folder, capsys):
    written = json.loads((folder / "gone.json").read_text())
    (folder / "more.json").write_text(json.dumps({**written, "count": written["count"] + 1}))
    capsys.readouterr()
    assert run(["verify", "more.json", "less.bayes", "--rows", "gone.csv", "--json"]) == 3
    assert not statements(capsys)["the rows are those taken out"]


STALE = ", stale: refit it with `bayes calibrate MODEL DATA`"
DERIVED = {
    "--calibrate temperature": [f"the calibration (temperature){STALE}"],
    "--select mi:1 --calibrate none": ["the selection of columns (mi:1)"],
    "--column-weights --calibrate none": [f"the column weights{STALE.replace(' it ', ' them ')}"],
    "--model tan --calibrate none": ["the cut points of age"],
    "--model kdb:1 --calibrate none": ["the parents of each column", "the cut points of age"],
    "--smoothing mle --calibrate none": [],
    "": [f"the calibration (column weights){STALE}"],
}


@pytest.mark.parametrize("options", DERIVED)
def test_what_subtracting_does_not_undo_is_named(tmp_path, monkeypatch, capsys, options):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + 3 * n % 40},{'suv' if n % 3 else 'van'},{'high' if 3 * n % 40 > 18 else 'low'}" for n in range(60)]
    (tmp_path / "all.csv").write_text(HEADER + "\n".join(rows) + "\n")
    (tmp_path / "gone.csv").write_text(HEADER + "\n".join(rows[:2]) + "\n")
    assert run(["train", "all.csv", "-t", "risk", "-o", "all.bayes", *options.split()]) == 0
    capsys.readouterr()
    assert run(["forget", "all.bayes", "gone.csv", "--certificate", "gone.json", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["derived"] == DERIVED[options]
    assert json.loads((tmp_path / "gone.json").read_text())["derived"] == DERIVED[options]
    assert run(["verify", "gone.json", "all.bayes", "--rows", "gone.csv"]) == 0
    out = capsys.readouterr().out
    assert all(f"not undone by subtraction: {item}" in out for item in DERIVED[options])
