"""Damaged Parquet and Arrow files: types of every sort, with numbers changed where offsets and lengths are."""

from __future__ import annotations

import datetime
import decimal
import functools
import io
import random
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from tests.fuzz.damage import damaged_bytes
from tests.fuzz.table_files import feed_table

from bayesbox.errors import BayesboxError

ROWS = 6
LABELS = pa.array(["low", "high"] * (ROWS // 2))
HOSTILE = (0, 1, -1, 2, 7, 8, 255, 2**15, 2**31 - 1, -(2**31), 2**30)


def _columns() -> dict[str, pa.Array]:
    """Columns of all sorts: those that are learned, and those that must be refused."""
    day = datetime.date(2024, 5, 1)
    texts = ["suv", None, "sports", "", "été", "x" * 300]
    return {
        "age": pa.array([25, None, 40, -7, 2**62, 0]),
        "small": pa.array([1, 2, None, 4, 5, 255], pa.uint8()),
        "size": pa.array([1.5, float("nan"), None, 1e300, -0.0, 5e-324]),
        "half": pa.array([1.5, None, 2.5, 3.0, 0.0, -1.0], pa.float32()),
        "car": pa.array(texts),
        "long": pa.array(texts, pa.large_string()),
        "view": pa.array(texts, pa.string_view()),
        "raw": pa.array([b"one", None, b"two", b"", b"\xff", b"x"]),
        "fixed": pa.array([b"ab", None, b"cd", b"ef", b"gh", b"ij"], pa.binary(2)),
        "colour": pa.array(["red", "red", None, "blue", "red", "green"]).dictionary_encode(),
        "young": pa.array([True, None, False, True, True, False]),
        "born": pa.array([day, None, day, day, day, day]),
        "at": pa.array([datetime.datetime(2024, 5, 1)] * ROWS, pa.timestamp("ns", "UTC")),
        "took": pa.array([datetime.timedelta(seconds=k) for k in range(ROWS)]),
        "price": pa.array([decimal.Decimal("1.50")] * ROWS),
        "empty": pa.nulls(ROWS),
        "list": pa.array([[1, 2], None, [], [3], [4, None], [5]]),
        "struct": pa.array([{"a": 1, "b": "x"}] * ROWS),
        "map": pa.array([[("k", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, ROWS], pa.int32()), pa.array(["a", "b"])),
    }


PLAIN = ("age", "small", "size", "half", "car", "long", "raw", "colour", "young", "born", "at", "price", "empty")


@functools.cache
def _all_columns() -> dict[str, pa.Array]:
    return _columns()


def _table(chance: random.Random) -> pa.Table:
    names = chance.sample(PLAIN, chance.randrange(1, 5))
    if chance.random() < 0.1:
        names.append(chance.choice(sorted(set(_all_columns()) - set(PLAIN))))
    columns: dict[str, Any] = {name: _all_columns()[name] for name in names}
    columns["risk"] = LABELS.dictionary_encode() if chance.random() < 0.3 else LABELS
    table = pa.table(columns)
    if chance.random() < 0.3:  # several batches, cut where bitmaps do not begin with a byte
        cut = chance.randrange(ROWS)
        table = pa.concat_tables([table.slice(cut), table.slice(0, cut + 1)])
    return table


def _parquet(table: pa.Table, chance: random.Random) -> bytes:
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression=chance.choice(["none", "none", "snappy", "zstd", "gzip"]),
        use_dictionary=chance.random() < 0.5,
        row_group_size=chance.choice([None, 1, 4]),
        data_page_version=chance.choice(["1.0", "2.0"]),
        write_statistics=chance.random() < 0.5,
    )
    return sink.getvalue()


def _arrow(table: pa.Table, chance: random.Random, new: Any) -> bytes:
    sink = io.BytesIO()
    packed = chance.choice([None, None, None, "lz4", "zstd"])
    with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _renumbered(data: bytes, chance: random.Random) -> bytes:
    """A number of 4 or 8 bytes of the file, aligned as offsets and lengths are, replaced by another."""
    changed = bytearray(data)
    size, form = chance.choice([(4, "<i"), (4, "<i"), (8, "<q"), (1, "<b")])
    at = chance.randrange(max(len(changed) // size, 1)) * size
    if at + size > len(changed):
        return data
    (old,) = struct.unpack_from(form, changed, at)
    new = chance.choice([*HOSTILE, old + 1, old - 1, old * 2, -old])
    limit = 1 << (8 * size - 1)
    struct.pack_into(form, changed, at, (new + limit) % (2 * limit) - limit)
    return bytes(changed)


@dataclass(frozen=True)
class ArrowFiles:
    """Files of one ending, which says how they are made."""

    name: str
    refusals: tuple[type[Exception], ...] = (BayesboxError,)

    def _whole(self, chance: random.Random) -> bytes:
        while True:
            table = _table(chance)
            try:
                if self.name == "parquet":
                    return _parquet(table, chance)
                return _arrow(table, chance, pa.ipc.new_stream if self.name == "arrows" else pa.ipc.new_file)
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # a type that this format does not hold
                continue

    def make(self, chance: random.Random, folder: Path) -> Path:
        data = self._whole(chance)
        for _ in range(chance.choice([0, 1, 1, 1, 2, 5])):
            data = (_renumbered if chance.random() < 0.8 else damaged_bytes)(data, chance)
        path = folder / f"mutant.{self.name}"
        path.write_bytes(data)
        return path

    def originals(self, folder: Path) -> list[Path]:
        path = folder / f"whole.{self.name}"
        table = pa.table({"age": _all_columns()["age"], "car": _all_columns()["car"], "risk": LABELS})
        if self.name == "parquet":
            path.write_bytes(_parquet(table, random.Random(0)))
        else:
            new = pa.ipc.new_stream if self.name == "arrows" else pa.ipc.new_file
            path.write_bytes(_arrow(table, random.Random(0), new))
        return [path]

    def feed(self, path: Path) -> None:
        feed_table(path)
