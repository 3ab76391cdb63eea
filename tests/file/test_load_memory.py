"""Loading takes at most ten times the size of the file and 100 MB: measured in processes of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.memory import run_python

import bayesbox as bb
from bayesbox.file import container

NOTHING = "import sys; from bayesbox.file.load import load; import bayesbox.classifier.codec"
LOAD = f"{NOTHING}; load(sys.argv[1])"
MEGABYTE = 1 << 20


def wide_table(rows: int = 1500) -> tuple[dict[str, list[object]], list[str]]:
    random = np.random.default_rng(0)
    X: dict[str, list[object]] = {f"n{place}": random.normal(size=rows).tolist() for place in range(4)}
    X |= {f"c{place}": [f"v{each}" for each in random.integers(0, 12, rows)] for place in range(5)}
    X["id"] = [f"id{each}" for each in range(rows)]
    return X, [f"class{each}" for each in random.integers(0, 40, rows)]


MODELS = {
    "naive": bb.NaiveBayes(columns={"id": bb.Category()}),
    "kernel": bb.NaiveBayes(numeric="kernel"),
    "mdl": bb.NaiveBayes(numeric="mdl"),
    "averaged": bb.AveragedNaiveBayes(columns={"id": bb.Category()}),
    "aode": bb.AODE(columns={"id": bb.Ignore()}),
}


@pytest.fixture(scope="module")
def base() -> float:
    """The peak of a process that has imported what loads, and loads nothing."""
    return run_python(NOTHING).peak


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
def test_every_kind_loads_within_its_bound(name: str, base: float, tmp_path: Path) -> None:
    X, y = wide_table()
    path = tmp_path / "m.bayes"
    MODELS[name].fit(X, y).save(path)
    loaded = run_python(LOAD, str(path))
    assert loaded.code == 0, loaded.errors
    assert loaded.peak - base <= 10 * path.stat().st_size / MEGABYTE + 100


def test_members_are_views_of_the_file(tmp_path: Path) -> None:
    """A model within a model was copied once a level: 43 MB of 30 levels took 1.5 GB."""
    inner = container.pack({"model.json": b"{}", "pool-double.arrow": bytes(8 * MEGABYTE)})
    for _ in range(20):
        inner = container.pack({"model.json": b"{}", "pool-0.bayes": inner})
    code = """
import sys
from bayesbox.file import container
data, kept = open(sys.argv[1], "rb").read(), []
while "pool-double.arrow" not in (members := container.unpack(data)):
    kept.append(members)  # as each level does while it reads the next
    data = members["pool-0.bayes"]
"""
    path = tmp_path / "nested.bayes"
    path.write_bytes(inner)
    nested = run_python(code, str(path))
    assert nested.code == 0, nested.errors
    assert nested.peak - run_python("from bayesbox.file import container").peak < 30
