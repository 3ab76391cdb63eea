"""A package that brings an extension: found by its entry point, and named where it is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from dataclasses import dataclass
from bayesbox.extend import Ratio, SmoothingRule, register_rule

@register_rule("perks")
@dataclass(frozen=True)
class Perks(SmoothingRule):
    def ratio(self, cells):
        share = cells.number(1) / cells.size
        return Ratio(cells.counts + share, cells.by_column + 0 * cells.counts + 1)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with an installed package, as pip would leave it."""
    folder = tmp_path / "site"
    (folder / "herd-1.0.dist-info").mkdir(parents=True)
    (folder / "herd.py").write_text(MODULE)
    (folder / "herd-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: herd\nVersion: 1.0\n")
    (folder / "herd-1.0.dist-info" / "entry_points.txt").write_text("[bayesbox.extensions]\nherd = herd\n")
    (tmp_path / "rows.csv").write_text("car,risk\nsuv,L\nvan,H\nvan,H\nsuv,H\n")
    return folder


def bayes(folder: Path, *arguments: str, installed: Path | None = None) -> subprocess.CompletedProcess[str]:
    paths = [*([str(installed)] if installed else []), *sys.path]
    command = [sys.executable, "-c", "from bayesbox.cli.main import main; main()", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_an_installed_package_is_found_and_an_absent_one_is_named(tmp_path: Path, package: Path) -> None:
    train = ("train", "rows.csv", "-t", "risk", "-o", "m.bayes", "--smoothing", "perks")
    refused = bayes(tmp_path, *train)
    assert refused.returncode == 2
    assert "perks" in refused.stderr

    assert bayes(tmp_path, *train, installed=package).returncode == 0
    answered = bayes(tmp_path, "predict", "m.bayes", "rows.csv", installed=package)
    assert (answered.returncode, len(answered.stdout.split())) == (0, 5)
    without = bayes(tmp_path, "predict", "m.bayes", "rows.csv")
    assert without.returncode == 4
    assert "herd" in without.stderr
    assert "Traceback" not in without.stderr


def test_an_extension_that_fails_is_named_and_the_rest_works(tmp_path: Path, package: Path) -> None:
    (package / "herd.py").write_text("raise RuntimeError('broken on purpose')")
    train = ("train", "rows.csv", "-t", "risk", "-o", "m.bayes")
    found = bayes(tmp_path, *train, "--smoothing", "perks", installed=package)
    assert found.returncode == 2
    assert "herd" in found.stderr
    assert "broken on purpose" in found.stderr
    assert bayes(tmp_path, *train, installed=package).returncode == 0
