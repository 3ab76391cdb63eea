"""`bayes predict`: the answers, the formats, the escapes, and what happens to the file."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bayesbox.cli.print.output import captured_warnings
from bayesbox.errors import DataWarning, ImpossibleRows
from bayesbox.file.load import load
from bayesbox.source.files.open import open_source

from .conftest import Bayes


@pytest.fixture
def tennis(bayes: Bayes, tables: Path) -> Path:
    bayes("train", "tennis.csv", "-t", "play")
    return tables / "tennis.bayes"


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_predictions_and_posteriors_are_those_of_the_library(bayes: Bayes, tennis: Path) -> None:
    rows = rows_of(bayes("predict", "tennis.bayes", "tennis.csv", "--proba", "--keep", "play,outlook").out)
    assert list(rows[0]) == ["play", "outlook", "prediction", "P(no)", "P(yes)"]
    classifier = load(tennis)
    (batch,) = open_source("tennis.csv").batches()
    posterior = classifier.posterior(batch)
    assert [[float(row["P(no)"]), float(row["P(yes)"])] for row in rows] == posterior.tolist()
    assert [row["prediction"] for row in rows] == classifier.predict(batch).tolist()
    assert [row["outlook"] for row in rows] == batch["outlook"].to_pylist()


def test_explanations_name_the_strongest_columns(bayes: Bayes, tennis: Path) -> None:
    rows = rows_of(bayes("predict", "tennis.bayes", "tennis.csv", "--explain", "2").out)
    assert rows[0]["explanation"] == "outlook=sunny +0.69; humidity=high +0.68"
    assert all(row["explanation"].count(";") == 1 for row in rows)


def test_an_explanation_says_what_is_missing_where_that_counts(bayes: Bayes, folder: Path) -> None:
    (folder / "holes.csv").write_text("x,y\na,yes\na,yes\n,no\n,no\nb,no\n")
    bayes("train", "holes.csv", "-t", "y", "--missing", "level")
    rows = rows_of(bayes("predict", "holes.bayes", "holes.csv", "--explain", "3").out)
    assert rows[2]["explanation"] == "x=(missing) +0.92"
    (folder / "without.csv").write_text("z,y\n1,no\n")
    bayes("train", "without.csv", "holes.csv", "-t", "y", code=3)
    both = folder / "both.csv"
    both.write_text("x,z,y\na,1,yes\na,2,yes\n,3,no\n,1,no\n")
    bayes("train", "both.csv", "-t", "y", "--missing", "level")
    absent = bayes("predict", "both.bayes", "without.csv", "--explain", "3")
    assert "x=(missing) +" in absent.out
    assert "without.csv has no column `x`: treated as missing in every row" in absent.err


def test_formats_hold_the_same(bayes: Bayes, tennis: Path) -> None:
    options = ["predict", "tennis.bayes", "tennis.csv", "--proba", "--keep", "windy"]
    by_csv = rows_of(bayes(*options).out)
    by_tsv = rows_of(bayes(*options, "-f", "tsv").out, "\t")
    by_json = [json.loads(line) for line in bayes(*options, "--json").out.splitlines()]
    bayes(*options, "-o", "answers.parquet")
    by_parquet = pq.read_table("answers.parquet").to_pylist()
    assert by_csv == by_tsv
    assert by_json == by_parquet
    assert [row["prediction"] for row in by_csv] == [row["prediction"] for row in by_json]
    assert [float(row["P(no)"]) for row in by_csv] == [row["P(no)"] for row in by_json]


def test_formulas_are_escaped_and_quotes_kept(bayes: Bayes, folder: Path) -> None:
    (folder / "train.csv").write_text("x,y\n1,=a\n2,+\n3,-\n")
    bayes("train", "train.csv", "-t", "y")
    cells = ["=cmd()", "-3.5", "+", "@home", "+49 30", '"a, ""b"""', "-1e5", "", "-x"]
    (folder / "new.csv").write_text("name,x\n" + "".join(f"{cell},1\n" for cell in cells))
    escaped = bayes("predict", "train.bayes", "new.csv", "--keep", "name").out
    names = [row["name"] for row in rows_of(escaped)]
    assert names == ["'=cmd()", "-3.5", "+", "'@home", "'+49 30", 'a, "b"', "-1e5", "", "'-x"]
    assert {row["prediction"] for row in rows_of(escaped)} == {"'=a"}
    plain = bayes("predict", "train.bayes", "new.csv", "--keep", "name", "--no-escape").out
    assert [row["name"] for row in rows_of(plain)] == [*cells[:5], 'a, "b"', *cells[6:]]


def test_kept_columns_stand_as_they_are(bayes: Bayes, tennis: Path, folder: Path) -> None:
    (folder / "new.csv").write_text("id,outlook,when\n007,sunny,2024-01-02\n,rainy,\n1e5,rainy,soon\n")
    rows = rows_of(bayes("predict", "tennis.bayes", "new.csv", "--keep", "*").out)
    assert list(rows[0]) == ["id", "outlook", "when", "prediction"]
    assert rows == rows_of(bayes("predict", "tennis.bayes", "new.csv", "--keep", "id,outlook,when").out)
    assert [row["id"] for row in rows] == ["007", "", "1e5"]
    assert [row["when"] for row in rows] == ["2024-01-02", "", "soon"]


def test_columns_that_are_not_there(bayes: Bayes, tennis: Path, folder: Path) -> None:
    (folder / "new.csv").write_text("outlok,windy\nsunny,true\n")
    ended = bayes("predict", "tennis.bayes", "new.csv")
    assert "new.csv has no column `outlook`" in ended.err
    assert "Is `outlok` the column `outlook`?" in ended.err
    (folder / "other.csv").write_text("outlok,wind\nsunny,true\n")
    refused = bayes("predict", "tennis.bayes", "other.csv", code=3)
    assert "the data have none of the model's columns" in refused.err
    assert "Is `outlok` the column `outlook`?" in refused.err
    assert "Did you mean `windy`?" in bayes("predict", "tennis.bayes", "new.csv", "--keep", "wind", code=3).err


def test_another_prior(bayes: Bayes, tennis: Path) -> None:
    rows = rows_of(bayes("predict", "tennis.bayes", "tennis.csv", "--prior", "yes=0,no=1").out)
    assert {row["prediction"] for row in rows} == {"no"}
    assert (
        "a prior must sum to 1" in bayes("predict", "tennis.bayes", "tennis.csv", "--prior", "yes=.5,no=.6", code=2).err
    )


def test_standard_input(bayes: Bayes, tennis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (tennis.parent / "tennis.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert bayes("predict", "tennis.bayes", "-").out == bayes("predict", "tennis.bayes", "tennis.csv").out


def test_data_without_rows_give_a_header(bayes: Bayes, tennis: Path, folder: Path) -> None:
    (folder / "empty.csv").write_text("outlook,id\n")
    assert (
        bayes("predict", "tennis.bayes", "empty.csv", "--proba", "--keep", "id").out == "id,prediction,P(no),P(yes)\n"
    )


def test_threads_and_batches_do_not_change_the_answers(
    bayes: Bayes, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    header, *rows = (tables / "tennis.csv").read_text().splitlines(keepends=True)
    (tables / "long.csv").write_text(header + "".join(rows * 20))
    options = ["predict", "tennis.bayes", "long.csv", "--proba", "--explain", "2"]
    one = bayes(*options, "--threads", "1").out
    monkeypatch.setattr("bayesbox.classifier.predict.ROWS_AT_ONCE", 7)
    monkeypatch.setattr("bayesbox.classifier.report.strongest.TERMS_AT_ONCE", 20)
    assert bayes(*options, "--threads", "1").out == one
    assert bayes(*options, "--threads", "3").out == one
    assert one.count("\n") == 1 + 20 * len(rows)


def test_impossible_rows_are_counted_over_all_batches(
    bayes: Bayes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "train.csv").write_text("x,z,y\na,c,yes\nb,d,no\n")
    bayes("train", "train.csv", "-t", "y", "--smoothing", "mle")
    (folder / "new.csv").write_text("x,z\n" + "a,d\na,c\n" * 10)
    monkeypatch.setattr("bayesbox.classifier.predict.ROWS_AT_ONCE", 3)
    ended = bayes("predict", "train.bayes", "new.csv", "--proba", "--threads", "1")
    assert "note: 10 of 20 rows are impossible in every class" in ended.err
    assert ended.err.count("impossible") == 1


def test_a_failure_leaves_the_old_file_and_no_other(bayes: Bayes, tennis: Path, folder: Path) -> None:
    bayes("predict", "tennis.bayes", "tennis.csv", "-o", "answers.csv")
    before = (folder / "answers.csv").read_bytes()
    (folder / "broken.csv").write_text("outlook,windy\n" + "sunny,true\n" * 10 + "rainy\n")
    names = sorted(path.name for path in folder.iterdir())
    bayes("predict", "tennis.bayes", "broken.csv", "-o", "answers.csv", code=3)
    assert (folder / "answers.csv").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == names
    skipped = bayes("predict", "tennis.bayes", "broken.csv", "-o", "answers.csv", "--bad-rows", "skip")
    assert "10 rows written to answers.csv" in skipped.err
    assert "1 malformed row skipped" in skipped.err


def test_bad_models_and_outputs(bayes: Bayes, tennis: Path, folder: Path) -> None:
    assert "this is not a bayesbox model" in bayes("predict", "tennis.csv", "tennis.csv", code=4).err
    bayes("predict", "nowhere.bayes", "tennis.csv", code=74)
    bayes("predict", "tennis.bayes", "nowhere.csv", code=74)
    assert "cannot be written" in bayes("predict", "tennis.bayes", "tennis.csv", "-o", "no/where.csv", code=74).err
    (folder / "twice.csv").write_text("outlook,prediction\nsunny,yes\n")
    assert (
        "would have two columns `prediction`"
        in bayes("predict", "tennis.bayes", "twice.csv", "--keep", "*", code=2).err
    )


def test_warnings_of_batches_are_added_up() -> None:
    with captured_warnings() as warned:
        for count in (2, 1):
            warnings.warn(ImpossibleRows(count, 1000, "rows are impossible in every class; x"), stacklevel=1)
            warnings.warn("mind the gap", DataWarning, stacklevel=1)
    assert warned == ["mind the gap", "3 of 2,000 rows are impossible in every class; x"]


def test_columns_that_nobody_asks_for_may_hold_anything(bayes: Bayes, folder: Path) -> None:
    lines = [f'{{"id": "00{row}", "age": {row}, "tags": [{row}], "class": "{"+-"[row % 2]}"}}' for row in range(6)]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    assert "nested" in bayes("train", "rows.jsonl", "-t", "class", code=3).err
    bayes("train", "rows.jsonl", "-t", "class", "--ignore", "tags,id")
    kept = bayes("predict", "rows.bayes", "rows.jsonl", "--keep", "id").out
    assert kept.splitlines()[1].startswith("000,")
    bayes("update", "rows.bayes", "rows.jsonl")
    bayes("evaluate", "rows.bayes", "rows.jsonl")
    assert bayes("query", "rows.jsonl", "P(class=+)").out == "1/2 = 0.5\n"
    assert "nested" in bayes("predict", "rows.bayes", "rows.jsonl", "--keep", "tags", code=3).err


def test_all_columns_of_standard_input_are_kept_as_they_stand(
    bayes: Bayes, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bayes("train", "cars.csv", "-t", "class")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"zip,age,car\n00501,25,suv\n")))
    assert bayes("predict", "cars.bayes", "-", "--keep", "*").out.splitlines()[1].startswith("00501,25,suv,")


def test_no_rows_are_a_whole_file_too(bayes: Bayes, tables: Path) -> None:
    bayes("train", "cars.csv", "-t", "class")
    (tables / "none.csv").write_text("age,car,id\n")
    bayes("predict", "cars.bayes", "none.csv", "--proba", "--keep", "id", "-o", "none.parquet")
    found = pq.read_table("none.parquet")
    assert (found.column_names, found.num_rows) == (["id", "prediction", "P(H)", "P(L)"], 0)
    assert bayes("predict", "cars.bayes", "none.csv", "--keep", "*").out == "age,car,id,prediction\n"
    assert "no column `idd`" in bayes("predict", "cars.bayes", "none.csv", "--keep", "idd", code=3).err
    (tables / "other.csv").write_text("size\n")
    assert "none of the model's columns" in bayes("predict", "cars.bayes", "other.csv", code=3).err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("out.csv.gz", "compressed"),
        ("out.zst", "compressed"),
        ("out.arrow", "one of csv"),
        ("out.feather", "one of csv"),
    ],
)
def test_files_that_would_not_be_what_they_are_called(bayes: Bayes, tables: Path, name: str, why: str) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert why in bayes("predict", "cars.bayes", "cars.csv", "-o", name, code=2).err
    assert not Path(name).exists()


class Passes(tuple[str, ...]):
    """Names that count how often they are gone through."""

    count = 0

    def __iter__(self) -> Iterator[str]:
        self.count += 1
        return super().__iter__()


def test_wide_tables_are_gone_through_a_few_times(bayes: Bayes, folder: Path) -> None:
    columns = [f"c{place}" for place in range(200)]
    (folder / "wide.csv").write_text(",".join([*columns, "class"]) + "\n" + "1," * 200 + "+\n" + "2," * 200 + "-\n")
    bayes("train", "wide.csv", "-t", "class")
    names = Passes([*columns, "class"])
    assert load("wide.bayes").absent_columns(names, where="wide.csv") == []
    assert names.count < 5


@pytest.mark.parametrize("least", ["nan", "1.5", "-1", "often"])
def test_what_is_no_probability_to_be_sure_with(bayes: Bayes, tables: Path, least: str) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert "probability" in bayes("predict", "cars.bayes", "cars.csv", f"--unsure={least}", code=2).err


def test_unseen_levels_and_lacking_columns_are_noted(bayes: Bayes, tmp_path: Path) -> None:
    rows = [f"{'red' if place % 2 else 'blue'},{place % 7},{'yes' if place % 3 else 'no'}" for place in range(30)]
    Path("cars.csv").write_text("\n".join(["colour,age,label", *rows]) + "\n")
    Path("new.csv").write_text("colour,Age\ngreen,3\n?,4\nred,5\n")
    bayes("train", "cars.csv", "-t", "label")
    ended = bayes("predict", "cars.bayes", "new.csv", "--threads", "2")
    assert "new.csv has no column `age`" in ended.err
    assert "Is `Age` the column `age`?" in ended.err
    assert "`colour` in 2 of 3 ('?', 'green'; known: blue, red)" in ended.err
    assert "--na '?'" in ended.err
    assert "colour" not in bayes("predict", "cars.bayes", "new.csv", "--na", "?,green").err


def test_identifiers_and_rules_by_column(bayes: Bayes, tmp_path: Path) -> None:
    rows = [f"c {place},{'red' if place % 2 else 'blue'},{'yes' if place % 3 else 'no'}" for place in range(30)]
    Path("cars.csv").write_text("\n".join(["car code,colour,label", *rows]) + "\n")
    assert "--ignore 'car code'" in bayes("train", "cars.csv", "-t", "label").err
    bayes("train", "cars.csv", "-t", "label", "--ignore", "auto", "--smoothing", "mle", "--smoothing", "colour=m:2")
    shown = json.loads(bayes("show", "cars.bayes", "--json").out)
    assert list(shown["left_out"]) == ["car code"]
    assert shown["smoothing_by_column"] == {"colour": "m:2.0"}
    assert "car code" in json.loads(bayes("schema", "cars.csv", "--ignore", "auto", "--json").out)["ignored"]
    bayes("evaluate", "cars.csv", "-t", "label", "--ignore", "auto", "--smoothing", "colour=m:2")
    assert (
        "two rules" in bayes("train", "cars.csv", "-t", "label", "--smoothing", "mle", "--smoothing", "m:2", code=2).err
    )
    refused = bayes("train", "cars.csv", "-t", "label", "--model", "tan", "--smoothing", "colour=m:2", code=2)
    assert "it has a single rule" in refused.err


def test_training_rows_with_dates_are_called_so(bayes: Bayes, tmp_path: Path) -> None:
    """Dates are counted by their parts: as one column they were never the rows of the model."""
    lines = ["day,label", *(f"{1 + row:02}/{1 + row % 12:02}/2021,{'yes' if row % 3 else 'no'}" for row in range(28))]
    Path("all.csv").write_text("\n".join(lines) + "\n")
    bayes("train", "all.csv", "-t", "label", "-o", "m.bayes")
    assert json.loads(bayes("evaluate", "m.bayes", "all.csv", "--json").out)["how"] == "training-rows"


def test_training_rows_are_called_so(bayes: Bayes, tmp_path: Path) -> None:
    """Counts are held against those of the model, whatever the order; other rows are not called held out."""
    lines = ["size,label", *(f"{size % 5},{'yes' if size % 3 else 'no'}" for size in range(30))]
    Path("all.csv").write_text("\n".join(lines) + "\n")
    Path("turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    Path("part.csv").write_text("\n".join(lines[:20]) + "\n")
    for kind in ("naive", "tan", "full"):
        bayes("train", "all.csv", "-t", "label", "--model", kind, "-o", "m.bayes", "--force")
        for name, how in (("all.csv", "training-rows"), ("turned.csv", "training-rows"), ("part.csv", "rows")):
            assert json.loads(bayes("evaluate", "m.bayes", name, "--json").out)["how"] == how
    ended = bayes("evaluate", "m.bayes", "all.csv")
    assert ended.out.startswith("training rows: all.csv")
    assert "bayes evaluate all.csv -t label --loo" in ended.err
    assert "held out" not in bayes("evaluate", "m.bayes", "part.csv").out
