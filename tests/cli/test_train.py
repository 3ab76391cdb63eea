"""`bayes train`: what it takes, what it says, what it writes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bayesbox.cli.main import run
from bayesbox.file.load import load

from .conftest import Bayes

PEOPLE = "id,age,zip,member,income\n1,25,10115,true,low\n2,40,80331,false,high\n3,,10115,true,high\n4,31,?,false,\n"


@pytest.fixture
def people(folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_it_says_what_each_column_was_taken_for(bayes: Bayes, people: Path) -> None:
    ended = bayes("train", "people.csv", "-t", "income", "--types", "zip=category", "--ignore", "id", "--na", "?")
    assert ended.out == ""
    lines = [line.split() for line in ended.err.splitlines()]
    assert ["id", "ignore"] in lines
    assert ["age", "real", "mean", "32.5,", "std", "7.5", "1"] in lines
    assert ["zip", "category", "(declared)", "2:", "10115,", "80331"] in lines
    assert ["member", "flag", "2:", "false,", "true"] in lines
    assert "4 rows, 1 without a label dropped; income: high 2, low 1" in ended.err
    assert f"digest {load('people.bayes').book.digest()}" in ended.err
    assert "written to people.bayes" in ended.err
    assert "next: bayes show people.bayes" in ended.err


def test_json(bayes: Bayes, people: Path) -> None:
    ended = bayes("train", "people.csv", "-t", "income", "--types", "zip=category", "-o", "m.bayes", "--json")
    report = ended.json
    assert list(report) == [
        "model", "kind", "target", "rows", "unlabelled", "skipped", "classes", "columns", "ignored", "warnings",
        "digest", "calibration", "model_digest",
    ]  # fmt: skip
    assert report["model"] == "m.bayes"
    assert report["classes"] == {"high": 2, "low": 1}
    assert report["unlabelled"] == 1
    assert report["columns"][2]["levels"] == ["10115", "80331"]
    assert report["digest"] == load("m.bayes").book.digest()


def test_every_way_to_the_same_digest(bayes: Bayes, people: Path, folder: Path) -> None:
    options = ["-t", "income", "--types", "zip=category", "--json"]
    digest = bayes("train", "people.csv", *options).json["digest"]
    header, *rows = PEOPLE.splitlines(keepends=True)
    (folder / "one.csv").write_text(header + rows[3] + rows[1])
    (folder / "two.csv").write_text(header + rows[2] + rows[0])
    (folder / "all.csv.gz").write_bytes(gzip.compress(PEOPLE.encode()))
    (folder / "people.tsv").write_text(PEOPLE.replace(",", "\t"))
    (folder / "people.txt").write_text(PEOPLE.replace(",", "\t"))
    for data in (["one.csv", "two.csv"], ["all.csv.gz"], ["people.tsv"], ["people.txt", "-f", "tsv"]):
        assert bayes("train", *data, *options, "--threads", "2").json["digest"] == digest


def test_the_name_of_the_model_comes_from_the_data(bayes: Bayes, folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "people.csv.gz").write_bytes(gzip.compress(PEOPLE.encode()))
    assert "written to people.bayes" in bayes("train", "data/people.csv.gz", "-t", "income").err
    assert (folder / "people.bayes").exists()
    assert (
        "a model cannot be written to standard output"
        in bayes("train", "data/people.csv.gz", "-t", "income", "-o", "-", code=2).err
    )


def test_the_target_must_be_there(bayes: Bayes, people: Path, folder: Path) -> None:
    assert "people.csv: no column `incom`. Did you mean `income`?" in bayes("train", people, "-t", "incom", code=3).err
    assert "The columns are id, age, zip, member, income" in bayes("train", people, code=2).err
    assert "`income` is the target column" in bayes("train", people, "-t", "income", "--ignore", "income", code=2).err
    assert list(folder.glob("*.bayes")) == []


def test_bad_data_is_told_with_its_place(bayes: Bayes, people: Path) -> None:
    ended = bayes("train", people, "-t", "income", "--types", "zip=real", code=3)
    assert "people.csv, line 5, column `zip`" in ended.err
    assert "--types zip=category" in ended.err


def test_broken_rows_are_refused_or_skipped(bayes: Bayes, folder: Path) -> None:
    (folder / "ragged.csv").write_text("x,y\n1,a\n2\n3,b\n")
    assert "ragged.csv, line 3" in bayes("train", "ragged.csv", "-t", "y", code=3).err
    ended = bayes("train", "ragged.csv", "-t", "y", "--bad-rows", "skip", "--json")
    assert ended.json["skipped"] == 1
    assert ended.json["rows"] == 2
    assert "1 malformed row skipped" in ended.err


def test_a_file_that_is_not_there(bayes: Bayes) -> None:
    assert "nowhere.csv: file not found" in bayes("train", "nowhere.csv", "-t", "y", code=74).err
    assert "file not found" in bayes("train", "--tables", "nowhere.json", code=74).err


def test_a_prior_that_does_not_fit_leaves_the_old_model(bayes: Bayes, people: Path, folder: Path) -> None:
    options = ["-t", "income", "--types", "zip=category"]
    bayes("train", people, *options)
    before = (folder / "people.bayes").read_bytes()
    ended = bayes("train", people, *options, "--prior", "rich=.5,poor=.5", code=2)
    assert "a prior must name every class: high, low" in ended.err
    assert (folder / "people.bayes").read_bytes() == before


def test_weights_count_as_rows(bayes: Bayes, folder: Path) -> None:
    (folder / "thrice.csv").write_text("x,y,n\na,yes,3\nb,no,1\n")
    (folder / "rows.csv").write_text("x,y\na,yes\na,yes\na,yes\nb,no\n")
    weighted = bayes("train", "thrice.csv", "-t", "y", "--weight", "n", "--json").json
    assert weighted["digest"] == bayes("train", "rows.csv", "-t", "y", "--json").json["digest"]
    assert "cannot be both" in bayes("train", "rows.csv", "-t", "y", "--weight", "y", code=2).err


def test_one_hot_flags_are_one_category(bayes: Bayes, folder: Path) -> None:
    rows = "".join(
        f"{int(i % 3 == 0)},{int(i % 3 == 1)},{int(i % 3 == 2)},{'yes' if i % 4 else 'no'}\n" for i in range(24)
    )
    (folder / "hot.csv").write_text("car_suv,car_van,car_bus,y\n" + rows)
    hinted = bayes("train", "hot.csv", "-t", "y").err
    assert "one-hot encoded in 3 columns" in hinted
    group = "car=car_suv,car_van,car_bus"
    assert f"--one-hot {group}" in hinted
    (folder / "hot.bayes").unlink()
    found = bayes("train", "hot.csv", "-t", "y", "--one-hot", group, "--json").json
    assert [column["name"] for column in found["columns"]] == ["car"]
    assert found["warnings"] == []
    (folder / "hot.bayes").unlink()
    assert bayes("train", "hot.csv", "-t", "y", "--fold", group, "--json").json == found  # its old name
    assert bayes("predict", "hot.bayes", "hot.csv").out.count("\n") == 25
    assert "at least two flags" in bayes("train", "hot.csv", "-t", "y", "--one-hot", "car=car_suv", code=2).err


def test_declarations_reach_the_model(bayes: Bayes, people: Path) -> None:
    types = "zip=category:10115:80331:20095:missing=level,age=real:floor=0.5"
    bayes("train", people, "-t", "income", "--types", types, "--missing", "ignore", "--unseen", "ignore")
    kinds = load("people.bayes").schema.kinds
    assert kinds["zip"].levels == ("10115", "20095", "80331")
    assert kinds["zip"].missing == "level"
    assert kinds["age"].floor == 0.5
    assert "declared twice" in bayes("train", people, "-t", "income", "--types", "age=real,age=flag", code=2).err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "a file of tables must have `prior` and `tables`"),
        ('{"prior": {"a": 1}, "tables": {"x": 3}}', "a table must be a JSON object"),
        ('{"prior": {"a": true}, "tables": {}}', "a probability must be a number"),
        ('{"prior": {"a": 0.5, "a": 0.5}, "tables": {}}', "`a` is given twice"),
        ('{"prior": {"a": 1}, "tables": {"x": {"a": {"b": 0.5}}}}', "t.json, table of `x`, class a: the probabilities"),
        ('{"prior": {"a": "one"}, "tables": {}}', "a probability must be a number such as 0.2"),
        ('{"prior": {"a": 1' + "0" * 400 + '}, "tables": {}}', "a probability must be a number such as 0.2"),
    ],
)
def test_bad_tables(bayes: Bayes, folder: Path, text: str, words: str) -> None:
    (folder / "t.json").write_text(text)
    assert words in bayes("train", "--tables", "t.json", code=3).err


def test_tables_take_no_data(bayes: Bayes, people: Path) -> None:
    assert "--tables gives the probabilities" in bayes("train", people, "--tables", "t.json", code=2).err
    for option in (["--weight", "age"], ["--smoothing", "mle"], ["--types", "age=real"], ["--na", "?"]):
        assert f"{option[0]} applies to rows" in bayes("train", "--tables", "t.json", *option, code=2).err


def test_suspicious_columns_are_noted(bayes: Bayes, folder: Path) -> None:
    lines = [
        f"{i},x,{'?' if i % 7 == 0 else i % 3},{'Male' if i % 2 else 'male'},{'yes' if i % 2 else 'no'}"
        for i in range(30)
    ]
    (folder / "odd.csv").write_text("number,same,mixed,sex,y\n" + "\n".join(lines) + "\n")
    warnings = "\n".join(bayes("train", "odd.csv", "-t", "y", "--types", "mixed=category", "--json").json["warnings"])
    assert "column `number` numbers the rows" in warnings
    assert "column `same` has a single value" in warnings
    assert "column `mixed` has the level ?" in warnings
    assert "'Male' and 'male': are they the same?" in warnings
    assert "column `sex` alone determines the class" in warnings


def test_rows_of_a_query(bayes: Bayes, people: Path) -> None:
    options = ["-t", "income", "--types", "zip=category,member=flag", "--ignore", "id", "--json"]
    digest = bayes("train", "people.csv", *options).json["digest"]
    query = "select * from read_csv('people.csv', all_varchar = true)"
    asked = bayes("train", "--sql", query, "-o", "asked.bayes", *options[:3], "age=real,zip=category", *options[4:])
    assert asked.json["rows"] == 4
    typed = "select id, age::double as age, zip, member = 'true' as member, income from (" + query + ")"
    assert bayes("train", "--sql", typed, *options).json["digest"] == digest
    assert Path("model.bayes").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["people.csv", "--sql", "select 1"], "the rows come from --sql"),
        (["people.csv", "--database", "people.db"], "--database requires --sql"),
        (["--sql", "select 1", "--na", "?"], "--na applies to reading files"),
        (["--sql", "select 1", "--bad-rows", "skip"], "--bad-rows applies to reading files"),
        (["--sql", "selct 1"], "syntax error"),
    ],
)
def test_queries_that_cannot_be(bayes: Bayes, people: Path, arguments: list[str], words: str) -> None:
    ended = bayes("train", *arguments, "-t", "income", code=2)
    assert words in ended.err


def test_densities_of_numbers(bayes: Bayes, folder: Path) -> None:
    rows = "\n".join(f"{x / 4},{x % 5},{'low' if x < 20 else 'high'}" for x in range(40))
    (folder / "rows.csv").write_text(f"size,noise,label\n{rows}\n")
    train = ("train", "rows.csv", "-t", "label", "-o", "m.bayes")
    for numeric in ("auto", "modl", "kernel"):
        bayes(*train, "--numeric", numeric)
        assert set(bayes("show", "m.bayes", "--json").json["densities"]) == {"size", "noise"}
        bayes("show", "m.bayes", "--column", "size", "--svg", "size.svg")
        assert (folder / "size.svg").read_text().startswith("<svg")
    bayes(*train, "--types", "size=real:width:5:floor=0.1")
    assert bayes("show", "m.bayes", "--json").json["densities"]["size"] == "width:5, 5 bins"
    bayes("show", "m.bayes", "--svg", "size.svg", code=2)
    bayes("evaluate", "rows.csv", "-t", "label", "--cv", "5", "--numeric", "mdl")
    bayes(*train, "--model", "full", "--numeric", "mdl", code=2)
    bayes(*train, "--numeric", "cauchy", code=2)


def test_a_column_that_gives_the_class_away_is_named(tmp_path, capsys):
    rows = [f"{'yes' if number % 3 else 'no'},{number % 7},{'paid' if number % 3 else 'open'}" for number in range(150)]
    (tmp_path / "loans.csv").write_text("\n".join(["label,size,state", *rows]) + "\n")
    assert run(["train", str(tmp_path / "loans.csv"), "-t", "label", "-o", str(tmp_path / "m.bayes")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "column `state` alone determines the class in 100.0% of the rows" in said
    assert "column `size`" not in said


def dependent(folder: Path) -> None:
    rows = ["sign,copy,ward,class"]
    for place in range(120):
        sign, ward = ("a", "b")[place % 2], ("n", "s", "w")[place % 3]
        rows.append(f"{sign},{sign},{ward},{'yes' if (place % 2 == 0) != (place % 10 == 3) else 'no'}")
    (folder / "table.csv").write_text("\n".join(rows))


def test_columns_are_selected_and_weighed(bayes: Bayes, folder: Path) -> None:
    dependent(folder)
    ended = bayes("train", "table.csv", "-t", "class", "--select", "forward")
    assert "selected 1 of 3 columns: sign" in ended.err
    assert "ignored: copy, since it was not selected" in bayes("show", "table.bayes").out
    found = bayes("train", "table.csv", "-t", "class", "--column-weights", "--json").json["column_weights"]
    assert set(found) == {"sign", "copy", "ward"}
    assert found["sign"] == found["copy"] < 0.9
    assert bayes("show", "table.bayes", "--json").json["column_weights"] == found
    assert f"column weights: sign {found['sign']:.2f}" in bayes("show", "table.bayes").out
    ended = bayes("explain", "table.bayes", "--set", "sign=a", "--show-work")
    assert f"P(sign=a | class)^{found['sign']:.4g}" in ended.out


def test_selection_is_refused_where_it_has_no_meaning(bayes: Bayes, folder: Path) -> None:
    dependent(folder)
    ended = bayes("train", "table.csv", "-t", "class", "--model", "tan", "--select", "forward", code=2)
    assert "--select does not apply to" in ended.err
    ended = bayes("evaluate", "table.csv", "-t", "class", "--loo", "--column-weights", code=2)
    assert "--column-weights is refitted in every fold: use --cv instead of --loo" in ended.err
    ended = bayes("train", "table.csv", "-t", "class", "--select", "best", code=2)
    assert "select must be one of mi, cfs, forward, backward" in ended.err
    assert "log loss" in bayes("evaluate", "table.csv", "-t", "class", "--cv", "3", "--select", "mi:1").out


NUMBERS = [(number, "yn"[number % 2]) for number in range(100)]


@pytest.mark.parametrize("name", ["ages.csv", "ages.jsonl"])
def test_a_text_in_a_column_of_numbers(bayes: Bayes, folder: Path, name: str) -> None:
    """A word among many different numbers is no category; it is refused, skipped, or named as missing."""
    if name == "ages.csv":
        text = "age,y\n" + "".join(f"{age},{y}\n" for age, y in NUMBERS) + "old,n\n"
    else:
        text = "".join(f'{{"age": {age}, "y": "{y}"}}\n' for age, y in NUMBERS) + '{"age": "old", "y": "n"}\n'
    (folder / name).write_text(text)
    line = text.count("\n")
    ended = bayes("train", name, "-t", "y", code=3)
    assert f"{name}, line {line}, column `age`: expected a number in this column, got 'old'" in ended.err
    assert "--types age=category" in ended.err
    assert "--na old" in ended.err
    assert not (folder / "ages.bayes").exists()
    assert bayes("train", name, "-t", "y", "--bad-rows", "skip", "--json").json["skipped"] == 1
    kinds = [
        bayes("train", name, "-t", "y", *options, "--json").json["columns"][0]["kind"]
        for options in (["--bad-rows", "skip"], ["--na", "old"], ["--types", "age=category"], ["--ignore", "age"])
    ]
    assert [kind.split()[0] for kind in kinds] == ["real", "real", "category", "ignore"]
    bayes("query", name, "P(y=n)")  # a column that is not asked for stands in nobody's way


def test_a_text_among_few_different_numbers_is_a_category(bayes: Bayes, folder: Path) -> None:
    rows = "".join(f"{number % 4},{y}\n" for number, y in NUMBERS)
    (folder / "beds.csv").write_text(f"beds,y\n{rows}4+,n\n")
    assert bayes("train", "beds.csv", "-t", "y", "--json").json["columns"][0]["kind"] == "category"


def test_a_weight_that_is_no_number_is_a_broken_row(bayes: Bayes, folder: Path) -> None:
    (folder / "w.csv").write_text("age,w,class\n1,1,+\n2,two,-\n3,3,-\n")
    words = "w.csv, line 3, column `w`"
    assert words in bayes("train", "w.csv", "-t", "class", "--weight", "w", code=3).err
    assert words in bayes("query", "w.csv", "P(class)", "--weight", "w", code=3).err
    found = bayes("train", "w.csv", "-t", "class", "--weight", "w", "--bad-rows", "skip", "--json").json
    assert (found["skipped"], found["classes"]) == (1, {"+": 1, "-": 3})


def test_flags_to_fold_that_are_not_there(bayes: Bayes, people: Path) -> None:
    assert "no column `suv`" in bayes("train", people, "-t", "income", "--fold", "car=suv,van", code=3).err


@pytest.mark.parametrize("model", ["naive", "aode", "text"])
def test_rows_of_one_class_are_told_of(bayes, folder, model):
    (folder / "rows.csv").write_text("note,class\nlate bus,yes\nno bus,yes\n")
    given = ("train", "rows.csv", "-t", "class", "--model", model)
    assert "note: every row has the class yes, so every prediction will be yes" in bayes(*given).err
    assert bayes(*given, "--json").json["warnings"] == ["every row has the class yes, so every prediction will be yes"]
    (folder / "rows.csv").write_text("note,class\nlate bus,yes\nno bus,no\n")
    assert "every answer" not in bayes(*given).err


def test_levels_beyond_those_declared_are_told_of(bayes, folder):
    (folder / "rows.csv").write_text("car,class\nsuv,a\nbus,b\nvan,a\nvan,b\nsuv,b\n")
    given = ("train", "rows.csv", "-t", "class", "--types")
    told = "note: column `car` has values that were not declared: "
    assert f"{told}'van', in 2 rows; they are counted as additional levels" in bayes(*given, "car=category:suv:bus").err
    assert f"{told}2 levels, the first 'bus', in 3 rows" in bayes(*given, "car=category:suv:truck").err
    assert "not declared" not in bayes(*given, "car=category:suv:bus:van:truck").err
