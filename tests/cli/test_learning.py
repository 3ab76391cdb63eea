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
        "rows", "unlabelled", "skipped", "model", "classes", "digest_before", "digest", "warnings", "derived",
    ]  # fmt: skip


def test_forget_refuses_what_was_never_learned(bayes: Bayes, halves: Path) -> None:
    before = (halves / "one.bayes").read_bytes()
    assert "never learned" in bayes("forget", "one.bayes", "two.csv", code=3).err
    assert (halves / "one.bayes").read_bytes() == before


def test_everything_can_be_forgotten(bayes: Bayes, halves: Path) -> None:
    ended = bayes("forget", "one.bayes", "one.csv")
    assert "nothing is left" in ended.err
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
    bayes("train", "two.csv", "-t", "go")
    assert "its target is `go`" in bayes("merge", "one.bayes", "two.bayes", "-o", "x.bayes", code=3).err
    assert not (halves / "x.bayes").exists()


def test_columns_that_the_model_does_not_know_are_left_out(bayes: Bayes, halves: Path) -> None:
    header, *rows = (halves / "two.csv").read_text().splitlines()
    (halves / "more.csv").write_text("\n".join([f"day,{header}", *(f"{i},{row}" for i, row in enumerate(rows))]) + "\n")
    assert "not in the model, so left out: day" in bayes("update", "one.bayes", "more.csv").err
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
        assert "not to standard output" in bayes(*verb, "-o", "-", code=2).err
    for verb in ("merge", "average"):
        assert "not to standard output" in bayes(verb, "cars.bayes", "cars.bayes", "-o", "-", code=2).err
    assert not Path("-").exists()
