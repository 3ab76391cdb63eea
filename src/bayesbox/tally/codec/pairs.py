"""Counts of several columns together as tables of the model file.

    pairs.arrow, dependent.arrow   columns, class, levels, count

`columns` and `levels` are JSON lists: of one or two columns; or of a column's parents and the column itself, where null
stands for a value that is missing. Only what is not zero has a row, and rows are in the order of the tally, so that
equal tallies give equal tables.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox._core import ExactArray
from bayesbox.file import arrow as arrow_file
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import text_array
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import Exact, exact_column
from bayesbox.tally.counts import Counts
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.family import Family
from bayesbox.tally.pairs import MOST_LEVELS, Pairs, blocks, require_few_cells

_COLUMNS = {"columns": (TEXT,), "class": (TEXT,), "levels": (TEXT,), "count": (WHOLE, TEXT)}
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))

Row = tuple[tuple[str, ...], str, tuple[str | None, ...]]  # columns, class, levels


def _written(rows: list[Row], cells: ExactArray) -> bytes:
    return arrow_file.write(
        {
            "columns": text_array([_JSON.encode(columns) for columns, _, _ in rows]),
            "class": text_array([label for _, label, _ in rows]),
            "levels": text_array([_JSON.encode(levels) for _, _, levels in rows]),
            "count": exact_column([cells]),
        }
    )


def _read(data: bytes, book: Book) -> tuple[list[Row], ExactArray]:
    table = arrow_file.read(data, _COLUMNS)
    columns = [_texts(text, missing=False) for text in table["columns"].to_pylist()]
    levels = [_texts(text, missing=True) for text in table["levels"].to_pylist()]
    labels: list[str] = table["class"].to_pylist()
    if not set(labels) <= set(book.classes):
        raise ValueError("a class has no rows")
    if any(not 0 < len(each) == len(level) for each, level in zip(columns, levels, strict=True)):
        raise ValueError("a row has not one level a column")
    cells = Exact(table["count"])[0 : len(labels)]
    if np.any(cells.signs() <= 0):
        raise ValueError("a count is not above zero")
    return list(zip(columns, labels, levels, strict=True)), cells


def _texts(written: str, *, missing: bool) -> tuple[Any, ...]:
    try:
        found = json.loads(written)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("a list of columns or levels is not JSON") from error
    allowed = (str, type(None)) if missing else (str,)
    if type(found) is not list or not all(type(each) in allowed for each in found):
        raise ValueError("a list of columns or levels holds what is no text")
    return tuple(found)


def write_pairs(pairs: Pairs) -> bytes:
    pairs = pairs.with_classes(tuple(sorted(pairs.classes)))
    rows: list[Row] = []
    kept = []
    signs = pairs.cells.signs()
    for block in pairs.blocks():
        there = np.flatnonzero(signs[block.start : block.stop])
        kept.append(there + block.start)
        places = [block.first] if block.first == block.second else [block.first, block.second]
        names = tuple(pairs.names[place] for place in places)
        for label, *level in zip(*(axis.tolist() for axis in np.unravel_index(there, block.shape)), strict=True):
            texts = tuple(pairs.levels[place][code] for place, code in zip(places, level, strict=True))
            rows.append((names, pairs.classes[label], texts))
    return _written(rows, pairs.cells.take(np.concatenate([np.empty(0, dtype=np.int64), *kept])))


def read_pairs(data: bytes, book: Book) -> Pairs:
    rows, cells = _read(data, book)
    seen: dict[str, set[str]] = {}
    for columns, _, levels in rows:
        if len(columns) > 2 or len(set(columns)) < len(columns) or None in levels:
            raise ValueError("a row is neither of one column nor of two")
        if len(columns) == 1:
            seen.setdefault(columns[0], set()).add(str(levels[0]))
    names = tuple(sorted(seen))
    texts = tuple(tuple(sorted(seen[name])) for name in names)
    if any(len(each) > MOST_LEVELS for each in texts):
        raise ValueError(f"a column has more than {MOST_LEVELS} levels")
    require_few_cells(len(book.classes), {name: len(seen[name]) for name in names})
    classes = tuple(sorted(book.classes))
    starts = {(block.first, block.second): block for block in blocks(len(classes), [len(each) for each in texts])}
    place = {name: index for index, name in enumerate(names)}
    code = [{text: index for index, text in enumerate(each)} for each in texts]
    index = np.empty(len(rows), dtype=np.int64)
    for number, (columns, label, levels) in enumerate(rows):
        at = [place.get(name, -1) for name in columns]
        if -1 in at or any(level not in code[each] for each, level in zip(at, levels, strict=True)):
            raise ValueError("two columns have a level together that one of them has not")
        block = starts.get((at[0], at[-1]))
        if block is None:
            raise ValueError("two columns are not in the order of their names")
        inside = (classes.index(label), *(code[each][str(level)] for each, level in zip(at, levels, strict=True)))
        index[number] = block.start + int(np.ravel_multi_index(inside, block.shape))
    size = sum(int(np.prod(block.shape)) for block in starts.values())
    wide = frozenset(
        name for name, tally in book.columns.items() if isinstance(tally, Counts) and tally.levels and name not in seen
    )
    pairs = Pairs(classes, names, texts, cells.sum_groups(index, size), wide)
    return _checked(pairs, data, write_pairs, book)  # type: ignore[no-any-return]


def write_dependent(dependent: Dependent) -> bytes:
    rows: list[Row] = []
    parts = []
    for name in sorted(dependent.families):
        family = dependent.families[name]
        parts.append(family.cells)
        columns = (*dependent.parents[name], name)
        rows += [(columns, str(label), tuple(levels)) for (label, *levels), _ in family.items()]
    total = sum(len(part) for part in parts)
    cells, start = ExactArray(total), 0
    for part in parts:
        cells.add(part, np.arange(start, start + len(part)))
        start += len(part)
    return _written(rows, cells)


def read_dependent(data: bytes, book: Book) -> Dependent:
    rows, cells = _read(data, book)
    by_column: dict[str, list[int]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    for number, (columns, _, levels) in enumerate(rows):
        if levels[-1] is None or parents.setdefault(columns[-1], columns[:-1]) != columns[:-1]:
            raise ValueError("a column has no level, or other parents in another row")
        by_column.setdefault(columns[-1], []).append(number)
    families = {}
    for name, numbers in by_column.items():
        members = [[rows[number][1] for number in numbers]]
        members += [[rows[number][2][place] for number in numbers] for place in range(len(parents[name]) + 1)]  # type: ignore[misc]
        coded = [pa.array(texts, pa.string()).dictionary_encode() for texts in members]
        codes = [
            np.array([-1 if code is None else code for code in each.indices.to_pylist()], dtype=np.int32)
            for each in coded
        ]
        texts = [each.dictionary.to_pylist() for each in coded]
        names = [f"{place}" for place in range(len(members))]
        families[name] = Family.of(names, codes, texts, cells.take(np.array(numbers)), rows=len(numbers))
    dependent = Dependent(tuple(sorted(book.classes)), parents, families)
    return _checked(dependent, data, write_dependent, book)  # type: ignore[no-any-return]


def _checked(tally: Any, data: bytes, write: Any, book: Book) -> Any:
    """A tally that is written as it was read, and that some rows have."""
    if write(tally) != data:
        raise ValueError("its rows are not in order, or one is there twice")
    fitting = tally.with_classes(book.classes)
    if not (fitting.is_possible() and fitting.fits(book.class_counts)):
        raise ValueError("no rows have these counts")
    return fitting
