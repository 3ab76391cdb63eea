"""Some hundreds of mutants of every format; `make fuzz` tries a hundred thousand under the sanitizers."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz import core_examples, core_rows, core_subjects, run
from tests.fuzz.format import WrongAnswer, require_probabilities
from tests.fuzz.formats import FORMATS, counts
from tests.fuzz.table_files import KINDS
from tests.fuzz.worker import chance_of, quiet, try_file, use_core

import bayesbox as bb
from bayesbox import _core
from bayesbox.errors import BadData, BadRow

MUTANTS = {"model": 40, "csv": 100, "jsonl": 100}


@pytest.mark.parametrize("name", FORMATS)
def test_every_mutant_is_taken_or_refused(name: str, tmp_path: Path) -> None:
    form, found = FORMATS[name], Counter[str]()
    quiet()
    for number in range(MUTANTS.get(name, 60)):
        path = form.make(chance_of(name, 1, number), tmp_path)
        outcome, error = try_file(form, path)
        assert outcome != "finding", f"{name} {number}: {error}"
        found[outcome] += 1
    assert found["loaded"], "all were refused: nothing behind the first check was tried"
    assert found["refused"] or name in ("mbox", "maildir"), "nothing was damaged"


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_not_damaged_is_taken(name: str, tmp_path: Path) -> None:
    quiet()
    for path in FORMATS[name].originals(tmp_path):
        FORMATS[name].feed(path)


def test_the_same_seed_gives_the_same_mutant(tmp_path: Path) -> None:
    for name in ("model", "csv", "parquet", "xdsl", "core"):
        made = [FORMATS[name].make(chance_of(name, 5, 7), tmp_path).read_bytes() for _ in range(2)]
        assert made[0] == made[1]


def test_a_value_before_the_first_object(tmp_path: Path) -> None:
    """Arrow's JSON reader crashes on this text; it never gets to see it."""
    path = tmp_path / "null.jsonl"
    path.write_bytes(b"null, " + KINDS["jsonl"])
    with pytest.raises(BadRow):
        FORMATS["jsonl"].feed(path)


def test_the_core_is_called_by_all_its_names() -> None:
    """A function or a class that is added to the core is added to the calls."""
    declared = ast.parse((run.ROOT / "src/bayesbox/_core.pyi").read_text()).body
    named = {each.name for each in declared if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
    called: set[str] = set()
    for module in (core_examples, core_rows, core_subjects):
        called.update(re.findall(r"\b_core\.(\w+)", Path(module.__file__).read_text()))
    made = {"BifFile", "CellRuns", "Forest", "FactorModel", "Moments"}  # by functions
    interrupts = {"StopFlag", "poll"}  # no arguments, and a thread that has a flag keeps it
    assert named - called - made - interrupts == {
        "has_avx2",
        "instruction_sets",
        "keep_freed_memory",
        "use_avx2",
        "use_instructions",
    }


# -- the gates themselves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("of Python"), RecursionError(), RuntimeWarning("overflow")])
def test_an_error_of_another_sort_is_a_finding(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    (path,) = FORMATS["csv"].originals(tmp_path)
    monkeypatch.setattr(bb, "train", fail)
    outcome, report = try_file(FORMATS["csv"], path)
    assert outcome == "finding"
    assert type(error).__name__ in report


def test_a_refusal_without_its_place_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise BadData("something is wrong")

    (path,) = FORMATS["csv"].originals(tmp_path)
    monkeypatch.setattr(bb, "train", refuse)
    assert try_file(FORMATS["csv"], path)[0] == "finding"


@pytest.mark.parametrize("rows", [[[float("nan"), 1.0]], [[0.5, 0.4]], [[-0.5, 1.5]], [[float("inf"), 0.0]]])
def test_what_is_not_a_probability_is_a_wrong_answer(rows: list[list[float]]) -> None:
    require_probabilities([[0.25, 0.75], [float("nan")] * 2])  # a row that no class allows
    with pytest.raises(WrongAnswer):
        require_probabilities(rows)


FAULTY = """
import json, os, sys

def say(**fields):
    print(json.dumps(fields), flush=True)

kept = []
for line in sys.stdin:
    name, seed, first, last = line.split()
    for number in range(int(first), int(last)):
        say(begin=number, size=10)
        if number == 2:
            os.abort()
        if number == 4:
            while True:
                pass
        if number == 6:
            kept.append(bytes([1]) * (400 << 20))
            while True:
                pass
        say(end=number, outcome="finding" if number == 8 else "loaded", seconds=0.0, megabytes=1.0, error="an error")
    say(done=True)
"""


def test_a_process_that_fails_is_seen_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash, a hang, too much memory and an error: each a finding that is kept, and all other mutants are tried."""
    monkeypatch.setattr(run, "FINDINGS", tmp_path / "findings")
    monkeypatch.setattr(run, "SECONDS", 1.0)
    tried = run.FuzzRun(seed=3, core=None, processes=1, program=(sys.executable, "-c", FAULTY))
    tried.run({"csv": 10})
    report = tried.reports["csv"]
    assert (report.mutants, report.loaded) == (10, 6)
    assert (report.crashes, report.hangs, report.over, report.errors) == (1, 1, 1, 1)
    assert len(tried.findings) == 4
    kept = json.loads((tmp_path / "findings" / "csv-3-2" / "finding.json").read_text())
    assert (kept["format"], kept["seed"], kept["number"]) == ("csv", 3, 2)
    assert (tmp_path / "findings" / "csv-3-2" / "mutant.csv").exists()
    assert "csv" in run.table(tried.reports)


def test_a_finding_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FORMATS["csv"].make(chance_of("csv", 0, 0), tmp_path)
    (tmp_path / "finding.json").write_text(json.dumps({"format": "csv", "core": None}))
    assert run.replay(tmp_path) == 0

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError

    monkeypatch.setattr(bb, "train", fail)
    assert run.replay(tmp_path) == 1


def test_shares_add_up() -> None:
    found = counts(100_000)
    assert set(found) == set(FORMATS)
    assert abs(sum(found.values()) - 100_000) < len(FORMATS)
    assert min(counts(1).values()) == 1


def test_the_core_that_was_named_is_the_one_loaded(tmp_path: Path) -> None:
    """It comes before whatever the package is installed by; one that was loaded before is noticed."""
    copy = shutil.copy(_core.__file__, tmp_path)
    program = "import sys; from tests.fuzz.worker import use_core; use_core(sys.argv[1]); import bayesbox._core as core"
    command = [sys.executable, "-c", program + "; print(core.__file__)", str(copy)]
    said = subprocess.run(command, cwd=run.ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(copy)
    before = list(sys.meta_path)
    try:
        with pytest.raises(SystemExit):
            use_core(str(copy))
    finally:
        sys.meta_path[:] = before
