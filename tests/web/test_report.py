"""The report: one file that works with the network off, shows the library's numbers, and keeps people out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox._core import ExactArray
from bayesbox.app.modules import WEB, joined, widget_module
from bayesbox.app.report.suppress import small_cells, suppressed
from bayesbox.errors import BadOption, CannotRedact
from bayesbox.tally.counts import Counts

pytestmark = pytest.mark.xdist_group("browser")

BAYES = str(Path(sys.executable).with_name("bayes"))
HOSTILE = "</script><script>document.title=1</script>"


def held(text: str, name: str) -> Any:
    """A JSON document inside a page."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def opened(page: Any, path: Path) -> None:
    page.context.set_offline(True)
    page.goto(path.as_uri())


def people(rows: int) -> tuple[dict[str, Any], np.ndarray]:
    draw = np.random.default_rng(4)
    label = draw.integers(0, 2, rows)
    town = np.where(
        draw.random(rows) < 0.02, "hamlet", np.where(draw.random(rows) < 0.3 + 0.3 * label, "city", "village")
    )
    return {
        "age": draw.normal(40 + 8 * label, 7).round(1),
        "town": town,
        "member": draw.random(rows) < 0.3 + 0.3 * label,
    }, np.array(["no", "yes"])[label]


def test_the_command_writes_a_report_of_rows(tmp_path: Path, page: Any) -> None:
    data, output = tmp_path / "titanic.csv", tmp_path / "elsewhere" / "report.html"
    output.parent.mkdir()
    data.write_text(subprocess.run([BAYES, "demo", "--data"], capture_output=True, text=True, check=True).stdout)
    command = [BAYES, "report", str(data), "-t", "survived", "--weight", "people", "-o", str(output), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["bytes"] == output.stat().st_size < 120_000
    data.unlink()
    text = output.read_text()
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "--force" in again.stderr
    opened(page, output)
    page.get_by_role("group", name="sex").get_by_label("female").check()
    page.get_by_role("group", name="cabin").get_by_label("3rd").check()
    expect(page.locator("#what-if .bb-sentence")).to_contain_text("(65.7 %)")
    expect(page.locator("#nomogram .bb-sentence")).to_contain_text("P(yes) = 65.7 %")  # both move together
    page.locator("[data-ruler=cabin]").focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("group", name="cabin").get_by_label("1st")).to_be_checked()
    expect(page.get_by_text("rows, cross-validation")).to_be_visible()
    expect(page.locator("[data-bits]").first).to_contain_text("sex")


def test_numbers_on_the_page_are_the_librarys(tmp_path: Path, page: Any) -> None:
    X, y = people(400)
    model = bb.NaiveBayes(calibration="isotonic").fit(X, y)
    path = Path(bb.report(model, {**X, "class": y}, tmp_path / "r.html", target="class", rows=2))
    opened(page, path)
    page.get_by_role("button", name="open in what if").first.click()
    row = {name: values[0] for name, values in X.items()}
    expected = model.predict_proba([row])[0]
    for name, share in zip(model.classes_, expected, strict=True):
        title = page.locator(f".bb-bars li[data-class='{name}']").first.get_attribute("title")
        assert float(title.rpartition("= ")[2]) == pytest.approx(share, abs=1e-12)
    judged = bb.evaluate(model, X, y)
    expect(page.get_by_role("cell", name=f"{float(judged.accuracy):.4f}", exact=True)).to_be_visible()


def test_a_network_answers_in_its_report(tmp_path: Path, page: Any) -> None:
    net = bb.BayesianNetwork(
        {"fever": ["flu"], "cough": ["flu"]},
        {"flu": 0.1, "fever": {True: 0.9, False: 0.05}, "cough": {True: 0.6, False: 0.3}},
        name="flu",
    )
    opened(page, Path(bb.report(net, path=tmp_path / "flu.html")))
    page.locator("[data-node=fever] [data-state=true]").locator("text").first.click()
    share = net.posteriors({"fever": "true"})["flu"]["true"]
    expect(page.locator("[data-node=flu] [data-state=true] .bb-share")).to_have_text(f"{100 * share:.1f} %")


def test_a_model_that_the_page_cannot_answer_for_has_scenarios(tmp_path: Path, page: Any) -> None:
    X, y = people(200)
    model = bb.AutoBayes().fit(X, y)
    path = Path(bb.report(model, path=tmp_path / "auto.html"))
    opened(page, path)
    expect(page.get_by_text("These were computed beforehand")).to_be_visible()
    share = model.predict_proba([{"age": None, "town": "city", "member": None}])[0]
    expect(page.get_by_role("row", name="town = city")).to_contain_text(f"{100 * share[0]:.1f} %{100 * share[1]:.1f} %")


def test_hostile_names_stay_text(tmp_path: Path, page: Any) -> None:
    model = bb.NaiveBayes().fit({HOSTILE: [HOSTILE, "b", HOSTILE, "b"]}, [HOSTILE, "no", HOSTILE, "no"])
    opened(page, Path(bb.report(model, {HOSTILE: [HOSTILE], "y": [HOSTILE]}, tmp_path / "h.html", target="y", rows=1)))
    page.get_by_role("group", name=HOSTILE).get_by_label(HOSTILE).check()
    expect(page.locator("#what-if .bb-sentence")).to_contain_text(HOSTILE)
    assert page.title() != "1"


def test_cells_of_few_rows_are_not_in_the_file(tmp_path: Path) -> None:
    X, y = people(400)
    X["rare"] = np.where(np.arange(400) < 2, "one", "many")
    X["flag"] = np.arange(400) < 3
    model = bb.NaiveBayes().fit(X, y)
    text = Path(bb.report(model, path=tmp_path / "s.html", suppress=5)).read_text()
    assert "hamlet" not in text
    assert '"one"' not in text
    terms = {each["column"] for each in held(text, "model")["form"]["terms"]}
    assert terms == {"age", "town", "member"}  # no level of the others could be pooled with another
    assert "Not shown at all: flag, rare" in text
    for column in held(text, "spec")["columns"]:
        assert all(each == 0 or each >= 5 for row in column.get("counts", []) for each in row)
    with pytest.raises(BadOption, match="rows and suppress"):
        bb.report(model, {**X, "y": y}, tmp_path / "t.html", target="y", rows=3, suppress=5)


def test_a_pool_has_no_small_cell_and_more_than_one_level() -> None:
    draw = np.random.default_rng(1)
    for _ in range(200):
        table = draw.poisson(draw.choice([1, 4, 20]), (3, 6))
        tally = Counts.of(
            ("a", "b", "c"), [f"level {each}" for each in range(6)], ExactArray.from_integers(table.ravel())
        )
        pool = small_cells(tally, 5)
        cells = np.asarray(tally.counts)
        small = ((cells > 0) & (cells < 5)).any(axis=0)
        assert pool[small].all()
        pooled = cells[:, pool].sum(axis=1)
        assert not pool.any() or pool.all() or (pool.sum() > 1 and not ((pooled > 0) & (pooled < 5)).any())


def test_a_class_of_few_rows_refuses_a_suppressed_report() -> None:
    X, y = people(60)
    y[:3] = "rare"
    with pytest.raises(CannotRedact, match="fewer than 5 rows"):
        suppressed(bb.NaiveBayes().fit(X, y).classifier_, 5)


def test_modules_are_joined_and_others_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = joined("report")
    assert "import " not in script.split("const $report")[0][:200]
    assert "@param" not in script
    assert widget_module("whatif", "renderWhatIf").endswith("export default { render: $whatif.renderWhatIf };\n")
    (tmp_path / "odd.js").write_text('import * as all from "./dom.js";\n')
    (tmp_path / "one.js").write_text('import { b } from "./two.js";\n')
    (tmp_path / "two.js").write_text('import { a } from "./one.js";\n')
    monkeypatch.setattr("bayesbox.app.modules.WEB", tmp_path)
    with pytest.raises(ValueError, match="not joined"):
        joined("odd")
    with pytest.raises(ValueError, match="imports itself"):
        joined("one")
    assert {path.name for path in WEB.glob("*.js")} >= {"engine.js", "whatif.js"}


def test_no_module_is_too_long() -> None:
    lines = {path.name: len(path.read_text().splitlines()) for path in WEB.glob("*.js")}
    assert {name: count for name, count in lines.items() if count > 300} == {}


def test_a_report_needs_a_model(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="fitted classifier"):
        bb.report(3, path=tmp_path / "r.html")
    with pytest.raises(BadOption, match="data"):
        bb.report(bb.NaiveBayes().fit(TENNIS.X, TENNIS.y), path=tmp_path / "r.html", rows=3)
