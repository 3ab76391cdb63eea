"""Every view for those who do not see it, or not well: names, order of headings, contrast, focus, motion, zoom."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from bayesbox.app.server.opened import shipped

pytestmark = pytest.mark.xdist_group("browser")

VIEWS = {
    "start": "",
    "what-if": "#titanic/what-if?" + quote(json.dumps({"row": {"sex": "female", "cabin": "3rd"}})),
    "nomogram": "#titanic/nomogram?" + quote(json.dumps({"row": {"sex": "female"}})),
    "audit": "#titanic/audit?" + quote(json.dumps({"rows": "1-3", "forget": True})),
    "lesson": "#screening/lesson?" + quote(json.dumps({"revealed": True, "guess": 0.5})),
    "network": "#sprinkler/network?"
    + quote(json.dumps({"evidence": {"hard": {"wet grass": "true"}, "soft": {}}, "target": "rain"})),
}
READY = {
    "start": ".bb-cards",
    "what-if": ".bb-signed",
    "nomogram": ".bb-ruler",
    "audit": "[data-digest=after]",
    "lesson": ".bb-icons",
    "network": ".bb-ask li",
}

CHECK = (Path(__file__).parent / "accessible.js").read_text().partition("\n")[2].strip().removesuffix(";")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_can_be_read(page: Any, serve: Callable[..., str], scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    address = serve(shipped())
    found = {}
    for name, place in VIEWS.items():
        page.goto("about:blank")
        page.goto(address + place)
        page.locator(READY[name]).first.wait_for()
        found[name] = page.evaluate(CHECK)
    assert found == {name: [] for name in VIEWS}


def test_focus_can_be_seen_and_goes_through_everything(page: Any, serve: Callable[..., str]) -> None:
    page.goto(serve(shipped()) + VIEWS["what-if"])
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


def test_it_fits_at_twice_the_size(page: Any, serve: Callable[..., str]) -> None:
    page.set_viewport_size({"width": 640, "height": 450})  # 1280 wide at 200 %
    address = serve(shipped())
    for name in ("what-if", "lesson"):
        page.goto("about:blank")
        page.goto(address + VIEWS[name])
        page.locator(READY[name]).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), name


def test_nothing_moves_for_those_who_ask(page: Any, serve: Callable[..., str]) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(serve(shipped()) + VIEWS["what-if"])
    expect(page.locator(".bb-fill").first).to_have_css("transition-duration", "0s")


def test_the_first_screen_is_small_and_quick(page: Any, serve: Callable[..., str]) -> None:
    address = serve(shipped())
    sizes: list[int] = []
    page.on("response", lambda reply: sizes.append(int(reply.headers.get("content-length", 0))))
    page.goto(address + VIEWS["what-if"])
    page.locator(".bb-signed").wait_for()
    assert 0 < sum(sizes) < 60_000
