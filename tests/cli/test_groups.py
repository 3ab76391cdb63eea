"""Grouped levels by command."""

from __future__ import annotations

from pathlib import Path

from .conftest import Bayes


def test_groups_are_trained_shown_and_worked_out(bayes: Bayes, folder: Path) -> None:
    rows = ["a,x"] * 18 + ["a,y"] * 2 + ["b,x"] * 17 + ["b,y"] * 3 + ["c,y"] * 18 + ["c,x"] * 2
    (folder / "towns.csv").write_text("\n".join(["town,class", *rows]) + "\n")
    bayes("train", "towns.csv", "-t", "class", "--types", "town=category:group=modl", "-o", "m.bayes")
    assert bayes("show", "m.bayes", "--json").json["densities"] == {"town": "modl, 2 groups"}
    assert "town modl, 2 groups" in bayes("show", "m.bayes").out
    work = bayes("explain", "m.bayes", "--set", "town=a", "--show-work").out
    assert "P(town=a, one of a or b | class)" in work
    assert "(35 + 1)/(37 + 2) * 1/2" in work
    assert "one of a" not in bayes("explain", "m.bayes", "--set", "town=c", "--show-work").out
    grouped = ("--types", "town=category:group=modl", "-o", "n.bayes")
    for model in ("tan", "averaged", "full", "optimal"):
        assert (
            "cannot group levels" in bayes("train", "towns.csv", "-t", "class", "--model", model, *grouped, code=2).err
        )
    for types in ("town=category:group=mdl", "town=category:floor=1", "town=real:group=modl"):
        bayes("train", "towns.csv", "-t", "class", "--types", types, "-o", "n.bayes", code=2)
