"""One component, four hosts: the same clicks in app, report, JupyterLab and marimo give the library's numbers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS
from tests.web.notebooks import jupyterlab, marimo

import bayesbox as bb
from bayesbox.app.server.network import OpenedNetwork
from bayesbox.app.server.opened import OpenedClassifier
from bayesbox.app.server.shown import OpenedChain, OpenedLesson

pytestmark = pytest.mark.xdist_group("browser")

PATIENCE = 120_000  # milliseconds for a notebook to start its kernel on a busy machine
TRY = 5_000  # milliseconds until a key is pressed again
NETWORK = (
    'bb.BayesianNetwork({"fever": ["flu"], "cough": ["flu"]}, '
    '{"flu": 0.1, "fever": {True: 0.9, False: 0.05}, "cough": {True: 0.6, False: 0.3}}, name="flu")'
)
CLASSIFIER = f"bb.NaiveBayes().fit({TENNIS.X!r}, {list(TENNIS.y)!r})"
CHAIN = 'bb.HiddenMarkovModel().fit([["walk", "shop", "walk"]] * 3, [["dry", "rain", "dry"]] * 3)'
WIDGETS = {
    "network": "net.widget(target='flu')",
    "what-if": "clf.widget()",
    "nomogram": "clf.widget(view='nomogram')",
    "chain": "hmm.widget()",
    "lesson": "bb.lesson(prior=0.02, hit=0.8)",
}
ROOTS = {
    "network": ".bb-network",
    "what-if": ".bb-whatif",
    "nomogram": ".bb-nomogram",
    "chain": ".bb-chain",
    "lesson": ".bb-lesson",
}
MAKE = f"import bayesbox as bb\nnet = {NETWORK}\nclf = {CLASSIFIER}\nhmm = {CHAIN}"


def made() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(MAKE, names)
    return names


class Host:
    """Where components are shown: `show` gives the element that one is in."""

    def __init__(self, page: Any, show: Callable[[Any, str], None]) -> None:
        self.page, self._show = page, show

    def show(self, what: str) -> Any:
        self._show(self.page, what)
        root = self.page.locator(ROOTS[what]).first
        expect(root).to_be_visible(timeout=PATIENCE)
        return root


@pytest.fixture(scope="module")
def fresh(chromium: Any) -> Iterator[Callable[[], Any]]:
    contexts: list[Any] = []

    def new() -> Any:
        contexts.append(chromium.new_context(viewport={"width": 1280, "height": 1000}))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1].new_page()

    yield new
    for each in contexts:
        each.close()


@pytest.fixture(scope="module")
def notebook(fresh: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page of JupyterLab whose first cell makes the models; the others show a widget, read it and set it."""
    cells = [MAKE, *(f"w{at} = {text}\nw{at}" for at, text in enumerate(WIDGETS.values()))]
    cells += ["print(w0.evidence, w0.posteriors['flu']['true'], w1.row)", "w0.evidence = {'cough': 'false'}"]
    with jupyterlab(tmp_path_factory.mktemp("jupyter") / "lab", cells) as address:
        page = fresh()
        # a cell that is run before there is a kernel makes JupyterLab ask for one: take the one that is proposed
        accept = page.locator(".jp-Dialog .jp-mod-accept")
        page.add_locator_handler(accept, lambda: accept.first.click())
        page.goto(address)
        for at in range(1 + len(WIDGETS)):
            run_cell(page, at)
        yield page


def run_cell(page: Any, at: int) -> None:
    """Run a cell of JupyterLab, and wait until it has run."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(at)
    prompt = cell.locator(".jp-InputArea-prompt")
    for _ in range(PATIENCE // TRY):  # before the notebook is ready, it takes no key
        cell.locator(".jp-InputArea-editor").click()
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(AssertionError):
            expect(prompt).not_to_have_text("[ ]:", timeout=TRY)
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE)


MARIMO = [
    "@app.cell\ndef _():\n    import marimo as mo\n    {make}\n    return bb, clf, hmm, mo, net",
    "@app.cell\ndef _(bb, clf, hmm, mo, net):\n    shown = [mo.ui.anywidget(each) for each in ({widgets})]\n"
    "    {names}, = shown\n    mo.vstack(shown)\n    return ({names},)",
    "@app.cell\ndef _(mo, w0):\n"
    "    mo.md(f\"known: {{w0.evidence['hard']}} {{w0.posteriors['flu']['true']}}\")\n    return",
]


@pytest.fixture(scope="module")
def marimo_page(fresh: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    values = {
        "make": MAKE.replace("\n", "\n    "),
        "widgets": ", ".join(WIDGETS.values()),
        "names": ", ".join(f"w{at}" for at in range(len(WIDGETS))),
    }
    cells = [text.format(**values) for text in MARIMO]
    with marimo(tmp_path_factory.mktemp("marimo") / "run", cells) as address:
        page = fresh()
        page.goto(address)
        yield page


@pytest.fixture(params=["app", "report", "jupyterlab", "marimo"])
def host(request: pytest.FixtureRequest, page: Any, serve: Callable[..., str], tmp_path: Path) -> Host:
    names = made()
    if request.param == "app":
        opened = [
            OpenedNetwork("net", names["net"]),
            OpenedClassifier("clf", names["clf"].classifier_),
            OpenedChain("hmm", names["hmm"]),
            OpenedLesson("test"),
        ]
        address = serve(opened)
        places = {"network": "net/network?%7B%22target%22%3A%22flu%22%7D", "what-if": "clf/what-if"}
        places |= {"nomogram": "clf/nomogram", "chain": "hmm/chain"}
        places["lesson"] = "test/lesson?%7B%22prior%22%3A0.02%2C%22hit%22%3A0.8%7D"
        return Host(page, lambda page, what: page.goto(f"{address}#{places[what]}"))
    if request.param == "report":
        context = page.context
        context.set_offline(True)
        paths = {kind: Path(bb.report(names[kind], path=tmp_path / f"{kind}.html")).as_uri() for kind in ("net", "clf")}
        return Host(page, lambda page, what: page.goto(paths["net" if what == "network" else "clf"]))
    shown = request.getfixturevalue("notebook" if request.param == "jupyterlab" else "marimo_page")
    return Host(shown, lambda page, what: None)


def test_the_network(host: Host, request: pytest.FixtureRequest) -> None:
    net = made()["net"]
    root = host.show("network")

    def expect_shares(evidence: dict[str, str]) -> None:
        posteriors = net.posteriors(evidence)
        for node in net.nodes:
            for state in net.states(node):
                share = root.locator(f"[data-node={node}] [data-state={state}] .bb-share")
                expect(share).to_have_text(f"{100 * posteriors[node][state]:.1f} %")

    expect_shares({})
    root.locator("[data-node=fever] [data-state=true] text").first.click()
    expect_shares({"fever": "true"})
    root.locator("[data-node=cough] [data-state=false]").focus()
    host.page.keyboard.press("Enter")
    expect_shares({"fever": "true", "cough": "false"})
    asked = net.ask_next({"fever": "true"}, "flu")
    host.page.keyboard.press("Enter")
    expect(root.locator("[data-ask]").first).to_contain_text(f"{asked[0].node}{asked[0].information:.3f} bit")
    root.get_by_role("button", name="Table of fever").click()
    expect(root.get_by_role("dialog")).to_contain_text("flu = true")
    host.page.keyboard.press("Escape")
    expect_shares({"fever": "true"})
    if "jupyterlab" in request.node.name:
        share = net.posteriors({"fever": "true"})["flu"]["true"]
        run_cell(host.page, 1 + len(WIDGETS))  # what was clicked is read in the next cell
        expect(
            host.page.locator(".jp-CodeCell").nth(1 + len(WIDGETS)).locator(".jp-OutputArea-output")
        ).to_contain_text(f"{{'hard': {{'fever': 'true'}}, 'soft': {{}}}} {share}")
        run_cell(host.page, 2 + len(WIDGETS))  # and what is set there moves the picture
        expect_shares({"cough": "false"})
    if "marimo" in request.node.name:
        share = net.posteriors({"fever": "true"})["flu"]["true"]
        expect(host.page.get_by_text("known:")).to_contain_text(f"{{'fever': 'true'}} {share}")


def test_what_if(host: Host) -> None:
    clf = made()["clf"]
    root = host.show("what-if")
    root.get_by_role("group", name="outlook").get_by_label("sunny").check()
    root.get_by_role("group", name="humidity").get_by_label("unknown").focus()
    host.page.keyboard.press("ArrowRight")
    row = {"outlook": "sunny", "humidity": "high"}
    expect(root.locator("[data-term=humidity]")).to_contain_text("= high")
    for name, share in zip(clf.classes_, clf.predict_proba([row])[0], strict=True):
        bar = root.locator(f".bb-bars li[data-class={name}]")
        expect(bar).to_contain_text(f"{100 * share:.1f} %")
        assert float(bar.get_attribute("title").rpartition("= ")[2]) == pytest.approx(share, abs=1e-12)
    asked = clf.ask_next(row)
    expect(root.locator("[data-ask]").first).to_contain_text(f"{asked[0].column}{asked[0].information:.3f} bit")
    root.get_by_role("button", name="Set all to unknown").click()
    expect(root.locator("[data-term]")).to_have_count(1)  # the prior


def test_the_nomogram(host: Host) -> None:
    clf = made()["clf"]
    root = host.show("nomogram")
    root.locator("[data-ruler=outlook]").focus()
    host.page.keyboard.press("Home")
    expect(root.locator("[data-ruler=outlook]")).to_have_attribute("aria-valuetext", "overcast")
    share = clf.predict_proba([{"outlook": "overcast"}])[0][1]
    expect(root.locator(".bb-sentence")).to_contain_text(f"P(yes) = {100 * share:.1f} %")
    assert float(root.locator(".bb-sentence").get_attribute("data-share")) == pytest.approx(share, abs=1e-12)
    mark = root.locator("[data-ruler=outlook] [data-mark=sunny]").bounding_box()
    start = root.locator("[data-ruler=outlook] circle").bounding_box()
    host.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    host.page.mouse.down()
    host.page.mouse.move(mark["x"] + 3, start["y"] + start["height"] / 2, steps=4)
    host.page.mouse.move(mark["x"], start["y"] + start["height"] / 2)
    host.page.mouse.up()
    expect(root.locator("[data-ruler=outlook]")).to_have_attribute("aria-valuetext", "sunny")
    share = clf.predict_proba([{"outlook": "sunny"}])[0][1]
    expect(root.locator(".bb-sentence")).to_contain_text(f"P(yes) = {100 * share:.1f} %")


@pytest.mark.parametrize("host", ["app", "jupyterlab", "marimo"], indirect=True)
def test_chain_and_lesson(host: Host) -> None:
    hmm = made()["hmm"]
    root = host.show("chain")
    for symbol in ("shop", "walk"):
        root.locator(f"[data-add={symbol}]").click()
    expect(root.locator("[data-path]")).to_have_text([str(state) for state in hmm.predict(["shop", "walk"])])
    root = host.show("lesson")
    root.get_by_role("button", name="Reveal").click()
    expect(root.locator(".bb-sentence")).to_contain_text("104 of 1,000 people test positive, and 16 of them have it")


def test_what_is_shown_without_a_kernel() -> None:
    """A saved notebook shows a static picture: nothing of it asks for an address."""
    names = made()
    for each in (names["net"], names["clf"].explain([{"outlook": "sunny"}]), names["hmm"]):
        text = each._repr_html_()
        assert "<script" not in text
        assert "src=" not in text
