"""Datasets of a real Ray on this machine, which is too large for `make test`: `make test-engines` runs it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.refusal import refusal
from tests.source.test_engines import BROKEN, DIGEST, ROWS, digest_of, process_of

import bayesbox as bb
from bayesbox.errors import BadData, KindContradiction, UnknownColumn
from bayesbox.source.ray import RaySource
from bayesbox.source.registry import source_from

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, and what it leaves open
SETTINGS = {"RAY_AUTH_MODE": "disabled", "RAY_raylet_start_wait_time_s": "300", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}


@pytest.fixture(scope="module")
def data() -> Iterator[Any]:
    """Ray's `data`, with one worker."""
    os.environ.update(SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        import ray.data

        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
        yield ray.data
        ray.shutdown()


@pytest.mark.parametrize("rows", [60, 500])
def test_the_tasks_of_ray_count(data: Any, rows: int) -> None:
    dataset = data.from_arrow([ROWS.slice(first, rows) for first in range(0, 500, rows)])
    assert isinstance(source_from(dataset), RaySource)
    assert digest_of(dataset) == DIGEST
    found = RaySource(dataset).reduce(process_of)
    assert len(found) == -(-500 // rows)
    assert os.getpid() not in found
    assert sum(batch.rows for batch in RaySource(dataset).batches()) == 500


def test_bad_rows_in_ray(data: Any) -> None:
    dataset = data.from_arrow(BROKEN)
    with refusal(KindContradiction, where="row 3 of one of its blocks", found="old", column="age"):
        bb.train(dataset, target="risk", model=bb.NaiveBayes(columns={"age": "real"}))
    with refusal(UnknownColumn, column="riks"):
        bb.train(dataset, target="riks")
    with refusal(BadData, where="the Ray dataset"):
        bb.train(dataset.filter(lambda row: row["risk"] == "c"), target="risk")


def test_answers_by_the_tasks(data: Any) -> None:
    model = bb.train(ROWS, target="risk")
    answers = data.from_arrow(ROWS).map_batches(
        lambda rows: bb.predict(model, rows, keep=["*"]), batch_format="pyarrow"
    )
    found = pa.concat_tables(answers.iter_batches(batch_size=None, batch_format="pyarrow"))
    assert found["prediction"].to_pylist() == bb.predict(model, ROWS)["prediction"].to_pylist()
