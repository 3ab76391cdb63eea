"""The state of every screen is in its address: it survives a reload, and back and forward go through it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect
from tests.web.screens import make_files

pytestmark = pytest.mark.xdist_group("browser")


CHANGES: dict[str, tuple[str, Callable[[Any], None], str]] = {
    "what-if": ("people.bayes", lambda page: page.get_by_role("radio", name="city").check(), "[data-term=town]"),
    "nomogram": ("people.bayes", lambda page: page.get_by_label("For", exact=True).select_option("no"), "text=P(no) ="),
    "evaluate": ("people.bayes", lambda page: page.locator("[data-cell='0,1']").click(), ".bb-rows table"),
    "data": (
        "people.jsonl",
        lambda page: page.get_by_label("Type of age").select_option("category"),
        "text=/^[0-9]+: 2[0-9]/",
    ),
    "compare": (
        "people.jsonl",
        lambda page: page.get_by_role("button", name="Evaluate").click(),
        "[data-loss=naive]",
    ),
    "audit": ("people.bayes", lambda page: page.get_by_label("Hold it against").select_option("1"), "[data-differs]"),
    "network": ("net.json", lambda page: page.get_by_label("Target").select_option("rest"), "text=is most probably"),
    "chain": ("chain.bayes", lambda page: page.locator("[data-add=city]").click(), "[data-path]"),
    "lesson": ("test", lambda page: page.get_by_role("button", name="Reveal").click(), ".bb-icons"),
}


def test_back_forward_and_reload_on_every_screen(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    address = serve(make_files(tmp_path))
    for view, (name, change, shown) in CHANGES.items():
        page.goto("about:blank")
        page.goto(f"{address}#{name}/{view}")
        expect(page.locator("footer")).not_to_be_empty()
        page.locator("main > div > *").first.wait_for()
        expect(page.locator(shown)).to_have_count(0)
        change(page)
        page.locator(shown).first.wait_for()
        state = page.url.partition("?")[2]
        assert json.loads(unquote(state)), view
        if view == "compare":
            page.locator("progress").wait_for(state="detached")
        page.reload()
        page.locator(shown).first.wait_for()
        assert page.url.partition("?")[2] == state
        page.go_back()
        assert page.url.endswith(f"#{name}/{view}")
        if view != "compare":  # what was found stays with the table
            expect(page.locator(shown)).to_have_count(0)
        page.go_forward()
        page.locator(shown).first.wait_for()
