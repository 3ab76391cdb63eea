"""A sequence decoded in a browser and in a notebook: paths, posteriors and the trellis are the library's."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from tests.web.test_accessible import CHECK
from tests.web.test_widgets import set_by_hand, shown

import bayesbox as bb
from bayesbox.app.chains import chain_answer, chain_spec, steps_of_texts
from bayesbox.app.server.opened import OpenedChain, open_files
from bayesbox.errors import BadOption

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = '<img src=x onerror="document.title=1">&"\''


def weather(symbol: str = "clean") -> bb.HiddenMarkovModel:
    """Rain or not, by what somebody does."""
    return bb.HiddenMarkovModel.from_tables(
        start=[0.6, 0.4],
        transition=[[0.7, 0.3], [0.4, 0.6]],
        emission=[[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
        states=["rain", "dry"],
        symbols=["walk", "shop", symbol],
    )


def require_decoded(page: Any, hmm: bb.HiddenMarkovModel, sequence: list[Any]) -> None:
    """The screen has the library's numbers for this sequence."""
    expect(page.locator("[data-path]")).to_have_text([str(state) for state in hmm.predict(sequence)])
    for t, row in enumerate(hmm.predict_proba(sequence)):
        for at, p in enumerate(row):
            expect(page.locator(f"[data-p='{t},{at}']")).to_have_attribute("title", f"{float(p)}")
    score = float(page.locator("[data-score]").get_attribute("data-score"))
    assert score == pytest.approx(hmm.score(sequence), abs=1e-12)
    trellis: Any = hmm.work(sequence, "viterbi")
    delta = [float(each.get_attribute("data-delta")) for each in page.locator("[data-delta]").all()]
    assert delta == [trellis.delta[t][at] for at in range(len(trellis.states)) for t in range(len(sequence))]
    thick = {each.get_attribute("data-way") for each in page.locator("line.bb-best").all()}
    assert thick == {f"{t},{trellis.path[t - 1]},{trellis.path[t]}" for t in range(1, len(sequence))}


def test_a_sequence_is_decoded_by_hand(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    hmm = weather()
    hmm.save(tmp_path / "weather.bayes")
    page.goto(serve(open_files([str(tmp_path / "weather.bayes")])) + "#weather.bayes/chain")
    page.locator("[data-add=walk]").click()
    page.locator("[data-add=shop]").click()
    page.locator("[data-add=clean]").click()
    require_decoded(page, hmm, ["walk", "shop", "clean"])
    select = page.get_by_label("seen, step 2")
    select.focus()
    page.keyboard.press("ArrowDown")
    require_decoded(page, hmm, ["walk", "clean", "clean"])
    expect(page.get_by_label("seen, step 2")).to_be_focused()
    page.get_by_label("seen, step 1").select_option("unknown")
    require_decoded(page, hmm, [None, "clean", "clean"])
    page.reload()  # the address holds the sequence
    require_decoded(page, hmm, [None, "clean", "clean"])
    page.get_by_role("button", name="Remove step 3").click()
    require_decoded(page, hmm, [None, "clean"])
    page.get_by_label("All steps").fill("walk, ? shop walk")
    page.keyboard.press("Enter")
    require_decoded(page, hmm, ["walk", None, "shop", "walk"])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CHECK) == []
    page.get_by_text("Show the work").click()
    expect(page.locator(".bb-work pre")).to_have_text(
        str(hmm.work(["walk", None, "shop", "walk"], "viterbi").text(100))
    )
    page.get_by_label("All steps").fill("walk swim")
    page.keyboard.press("Enter")
    expect(page.get_by_text("swim is not a known value.")).to_be_visible()
    page.get_by_role("button", name="use an example").click()
    require_decoded(page, hmm, [step["0"] for step in chain_spec(hmm)["example"]])


def test_columns_of_numbers_and_hostile_names(page: Any, serve: Callable[..., str]) -> None:
    draw = np.random.default_rng(4)
    state = np.repeat(["calm", HOSTILE], 30)
    rows = {
        "noise": draw.normal(np.where(state == "calm", 0.0, 3.0)).round(2),
        HOSTILE: draw.choice(["on", HOSTILE], 60),
    }
    hmm = bb.HiddenMarkovModel().fit(rows, state.tolist())
    page.goto(serve([OpenedChain(HOSTILE, hmm)]))
    page.get_by_role("link", name=HOSTILE).first.click()
    page.locator("[data-add='']").click()
    page.get_by_label("noise, step 1").fill("2.5")
    page.get_by_label("noise, step 1").press("Enter")
    expect(page.locator("svg")).to_contain_text("2.5")
    page.get_by_label(f"{HOSTILE}, step 1").select_option(HOSTILE)
    expect(page.locator("svg")).to_contain_text("2.5, <img")
    expected = hmm.predict_proba({"noise": [2.5], HOSTILE: [HOSTILE]})[0]
    for at, p in enumerate(expected):
        expect(page.locator(f"[data-p='0,{at}']")).to_have_attribute("title", f"{float(p)}")
    expect(page.get_by_role("columnheader", name=f"P({HOSTILE})")).to_be_visible()
    assert page.locator("img").count() == 0


def test_a_chain_in_a_notebook(page: Any, tmp_path: Path) -> None:
    hmm = weather()
    widget = hmm.widget(["walk", "shop"])
    assert widget.path == hmm.predict(["walk", "shop"]).tolist()
    assert [list(each.values()) for each in widget.posterior] == hmm.predict_proba(["walk", "shop"]).tolist()
    shown(page, widget, tmp_path)
    require_decoded(page, hmm, ["walk", "shop"])
    page.locator("[data-add=clean]").click()
    set_by_hand(page, widget)
    assert widget.steps == [{"0": "walk"}, {"0": "shop"}, {"0": "clean"}]
    require_decoded(page, hmm, ["walk", "shop", "clean"])
    widget.steps = ["clean", None]
    assert widget.path == hmm.predict(["clean", None]).tolist()


def test_what_cannot_be_decoded_is_said() -> None:
    sure = bb.HiddenMarkovModel.from_tables(
        start=[1, 0], transition=[[1, 0], [0, 1]], emission=[[1, 0], [0, 1]], states=["a", "b"], symbols=["x", "y"]
    )
    assert "impossible" in chain_answer(sure, steps_of_texts(sure, "xy"))["error"]
    assert chain_answer(sure, [])["path"] == []
    assert "at most 100" in chain_answer(sure, [{"0": "x"}] * 101)["error"]
    assert math.isclose(chain_answer(sure, [{"0": "x"}] * 100)["score"], 0)
    with pytest.raises(BadOption, match="no column"):
        steps_of_texts(sure, [{"z": "x"}])
    two = bb.HiddenMarkovModel().fit({"a": [1.5, 2.5, 1.0, 2.0], "b": ["x", "y", "x", "y"]}, ["s", "t", "s", "t"])
    with pytest.raises(BadOption, match="dict for each"):
        steps_of_texts(two, ["x"])
    assert steps_of_texts(two, {"a": [1.5, None], "b": ["x", "y"]}) == [{"a": "1.5", "b": "x"}, {"b": "y"}]
    assert "number" in chain_answer(two, [{"a": "z"}])["error"]
