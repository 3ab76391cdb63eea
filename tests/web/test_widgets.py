"""Widgets: what is set in a cell moves the picture, what is set by hand can be read in the next cell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS
from tests.web.engine import run_deno

import bayesbox as bb
from bayesbox.app.server.opened import sprinkler
from bayesbox.errors import BadOption, MissingExtra

pytestmark = pytest.mark.xdist_group("browser")

HOST = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>STYLE</style><div id="el"></div>
<script type="module">
const values = VALUES, listeners = {};
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; (window.sent ??= []).push([name, value]); },
  save_changes: () => {},
  on: (event, call) => (listeners[event] ??= []).push(call),
  off: () => {},
};
window.update = (more) => {
  Object.assign(values, more);
  for (const name in more) (listeners[`change:${name}`] ?? []).forEach((call) => call());
};
const module = await import(URL.createObjectURL(new Blob([MODULE], { type: "text/javascript" })));
module.default.render({ model, el: document.getElementById("el") });
</script>"""


def shown(page: Any, widget: Any, tmp_path: Path) -> None:
    """The widget in a page that talks as a notebook does."""
    values = {name: getattr(widget, name) for name in widget.keys if not name.startswith("_") and name != "layout"}
    text = HOST.replace("STYLE", str(widget._css)).replace("VALUES", json.dumps(values))
    (tmp_path / "host.html").write_text(text.replace("MODULE", json.dumps(str(widget._esm)).replace("</", "<\\/")))
    page.goto((tmp_path / "host.html").as_uri())


def set_by_hand(page: Any, widget: Any) -> None:
    """What the picture has set goes to Python, and the answer back."""
    for name, value in page.evaluate("window.sent.splice(0)"):
        setattr(widget, name, value)
    page.evaluate("(more) => window.update(more)", {"answer": widget.answer})


def test_a_classifier_in_a_notebook(page: Any, tmp_path: Path) -> None:
    clf = bb.NaiveBayes().fit(TENNIS.X, TENNIS.y)
    widget = clf.widget({"outlook": "sunny"})
    assert widget.posterior == dict(zip(clf.classes_, clf.predict_proba([{"outlook": "sunny"}])[0], strict=True))
    shown(page, widget, tmp_path)
    expect(page.get_by_label("sunny")).to_be_checked()
    page.get_by_label("overcast").check()
    set_by_hand(page, widget)
    assert widget.row == {"outlook": "overcast"}
    expected = clf.predict_proba([{"outlook": "overcast"}])[0]
    assert list(widget.posterior.values()) == expected.tolist()
    expect(page.locator(".bb-sentence")).to_contain_text(f"{100 * expected.max():.1f} %")
    widget.row = {"humidity": "high"}
    page.evaluate("(more) => window.update(more)", {"row": widget.row, "answer": widget.answer})
    expect(page.get_by_label("high")).to_be_checked()
    nomogram = clf.widget(view="nomogram")
    shown(page, nomogram, tmp_path)
    expect(page.locator("[data-ruler=outlook]")).to_be_visible()
    nomogram.pair = [0, 1]
    assert nomogram.rulers["label"] == 0


def test_a_network_in_a_notebook(page: Any, tmp_path: Path) -> None:
    net = sprinkler()
    widget = net.widget(target="rain", evidence={"wet grass": True})
    assert widget.posteriors == {node: dict(net.posteriors({"wet grass": "true"})[node]) for node in net.nodes}
    shown(page, widget, tmp_path)
    page.locator("[data-node=cloudy] [data-state=true]").locator("text").first.click()
    set_by_hand(page, widget)
    assert widget.evidence == {"hard": {"wet grass": "true", "cloudy": "true"}, "soft": {}}
    share = net.posteriors({"wet grass": "true", "cloudy": "true"})["rain"]["true"]
    expect(page.locator("[data-node=rain] [data-state=true] .bb-share")).to_have_text(f"{100 * share:.1f} %")
    widget.evidence = {"rain": {"true": 0.9, "false": 0.1}}
    assert widget.posteriors["rain"]["true"] == pytest.approx(
        net.posteriors({"rain": {"true": 0.9, "false": 0.1}})["rain"]["true"]
    )


def test_a_lesson_in_a_notebook(page: Any, tmp_path: Path) -> None:
    widget = bb.lesson(prior=0.02, hit=0.8)
    shown(page, widget, tmp_path)
    page.get_by_role("button", name="Reveal").click()
    assert page.evaluate("window.sent") == [["revealed", True]]
    page.evaluate("window.update({ revealed: true })")
    expect(page.locator(".bb-sentence")).to_contain_text("104 of 1,000 people test positive, and 16 of them have it")
    with pytest.raises(BadOption, match="probability"):
        bb.lesson(prior=2)


def test_a_widget_is_one_module(tmp_path: Path) -> None:
    from bayesbox.app.modules import widget_module
    from bayesbox.app.widgets import LessonWidget, NetworkWidget, NomogramWidget, WhatIfWidget

    for name, render in [("whatif", "renderWhatIf"), ("nomogram", "renderNomogram"), ("network", "renderNetwork")]:
        (tmp_path / f"{name}.js").write_text(widget_module(name, render))
    script = "".join(
        f'import {name} from "./{name}.js"; console.log(typeof {name}.render);'
        for name in ("whatif", "nomogram", "network")
    )
    (tmp_path / "all.js").write_text(script)
    assert run_deno("run", "-q", "--no-check", str(tmp_path / "all.js")).split() == ["function"] * 3
    assert all("@media print" in str(each._css) for each in (LessonWidget, NetworkWidget, NomogramWidget, WhatIfWidget))


def test_what_has_no_widget_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadOption, match="what-if or nomogram"):
        bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).widget(view="tree")
    with pytest.raises(BadOption, match="factor for each column"):
        bb.TAN().fit(TENNIS.X, TENNIS.y).widget(view="nomogram")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "bayesbox.app.widgets")
    with pytest.raises(MissingExtra, match="notebook"):
        bb.lesson()
