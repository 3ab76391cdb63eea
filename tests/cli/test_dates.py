"""Dates by command: the format is printed and kept, and a date is one column wherever columns are listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayesbox.cli.options.sources import declared_kinds
from bayesbox.errors import BadOption
from bayesbox.file.load import load
from bayesbox.schema.kinds import Date

from .conftest import Bayes


@pytest.fixture
def orders(folder: Path) -> Path:
    draws = np.random.default_rng(3)
    lines = ["day,sum,kept"]
    for number in range(200):
        month, day = int(draws.integers(1, 13)), int(draws.integers(1, 29))
        kept = (month in (11, 12)) != (draws.random() < 0.1)
        when = "" if number % 40 == 7 else f"{day:02}.{month:02}.2021 {number % 24:02}:15"
        lines.append(f"{when},{number % 17 + 0.5},{'yes' if kept else 'no'}")
    path = folder / "orders.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_format_is_printed_and_kept(bayes: Bayes, orders: Path) -> None:
    for ended in (bayes("schema", orders, "-t", "kept").out, bayes("train", orders, "-t", "kept", "-o", "m.bayes").err):
        line = next(line for line in ended.splitlines() if line.strip().startswith("day"))
        assert line.split()[1] == "date"
        assert "%d.%m.%Y %H:%M" in line
    facts = bayes("schema", orders, "-t", "kept", "--json").json["columns"][0]
    assert facts["format"] == "%d.%m.%Y %H:%M"
    assert facts["parts"] == ["day month", "day weekday", "day hour"]
    assert facts["missing"] == 5
    assert [column["name"] for column in bayes("show", "m.bayes", "--json").json["columns"]] == ["day", "sum"]
    shown = bayes("show", "m.bayes").out
    assert "2021-" in shown
    assert "e+09" not in shown


def test_every_verb_takes_dates(bayes: Bayes, orders: Path) -> None:
    bayes("train", orders, "-t", "kept", "-o", "m.bayes")
    digest = load("m.bayes").book.digest()
    assert "day = 24.12.2021 10:00" in bayes("explain", "m.bayes", "--set", "day=24.12.2021 10:00").out
    work = bayes("explain", "m.bayes", "--set", "day=24.12.2021 10:00", "--show-work").out
    assert "P(day month=12 | class)" in work
    assert bayes("explain", "m.bayes", "--set", "day=2021-12-24", code=2).out == ""
    case = bayes("explain", "m.bayes", "--row", "2", orders, "--json").json
    assert [column["name"] for column in case["columns"]] == ["day", "sum"]
    assert "day=" in bayes("predict", "m.bayes", orders, "--explain", "1").out
    bayes("update", "m.bayes", orders)
    bayes("forget", "m.bayes", orders)
    assert load("m.bayes").book.digest() == digest
    bayes("evaluate", orders, "-t", "kept", "--loo")
    bayes("evaluate", orders, "-t", "kept", "--cv", "3")
    assert "`day` is a date" in bayes("export", "m.bayes", "--sql", "duckdb", code=3).err
    bayes("explain", "m.bayes", "--set", "day=24.12.2021 10:00", "--svg", "day.svg")
    assert "2021-12-24" in Path("day.svg").read_text()


def test_two_readings(bayes: Bayes, folder: Path) -> None:
    (folder / "days.csv").write_text("day,y\n03/04/2021,a\n05/06/2021,b\n07/08/2021,a\n")
    ended = bayes("train", "days.csv", "-t", "y", code=3)
    assert "2021-04-03 by %d/%m/%Y" in ended.err
    assert "2021-03-04 by %m/%d/%Y" in ended.err
    bayes("train", "days.csv", "-t", "y", "--types", "day=date:%m/%d/%Y", "-o", "m.bayes")
    assert load("m.bayes").schema.kinds["day"].format == "%m/%d/%Y"
    bayes("train", "days.csv", "-t", "y", "--types", "day=category", "-o", "c.bayes")


def test_types() -> None:
    kinds = declared_kinds(["a=date,b=date:%d/%m/%Y %H:%M,c=date:zone=Europe/Berlin:missing=level"])
    assert kinds == {
        "a": Date(),
        "b": Date("%d/%m/%Y %H:%M"),
        "c": Date(zone="Europe/Berlin", missing="level"),
    }
    with pytest.raises(BadOption):
        declared_kinds(["a=date:%Q"])
