"""Every screen of the app and the report, with something on it: for the checks that all of them must pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

import bayesbox as bb
from bayesbox.app.server.opened import open_files
from bayesbox.app.server.shown import OpenedLesson, ShownFile


class Screen(NamedTuple):
    """Where a screen is, and what is on it when it is drawn."""

    name: str
    address: str
    ready: str


def write_table(path: Path, names: tuple[str, str, str], levels: tuple[str, str], rows: int = 150) -> str:
    """A table of a number, a category and a class, as JSON lines."""
    draw = np.random.default_rng(5)
    label = draw.integers(0, 2, rows)
    ages, kind = draw.normal(40 + 9 * label, 6).round(0), (draw.random(rows) < 0.4 + 0.3 * label).astype(int)
    lines = [
        {names[0]: float(age), names[1]: levels[one], names[2]: ("no", "yes")[own]}
        for age, one, own in zip(ages, kind, label, strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def make_files(
    folder: Path, names: tuple[str, str, str] = ("age", "town", "buys"), levels: tuple[str, str] = ("city", "village")
) -> list[ShownFile]:
    """A model with a table that judges it, a second model, a table, a network, a chain and a lesson."""
    target, category = names[2], names[1]
    rows = write_table(folder / "people.jsonl", names, levels)
    more = write_table(folder / "more.jsonl", names, levels, rows=90)
    bb.train(more, target=target).save(folder / "old.bayes")
    bb.train(rows, target=target).save(folder / "people.bayes")
    net = bb.BayesianNetwork(
        {"rest": [category]}, {category: {levels[0]: 0.5, levels[1]: 0.5}, "rest": {levels[0]: 0.1, levels[1]: 0.9}}
    )
    net.write(folder / "net.json")
    symbols = [levels[0], levels[1], levels[0]]
    bb.HiddenMarkovModel().fit([symbols] * 2, [["up", "down", "down"]] * 2).save(folder / "chain.bayes")
    models = [str(folder / each) for each in ("people.bayes", "more.jsonl", "people.jsonl", "old.bayes", "net.json")]
    return [*open_files([*models, str(folder / "chain.bayes")], target), OpenedLesson("test", lesson="A test")]


def screens(category: str = "town", level: str = "city") -> list[Screen]:
    """The screens of these files."""

    def at(place: str, view: str, state: dict[str, Any]) -> str:
        return f"#{quote(place)}/{view}?{quote(json.dumps(state))}"

    row = {"row": {category: level}}
    known = {"evidence": {"hard": {category: level}, "soft": {}}, "target": "rest"}
    edited = {"edits": [{"do": "add-node", "node": "more", "states": [level, "none"]}], "selected": "rest"}
    forgotten = {"rows": "1-3", "forget": True, "against": 1}
    steps = [{"0": level}, {}, {"0": level}]
    return [
        Screen("start", "", ".bb-cards"),
        Screen("what-if", at("people.bayes", "what-if", row), "[data-interval]"),
        Screen("nomogram", at("people.bayes", "nomogram", row), ".bb-ruler"),
        Screen("evaluate", at("people.bayes", "evaluate", {"cell": [0, 1]}), ".bb-rows table"),
        Screen("data", at("people.jsonl", "data", {}), "[data-bits]"),
        Screen("compare", at("people.jsonl", "compare", {"models": ["naive", "tan"]}), "[data-loss=tan]"),
        Screen("audit", at("people.bayes", "audit", forgotten), "[data-digest=after]"),
        Screen("network", at("net.json", "network", known), ".bb-side .bb-sentence"),
        Screen("edit", at("net.json", "edit", edited), ".bb-edit-table"),
        Screen("chain", at("chain.bayes", "chain", {"steps": steps}), "[data-path]"),
        Screen("lesson", at("test", "lesson", {"revealed": True, "guess": 0.5}), ".bb-icons"),
    ]


def open_screen(page: Any, address: str, screen: Screen) -> None:
    """Go there and wait until it is drawn; a comparison is started."""
    page.goto("about:blank")
    page.goto(address + screen.address)
    if screen.name == "compare":
        page.get_by_role("button", name="Evaluate").click()
    page.locator(screen.ready).first.wait_for()
    if screen.name == "compare":
        page.locator("progress").wait_for(state="detached")
