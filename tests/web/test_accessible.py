"""Every view for those who do not see it, or not well: names, order of headings, contrast, focus, motion, zoom."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import axe_playwright_python
import pytest
from playwright.sync_api import expect
from tests.web.screens import make_files, open_screen, screens

import bayesbox as bb
from bayesbox.app.server.opened import shipped

pytestmark = pytest.mark.xdist_group("browser")

VIEW = "#titanic/what-if?" + quote(json.dumps({"row": {"sex": "female", "cabin": "3rd"}}))
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CHECK = (Path(__file__).parent / "accessible.js").read_text().partition("\n")[2].strip().removesuffix(";")


def complaints(page: Any, *, colours: bool = False) -> list[str]:
    """What axe finds, of colours alone where only these have changed, and what our own check of the pictures does."""
    page.evaluate(AXE + "; 0")
    rules = {"type": "rule", "values": ["color-contrast"]} if colours else {"type": "tag", "values": RULES}
    found = page.evaluate("(rules) => axe.run(document, { runOnly: rules })", rules)
    listed = [
        f"{each['id']} ({each['impact']}): {', '.join(str(node['target'][-1]) for node in each['nodes'][:4])}"
        for each in found["violations"]
    ]
    assert len(found["passes"]) >= (1 if colours else 10)  # it has looked
    return listed + list(page.evaluate(CHECK))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_can_be_read(page: Any, serve: Callable[..., str], tmp_path: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    address = serve(make_files(tmp_path))
    found = {}
    for screen in screens():
        open_screen(page, address, screen)
        found[screen.name] = complaints(page, colours=scheme == "dark")
    for kind in ("people.bayes", "net.json"):
        model = bb.load(tmp_path / kind) if kind.endswith("bayes") else bb.read_network(str(tmp_path / kind))
        path = bb.report(model, path=tmp_path / f"{kind}.html")
        page.goto(Path(path).as_uri())
        found[f"report of {kind}"] = complaints(page, colours=scheme == "dark")
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) == 13


def test_what_cannot_be_read_is_found(page: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<!doctype html><html lang='en'><link rel='icon' href='data:,'><title>t</title><main><h1>a</h1>"
        "<button></button><input><p style='color:#bbb;background:#fff'>pale</p><img src='data:,'></main>"
    )
    page.goto((tmp_path / "bad.html").as_uri())
    found = " ".join(complaints(page))
    assert {"button-name", "color-contrast", "label", "image-alt"} <= set(found.split())


def test_focus_can_be_seen_and_goes_through_everything(page: Any, serve: Callable[..., str]) -> None:
    page.goto(serve(shipped()) + VIEW)
    page.locator(".bb-signed").wait_for()
    seen = set()
    for _ in range(16):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.outerHTML.slice(0, 60)"))
        style = page.evaluate(
            "(() => { const el = document.activeElement, shown = el.nextElementSibling && el.type === 'radio' ? "
            "el.nextElementSibling : el; return getComputedStyle(shown).outlineStyle; })()"
        )
        if page.evaluate("document.activeElement !== document.body"):
            assert style == "solid"
    assert len(seen) > 8


def test_it_fits_at_twice_the_size(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    page.set_viewport_size({"width": 640, "height": 450})  # 1280 wide at 200 %
    address = serve(make_files(tmp_path))
    wide = []
    for screen in screens():
        open_screen(page, address, screen)
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"):
            wide.append(screen.name)
    page.goto(Path(bb.report(bb.load(tmp_path / "people.bayes"), path=tmp_path / "r.html")).as_uri())
    if not page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"):
        wide.append("report")
    assert wide == []


def test_nothing_moves_for_those_who_ask(page: Any, serve: Callable[..., str]) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(serve(shipped()) + VIEW)
    expect(page.locator(".bb-fill").first).to_have_css("transition-duration", "0s")


def test_the_first_screen_is_small_and_quick(page: Any, serve: Callable[..., str]) -> None:
    address = serve(shipped())
    sizes: list[int] = []
    page.on("response", lambda reply: sizes.append(int(reply.headers.get("content-length", 0))))
    page.goto(address + VIEW)
    page.locator(".bb-signed").wait_for()
    assert 0 < sum(sizes) < 60_000
