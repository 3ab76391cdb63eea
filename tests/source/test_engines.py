"""Dask and Ray count where the rows are: the digest is that of the same rows here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.dataframe as dd
import pyarrow as pa
import pytest
from tests.export.cases import people
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, KindContradiction, UnknownColumn
from bayesbox.source.base import Batch
from bayesbox.source.dask import DaskSource
from bayesbox.source.ray import RaySource
from bayesbox.source.registry import source_from

KINDS = {"zip": "category", "visits": "count", "member": "flag"}
ROWS = people(500, 13)
DIGEST = bb.train(ROWS, target="risk", model=bb.NaiveBayes(columns=KINDS)).book_.digest()
BROKEN = pa.table({"age": ["1", "2", "old"], "risk": ["a", "b", "b"]})


def digest_of(data: object) -> str:
    return bb.train(data, target="risk", model=bb.NaiveBayes(columns=KINDS)).book_.digest()


def process_of(batch: Batch) -> list[int]:
    return [os.getpid()] * min(batch.rows, 1)


# -- Dask ------------------------------------------------------------------------------------------------------------


ONE_CLUSTER = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Two processes that work for Dask."""
    from distributed import Client, LocalCluster

    quiet = {"distributed.admin.tick.limit": "1h", "distributed.comm.timeouts.connect": "300s"}
    with (
        dask.config.set(quiet),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


@ONE_CLUSTER
@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_the_workers_of_dask_count(workers: Any, partitions: int) -> None:
    frame = dd.from_pandas(ROWS.to_pandas(), npartitions=partitions)
    assert frame.npartitions == partitions
    assert digest_of(frame) == DIGEST
    found = DaskSource(frame).reduce(process_of)
    assert len(found) == partitions
    assert os.getpid() not in found


@ONE_CLUSTER
def test_bad_rows_in_dask(workers: Any) -> None:
    frame = dd.from_pandas(BROKEN.to_pandas(), npartitions=1)
    with refusal(KindContradiction, where="row 3 of partition 0", found="old", column="age"):
        bb.train(frame, target="risk", model=bb.NaiveBayes(columns={"age": "real"}))
    with refusal(UnknownColumn, column="riks"):
        bb.train(frame, target="riks")
    with refusal(BadData, where="the Dask frame"):
        bb.train(frame[frame["risk"] == "c"], target="risk")


@ONE_CLUSTER
def test_without_a_cluster_dask_is_read_here(workers: Any) -> None:
    frame = dd.from_pandas(ROWS.to_pandas(), npartitions=3)
    assert DaskSource(frame).remote
    with dask.config.set(scheduler="synchronous"):
        source = DaskSource(frame)
        assert not source.remote
        assert set(source.reduce(process_of)) == {os.getpid()}
        assert digest_of(frame) == DIGEST


# -- Ray: a dataset with its methods, for those who have none; `make test-engines` asks the real one ------------------


class Dataset:
    """What `RaySource` asks of a dataset, in this process: blocks that arrive in any order."""

    def __init__(self, blocks: list[pa.Table]) -> None:
        self.blocks = blocks

    def schema(self) -> pa.Schema | None:
        return self.blocks[0].schema if self.blocks else None

    def map_batches(self, function: Callable[..., pa.Table], **options: Any) -> Dataset:
        assert options == {"batch_size": None, "batch_format": "pyarrow", "zero_copy_batch": True}
        return Dataset([function(block) for block in self.blocks])

    def iter_batches(self, **options: Any) -> Iterator[pa.Table]:
        assert options == {"batch_size": None, "batch_format": "pyarrow"}
        return reversed(self.blocks)


Dataset.__module__ = "ray.data.dataset"


def test_a_dataset_of_ray_is_a_source() -> None:
    blocks = [ROWS.slice(first, 60) for first in range(0, 500, 60)]
    assert isinstance(source_from(Dataset(blocks)), RaySource)
    assert digest_of(Dataset([*blocks, ROWS.slice(0, 0)])) == DIGEST
    batches = list(RaySource(Dataset(blocks)).batches())
    assert [batch.rows for batch in batches] == [20, *[60] * 8]
    assert batches[-1].first_row == 440
    with refusal(KindContradiction, where="row 3 of one of its blocks", found="old"):
        bb.train(Dataset([BROKEN]), target="risk", model=bb.NaiveBayes(columns={"age": "real"}))
    with refusal(BadData, where="the Ray dataset"):
        bb.train(Dataset([]), target="risk")
    table = bb.predict(bb.train(ROWS, target="risk"), Dataset([ROWS]))
    assert table.num_rows == 500
