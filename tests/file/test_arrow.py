"""A table as an Arrow file: what comes back, and what is refused before Arrow decodes it."""

import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.file import arrow
from bayesbox.file.arrow import DOUBLE, TEXT, WHOLE

COLUMNS = {"level": (TEXT,), "count": (WHOLE, TEXT), "p": (DOUBLE,)}
PLAIN = pa.schema([pa.field("level", TEXT, False), pa.field("count", WHOLE, False), pa.field("p", DOUBLE, False)])
ROWS = {"level": ["suv", "", "Ünique"], "count": [1, -(2**63), 2**63 - 1], "p": [0.5, -0.0, float("-inf")]}
TABLE = pa.table(ROWS, schema=PLAIN)
DATA = arrow.write({name: TABLE[name].combine_chunks() for name in ROWS})


def written(table: pa.Table, **options: Any) -> bytes:
    """Any table, as Arrow writes it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def test_arrow_writes_the_same() -> None:
    assert written(TABLE) == DATA
    assert {name: column.to_pylist() for name, column in arrow.read(DATA, COLUMNS).items()} == ROWS


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.integers(-(2**63), 2**63 - 1))))
def test_columns_come_back(rows: list[tuple[str, int]]) -> None:
    texts, numbers = [text for text, _ in rows], [number for _, number in rows]
    data = arrow.write({"level": pa.array(texts, TEXT), "count": pa.array(numbers, WHOLE)})
    table = arrow.read(data, {"level": (TEXT,), "count": (WHOLE,)})
    assert table["level"].to_pylist() == texts
    assert table["count"].to_pylist() == numbers


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compression_is_refused_before_it_is_undone(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 1_000_000
    bomb = written(
        pa.table({"level": [""] * rows, "count": [0] * rows, "p": [0.0] * rows}, schema=PLAIN), compression=codec
    )
    assert len(bomb) < 200_000
    with pytest.raises(ValueError, match="it is compressed"):
        arrow.read(bomb, COLUMNS)
    monkeypatch.setattr(arrow, "_require_plain", lambda data: None)
    assert len(arrow.read(bomb, COLUMNS)["count"]) == rows  # so the check is what holds it back


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (pa.concat_tables([TABLE, TABLE]), "more than one batch"),
        (pa.Table.from_batches([], schema=PLAIN), "begin where|another type|outside"),
        (TABLE.select(["level", "count"]), "columns are not level, count, p"),
        (TABLE.select(["count", "level", "p"]), "columns are not"),
        (TABLE.append_column("more", [[1, 2, 3]]), "columns are not"),
        (TABLE.replace_schema_metadata({"a": "b"}), "other declarations"),
        (pa.table(ROWS), "other declarations"),
        (pa.table({**ROWS, "count": [1, None, 3]}), "other declarations"),
        (pa.table({**ROWS, "count": [1.0, 2.0, 3.0]}), "`count` cannot be of type double"),
        (pa.table({**ROWS, "level": pa.array(ROWS["level"], pa.large_string())}), "cannot be of type large_string"),
        (pa.table({**ROWS, "level": pa.array(ROWS["level"], pa.string_view())}), "cannot be of type string_view"),
        (pa.table({**ROWS, "level": pa.array(ROWS["level"]).dictionary_encode()}), "another type or size"),
        (pa.table({**ROWS, "level": [[1], [2], [3]]}), "cannot be of type list"),
    ],
)
def test_other_tables_are_refused(table: pa.Table, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        arrow.read(written(table), COLUMNS)


def test_nulls_are_refused() -> None:
    table = pa.table({**ROWS, "count": [1, None, 3]}).cast(
        pa.schema([PLAIN.field(0), pa.field("count", WHOLE), PLAIN.field(2)])
    )
    batch = pa.record_batch(table.to_batches()[0].columns, schema=PLAIN)
    with pytest.raises(ValueError, match="`count` has nulls"):
        arrow.read(written(pa.Table.from_batches([batch])), COLUMNS)


def test_text_that_is_not_unicode_is_refused() -> None:
    place = DATA.index(b"suv")
    with pytest.raises(ValueError, match="Invalid UTF8"):
        arrow.read(DATA[:place] + b"\xff" + DATA[place + 1 :], COLUMNS)


def _metadata() -> tuple[int, int]:
    """Where the metadata of the batch start, and their length."""
    schema = struct.unpack_from("<i", DATA, 12)[0]
    start = 8 + 8 + schema
    return start + 8, struct.unpack_from("<i", DATA, start + 4)[0]


@pytest.mark.parametrize("value", [2**62, 2**40, -1, -(2**63), 10**9])
def test_huge_lengths_anywhere_in_the_metadata_allocate_nothing(value: int) -> None:
    start, length = _metadata()
    pool = pa.default_memory_pool()
    refused = 0
    for place in range(start, start + length, 8):
        forged = DATA[:place] + struct.pack("<q", value) + DATA[place + 8 :]
        before = pool.max_memory()
        try:
            arrow.read(forged, COLUMNS)
        except ValueError:
            refused += 1
        assert pool.max_memory() - before < 1_000_000
    assert refused > 5


def test_every_flip_and_cut_is_refused_or_harmless() -> None:
    same = 0
    for place in range(len(DATA)):
        for bit in range(8):
            forged = bytearray(DATA)
            forged[place] ^= 1 << bit
            try:
                table = arrow.read(bytes(forged), COLUMNS)
            except ValueError:
                continue
            assert all(len(column) == 3 for column in table.values())
            assert all(column.to_pylist() is not None for column in table.values())
            same += 1
        with pytest.raises(ValueError):
            arrow.read(DATA[:place], COLUMNS)
    assert same < 4 * len(DATA)


def test_a_footer_that_names_another_batch_is_refused() -> None:
    """Two batches in the body, and a footer that shows the second one: other readers would see other numbers."""
    start, length = _metadata()
    block = struct.pack("<qi", start - 8, length + 8)
    place = DATA.rindex(block)
    forged = DATA[:place] + struct.pack("<q", start) + DATA[place + 8 :]
    with pytest.raises(ValueError, match="its footer names another batch"):
        arrow.read(forged, COLUMNS)
