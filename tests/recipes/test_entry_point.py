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

KIND = """
import os
from bayesbox.extend import (NaiveOptions, OneOf, TableClassifier, WholeNumber, naive_model, option, options,
                             register_classifier)

@options
class HerdOptions(NaiveOptions):
    herd_size: int = option(WholeNumber(1, 9), default=3, help="How many go together.")
    limit: str = option(OneOf("few", "many"), default="few", help="Read by herd.")

@register_classifier("herd")
class Herd(TableClassifier):
    options_type = HerdOptions

    def make_model(self, schema, book):
        print("herd of", self.rules.herd_size, self.rules.limit)
        return naive_model(schema, book, self.rules)

    def joint_log_prob(self, batch):
        columns = self.columns_of(batch)
        return self.model.log_prior + sum(each.terms(columns, batch.rows) for each in self.model.conditionals)

open(os.environ["SEEN"], "w").close()
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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SEEN": str(folder / "seen")}
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
    train = ("train", "rows.csv", "-t", "risk", "-o", "m.bayes", "--force")
    found = bayes(tmp_path, *train, "--smoothing", "perks", installed=package)
    assert found.returncode == 2
    assert "herd" in found.stderr
    assert "broken on purpose" in found.stderr
    assert bayes(tmp_path, *train, installed=package).returncode == 0


@pytest.mark.parametrize("verb", ["train", "evaluate"])
def test_a_kind_of_classifier_has_flags_of_its_own(tmp_path: Path, package: Path, verb: str) -> None:
    """They were only made of the kinds that the package has, so that an extension had none."""
    (package / "herd.py").write_text(KIND)
    more = ("-o", "m.bayes") if verb == "train" else ("--cv", "2")
    rows = (verb, "rows.csv", "-t", "risk", *more)
    own = ("--model", "herd", "--herd-size", "7", "--limit", "many", "--smoothing", "m:2")
    found = bayes(tmp_path, *rows, *own, installed=package)
    assert (found.returncode, found.stderr.count("Error")) == (0, 0), found.stderr
    assert "herd of 7 many" in found.stdout
    for wrong in (("--model", "herd", "--herd-size", "10"), ("--model", "herd", "--limit", "3"), ("--herd-size", "7")):
        assert bayes(tmp_path, *rows, *wrong, installed=package).returncode == 2
    refused = bayes(tmp_path, *rows, "--model", "herd", "--herd-sise", "7", installed=package)
    assert "--herd-size" in refused.stderr  # the nearest option that there is
    shown = bayes(tmp_path, verb, "--help", installed=package).stdout
    assert "How many go together. Default: 3. Models: herd." in " ".join(shown.split())
    assert "auto, herd; text for documents" in " ".join(shown.split())


def test_extensions_are_only_looked_for_where_one_may_be_needed(tmp_path: Path, package: Path) -> None:
    (package / "herd.py").write_text(KIND)
    train = ("train", "rows.csv", "-t", "risk", "-o", "m.bayes", "--force")
    for arguments, looked in (
        (("--help",), False),
        ((*train, "--model", "tan"), False),
        (("predict", "m.bayes", "rows.csv"), False),
        ((*train, "--model", "herd"), True),
        (("train", "-h"), True),
    ):
        assert bayes(tmp_path, *arguments, installed=package).returncode == 0
        assert (tmp_path / "seen").exists() == looked
        (tmp_path / "seen").unlink(missing_ok=True)


def test_a_kind_must_not_take_an_option_of_the_command(tmp_path: Path, package: Path) -> None:
    (package / "herd.py").write_text(KIND.replace("herd_size", "output"))
    found = bayes(tmp_path, "train", "rows.csv", "-t", "risk", "--model", "herd", installed=package)
    assert found.returncode == 2
    assert "--output" in found.stderr
    assert "herd" in found.stderr
    assert bayes(tmp_path, "train", "rows.csv", "-t", "risk", "--model", "tan", installed=package).returncode == 0
