"""The audit in a browser: digests, rows that are forgotten in memory, differences and drift are the library's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox.app.audited import row_numbers
from bayesbox.app.server.opened import open_files
from bayesbox.classifier.certificate import Certificate
from bayesbox.cli.main import run
from bayesbox.errors import BadOption

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = "<img src=x onerror=\"document.title=1\"> & 'single'"
ROWS = [dict(zip(TENNIS.X, row, strict=True)) for row in zip(*TENNIS.X.values(), strict=True)]


PARTS = {"one": slice(0, 8), "two": slice(8, 14), "three": slice(2, 4)}


def write(path: Path, rows: list[dict[str, str]], labels: list[str], target: str = "play") -> str:
    """A table of these rows as JSON lines."""
    path.write_text("".join(json.dumps({**row, target: label}) + "\n" for row, label in zip(rows, labels, strict=True)))
    return str(path)


@pytest.fixture
def opened(tmp_path: Path) -> list[Any]:
    """A model of the tennis rows with one of them changed to a level that nobody knows, and the model of ten rows."""
    labels = list(TENNIS.y)
    learned = write(tmp_path / "tennis.jsonl", ROWS, labels)
    bb.train(learned, target="play").save(tmp_path / "tennis.bayes")
    ten = write(tmp_path / "ten.jsonl", ROWS[:10], labels[:10])
    bb.train(ten, target="play").save(tmp_path / "ten.bayes")
    given = [*ROWS[:4], {**ROWS[4], next(iter(TENNIS.X)): HOSTILE}]
    asked = write(tmp_path / "asked.jsonl", given, labels[:5])
    return open_files([str(tmp_path / "tennis.bayes"), asked, str(tmp_path / "ten.bayes")])


def test_rows_are_forgotten_in_memory(page: Any, serve: Callable[..., str], opened: list[Any], tmp_path: Path) -> None:
    model = bb.load(tmp_path / "tennis.bayes")
    page.goto(serve(opened) + "#tennis.bayes/audit")
    expect(page.locator("[data-digest=digest]")).to_have_text(model.classifier_.book.digest())
    expect(page.locator(".bb-counted [data-rows=yes]")).to_have_text("9")
    page.get_by_label("Rows of asked.jsonl").fill("2, 4-5")
    page.keyboard.press("Enter")
    expect(page.locator(".bb-forgetting [role=status]")).to_have_text("2 found, 1 refused")
    expect(page.locator("[data-row='5']")).to_contain_text("refused")
    expect(page.locator(".bb-forgetting")).to_contain_text(HOSTILE)
    assert page.locator("img").count() == 0
    page.get_by_role("button", name="Forget these 2 rows in memory").click()
    expect(page.locator("[data-digest=before]")).to_have_text(model.classifier_.book.digest())
    chosen = [1, 3]
    model.forget([ROWS[place] for place in chosen], [TENNIS.y[place] for place in chosen])
    expect(page.locator("[data-digest=after]")).to_have_text(model.classifier_.book.digest())
    left = dict(zip(model.classifier_.book.classes, model.classifier_.book.n.tolist(), strict=True))
    for name, rows in left.items():
        expect(page.locator(f"[data-left={name}]")).to_have_text(f"{rows:g}")
    expect(page.locator("[data-command]")).to_contain_text("bayes forget")
    with page.expect_download() as given:
        page.get_by_role("button", name="Download the certificate").click()
    certificate = Certificate.from_text(Path(given.value.path()).read_text(), where="download")
    assert (certificate.after, certificate.count) == (model.classifier_.book.digest(), 2)
    page.reload()  # the address holds it all, and the file was not touched
    expect(page.locator("[data-digest=after]")).to_have_text(model.classifier_.book.digest())
    assert bb.load(tmp_path / "tennis.bayes").classifier_.book.digest() == certificate.before
    page.get_by_label("Rows of asked.jsonl").fill("99")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator(".bb-forgetting [role=alert]")).to_contain_text("asked.jsonl has 5 rows")


def test_models_are_compared_and_a_table_is_held_against_one(
    page: Any, serve: Callable[..., str], opened: list[Any], tmp_path: Path
) -> None:
    one, ten = (bb.load(tmp_path / name) for name in ("tennis.bayes", "ten.bayes"))
    page.goto(serve(opened) + "#tennis.bayes/audit")
    drift = one.drift([*ROWS[:4], {**ROWS[4], next(iter(TENNIS.X)): HOSTILE}])
    for each in drift:
        expect(page.locator(f"[data-psi='{each.column}']")).to_have_attribute("title", f"PSI {each.psi}")
    page.get_by_label("Hold it against").select_option("ten.bayes")
    expect(page.locator("[data-differs='(classes)']")).to_have_text("4")
    tests = one.classifier_.drift_to(ten.classifier_)
    first = next(iter(tests))
    line = page.locator(".bb-difference tr", has=page.locator(f"[data-differs='{first.column}']"))
    expect(line).to_contain_text(f"{first.psi:.4f}")
    page.goto("about:blank")
    page.goto(serve(open_files([str(tmp_path / "ten.jsonl")], "play")) + "#ten.jsonl/audit")
    expect(page.locator("[data-digest=digest]")).to_have_text(ten.classifier_.book.digest())
    expect(page.locator(".bb-drift")).to_be_empty()  # it does not differ from itself


def test_a_row_is_found_as_often_as_it_was_learned(tmp_path: Path) -> None:
    path = write(tmp_path / "two.jsonl", [{"a": "x"}, {"a": "y"}], ["1", "2"])
    bb.train(path, target="play", model=bb.NaiveBayes(ledger=True)).save(tmp_path / "two.bayes")
    twice = write(tmp_path / "twice.jsonl", [{"a": "x"}, {"a": "x"}, {"a": "y"}], ["1", "1", "2"])
    [model] = open_files([str(tmp_path / "two.bayes"), twice])
    found = model.answer("audit", {"rows": "1-3", "forget": True})["forgotten"]
    assert [each["why"] is None for each in found["shown"]] == [True, False, True]
    assert not found["whole"]
    assert model.answer("audit", {"rows": "", "forget": True})["forgotten"] is None
    [model] = open_files([str(tmp_path / "two.bayes"), path])
    found = model.answer("audit", {"rows": "1-2", "forget": True})["forgotten"]
    assert found["whole"]
    assert found["command"] == f"bayes forget {tmp_path}/two.bayes {path} --certificate certificate.json"


@pytest.mark.parametrize("text", ["x", "0", "5-3", "1,,-", "1-900", "1;;2-1e9"])
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(BadOption):
        row_numbers(text)


def test_the_batches_of_a_model(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    labels, model = list(TENNIS.y), str(tmp_path / "m.bayes")
    parts = [write(tmp_path / f"{name}.jsonl", ROWS[at], labels[at]) for name, at in PARTS.items()]
    digests = []
    for verb, path in zip(("train", "update", "forget"), parts, strict=True):
        words = ["-t", "play", "-o", model, "--history", path] if verb == "train" else [model, path]
        assert run([verb, *words]) == 0
        digests.append(bb.load(model).book_.digest())
    page.goto(serve(open_files([model, parts[0]])) + "#m.bayes/audit")
    for at, (digest, rows) in enumerate(zip(digests, ("8", "6", "\N{MINUS SIGN}2"), strict=True), 1):
        expect(page.locator(f"[data-batch='{at}']")).to_have_attribute("title", digest)
        expect(page.locator(f"[data-batch-rows='{at}']")).to_have_text(rows)
    expect(page.locator(".bb-batches .bb-note")).to_have_count(0)
    bb.load(model).forget([ROWS[9]], [labels[9]]).save(model)  # not by the command
    page.reload()
    expect(page.locator(".bb-batches .bb-note")).to_contain_text("changed since the last entry")
    page.goto("about:blank")
    page.goto(serve(open_files([parts[1]], "play")) + "#two.jsonl/audit")
    expect(page.locator("[data-batch='1']")).to_have_attribute("title", bb.train(parts[1], "play").book_.digest())
    page.goto("about:blank")
    bb.train(parts[1], "play").save(tmp_path / "plain.bayes")
    page.goto(serve(open_files([str(tmp_path / "plain.bayes")])) + "#plain.bayes/audit")
    expect(page.locator(".bb-batches")).to_contain_text("--history")
