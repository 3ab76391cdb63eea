"""The live pictures of the site: each is drawn in the page it stands in, and answers as the library does."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import bayesbox as bb

pytestmark = pytest.mark.xdist_group("browser")

SITE = Path(__file__).parents[2] / "docs" / "site"
ROOT = SITE.parents[1]


@pytest.fixture(scope="module")
def stage() -> dict[str, Any]:
    sys.path.insert(0, str(SITE))
    try:
        return runpy.run_path(str(SITE / "stage.py"))
    finally:
        sys.path.remove(str(SITE))


def opened(page: Any, stage: dict[str, Any], folder: Path, name: str) -> None:
    """The raw HTML of a staged page, after a heading that has the id Sphinx would give it."""
    text = stage["with_live"](name, (ROOT / name).read_text(encoding="utf-8"))
    [raw] = re.findall(r"^```\{raw\} html\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    titles = [each.lower().replace(" ", "-") for each in re.findall(r"^#+ (.*)", text, re.MULTILINE)]
    anchors = "".join(f'<section id="{each}"></section>' for each in titles)
    raw = re.sub(r'src="[^"]*live.js"', 'src="live.js"', raw)
    (folder / "live.js").write_text(stage["joined"]("report"))
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{anchors}{raw}")
    page.context.set_offline(True)
    page.goto((folder / "page.html").as_uri())


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def weather(stage: dict[str, Any], name: str) -> Any:
    with stage["shown_file"]((ROOT / name).read_text(encoding="utf-8"), "weather.csv") as path:
        return bb.train(path, target="play")


def test_every_live_page_draws_something(stage, tmp_path, page):
    for name in stage["LIVE"]:
        opened(page, stage, tmp_path, name)
        expect(page.locator(".bb-live [data-picture] *").first).to_be_attached()
        assert page.locator("body > section *").count() == 0, f"{name}: drawn into a heading"


def test_the_tutorial_answers(stage, tmp_path, page):
    opened(page, stage, tmp_path, "docs/tutorial.md")
    page.get_by_role("group", name="outlook").get_by_label("sunny").check()
    page.get_by_role("group", name="windy").get_by_label("true").check()
    answer = weather(stage, "docs/tutorial.md").predict_proba_one({"outlook": "sunny", "windy": True})
    expect(page.locator(".bb-sentence").first).to_contain_text(percent(max(answer.values())))


def test_numbers_can_be_set_where_a_heading_has_the_name_of_the_picture(stage, tmp_path, page):
    opened(page, stage, tmp_path, "docs/how-to/explain.md")
    page.get_by_role("group", name="outlook").get_by_label("overcast").check()
    answer = weather(stage, "docs/how-to/explain.md").predict_proba_one({"outlook": "overcast"})
    expect(page.locator(".bb-sentence").first).to_contain_text(percent(max(answer.values())))


def test_the_burglary_answers(stage, tmp_path, page):
    name = "docs/teach/compsci762.md"
    opened(page, stage, tmp_path, name)
    with stage["shown_file"]((ROOT / name).read_text(encoding="utf-8"), "burglary.bif") as path:
        network = bb.read_network(path)
    page.locator('[data-node="J"]').get_by_text("true").first.click()
    page.locator('[data-node="M"]').get_by_text("true").first.click()
    belief = network.query("P(B=true | J=true, M=true)")
    expect(page.locator('[data-node="B"]')).to_contain_text(percent(float(belief)))


def test_a_page_that_lost_its_table_is_told(stage):
    shown = stage["shown_file"]("    $ cat other.csv\n    a,b\n", "weather.csv")
    with pytest.raises(ValueError, match=r"weather\.csv"), shown:
        pass
