"""Names from data are text on every screen and in the report, whatever they look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.web.screens import make_files, open_screen, screens, write_table

import bayesbox as bb

pytestmark = pytest.mark.xdist_group("browser")

NAMES = {
    "script": "<script>document.title=1</script>",
    "closing": "</script><script>document.title=1</script>",
    "image": '<img src=x onerror="document.title=1"> & \'single\' "double"',
    "prototype": "__proto__",
    "quotes": "\"];alert('1')//",
}
INSIDE = "[...document.querySelectorAll('img, main script, iframe')].length"


@pytest.mark.parametrize("name", ["script", "image"])
def test_on_every_screen(page: Any, serve: Callable[..., str], tmp_path: Path, name: str) -> None:
    hostile = NAMES[name]
    address = serve(make_files(tmp_path, ("age", hostile, "buys " + hostile), (hostile, "b")))
    shown = {}
    for screen in screens(hostile, hostile):
        open_screen(page, address, screen)
        assert page.evaluate(INSIDE) == 0, screen.name
        assert page.title() != "1", screen.name
        shown[screen.name] = page.locator("body").text_content().count(hostile)
    lacking = [screen for screen, times in shown.items() if not times and screen not in ("start", "lesson", "compare")]
    assert lacking == []  # it was there to see, as it is


@pytest.mark.parametrize("name", NAMES)
def test_in_the_report(page: Any, tmp_path: Path, name: str) -> None:
    hostile = NAMES[name]
    path = write_table(tmp_path / "rows.jsonl", ("age", hostile, "class"), (hostile, "b"))
    model = bb.train(path, target="class")
    page.context.set_offline(True)
    page.goto(Path(bb.report(model, path, tmp_path / "r.html", target="class", rows=3)).as_uri())
    group = page.get_by_role("group", name=hostile, exact=True)
    group.get_by_label(hostile, exact=True).check()
    share = model.predict_proba([{hostile: hostile}])[0]
    expect(page.locator(f"#what-if .bb-bars li[data-class={model.classes_[share.argmax()]}]")).to_contain_text(
        f"{100 * share.max():.1f} %"
    )
    expect(page.locator("#what-if [data-term]").nth(1)).to_contain_text(f"= {hostile}")
    assert page.evaluate(INSIDE) == 0
    assert page.title() != "1"
    net = bb.BayesianNetwork(
        {"rest": [hostile]}, {hostile: {hostile: 0.5, "b": 0.5}, "rest": {hostile: 0.1, "b": 0.9}}, name=hostile
    )
    page.goto(Path(bb.report(net, path=tmp_path / "n.html")).as_uri())
    page.get_by_role("button", name=f"Table of {hostile}", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text(hostile)
    assert page.evaluate(INSIDE) == 0
    assert page.title() != "1"


@pytest.mark.parametrize("name", NAMES)
def test_in_the_app(page: Any, serve: Callable[..., str], tmp_path: Path, name: str) -> None:
    hostile = NAMES[name]
    address = serve(make_files(tmp_path, ("age", hostile, "class"), (hostile, "b")))
    page.goto(f"{address}#people.bayes/what-if")
    page.get_by_role("group", name=hostile, exact=True).get_by_label(hostile, exact=True).check()
    expect(page.locator("[data-term]").nth(1)).to_contain_text(f"= {hostile}")
    share = bb.load(tmp_path / "people.bayes").predict_proba([{hostile: hostile}])[0]
    expect(page.locator(".bb-bars li[data-class=yes]")).to_have_attribute("title", f"P(yes) = {share[1]}")
    copied = page.locator("[data-copy]").first.get_attribute("data-copy")
    names: dict[str, Any] = {}
    exec("\n".join(copied.splitlines()[:2]) + "\nrow = " + copied.splitlines()[2].partition("(")[2][1:-2], names)
    assert names["row"] == {hostile: hostile}
    curl = page.locator("[data-copy]").nth(2).get_attribute("data-copy")
    assert json.dumps(hostile)[1:-1].replace("'", "'\\''") in curl
