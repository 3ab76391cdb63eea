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
    "tan": bb.TAN(columns={"id": bb.Ignore()}),
    "kdb": bb.KDB(k=2, columns={"id": bb.Ignore()}),
    "full": bb.FullBayes(columns={f"c{place}": bb.Ignore() for place in range(5)} | {"id": bb.Ignore()}),
    "auto": bb.AutoBayes(budget=1, columns={"id": bb.Ignore()}),
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
    require_bound(path, base)


def require_bound(path: Path, base: float) -> None:
    loaded = run_python(LOAD, str(path))
    assert loaded.code == 0, loaded.errors
    assert loaded.peak - base <= 10 * path.stat().st_size / MEGABYTE + 100


def test_combined_models_load_within_their_bound(base: float, tmp_path: Path) -> None:
    X, y = wide_table()
    del X["id"]
    parts = [bb.NaiveBayes().fit(X, y), bb.TAN().fit(X, y), bb.AODE().fit(X, y)]
    path = tmp_path / "m.bayes"
    bb.BayesOptimal(parts, weights=[0.5, 0.25, 0.25]).save(path)
    require_bound(path, base)


@pytest.mark.parametrize("classes", [20, 400, 2000])
def test_documents_load_within_their_bound(classes: int, base: float, tmp_path: Path) -> None:
    """Of many classes only the words that a class holds are kept: all cells of 2,000 took 1.2 GB."""
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in random.integers(0, 20_000, 60)) for _ in range(2000)]
    path = tmp_path / "m.bayes"
    model = bb.TextClassifier().fit(texts, [f"class{place % classes}" for place in range(2000)])
    model.save(path)
    require_bound(path, base)
    loaded = bb.load(path)
    assert loaded.book_["words"].sparse == (classes > 100)
    assert loaded.book_.digest() == model.book_.digest()
    np.testing.assert_array_equal(loaded.predict_proba(texts[:5]), model.predict_proba(texts[:5]))
    again = tmp_path / "again.bayes"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


def test_words_of_many_columns_load_within_their_bound(base: float, tmp_path: Path) -> None:
    """A mark for each word of the vocabulary and each column took 80 MB of 100 columns and 800,000 words."""
    texts = {f"t{column}": [" ".join(f"w{column}x{k}" for k in range(400))] * 2 for column in range(100)}
    path = tmp_path / "m.bayes"
    bb.NaiveBayes(columns=dict.fromkeys(texts, bb.Words())).fit(texts, ["a", "b"]).save(path)
    require_bound(path, base)


def test_chains_load_within_their_bound(base: float, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = random.dirichlet(np.ones(400), size=60)
    chain = bb.HiddenMarkovModel.from_tables(
        start=np.full(60, 1 / 60).tolist(),
        transition=random.dirichlet(np.ones(60), size=60).tolist(),
        emission=table.tolist(),
        states=[f"s{place}" for place in range(60)],
        symbols=[f"o{place}" for place in range(400)],
    )
    path = tmp_path / "m.bayes"
    chain.save(path)
    require_bound(path, base)


def test_members_are_views_of_the_file(tmp_path: Path) -> None:
    """A model within a model was copied once a level: 43 MB of 30 levels took 1.5 GB."""
    inner = container.pack({"model.json": b"{}", "pool-double.arrow": bytes(8 * MEGABYTE)})
    for _ in range(20):
        inner = container.pack({"model.json": b"{}", "pool-0.bayes": inner})
    code = """
import sys
from bayesbox.file import container
from bayesbox.limits import BYTES_A_WORD
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
