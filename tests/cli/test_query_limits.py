"""`bayes query` within limits of memory and time, and with evidence from a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """A grid of 4 x 4 variables with random pair tables, as a UAI file."""
    rng = np.random.default_rng(0)
    pairs = [(4 * row + column, 4 * row + column + 1) for row in range(4) for column in range(3)]
    pairs += [(4 * row + column, 4 * row + column + 4) for row in range(3) for column in range(4)]
    lines = ["MARKOV", "16", " ".join(["2"] * 16), str(len(pairs)), *(f"2 {a} {b}" for a, b in pairs)]
    lines += [f"4 {' '.join(map(str, rng.random(4).round(3) + 0.1))}" for _ in pairs]
    path = tmp_path / "grid.uai"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "grid.uai.evid").write_text("2  3 0  12 1")
    return path


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return run(["query", *words]), *capsys.readouterr()


def test_a_small_limit_gives_the_same_answer(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence = ["--evidence-file", f"{grid}.evid", "--json"]
    code, whole, _ = asked(capsys, str(grid), "P(0)", *evidence)
    assert code == 0
    code, cases, _ = asked(capsys, str(grid), "P(0)", *evidence, "--max-bytes", "400")
    assert code == 0
    ours, theirs = (json.loads(text)["rows"] for text in (cases, whole))
    assert [row["probability"] for row in ours] == pytest.approx([row["probability"] for row in theirs], abs=1e-12)
    network = bb.read_network(grid)
    expected = network.posteriors(bb.read_evidence(f"{grid}.evid"))["0"]
    assert [row["probability"] for row in ours] == pytest.approx(list(expected.values()), abs=1e-12)


def test_beyond_the_limit_of_time_it_is_refused(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = asked(capsys, str(grid), "P(0)", "--max-bytes", "400", "--max-seconds", "1e-9")
    assert (code, out) == (3, "")
    assert "--max-seconds" in err
    assert "weighting" in err


def test_a_long_answer_is_announced(
    grid: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayesbox.network.exact.conditioning.WORTH_A_WORD", 0.0)
    code, _, err = asked(capsys, str(grid), "P(0)", "--max-bytes", "400")
    assert code == 0
    assert "conditioning on" in err
    assert "cases" in err


def test_what_is_no_evidence_or_no_size_is_refused(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, str(grid), "P(0)", "--evidence-file", f"{grid}.none")[0] == 74
    assert asked(capsys, str(grid), "P(0)", "--max-bytes", "many")[0] == 2
    (grid.parent / "odd.evid").write_text("2 3")
    assert asked(capsys, str(grid), "P(0)", "--evidence-file", str(grid.parent / "odd.evid"))[0] == 4
    (grid.parent / "rows.csv").write_text("a,b\n1,2\n")
    assert asked(capsys, str(grid.parent / "rows.csv"), "P(a)", "--max-seconds", "3")[0] == 2
