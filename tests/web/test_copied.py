"""What is copied from each view can be run, and gives what the screen has: Python, the command, curl."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from tests.web.test_tables import write_people

import bayesbox as bb
from bayesbox.app.server.opened import open_files
from bayesbox.classifier.opened import AS_IT_IS, ReadingOptions
from bayesbox.cli.main import run
from bayesbox.source.files.dialect import TextDialect

Copied = Callable[..., dict[str, str]]

pytestmark = pytest.mark.xdist_group("browser")


def result_of(text: str) -> Any:
    """What the last line of some Python gives."""
    tree = ast.parse(text)
    names: dict[str, Any] = {}
    last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, "copied", "exec"), names)
    return eval(compile(last, "copied", "eval"), names)


@pytest.fixture
def printed_by(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a line of the command prints; its programs are called here, one after the other."""

    def ran(text: str) -> str:
        for part in text.split(" && "):
            words = shlex.split(part)
            assert words.pop(0) == "bayes"
            capsys.readouterr()
            code = run(words)
            printed = "".join(capsys.readouterr())
            assert code == 0, printed
        return printed

    return ran


def answered(text: str) -> Any:
    """What the request of a line of curl gives."""
    words = shlex.split(text)
    assert words[:3] == ["curl", "-s", "-H"]
    headers = dict([words[3].split(": ")])
    with urllib.request.urlopen(urllib.request.Request(words[6], words[5].encode(), headers)) as reply:
        return json.load(reply)


@pytest.fixture
def copied(page: Any, serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copied:
    """The texts of a view of files that were named, run in their folder."""
    monkeypatch.chdir(tmp_path)
    served: dict[tuple[str, ...], str] = {}

    def texts(
        files: list[str],
        view: str,
        state: dict[str, Any] | None = None,
        target: str | None = None,
        reading: ReadingOptions = AS_IT_IS,
    ) -> dict[str, str]:
        key = (*files, target or "")
        if key not in served:
            served[key] = serve(open_files(files, target, reading=reading))
        page.goto("about:blank")
        asked = f"?{quote(json.dumps(state))}" if state else ""
        page.goto(f"{served[key]}#{quote(Path(files[0]).name)}/{view}{asked}")
        buttons = page.locator("[data-copy]")
        expect(buttons).to_have_count(3)
        page.wait_for_load_state("networkidle")
        return {each.text_content(): each.get_attribute("data-copy") for each in buttons.all()}

    return texts


def test_of_a_table_that_is_read_in_its_own_way(
    copied: Copied, printed_by: Callable[[str], str], tmp_path: Path
) -> None:
    """A German table with its own word for missing, and lines before the header."""
    write_people(tmp_path / "plain.csv")
    plain = (tmp_path / "plain.csv").read_text()
    lines = [line.replace(".", "#").replace(",", ";").replace("#", ",") for line in plain.splitlines(keepends=True)]
    lines[3] = ";".join(["k.A.", *lines[3].split(";")[1:]])
    (tmp_path / "leute.csv").write_text("a title\n" + "".join(lines))
    reading = ReadingOptions(["k.A."], dialect=TextDialect(decimal=",", delimiter=";", skip_rows=1))
    found = copied(["leute.csv"], "what-if", {"row": {"town": "city"}}, "buys", reading)
    shares = result_of(found["Python"])[0]
    assert answered(found["curl"])["answer"]["posterior"] == shares.tolist()
    assert f"{shares.max():.4f}"[:5] in printed_by(found["command"])
    found = copied(["leute.csv"], "evaluate", {}, "buys", reading)
    figures = {each["name"]: each["value"] for each in answered(found["curl"])["found"]["figures"]}
    assert float(result_of(found["Python"]).accuracy) == figures["accuracy"]
    assert f"{figures['accuracy']:.4f}" in printed_by(found["command"] + " --calibrate none")
    assert printed_by("bayes report leute.csv -t buys --na k.A. --decimal , --delimiter ';' --skip-rows 1")
    found = copied(["leute.bayes", "leute.csv"], "audit", {"rows": "2", "forget": True}, None, reading)
    assert "--na k.A." in found["command"]


def test_of_a_table(copied: Copied, printed_by: Callable[[str], str], tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv")
    state = {"row": {"town": "city", "age": 41}, "types": {"zip": "category"}}
    found = copied(["people.csv"], "what-if", state, "buys")
    shares = result_of(found["Python"])[0]
    assert answered(found["curl"])["answer"]["posterior"] == shares.tolist()
    assert f"{shares.max():.4f}"[:5] in printed_by(found["command"])
    assert printed_by("bayes show people.bayes")
    found = copied(["people.csv"], "nomogram", {"row": {"town": "city"}}, "buys")
    assert answered(found["curl"])["rulers"]["rulers"]
    found = copied(["people.csv"], "evaluate", {"types": {"zip": "category"}}, "buys")
    judged = result_of(found["Python"])
    figures = {each["name"]: each["value"] for each in answered(found["curl"])["found"]["figures"]}
    assert float(judged.accuracy) == figures["accuracy"]
    assert f"{figures['log loss']:.4f}" in printed_by(found["command"])
    found = copied(["people.csv"], "data", {"types": {"zip": "category"}}, "buys")
    bits = {each["name"]: each["bits"] for each in answered(found["curl"])["found"]["columns"]}
    importance = result_of(found["Python"])
    assert {name: importance[name].information for name in bits} == pytest.approx(bits)
    assert "zip" in printed_by(found["command"])
    found = copied(["people.csv"], "compare", None, "buys")
    assert found["command"] == "bayes evaluate people.csv -t buys --compare"
    assert list(result_of(found["Python"]))
    assert answered(found["curl"])["found"]["running"] is None
    found = copied(["people.csv"], "audit", None, "buys")
    digest = answered(found["curl"])["found"]["digest"]
    assert result_of(found["Python"]) == digest
    assert digest in printed_by(found["command"])


def test_of_a_model(copied: Copied, printed_by: Callable[[str], str], tmp_path: Path) -> None:
    write_people(tmp_path / "test.csv", rows=60, seed=9)
    for name, rows in (("one", 120), ("two", 90)):
        path = write_people(tmp_path / f"{name}.csv", rows=rows)
        bb.train(path, target="buys").save(tmp_path / f"{name}.bayes")
    files = ["one.bayes", "test.csv", "two.bayes"]
    found = copied(files, "what-if", {"row": {"town": "city"}})
    assert found["command"] == "bayes explain one.bayes --set town=city"
    assert answered(found["curl"])["answer"]["posterior"] == result_of(found["Python"])[0].tolist()
    found = copied(files, "evaluate")
    assert float(result_of(found["Python"]).accuracy) == answered(found["curl"])["found"]["figures"][0]["value"]
    assert "60 rows" in printed_by(found["command"])
    found = copied(files, "data")
    assert "town" in printed_by(found["command"])
    found = copied(files, "audit")
    drift = result_of(found["Python"])
    assert [each.column for each in drift] == [each["column"] for each in answered(found["curl"])["drift"]["columns"]]
    assert "PSI" in printed_by(found["command"])
    found = copied(files, "audit", {"against": 0})
    assert found["command"] == "bayes diff one.bayes two.bayes"
    assert result_of(found["Python"]) is False
    found = copied(files, "audit", {"rows": "1-2", "forget": True})
    certificate = answered(found["curl"])["forgotten"]["certificate"]
    assert result_of(found["Python"]).book_.digest() == certificate["after"]
    assert found["command"].startswith("bayes forget one.bayes ROWS.csv")


def test_of_a_network_and_a_chain(copied: Copied, printed_by: Callable[[str], str], tmp_path: Path) -> None:
    net = bb.BayesianNetwork({"my fever": ["flu"]}, {"flu": 0.1, "my fever": {True: 0.9, False: 0.05}})
    net.write(tmp_path / "flu.json")
    evidence = {"hard": {}, "soft": {"my fever": {"true": 0.9, "false": 0.3}}}
    found = copied(["flu.json"], "network", {"evidence": evidence, "target": "flu"})
    posteriors = result_of(found["Python"])
    share = answered(found["curl"])["answer"]["posteriors"]["flu"]["true"]
    assert posteriors["flu"]["true"] == share
    assert f"{share:.6g}"[:7] in printed_by(found["command"])
    hmm = bb.HiddenMarkovModel().fit([["walk", "my shop", "walk"]], [["dry", "rain", "rain"]])
    hmm.save(tmp_path / "weather.bayes")
    name = hmm.model_.columns[0]
    found = copied(["weather.bayes"], "chain", {"steps": [{name: "my shop"}, {}, {name: "walk"}]})
    path = [hmm.model_.states[place] for place in answered(found["curl"])["answer"]["path"]]
    assert list(result_of(found["Python"])) == path
    bayes = shlex.quote(str(Path(sys.executable).with_name("bayes")))
    ran = subprocess.run(
        ["bash", "-c", found["command"].replace("| bayes", f"| {bayes}")], capture_output=True, text=True, check=True
    )
    assert [line.split(",")[1] for line in ran.stdout.splitlines()[1:]] == path
