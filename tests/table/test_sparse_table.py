"""Probabilities of a nearly empty table: the same as of the dense one, worked out for the levels that are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.memory import run_bayes

import bayesbox as bb
from bayesbox.dist.sparse_table import SparseTable
from bayesbox.dist.table import Table
from bayesbox.rules import Laplace, Lidstone, MaximumLikelihood, MEstimate, PriorCounts, ReplaceZero
from bayesbox.tally import counts

SIZE = 1200


def rows() -> tuple[dict[str, list[str | None]], list[str]]:
    random = np.random.default_rng(0)
    levels: list[str | None] = [f"v{index}" for index in random.integers(0, SIZE, 4 * SIZE)]
    levels[5] = levels[7] = None
    return {"v": levels, "w": random.choice(["a", "b"], 4 * SIZE).tolist()}, [
        f"c{index}" for index in random.integers(0, SIZE, 4 * SIZE)
    ]


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels")
@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize(
    "rule",
    [
        Laplace(),
        Lidstone(0.5),
        MaximumLikelihood(),
        MEstimate(2),
        ReplaceZero("half"),
        PriorCounts({"v1": 2, "z": 3}),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_answers_are_those_of_the_dense_table(rule, unseen, missing, monkeypatch):
    X, y = rows()
    columns = {"w": bb.Category()} if not isinstance(rule, PriorCounts) else {"w": bb.Ignore()}
    options = {"smoothing": rule, "unseen": unseen, "missing": missing, "columns": columns}
    asked = {"v": ["v1", "never", None, "z", "v7"], "w": ["a", "b", "a", None, "b"]}
    sparse = bb.NaiveBayes(**options).fit(X, y)
    assert isinstance(sparse.classifier_.model.conditional("v"), SparseTable)
    monkeypatch.setattr(counts, "MOST_DENSE", 1 << 40)
    monkeypatch.setattr("bayesbox.tally.sparse_counts.MOST_DENSE", 1 << 40)
    dense = bb.NaiveBayes(**options).fit(X, y)
    assert type(dense.classifier_.model.conditional("v")) is Table
    with np.errstate(all="ignore"):
        assert np.array_equal(sparse.predict_log_proba(asked), dense.predict_log_proba(asked))
    assert sparse.predict(asked).tolist() == dense.predict(asked).tolist()
    one, other = sparse.classifier_.model.conditional("v"), dense.classifier_.model.conditional("v")
    assert np.array_equal(one.log_p, other.log_p)
    assert np.array_equal(one.log_unseen, other.log_unseen)
    assert np.array_equal(one.log_missing, other.log_missing)
    assert sparse.classifier_.book.digest() == dense.classifier_.book.digest()


def test_a_table_of_unique_classes_and_levels_takes_little_memory(tmp_path):
    """12,000 x 12,000 took 5.7 GB to train and 4.6 GB to show."""
    size = 9000  # classes x levels: 81 million
    lines = [f"i{index:05},c{index * 7919 % size:05},{index % 3}" for index in range(size)]
    (tmp_path / "ids.csv").write_text("\n".join(["id,code,x", *lines]) + "\n")
    model = str(tmp_path / "m.bayes")
    trained = run_bayes("train", str(tmp_path / "ids.csv"), "-t", "id", "-o", model)
    assert trained.code == 0, trained.errors
    assert trained.peak < 300
    shown = run_bayes("show", model)
    assert shown.code == 0, shown.errors
    assert shown.peak < 300
    (tmp_path / "new.csv").write_text("\n".join(["code,x", *(line.split(",", 1)[1] for line in lines[:300])]) + "\n")
    answered = run_bayes("predict", model, str(tmp_path / "new.csv"))
    assert answered.code == 0, answered.errors
    assert answered.peak < 300
    assert answered.output.splitlines()[1:3] == ["i00000", "i00001"]
