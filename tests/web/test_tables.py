"""Tables in the app: a change of type counts again, a file that changes is noticed, names are told apart, long ones."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox.app import judged
from bayesbox.app.server.opened import open_files
from bayesbox.errors import BayesboxError

pytestmark = pytest.mark.xdist_group("browser")


def write_people(path: Path, *, rows: int = 120, seed: int = 3) -> str:
    """A table of ages, zip codes and towns, whose class depends on the age."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 2, rows)
    ages, zips = draw.normal(40 + 9 * label, 6).round(0), draw.integers(1, 6, rows)
    towns = np.where(draw.random(rows) < 0.4 + 0.2 * label, "city", "village")
    lines = [
        f"{age:.0f},{code},{town},{'yes' if own else 'no'}"
        for age, code, town, own in zip(ages, zips, towns, label, strict=True)
    ]
    path.write_text("\n".join(["age,zip,town,buys", *lines]) + "\n")
    return str(path)


def bits(path: str, **types: str) -> dict[str, float]:
    clf = bb.train(path, target="buys", model=bb.NaiveBayes(columns=types))
    return {each.column: each.information for each in clf.ask_next({})}


def expect_bits(page: Any, expected: dict[str, float]) -> None:
    for name, value in expected.items():
        expect(page.locator(f"[data-bits={name}]")).to_have_attribute("title", f"{value} bit")


def test_a_change_of_type_counts_again(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    path = write_people(tmp_path / "people.csv")
    page.goto(serve(open_files([path], "buys")) + "#people.csv/data")
    expect_bits(page, bits(path))
    before = page.locator("footer span").first.get_attribute("title")
    page.get_by_label("Type of zip").select_option("category")
    expect_bits(page, bits(path, zip="category"))
    model = bb.train(path, target="buys", model=bb.NaiveBayes(columns={"zip": "category"}))
    expect(page.locator("footer span").first).to_have_attribute("title", model.book_.digest())
    assert before != model.book_.digest()
    counts = np.asarray(model.book_["zip"].counts).sum(axis=0)
    shape = page.locator("[data-shape=zip] title").all_text_contents()
    assert sorted(shape) == sorted(f"{level}: {n} rows" for level, n in zip("12345", counts, strict=True))
    page.get_by_role("link", name="What if").click()  # every view has the types
    page.get_by_role("group", name="zip").get_by_label("3", exact=True).check()
    expected = model.predict_proba([{"zip": "3"}])[0]
    expect(page.locator(".bb-bars li[data-class=yes]")).to_have_attribute("title", f"P(yes) = {expected[1]}")
    page.go_back()
    page.go_back()
    expect_bits(page, bits(path, zip="category"))
    page.go_back()
    expect_bits(page, bits(path))


def test_types_by_keyboard_and_one_that_does_not_fit(
    page: Any, serve: Callable[..., str], tmp_path: Path, forgiven: list[str]
) -> None:
    forgiven.append("422")  # the browser says so of each answer that is refused
    path = write_people(tmp_path / "people.csv")
    page.goto(serve(open_files([path], "buys")) + "#people.csv/data")
    town = page.get_by_label("Type of town")
    town.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")  # real
        page.wait_for_timeout(50)
    expect(page.get_by_role("alert")).to_contain_text("column `town`")
    expect(page.get_by_role("alert")).to_contain_text("line 2")
    expect(page.get_by_label("Type of town")).to_be_focused()
    page.get_by_label("Type of town").select_option("ignore")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("[data-bits=town]")).to_have_count(0)
    expect(page.locator("[data-bits=age]")).to_be_visible()
    assert page.context.cookies() == []


def test_the_types_of_a_model_stay(tmp_path: Path) -> None:
    path = write_people(tmp_path / "people.csv")
    bb.train(path, target="buys").save(tmp_path / "people.bayes")
    [opened] = open_files([str(tmp_path / "people.bayes")])
    assert "types" not in opened.answer("data", {})["found"]
    with pytest.raises(BayesboxError, match="table only"):
        opened.typed({"age": "category"})
    [table] = open_files([path], "buys")
    assert table.typed({}) is table
    assert table.typed({"age": "category"}) is table.typed({"age": "category"})  # learned once
    for _, kinds in zip(range(12), ("category", "count") * 6, strict=True):
        table.typed({"age": kinds, "zip": "category"})
    assert len(table._typed) <= 8  # type: ignore[attr-defined]


def grown(path: Path) -> None:
    """More rows, saved later than the file was."""
    write_people(path, rows=150, seed=4)
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


@pytest.mark.parametrize("view", ["what-if", "nomogram", "data", "evaluate", "audit"])
def test_a_table_that_changes_is_noticed(page: Any, serve: Callable[..., str], tmp_path: Path, view: str) -> None:
    path = tmp_path / "people.csv"
    write_people(path)
    page.goto(serve(open_files([str(path)], "buys")) + f"#people.csv/{view}")
    expect(page.locator("footer")).to_contain_text("120 rows counted")
    page.wait_for_load_state("networkidle")
    grown(path)
    page.evaluate("dispatchEvent(new Event('focus'))")  # as one comes back to the tab
    expect(page.locator("footer")).to_contain_text("150 rows counted")
    expect(page.locator("footer [role=status]")).to_contain_text("people.csv has changed on disk")


def test_models_networks_and_chains_that_change_are_noticed(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    path, net = tmp_path / "m.bayes", tmp_path / "flu.json"
    model = bb.NaiveBayes().fit(TENNIS.X, TENNIS.y)
    model.save(path)
    write = {True: 0.9, False: 0.05}
    bb.BayesianNetwork({"fever": ["flu"]}, {"flu": 0.1, "fever": write}).write(net)
    hmm = bb.HiddenMarkovModel().fit([["a", "b", "a"]], [["x", "y", "x"]])
    hmm.save(tmp_path / "h.bayes")
    address = serve(open_files([str(path), str(net), str(tmp_path / "h.bayes")]))
    page.goto(f"{address}#m.bayes/what-if")
    expect(page.locator("footer")).to_contain_text("14 rows counted")
    model.partial_fit(TENNIS.X, TENNIS.y).save(path, overwrite=True)
    page.get_by_role("radio", name="sunny").check()  # a click notices it too
    expect(page.locator("footer")).to_contain_text("28 rows counted")
    expect(page.get_by_role("radio", name="sunny")).to_be_checked()
    page.goto(f"{address}#flu.json/network")
    expect(page.locator("[data-node=flu] [data-state=true] .bb-share")).to_have_text("10.0 %")
    bb.BayesianNetwork({"fever": ["flu"]}, {"flu": 0.25, "fever": write}).write(net)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("[data-node=flu] [data-state=true] .bb-share")).to_have_text("25.0 %")
    page.goto(f"{address}#h.bayes/chain")
    digest = page.locator("footer span").first
    expect(digest).to_have_attribute("title", hmm.book_.digest())
    hmm.partial_fit([["b", "a"]], [["y", "y"]]).save(tmp_path / "h.bayes", overwrite=True)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(digest).to_have_attribute("title", hmm.book_.digest())


def test_a_file_that_is_gone_or_broken_says_so(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "m.bayes"
    bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).save(path)
    [opened] = open_files([str(path)])
    path.write_bytes(b"no")
    with pytest.raises(BayesboxError, match=r"m\.bayes"):
        opened.answer("what-if", {"row": {}})
    path.unlink()
    with pytest.raises(BayesboxError, match=r"m\.bayes"):
        opened.spec()
    bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).save(path)
    assert opened.spec()["rows"] == 14  # and goes on when it is back


def test_files_of_one_name_are_told_apart(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    paths = []
    for folder, rows in (("old", 60), ("new", 90)):
        (tmp_path / folder).mkdir()
        paths.append(write_people(tmp_path / folder / "people.csv", rows=rows))
    opened = open_files([*paths, paths[0]], "buys")
    assert [each.name for each in opened] == ["old/people.csv", "new/people.csv", "old/people.csv (2)"]
    page.goto(serve(opened))
    page.get_by_role("navigation", name="Files").get_by_role("link", name="new/people.csv").click()
    expect(page.locator("footer")).to_contain_text("90 rows counted")
    page.get_by_role("link", name="Data").click()
    page.reload()
    expect(page.get_by_role("heading", name="90 rows")).to_be_visible()
    page.get_by_role("link", name="old/people.csv", exact=True).click()
    expect(page.locator("footer")).to_contain_text("60 rows counted")


def test_a_long_table_is_sampled_for_display(
    page: Any, serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged, "MOST_KEPT", 60)
    path = write_people(tmp_path / "people.csv", rows=400)
    [opened] = open_files([path], "buys")
    lines = Path(path).read_text().splitlines()[1:]
    cell = quote(json.dumps({"cell": [1, 0]}))
    page.goto(serve([opened]) + f"#people.csv/evaluate?{cell}")
    expect(page.locator(".bb-rows")).to_contain_text("From a sample of 60 of the 400 rows.")
    found = opened.answer("evaluate", {"cell": [1, 0]})
    assert found["found"]["rows"] == 400  # the figures are those of all
    assert found["rows"]["number"] == found["found"]["confusion"][1][0] > len(found["rows"]["shown"]) > 0
    shares = [each["pTrue"] for each in found["rows"]["shown"]]
    assert shares == sorted(shares)
    for each in found["rows"]["shown"]:
        age, code, town, buys = lines[each["number"] - 1].split(",")
        assert each["row"] == {"age": float(age), "zip": float(code), "town": town}
        assert buys == "yes"
    whole = [opened.answer("evaluate", {"cell": [t, p]})["rows"]["shown"] for t in (0, 1) for p in (0, 1)]
    assert sum(map(len, whole)) == 60
