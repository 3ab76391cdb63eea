"""`bayes update`, `forget` and `merge`: the same model, to the byte, by every way."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Bayes


@pytest.fixture
def halves(bayes: Bayes, tables: Path) -> Path:
    """The tennis table in two halves, and a model of each and of the whole."""
    header, *rows = (tables / "tennis.csv").read_text().splitlines(keepends=True)
    (tables / "one.csv").write_text(header + "".join(rows[:6]))
    (tables / "two.csv").write_text(header + "".join(rows[6:]))
    for name in ("one", "two", "tennis"):
        bayes("train", f"{name}.csv", "-t", "play")
    return tables


def test_update_gives_the_model_of_all_rows(bayes: Bayes, halves: Path) -> None:
    ended = bayes("update", "one.bayes", "two.csv")
    assert "8 rows learned" in ended.err
    assert (halves / "one.bayes").read_bytes() == (halves / "tennis.bayes").read_bytes()


def test_forget_gives_the_model_of_the_rest(bayes: Bayes, halves: Path) -> None:
    before = (halves / "tennis.bayes").read_bytes()
    report = bayes("forget", "tennis.bayes", "two.csv", "-o", "rest.bayes", "--json").json
    assert (halves / "rest.bayes").read_bytes() == (halves / "one.bayes").read_bytes()
    assert (halves / "tennis.bayes").read_bytes() == before
    assert report["digest"] == bayes("show", "one.bayes", "--json").json["digest"]
    assert report["digest_before"] == bayes("show", "tennis.bayes", "--json").json["digest"]
    assert report["rows"] == 8
    assert list(report) == [
        "rows", "unlabelled", "skipped", "model", "classes", "digest_before", "digest", "warnings", "stale", "derived",
    ]  # fmt: skip


def test_forget_refuses_what_was_never_learned(bayes: Bayes, halves: Path) -> None:
    before = (halves / "one.bayes").read_bytes()
    assert "never learned" in bayes("forget", "one.bayes", "two.csv", code=3).err
    assert (halves / "one.bayes").read_bytes() == before


def test_everything_can_be_forgotten(bayes: Bayes, halves: Path) -> None:
    ended = bayes("forget", "one.bayes", "one.csv")
    assert "the model is empty" in ended.err
    bayes("update", "one.bayes", "one.csv", "two.csv")
    report = bayes("show", "one.bayes", "--json").json
    assert report["digest"] == bayes("show", "tennis.bayes", "--json").json["digest"]


def test_merge_gives_the_model_of_both(bayes: Bayes, halves: Path) -> None:
    report = bayes("merge", "one.bayes", "two.bayes", "-o", "both.bayes", "--json").json
    assert (halves / "both.bayes").read_bytes() == (halves / "tennis.bayes").read_bytes()
    assert set(report["digests_before"]) == {"one.bayes", "two.bayes"}
    assert report["classes"] == {"no": 5, "yes": 9}
    assert "digest now" in bayes("merge", "one.bayes", "two.bayes", "-o", "both.bayes").err


def test_merge_refuses_other_rules_and_other_targets(bayes: Bayes, halves: Path) -> None:
    bayes("train", "two.csv", "-t", "play", "--smoothing", "mle")
    assert (
        "two.bayes: the two models have different rules"
        in bayes("merge", "one.bayes", "two.bayes", "-o", "x.bayes", code=3).err
    )
    (halves / "two.csv").write_text((halves / "two.csv").read_text().replace("play", "go"))
    bayes("train", "two.csv", "-t", "go", "--force")
    assert "the target is `go`" in bayes("merge", "one.bayes", "two.bayes", "-o", "x.bayes", code=3).err
    assert not (halves / "x.bayes").exists()


def test_columns_that_the_model_does_not_know_are_left_out(bayes: Bayes, halves: Path) -> None:
    header, *rows = (halves / "two.csv").read_text().splitlines()
    (halves / "more.csv").write_text("\n".join([f"day,{header}", *(f"{i},{row}" for i, row in enumerate(rows))]) + "\n")
    assert "not columns of the model" in bayes("update", "one.bayes", "more.csv").err
    assert (halves / "one.bayes").read_bytes() == (halves / "tennis.bayes").read_bytes()


def test_the_target_may_have_another_name(bayes: Bayes, halves: Path) -> None:
    (halves / "two.csv").write_text((halves / "two.csv").read_text().replace("play", "go"))
    assert "no column `play`" in bayes("update", "one.bayes", "two.csv", code=3).err
    bayes("update", "one.bayes", "two.csv", "-t", "go")
    assert bayes("show", "one.bayes", "--json").json["classes"] == {"no": 5, "yes": 9}


def test_columns_are_read_as_the_model_has_them(bayes: Bayes, folder: Path) -> None:
    (folder / "one.csv").write_text("zip,n,y\n00501,1.5,a\n10115,2,b\n")
    (folder / "two.csv").write_text("zip,n,y\n12345,1,a\n00501,0,b\n")
    bayes("train", "one.csv", "-t", "y", "--types", "zip=category")
    bayes("update", "one.bayes", "two.csv")
    bayes("train", "one.csv", "two.csv", "-t", "y", "--types", "zip=category", "-o", "both.bayes")
    digest = bayes("show", "both.bayes", "--json").json["digest"]
    assert bayes("show", "one.bayes", "--json").json["digest"] == digest
    assert "00501" in bayes("show", "one.bayes", "--column", "zip").out


def test_weights(bayes: Bayes, folder: Path) -> None:
    (folder / "weighted.csv").write_text("x,y,n\na,yes,3\nb,no,1\n")
    bayes("train", "weighted.csv", "-t", "y", "--weight", "n")
    first = bayes("show", "weighted.bayes", "--json").json["digest"]
    bayes("update", "weighted.bayes", "weighted.csv", "--weight", "n")
    assert bayes("show", "weighted.bayes", "--json").json["classes"] == {"no": 2, "yes": 6}
    bayes("forget", "weighted.bayes", "weighted.csv", "--weight", "n")
    assert bayes("show", "weighted.bayes", "--json").json["digest"] == first


def test_models_are_written_to_files(bayes: Bayes, tables: Path) -> None:
    bayes("train", "cars.csv", "-t", "class")
    for verb in (["update", "cars.bayes", "cars.csv"], ["forget", "cars.bayes", "cars.csv"]):
        assert "a model cannot be written to standard output" in bayes(*verb, "-o", "-", code=2).err
    for verb in ("merge", "average"):
        assert (
            "a model cannot be written to standard output"
            in bayes(verb, "cars.bayes", "cars.bayes", "-o", "-", code=2).err
        )
    assert not Path("-").exists()


ODD = ["inf,suv,1,a", "-inf,bus,1,b", "1e999,bus,1,b", "3,bus,-1,b", "3,bus,nan,b", "3,bus,,b", "3,bus,inf,b"]
GOOD = [f"{place / 8},{'suv' if place % 3 else 'bus'},{1 + place % 2},{'ab'[place % 2]}" for place in range(24)]
HEADER = "size,car,w,class"


def _table(path: Path, rows: list[str], format: str) -> str:
    path.with_suffix(".csv").write_text("\n".join([HEADER, *rows]) + "\n")
    if format == "csv":
        return path.with_suffix(".csv").name
    import pyarrow as pa
    from pyarrow import parquet

    values = [
        (float(size), car, float(weight) if weight else None, label)
        for size, car, weight, label in (row.split(",") for row in rows)
    ]
    columns = zip(*values, strict=True)
    table = pa.table(dict(zip(HEADER.split(","), (list(column) for column in columns), strict=True)))
    parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=8)
    return path.with_suffix(".parquet").name


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_that_cannot_be_learned_are_skipped_where_broken_ones_are(bayes: Bayes, folder: Path, format: str) -> None:
    good = _table(folder / "good", GOOD, format)
    odd = _table(folder / "odd", [*GOOD[:10], *ODD, *GOOD[10:]], format)
    skip, weight = ("--bad-rows", "skip"), ("--weight", "w")
    assert "row 11" in bayes("train", odd, "-t", "class", "-o", "m.bayes", "--ignore", "w", code=3).err
    assert "a weight must be a finite non-negative number" in bayes("train", odd, "-t", "class", *weight, code=3).err
    expected = bayes("train", good, "-t", "class", *weight, "-o", "good.bayes", "--json").json["digest"]
    for threads in (1, 3):
        given = ("train", odd, "-t", "class", *weight, *skip, "-o", "m.bayes", "--threads", threads, "--json")
        report = bayes(*given).json
        assert (report["digest"], report["skipped"], report["rows"]) == (expected, 7, 24)
    told = bayes("train", odd, "-t", "class", "--ignore", "w", *skip, "-o", "m.bayes").err
    assert "3 malformed rows skipped" in told
    assert f"{odd}, row 11, column `size`: an infinite value, got inf" in told
    assert "24 rows learned" in bayes("update", "good.bayes", odd, *weight, *skip, "-o", "more.bayes").err
    assert bayes("forget", "more.bayes", odd, *weight, *skip, "--json").json["digest"] == expected
    assert bayes("evaluate", "good.bayes", odd, *weight, *skip, "--json").json["rows"] == 24
    answers = bayes("predict", "good.bayes", odd, *skip)
    assert len(answers.out.splitlines()) == 1 + len(GOOD) + 4  # without the infinite ones: a weight is not read
    assert "3 malformed rows skipped" in answers.err
    assert "infinite value" in bayes("predict", "good.bayes", odd, code=3).err


def test_texts_that_are_declared_levels_are_no_infinite_numbers(bayes: Bayes, folder: Path) -> None:
    (folder / "t.csv").write_text("size,class\ninf,a\nsmall,b\ninf,b\n")
    report = bayes("train", "t.csv", "-t", "class", "--bad-rows", "skip", "--types", "size=category", "--json").json
    assert (report["skipped"], report["rows"]) == (0, 3)


def test_a_text_among_the_weights_is_no_category(bayes: Bayes, folder: Path) -> None:
    (folder / "w.csv").write_text("car,w,class\nsuv,1,a\nbus,two,b\n")
    told = bayes("train", "w.csv", "-t", "class", "--weight", "w", code=3).err
    assert "w.csv, line 3, column `w`: a weight must be a finite non-negative number, got 'two'" in told
    assert "category" not in told


@pytest.mark.parametrize("types", [(), ("--types", "old=flag")])
@pytest.mark.parametrize("value", ["maybe", "3"])
def test_a_value_that_is_no_flag(bayes: Bayes, folder: Path, types: tuple[str, ...], value: str) -> None:
    (folder / "t.csv").write_text("old,class\ntrue,a\nfalse,b\n")
    (folder / "more.csv").write_text(f"old,class\ntrue,a\n1,b\n{value},b\nmaybe,b\n")
    bayes("train", "t.csv", "-t", "class", *types)
    told = bayes("update", "t.bayes", "more.csv", code=3).err
    assert f"more.csv, row 3: column `old` is a flag, so its values must be false, true, 0 or 1, got '{value}'" in told
    assert "train again with --types old=category" in told
    (folder / "more.csv").write_text("old,class\ntrue,a\n1,b\nFALSE,b\n")
    assert "3 rows learned" in bayes("update", "t.bayes", "more.csv").err


def test_a_text_in_a_number_that_was_learned(bayes: Bayes, folder: Path) -> None:
    (folder / "t.csv").write_text("size,class\n1.5,a\n2.5,b\n")
    (folder / "more.csv").write_text("size,class\n1.5,a\nbig,b\n")
    bayes("train", "t.csv", "-t", "class")
    for verb in ("update", "forget", "predict", "evaluate"):
        told = bayes(verb, "t.bayes", "more.csv", code=3).err
        assert "line 3, column `size`" in told
        assert "t.bayes was trained on another type of this column. Correct the value, pass --na big" in told
