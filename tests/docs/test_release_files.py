"""The files that belong to a release: they agree on the version, and name commands and files that exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

import bayesbox

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WITHOUT = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "scipy"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Block())
from bayesbox.cli.main import run
for line in sys.argv[1:]:
    assert run(line.split()) == 0, line
"""


def read(name: str) -> str:
    return (ROOT / name).read_text()


def test_one_version() -> None:
    version = PROJECT["version"]
    assert bayesbox.__version__ == version
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    assert yaml.safe_load(read("release/conda/recipe.yaml"))["context"]["version"] == version
    newest = re.search(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1].rstrip(",") == version


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = yaml.safe_load(read("release/conda/recipe.yaml"))
    needed = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert needed == {*PROJECT["dependencies"], "python" + PROJECT["requires-python"]}


def test_workflows_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    calls = 0
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text()
        for job in yaml.safe_load(text)["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            for step in job["steps"]:
                called = re.match(r"make (\S+)", step.get("run", ""))
                for name in (
                    matrix["target"] if called and "matrix.target" in step["run"] else [called[1]] if called else []
                ):
                    assert name in targets, name
                    calls += 1
    assert calls >= 3


def test_every_promised_python_is_in_the_matrix() -> None:
    names = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+", each)]
    tried = yaml.safe_load(read(".github/workflows/test.yml"))["jobs"]["versions"]["strategy"]["matrix"]["python"]
    page = read("docs/reference/platforms.md")
    for name in names:
        assert name in tried
        assert re.search(rf"^\| {re.escape(name)} ", page, re.MULTILINE), name


def test_the_command_does_without_scikit_learn_and_scipy(tmp_path: Path) -> None:
    rows = "\n".join(f"{'sunny' if i % 3 else 'rainy'},{i % 7},{'yes' if i % 2 else 'no'}" for i in range(60))
    (tmp_path / "weather.csv").write_text(f"outlook,wind,play\n{rows}\n")
    lines = [
        "train weather.csv -t play -o w.bayes",
        "predict w.bayes weather.csv -o out.csv",
        "evaluate weather.csv -t play --cv 3",
        "explain w.bayes --set outlook=sunny",
        "update w.bayes weather.csv",
        "forget w.bayes weather.csv",
    ]
    done = subprocess.run([sys.executable, "-c", WITHOUT, *lines], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
