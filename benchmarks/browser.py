"""The app, the report and the engine in a browser: time to the first screen and its bytes, a click until it is drawn.

Times are of the wall clock inside the page: from the start of the navigation, or from the click, to the frame that
shows the answer (bars that glide there afterwards are not waited for); and, since a machine may be busy with other
things, the processor time that the thread of the page takes for a click. `--data` may name a folder of tables
(adult-train.csv) beside one of networks (`../networks`: asia.bif to alarm.bif); without it a table of that size is
drawn, and networks of so many nodes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import harness

ROOT = Path(__file__).parents[1]
# not as tests.web.browser: packages of the peers bring a package of the name `tests` along
sys.path.insert(0, str(ROOT / "tests" / "web"))

import bayesbox as bb  # noqa: E402
from browser import find  # noqa: E402

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
DRAWN = """(() => {
  const look = () => {
    if (document.querySelector(SELECTOR)) window.drawn = performance.now();
    else requestAnimationFrame(look);
  };
  look();
})()"""
CLICK = """async ([click, watch]) => {
  const shown = () => [...document.querySelectorAll(watch)].map((each) => each.textContent + each.title).join();
  const before = shown(), target = document.querySelector(click);
  await new Promise((then) => requestAnimationFrame(() => setTimeout(then, 0)));
  const changed = new Promise((then) => {
    const seen = new MutationObserver(() => {
      if (shown() === before) return;
      seen.disconnect();
      then(performance.now());
    });
    seen.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const start = performance.now();
  target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await changed;
  await new Promise((then) => requestAnimationFrame(() => setTimeout(then, 0)));
  return performance.now() - start;
}"""


def milliseconds(value: float) -> str:
    return f"{value:.1f} ms"


def kilobytes(value: float) -> str:
    return f"{value / 1000:.1f} KB"


def rows_like_adult(rows: int) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    label = draw.integers(0, 2, rows)
    numbers = {f"number {at}": draw.normal(40 + 3 * at * label, 10).round(1) for at in range(6)}
    levels = [8, 16, 7, 14, 6, 5, 2, 41]
    texts = {
        f"column {at}": np.array([f"level {each}" for each in (draw.integers(0, size, rows) + label) % size])
        for at, size in enumerate(levels)
    }
    return {**numbers, **texts, "income": np.where(label, ">50K", "<=50K")}


def random_network(nodes: int, seed: int) -> bb.BayesianNetwork:
    draw = np.random.default_rng(seed)
    parents = {f"n{at}": [f"n{each}" for each in draw.choice(at, min(at, 2), replace=False)] for at in range(nodes)}
    tables = {name: draw.dirichlet(np.ones(3), size=[3] * len(own)) for name, own in parents.items()}
    states = [f"s{each}" for each in range(3)]
    named: dict[str, Any] = {}
    for name, own in parents.items():
        flat = tables[name].reshape(-1, 3)
        keys = list(np.ndindex(*[3] * len(own)))
        rows = {
            (states[key[0]] if len(key) == 1 else tuple(states[each] for each in key)): dict(
                zip(states, row, strict=True)
            )
            for key, row in zip(keys, flat.tolist(), strict=True)
        }
        named[name] = rows if own else dict(zip(states, flat[0].tolist(), strict=True))
    return bb.BayesianNetwork({name: own for name, own in parents.items() if own}, named)


class Measured:
    """A page that measures itself."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.page = self.context.new_page()
        self.bytes = 0.0
        self.session = self.context.new_cdp_session(self.page)
        self.session.send("Network.enable")
        self.session.send("Performance.enable")
        self.session.on("Network.loadingFinished", self._received)

    def _received(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]

    def opened(self, address: str, selector: str) -> float:
        """Milliseconds until something is there to see."""
        self.page.add_init_script(DRAWN.replace("SELECTOR", repr(selector)))
        self.page.goto(address)
        self.page.locator(selector).first.wait_for()
        while (found := self.page.evaluate("window.drawn")) is None:
            self.page.wait_for_timeout(10)
        return float(found)

    def busy(self) -> float:
        """Milliseconds of processor time that the thread of the page has taken."""
        found = {each["name"]: each["value"] for each in self.session.send("Performance.getMetrics")["metrics"]}
        return 1000 * float(found["ThreadTime"])

    def clicks(self, targets: list[str], watch: str, times: int) -> tuple[float, float]:
        """The medians of a click until it is drawn, and of the processor time of the page, in milliseconds."""
        for target in targets:
            self.page.evaluate(CLICK, [target, watch])  # the first ones fill caches
        found, busy = [], []
        for at in range(times):
            self.page.wait_for_timeout(150)  # what comes later than the answer is not to be in the way
            before = self.busy()
            found.append(float(self.page.evaluate(CLICK, [targets[at % len(targets)], watch])))
            busy.append(self.busy() - before)
        return statistics.median(found), statistics.median(busy)


def run(session: harness.Session) -> None:
    from playwright.sync_api import sync_playwright

    times = 10 if session.quick else 30
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        _app(session, browser, [], "#titanic/what-if", "Titanic", times)
        adult = _adult(session, folder)
        model = bb.train(adult, target="income")
        model.save(folder / "adult.bayes")
        _app(session, browser, [str(folder / "adult.bayes")], "#adult.bayes/what-if", "adult", times)
        _reports(session, browser, folder, model, adult, times)
        browser.close()


def _adult(session: harness.Session, folder: Path) -> str:
    given = session.data and session.data / "adult-train.csv"
    if given and given.exists():
        return str(given)
    import pandas as pd

    pd.DataFrame(rows_like_adult(32_561)).to_csv(folder / "adult.csv", index=False)
    return str(folder / "adult.csv")


def _app(session: harness.Session, browser: Any, files: list[str], view: str, what: str, times: int) -> None:
    command = [str(Path(sys.executable).with_name("bayes")), "app", *files, "--no-open"]
    app = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert app.stdout is not None
        address = app.stdout.readline().strip()
        first = []
        for _ in range(3 if session.quick else 7):
            measured = Measured(browser)
            first.append(measured.opened(address + view, ".bb-bars li"))
            measured.page.wait_for_load_state("networkidle")
            size = measured.bytes
            measured.context.close()
        session.amount(f"app, {what}: first screen", statistics.median(first), 1500, milliseconds)
        session.amount(f"app, {what}: bytes of the first screen", size, 60_000, kilobytes)
        measured = Measured(browser)
        measured.opened(address + view, ".bb-bars li")
        group = ".bb-inputs fieldset:nth-of-type(1) label:nth-of-type({}) input"
        drawn, busy = measured.clicks([group.format(2), group.format(3)], ".bb-bars li", times)
        session.amount(f"app, {what}: click to drawn", drawn, 50, milliseconds)
        session.amount(f"app, {what}: processor time of the page in it", busy, 50, milliseconds)
        measured.context.close()
    finally:
        app.terminate()
        app.wait()


def _reports(session: harness.Session, browser: Any, folder: Path, model: Any, adult: str, times: int) -> None:
    page = Path(bb.report(model, adult, folder / "adult.html", target="income"))
    session.amount("report of adult: size", page.stat().st_size, 300_000, kilobytes)
    found = []
    for _ in range(3 if session.quick else 7):
        measured = Measured(browser)
        measured.context.set_offline(True)
        found.append(measured.opened(page.as_uri(), "#nomogram svg"))
        measured.context.close()
    session.amount("report of adult: opened, network off", statistics.median(found), 1000, milliseconds)
    for name, nodes in NODES.items():
        path = None if session.data is None else session.data.parent / "networks" / f"{name}.bif"
        real = path is not None and path.exists()
        net = bb.read_network(str(path)) if real else random_network(nodes, seed=1)
        page = Path(bb.report(net, path=folder / f"{name}.html"))
        measured = Measured(browser)
        measured.opened(page.as_uri(), ".bb-share")
        first = f"[data-node={net.nodes[-1]!r}] [data-state={net.states(net.nodes[-1])[0]!r}]"
        second = f"[data-node={net.nodes[0]!r}] [data-state={net.states(net.nodes[0])[0]!r}]"
        drawn, busy = measured.clicks([first, second], ".bb-share", times)
        what = f"report of {name if real else f'a network of {nodes} nodes'}"
        session.amount(f"{what}: click to drawn", drawn, 35, milliseconds)
        session.amount(f"{what}: processor time of the page in it", busy, 35, milliseconds)
        measured.context.close()


NODES = {"asia": 8, "child": 20, "insurance": 27, "alarm": 37}


if __name__ == "__main__":
    harness.main(run)
