"""Columns of delimited text with numbers in a format that Arrow does not parse: detection and conversion."""

from __future__ import annotations

import warnings

import pyarrow as pa

from bayesbox.errors import SuspiciousData
from bayesbox.schema.compute import pc
from bayesbox.source.files.numerals import MONEY, Numerals
from bayesbox.source.files.reading import Reading


def find_spelled(table: pa.Table, numerals: Numerals, reading: Reading, file: str) -> bool:
    """Add text columns with numbers that Arrow does not parse to `reading.spelled`; returns whether there are any.

    Only columns declared numeric may have currency or percent signs; their meaning is reported once.
    """
    found = False
    bare = Numerals(numerals.decimal).plain
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pc.all(pc.match_substring_regex(column, bare)).as_py() and _all_fit(column, name, numerals, reading):
            reading.spelled.add(name)
            found = True
            if name not in reading.noted:
                reading.noted.add(name)
                _note_marks(column, name, numerals, file)
    return found


def _all_fit(column: pa.ChunkedArray, name: str, numerals: Numerals, reading: Reading) -> bool:
    pattern = numerals.marked if name in reading.number else numerals.plain
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def spelled_numbers(table: pa.Table, numerals: Numerals, reading: Reading) -> pa.Table:
    """The table with the columns of `reading.spelled` as doubles; Arrow's error if a text is not a number."""
    for index, name in enumerate(table.column_names):
        if name in reading.spelled:
            if not _all_fit(table.column(index), name, numerals, reading):
                raise pa.ArrowInvalid(f"column {name} has texts that are not numbers")
            table = table.set_column(index, name, numerals.doubles(table.column(index)))
    return table


def _note_marks(column: pa.ChunkedArray, name: str, numerals: Numerals, file: str) -> None:
    for marks, meaning in (("%", "percentages are read as hundredths"), (MONEY, "currency signs are dropped")):
        marked = column.filter(pc.match_substring_regex(column, f"[{marks}]"))
        if len(marked):
            text, value = marked[0].as_py(), numerals.doubles(marked[:1])[0].as_py()
            what = f"column `{name}` of {file}: {meaning}, `{text.strip()}` as {value:.15g}"
            warnings.warn(SuspiciousData(what, reason="marked-numbers", columns=(name,)), stacklevel=2)
