"""A network edited in the browser, by mouse and by keyboard: every number is the library's."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.web.test_copied import answered, result_of
from tests.web.test_guard import Client

import bayesbox as bb
from bayesbox.app.server.opened import open_files
from bayesbox.cli.main import run
from bayesbox.errors import BadOption
from bayesbox.file.lock import FileLock

pytestmark = pytest.mark.xdist_group("browser")


def flu() -> bb.BayesianNetwork:
    return bb.BayesianNetwork(
        {"fever": ["flu"], "test": ["flu"]},
        {
            "flu": 0.1,
            "fever": {True: {"high": 0.6, "some": 0.3, "none": 0.1}, False: {"high": 0.05, "some": 0.1, "none": 0.85}},
            "test": {True: 0.9, False: 0.05},
        },
    )


class Editor:
    """The page of the editor."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        page.goto(address + "#flu.bif/edit")
        self.state("flu", "true").wait_for()

    def state(self, node: str, name: str) -> Any:
        return self.page.locator(f"[data-node='{node}'] [data-state='{name}']")

    def cell(self, node: str, state: str, given: str) -> Any:
        return self.page.get_by_label(f"P({node} = {state}) where {given}", exact=True)

    def choose(self, node: str) -> None:
        self.page.get_by_role("button", name=f"Table of {node}", exact=True).click()

    def click_arc(self, parent: str, child: str) -> None:
        """Click the middle of an arc."""
        arc = self.page.get_by_role("button", name=f"Arc from {parent} to {child}")
        middle = """path => {
          const {x, y} = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
          return [x, y];
        }"""
        self.page.mouse.click(*arc.evaluate(middle))

    def shows(self, net: bb.BayesianNetwork, evidence: dict[str, Any] | None = None) -> None:
        """The nodes, arcs and posteriors on the screen are those of a network."""
        expect(self.page.locator("[data-node]")).to_have_count(len(net.nodes))
        expect(self.page.locator("path[data-arc]")).to_have_count(len(net.edges))
        posteriors = net.posteriors(evidence or {})
        for node in net.nodes:
            for state in net.states(node):
                text = f"{100 * posteriors[node][state]:.1f} %"
                expect(self.state(node, state).locator(".bb-share")).to_have_text(text)
        arcs = {tuple(each.get_attribute("data-arc").split("\0")) for each in self.page.locator("path[data-arc]").all()}
        assert arcs == set(net.edges)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    flu().write("flu.bif")
    return tmp_path


@pytest.fixture
def editor(page: Any, serve: Callable[..., str], folder: Path) -> Editor:
    return Editor(page, serve(open_files([str(folder / "flu.bif")], save=True)))


def test_by_mouse(editor: Editor) -> None:
    page, net = editor.page, flu()
    page.get_by_label("Name of the new node").fill("vaccine")
    page.get_by_label("States of the new node").fill("yes, no")
    page.get_by_role("button", name="Add node").click()
    net = net.with_node("vaccine", ["yes", "no"])
    editor.shows(net)
    handle = page.locator("[data-handle=vaccine]").bounding_box()
    goal = page.locator("[data-node=flu] .bb-title").bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(goal["x"] + 10, goal["y"] + 8, steps=4)
    page.mouse.up()
    net = net.with_edge("vaccine", "flu")
    editor.shows(net)  # the child is the chosen node now
    editor.cell("flu", "true", "vaccine = yes").fill("1/50")
    expect(page.locator(".bb-sum").first).to_contain_text("0.92, must be 1")
    page.get_by_role("button", name="Scale the others").click()
    net = net.with_cpt("flu", [[0.02, 0.98], [0.1, 0.9]])
    editor.shows(net)
    editor.state("test", "true").locator("text").first.click()
    editor.shows(net, {"test": "true"})
    editor.choose("fever")
    editor.cell("fever", "high", "flu = true").fill("0.9")
    page.get_by_role("button", name="Normalise").click()
    whole = net.cpt("fever")
    assert whole is not None
    whole[0] = [0.9 / (0.9 + 0.3 + 0.1), 0.3 / (0.9 + 0.3 + 0.1), 0.1 / (0.9 + 0.3 + 0.1)]
    net = net.with_cpt("fever", whole)
    editor.shows(net, {"test": "true"})
    for at, state in enumerate(net.states("fever")):
        assert float(editor.cell("fever", state, "flu = true").input_value()) == whole[0][at]
    editor.click_arc("flu", "fever")
    page.get_by_role("button", name="Remove this arc").click()
    net = net.without_edge("flu", "fever")
    editor.shows(net, {"test": "true"})
    editor.choose("test")
    page.get_by_role("button", name="Remove this node").click()
    net = net.without_node("test")  # what was known of it goes with it
    editor.shows(net)
    assert "test" not in json.dumps(page.url.partition("?evidence")[2])
    page.reload()  # the address holds all edits
    editor.shows(net)
    page.get_by_role("link", name="Network", exact=True).click()
    expect(page.get_by_label("Target")).to_be_visible()
    editor.shows(net)


def test_by_keyboard_with_undo_and_redo(editor: Editor) -> None:
    page, net = editor.page, flu()
    page.get_by_label("Name of the new node").focus()
    page.keyboard.type("cough")
    page.keyboard.press("Enter")
    steps = [net, net := net.with_node("cough", ["true", "false"])]
    editor.shows(net)
    page.get_by_label("Add a parent").select_option("flu")
    steps.append(net := net.with_edge("flu", "cough"))
    editor.shows(net)
    editor.cell("cough", "true", "flu = true").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("0.8")
    page.keyboard.press("Tab")
    page.keyboard.type("0.2")
    page.keyboard.press("Enter")
    steps.append(net := net.with_cpt("cough", [[0.8, 0.2], [0.5, 0.5]]))
    editor.shows(net)
    expect(editor.cell("cough", "false", "flu = true")).to_be_focused()
    page.get_by_label("Name", exact=True).fill("a cough")
    page.keyboard.press("Enter")
    steps.append(net := net.renamed({"cough": "a cough"}))
    editor.shows(net)
    page.get_by_text("Names of the states").click()
    page.get_by_label("true", exact=True).fill("yes")
    page.keyboard.press("Enter")
    steps.append(net := net.renamed(states={"a cough": {"true": "yes"}}))
    editor.shows(net)
    page.get_by_role("button", name="Arc from flu to test").focus()
    page.keyboard.press("Delete")
    steps.append(net := net.without_edge("flu", "test"))
    editor.shows(net)
    for earlier in reversed(steps[:-1]):
        page.get_by_role("button", name="Undo").click()
        editor.shows(earlier)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_role("button", name="Table of flu").focus()
    for later in steps[1:]:
        page.keyboard.press("Control+y")
        editor.shows(later)
    page.keyboard.press("Control+z")
    editor.shows(steps[-2])
    page.wait_for_timeout(450)  # changes within a moment are one step back
    page.get_by_role("button", name="Table of fever").focus()
    page.keyboard.press("Delete")
    editor.shows(steps[-2].without_node("fever"))
    page.go_back()
    editor.shows(steps[-2])


def test_what_is_refused_says_why_and_changes_nothing(editor: Editor) -> None:
    page = editor.page
    editor.choose("flu")
    page.get_by_label("Add a parent").select_option("test")
    expect(page.get_by_role("alert")).to_contain_text("cycle")
    editor.shows(flu())
    assert "add-arc" not in page.url
    page.get_by_label("Name of the new node").fill("flu")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("there is a node `flu` already", ignore_case=True)
    editor.shows(flu())
    editor.choose("flu")
    for text in ("x", "-1", "0.3"):
        editor.cell("flu", "true", "P").fill(text)
        page.keyboard.press("Enter")
        expect(editor.cell("flu", "true", "P")).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(editor.cell("flu", "true", "P")).to_have_value("0.1")
    editor.shows(flu())
    hostile = "<img src=x onerror=alert(1)> & \"'"
    page.get_by_label("Name of the new node").fill(hostile)
    page.keyboard.press("Enter")
    expect(page.locator(".bb-side h2")).to_have_text(hostile)
    assert page.locator("img").count() == 0


def test_downloads_and_saves(editor: Editor, folder: Path) -> None:
    page, net = editor.page, flu().without_node("test").with_cpt("flu", [0.3, 0.7])
    editor.choose("test")
    page.get_by_role("button", name="Remove this node").click()
    editor.choose("flu")
    editor.cell("flu", "true", "P").fill("0.3")
    page.get_by_role("button", name="Scale the others").click()
    editor.shows(net)
    for form in ("bif", "xdsl", "json", "net"):
        with page.expect_download() as given:
            page.get_by_label("Download as").select_option(form)
        path = folder / given.value.suggested_filename
        assert path.name == f"flu.{form}"
        given.value.save_as(folder / "got" / path.name)
        got = bb.read_network(folder / "got" / path.name)
        assert got.posteriors({})["fever"] == net.posteriors({})["fever"]
        page.get_by_role("button", name="Add node").focus()
    assert bb.read_network(folder / "flu.bif").nodes == flu().nodes  # nothing was written yet
    page.get_by_role("button", name="Save to flu.bif").click()
    expect(page.get_by_text("Saved to")).to_be_visible()
    saved = bb.read_network(folder / "flu.bif")
    assert (saved.nodes, saved.cpt("flu").tolist()) == (net.nodes, [0.3, 0.7])
    assert sorted(os.listdir(folder)) == ["flu.bif", "got"]  # neither a lock nor a part of a file is left
    editor.shows(net)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    editor.choose("flu")
    editor.cell("flu", "true", "P").fill("0.5")
    page.get_by_role("button", name="Scale the others").click()
    editor.shows(net.with_cpt("flu", [0.5, 0.5]))
    flu().write("flu.bif")  # by somebody else, meanwhile
    page.get_by_role("button", name="Save to flu.bif").click()
    expect(page.get_by_role("alert")).to_contain_text("changed since it was read")
    assert bb.read_network("flu.bif").nodes == flu().nodes


@pytest.fixture
def opened(folder: Path) -> Any:
    return open_files([str(folder / "flu.bif")], save=True)[0]


EDITS = [{"do": "rename", "node": "flu", "name": "cold"}]


def test_a_save_is_locked_and_allowed_by_an_option(opened: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbox.network.formats.WAIT", 0.05)
    before = (folder / "flu.bif").read_bytes()
    with FileLock(folder / "flu.bif", verb="update"):
        found = opened.answer("edit", {"edits": EDITS, "save": True, "version": 0})["saved"]
    assert "update" in found["error"]
    assert (folder / "flu.bif").read_bytes() == before
    assert "changed" in opened.answer("edit", {"edits": EDITS, "save": True, "version": 7})["saved"]["error"]
    assert (folder / "flu.bif").read_bytes() == before
    assert opened.answer("edit", {"edits": EDITS, "save": True, "version": 0})["saved"]["edits"] == 1
    assert bb.read_network("flu.bif").nodes == ["cold", "fever", "test"]
    [plain] = open_files([str(folder / "flu.bif")])
    with pytest.raises(BadOption, match="may not write files"):
        plain.answer("edit", {"edits": [], "save": True, "version": 0})
    assert plain.spec()["saves"] is None
    (folder / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(BadOption, match="no network to save"):
        open_files([str(folder / "rows.csv")], "b", save=True)
    assert run(["app", "--save", "--no-open"]) == 2


@pytest.mark.parametrize(
    "edits",
    [
        [{"do": "burn", "node": "flu"}],
        [{"do": "rename", "node": "flu"}],
        [{"do": "set-row", "node": "flu", "row": 9, "values": [0.5, 0.5]}],
        [{"do": "set-row", "node": "flu", "row": 0, "values": [0.5, "x"]}],
        "remove all",
        [{"do": "rename", "node": "flu", "name": "cold", "path": "/etc/passwd"}],
    ],
)
def test_other_edits_are_refused(serve: Callable[..., str], opened: Any, edits: Any) -> None:
    client = Client(serve([opened]))
    for path in ("spec", "network"):
        status, body, _ = client.ask(f"/{client.secret}/api/files/0/{path}", method="POST", body={"edits": edits})
        assert status == 422, body
        assert b"error" in body


def test_counts_stay_where_no_edit_was(folder: Path) -> None:
    rows = flu().sample(200, seed=1)
    bb.BayesianNetwork({"fever": ["flu"], "test": ["flu"]}).fit(rows).write("counted.json")
    [opened] = open_files([str(folder / "counted.json")])
    edit = [{"do": "set-row", "node": "test", "row": 0, "values": [0.5, 0.5]}]
    nodes = {each["name"]: each for each in opened.answer("edit", {"edits": edit})["spec"]["nodes"]}
    assert sum(nodes["fever"]["counts"]) == 200
    assert "counts" not in nodes["test"]


def test_what_is_copied_does_the_same(page: Any, serve: Callable[..., str], folder: Path) -> None:
    edits = [
        {"do": "add-node", "node": "my cough", "states": ["yes", "no"]},
        {"do": "add-arc", "from": "flu", "to": "my cough"},
        {"do": "set-row", "node": "my cough", "row": 0, "values": [0.7, 0.3]},
        {"do": "set-row", "node": "my cough", "row": 1, "values": [0.1, 0.9]},
        {"do": "remove-node", "node": "test"},
        {"do": "rename", "node": "fever", "name": "heat"},
        {"do": "rename", "node": "heat", "name": "warmth"},
        {"do": "rename-state", "node": "warmth", "state": "high", "name": "it's high"},
        {"do": "remove-arc", "from": "flu", "to": "warmth"},
    ]
    state = {"edits": edits, "evidence": {"hard": {"my cough": "yes"}, "soft": {}}, "target": "flu"}
    served = serve(open_files(["flu.bif"]))
    for view in ("edit", "network"):
        page.goto("about:blank")
        page.goto(f"{served}#flu.bif/{view}?{json.dumps(state)}")
        expect(page.locator("[data-node=warmth]")).to_be_visible()
        buttons = page.locator("[data-copy]")
        expect(buttons).to_have_count(3)
        texts = {each.text_content(): each.get_attribute("data-copy") for each in buttons.all()}
        shares = answered(texts["curl"])["answer"]["posteriors"]
        assert {name: dict(each) for name, each in result_of(texts["Python"]).items()} == shares
        for part in texts["command"].split(" && "):
            assert run(shlex.split(part)[1:]) == 0
        written = bb.read_network("flu-edited.bif")
        assert {name: dict(each) for name, each in written.posteriors({"my cough": "yes"}).items()} == shares
        os.remove("flu-edited.bif")
