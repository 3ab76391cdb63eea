"""Kinds of model compared in a browser: the figures are the library's, and the work can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from tests.web.test_accessible import CHECK

import bayesbox as bb
from bayesbox.app import compared
from bayesbox.app.server.opened import OpenedClassifier, open_files, shipped
from bayesbox.errors import BadOption

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture
def people(tmp_path: Path) -> tuple[dict[str, Any], Any, OpenedClassifier]:
    """Rows, their classes, and the table that holds them, opened."""
    draw = np.random.default_rng(5)
    label = draw.integers(0, 2, 200)
    rows = {
        HOSTILE: np.where(draw.random(200) < 0.3 + 0.4 * label, HOSTILE, "van").tolist(),
        "town": np.where(draw.random(200) < 0.4 + 0.2 * label, "x", "y").tolist(),
    }
    classes = np.where(label, "yes", "no").tolist()
    quoted = [('"' + each.replace('"', '""') + '"') for each in (HOSTILE, *rows[HOSTILE])]
    lines = [",".join(each) for each in zip(quoted, ["town", *rows["town"]], ["buys", *classes], strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    [opened] = open_files([str(tmp_path / "people.csv")], "buys")
    assert isinstance(opened, OpenedClassifier)
    return rows, classes, opened


def test_kinds_are_judged_on_the_same_folds(page: Any, serve: Callable[..., str], people: Any) -> None:
    rows, classes, opened = people
    page.goto(serve([opened]) + "#people.csv/compare")
    for name in compared.kinds_compared():
        box = page.get_by_label(name, exact=True)
        if name in ("naive", "tan"):
            expect(box).to_be_checked()
        elif name not in compared.SLOW:
            box.focus()
            page.keyboard.press("Space")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("[data-loss]")).to_have_count(2)
    expect(page.get_by_role("button", name="Evaluate")).to_be_enabled()
    found = bb.compare({"naive": bb.NaiveBayes(), "tan": bb.TAN()}, rows, classes, cv=10)
    for name, each in found.items():
        loss = float(page.locator(f"[data-loss={name}]").get_attribute("title"))
        assert loss == pytest.approx(float(each.log_loss), abs=1e-12)
        accuracy = float(page.locator(f"[data-accuracy={name}]").get_attribute("title"))
        assert accuracy == pytest.approx(float(each.accuracy), abs=1e-12)
    [other] = [name for name in found if name != found.best]
    shown = page.locator(f"[data-difference={other}]").get_attribute("title").split()
    difference = found.difference(other)
    assert [float(each) for each in shown] == pytest.approx([float(difference), *difference.interval], abs=1e-9)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CHECK) == []
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_role("rowheader", name=HOSTILE)).to_be_visible()
    page.go_back()
    expect(page.locator("[data-loss]")).to_have_count(2)  # what was found is still there
    assert page.locator("img").count() == 0


def test_it_is_cancelled(page: Any, serve: Callable[..., str], people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, opened = people
    plain, release = compared.cross_validate, threading.Event()

    def slow(*given: Any, **options: Any) -> Any:
        release.wait(8)
        return plain(*given, **options)

    monkeypatch.setattr(compared, "cross_validate", slow)
    page.goto(serve([opened]) + "#people.csv/compare")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("[role=status]").first).to_contain_text("Evaluating naive: 0.0 % done.")
    expect(page.get_by_role("button", name="Evaluate")).to_be_disabled()
    page.get_by_role("button", name="Cancel").focus()
    with page.expect_response(lambda reply: '"cancel"' in (reply.request.post_data or "")):
        page.keyboard.press("Enter")
    release.set()
    expect(page.get_by_text("Cancelled; results so far:")).to_be_visible()
    assert opened.comparing.state()["rows"] == []
    expect(page.get_by_role("button", name="Evaluate")).to_be_enabled()


def test_a_kind_that_cannot_take_part_says_why(people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, opened = people
    plain = compared.new_classifier

    def refusing(model: str, *options: Any) -> Any:
        if model == "tan":
            raise BadOption("not today")
        return plain(model, *options)

    monkeypatch.setattr(compared, "new_classifier", refusing)
    opened.comparing.answer("start", ["naive", "tan"])
    opened.comparing.wait()
    state = opened.comparing.state()
    assert [each["name"] for each in state["rows"]] == ["naive"]
    assert state["rows"][0]["forgets"] == "exactly"
    assert state["refused"] == [{"name": "tan", "why": "not today"}]
    assert (state["running"], state["share"]) == (None, 1.0)
    with pytest.raises(BadOption, match="choose"):
        opened.comparing.answer("start", ["no such model"])
    assert "compare" not in shipped()[0].views
