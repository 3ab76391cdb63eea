"""A source adds up the same total however it is cut, and fails with the same error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusal import refusal

from bayesbox.classifier.row_sample import Sampled
from bayesbox.errors import BadData
from bayesbox.source.base import Batch, Part, Source
from bayesbox.source.files.open import open_source
from bayesbox.source.reduce import pieces
from bayesbox.source.wrapped import Narrowed


class Numbers(Source):
    """A source of several batches of one column."""

    name = "numbers"

    def __init__(self, batches: int, rows: int) -> None:
        self._sizes = [rows] * batches

    def batches(self) -> Iterator[Batch]:
        first = 0
        for size in self._sizes:
            yield Batch(("x",), (np.arange(first, first + size),), size, first)
            first += size


def total(batch: Batch) -> int:
    return int(batch["x"].sum())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_reduce_adds_every_row_once(threads: int) -> None:
    assert Numbers(7, 1000).reduce(total, threads=threads) == sum(range(7000))
    assert Numbers(2, 100_000).reduce(total, threads=threads) == sum(range(200_000))


@pytest.mark.parametrize("threads", [1, 2])
def test_reduce_of_nothing_is_none(threads: int) -> None:
    assert Numbers(0, 0).reduce(total, threads=threads) is None


def test_reduce_raises_what_the_tally_raises() -> None:
    def refuse(batch: Batch) -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Numbers(7, 10).reduce(refuse, threads=2)


def test_pieces_keep_the_number_of_the_first_row() -> None:
    cut = list(pieces(Numbers(2, 5), rows=2))
    assert [(piece.first_row, piece["x"].tolist()) for piece in cut] == [
        (0, [0, 1]),
        (2, [2, 3]),
        (4, [4]),
        (5, [5, 6]),
        (7, [7, 8]),
        (9, [9]),
    ]


class Parted(Numbers):
    """The same with a part for each batch; those named in `broken` fail."""

    def __init__(self, batches: int, rows: int, broken: frozenset[int] = frozenset()) -> None:
        super().__init__(batches, rows)
        self._broken = broken

    def parts(self, threads: int) -> Iterator[Part]:
        assert threads > 1
        for place, batch in enumerate(super().batches()):
            yield Part(self.name, partial(self._read, place, batch))

    def _read(self, place: int, batch: Batch) -> Iterator[Batch]:
        yield batch.slice(0, 1)
        if place in self._broken:
            raise BadData(f"part {place} is broken")
        yield batch.slice(1, batch.rows)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_reduce_adds_every_part_once(threads: int) -> None:
    assert Parted(50, 20).reduce(total, threads=threads) == sum(range(1000))
    assert Parted(0, 0).reduce(total, threads=threads) is None


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_first_broken_part_is_named_for_any_number_of_threads(threads: int) -> None:
    for _ in range(20):
        with refusal(BadData, what="part 3"):
            Parted(20, 5, broken=frozenset({3, 4, 5, 6, 7, 11})).reduce(total, threads=threads)


def test_the_first_rows_are_counted_before_any_thread_begins() -> None:
    for source in (Parted(9, 5), Numbers(9, 5)):
        seen: list[int] = []

        def note(batch: Batch, seen: list[int] = seen) -> int:
            seen.append(batch.first_row)
            time.sleep(0.002 if batch.first_row == 0 else 0)
            return batch.rows

        assert source.reduce(note, threads=4) == 45
        assert seen[0] == 0


class Gaps(Parted):
    """The first parts have no batches, and end in reverse order."""

    def _read(self, place: int, batch: Batch) -> Iterator[Batch]:
        if place < 3:
            time.sleep(0.01 * (3 - place))
            return
        yield from super()._read(place, batch)


@pytest.mark.parametrize("threads", [2, 5])
def test_the_first_rows_are_those_of_the_first_part_that_has_any(threads: int) -> None:
    seen: list[int] = []

    def note(batch: Batch) -> int:
        seen.append(batch.first_row)
        time.sleep(0.002 if batch.first_row == 15 else 0)
        return batch.rows

    assert Gaps(9, 5).reduce(note, threads=threads) == 30
    assert seen[0] == 15


def test_other_threads_read_while_the_first_rows_are_counted() -> None:
    read = threading.Event()

    class Noted(Parted):
        def _read(self, place: int, batch: Batch) -> Iterator[Batch]:
            if place == 1:
                read.set()
            yield from super()._read(place, batch)

    def wait(batch: Batch) -> int:
        assert read.wait(30)
        return batch.rows

    assert Noted(9, 5).reduce(wait, threads=2) == 45


def test_an_error_in_the_first_rows_ends_the_threads_that_wait_for_them() -> None:
    def refuse(batch: Batch) -> int:
        time.sleep(0.02)  # the others wait by then
        raise ValueError(f"row {batch.first_row}")

    for threads in (2, 5):
        with pytest.raises(ValueError, match="row 0"):
            Parted(9, 5).reduce(refuse, threads=threads)


@pytest.mark.parametrize("first_to_fail", [1, 2])
def test_of_two_broken_parts_the_first_is_named_whichever_fails_first(first_to_fail: int) -> None:
    """Both parts are being counted; one waits until the other has failed before it fails itself."""
    begun, failed = threading.Barrier(2, timeout=30), threading.Event()

    def refuse(batch: Batch) -> int:
        place = batch.first_row // 10
        if not place:
            return 0
        begun.wait()
        if place != first_to_fail:
            failed.wait(30)
            time.sleep(0.05)  # the thread that failed has yet to say so
        else:
            failed.set()
        raise ValueError(f"part {place}")

    with pytest.raises(ValueError, match="part 1"):
        Parted(3, 10).reduce(refuse, threads=2)


def test_parts_that_cannot_be_had_are_an_error_behind_those_that_were() -> None:
    class Torn(Parted):
        def parts(self, threads: int) -> Iterator[Part]:
            for place, part in enumerate(super().parts(threads)):
                if place == 4:
                    raise BadData("no part 4")
                yield part

    with refusal(BadData, what="part 4"):
        Torn(9, 5).reduce(total, threads=3)
    with refusal(BadData, what="part 2"):
        Torn(9, 5, broken=frozenset({2})).reduce(total, threads=3)


def test_the_interpreter_keeps_its_own_pace_afterwards() -> None:
    before = sys.getswitchinterval()
    Parted(5, 5).reduce(total, threads=2)
    with pytest.raises(BadData):
        Parted(5, 5, broken=frozenset({0})).reduce(total, threads=2)
    assert sys.getswitchinterval() == before


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """Two Parquet files with groups of 7 rows; the second has its columns in another order."""
    rows = pa.table({"x": np.arange(50), "word": [f"w{row % 5}" for row in range(50)], "left": np.zeros(50)})
    pq.write_table(rows, tmp_path / "a.parquet", row_group_size=7)
    pq.write_table(rows.select(["left", "word", "x"]), tmp_path / "b.parquet", row_group_size=7)
    return tmp_path


def rows_of(batches: Iterator[Batch]) -> list[tuple[int, int, str]]:
    """(row of the source, x, word) of every row, sorted."""
    found = []
    for batch in batches:
        numbers = range(batch.first_row, batch.first_row + batch.rows)
        found += list(zip(numbers, batch["x"].to_pylist(), batch["word"].to_pylist(), strict=True))
    return sorted(found)


def test_groups_of_parquet_files_are_the_rows_of_the_files(grouped: Path) -> None:
    source = open_source(grouped, threads=2)
    parts = source.parts(2)
    assert parts is not None
    read = list(parts)
    assert len(read) == 16
    together = rows_of(batch for part in reversed(read) for batch in part.batches())
    assert together == rows_of(source.batches())
    assert [row for row, _, _ in together] == list(range(100))
    assert source.progress == 1.0


def test_a_source_without_enough_parts_has_none(grouped: Path) -> None:
    assert open_source(grouped / "a.parquet").parts(9) is None
    (grouped / "c.csv").write_text("x,word,left\n1,w1,0\n")
    assert open_source(grouped / "c.csv").parts(2) is None
    assert open_source([grouped / "a.parquet", grouped / "c.csv"]).parts(2) is None


def test_files_that_differ_are_named_when_they_are_read_in_parts(grouped: Path) -> None:
    words = pa.array(["a", "b"])
    pq.write_table(pa.table({"x": words, "word": words, "left": words}), grouped / "c.parquet")
    with refusal(BadData, column="x", where="column `x`"):
        open_source(grouped).reduce(lambda batch: batch.rows, threads=2)


@pytest.mark.parametrize("wrap", [lambda source: Narrowed(source, ["x", "word"]), lambda source: Sampled(source, 10)])
def test_wrapped_sources_give_the_same_rows_in_parts(grouped: Path, wrap: Callable[..., Narrowed | Sampled]) -> None:
    whole, parted = wrap(open_source(grouped)), wrap(open_source(grouped))
    expected = rows_of(whole.batches())
    parts = parted.parts(2)
    assert parts is not None
    assert rows_of(batch for part in reversed(list(parts)) for batch in part.batches()) == expected
    if isinstance(whole, Sampled) and isinstance(parted, Sampled):
        kept = [sorted(x for batch in source.kept for x in batch["x"].to_pylist()) for source in (whole, parted)]
        assert kept[0] == kept[1]
        assert 10 <= len(kept[0]) <= 20
    if isinstance(parted, Narrowed):
        assert parted.left == ["left"]
