"""The joint tally of columns as a table: one row per cell.

    comoments.arrow   class, levels, numbers, n, sums, products

`levels` is a JSON mapping of the categories that are present to their levels, `numbers` a JSON list of the numbers that
are present, both sorted; `sums` and `products` have exact numbers, separated by spaces: one for each number, and one
for each pair of them, (first, first), (first, second), ... Numbers are written as everywhere in the file: `-1bp-3` is
-27 / 8.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT
from bayesbox.file.strict_json import parse
from bayesbox.schema.arrays import text_array
from bayesbox.tally.base import positions
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.comoment_cells import CoMomentAxes, CoMomentCells, pair_place
from bayesbox.tally.comoments import CoMoments, require_room
from bayesbox.tally.moments import Moments

C = TypeVar("C", bound=CoMoments)

_COLUMNS = dict.fromkeys(("class", "levels", "numbers", "n", "sums", "products"), (TEXT,))
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def write(form: type[C], tallies: Mapping[str, C]) -> dict[str, bytes]:
    """The table of the cells, sorted by their texts."""
    tally: CoMoments = tallies[TOGETHER]
    present = sorted({tally.classes[place] for place in tally.cells.label.tolist()})
    tally = tally.with_classes(tuple(present))
    tally = tally.only(tuple(sorted(tally.frame.categories)), tuple(sorted(tally.frame.numbers)))
    frame, cells = tally.frame, tally.cells
    p, pairs = len(frame.numbers), frame.pairs
    n, totals, products = (array.text().decode().split("\n") for array in cells.sums)
    rows = []
    for cell in range(len(cells)):
        there = np.flatnonzero(cells.observed[:, cell]).tolist()
        levels = {
            name: texts[code]
            for name, texts, code in zip(frame.categories, frame.levels, cells.codes[:, cell].tolist(), strict=True)
            if code >= 0
        }
        chosen = [cell * pairs + pair_place(i, j, p) for k, i in enumerate(there) for j in there[k:]]
        rows.append(
            (
                frame.classes[cells.label[cell]],
                _JSON.encode(levels),
                _JSON.encode([frame.numbers[i] for i in there]),
                n[cell],
                " ".join(totals[cell * p + i] for i in there),
                " ".join(products[place] for place in chosen),
            )
        )
    rows.sort(key=lambda row: row[:3])
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    texts = {name: text_array(list(column)) for name, column in zip(_COLUMNS, columns, strict=True)}
    return {form.members[0]: arrow.write(texts)}


def read(form: type[C], tables: Mapping[str, bytes], book: Book) -> dict[str, C]:
    """The tally in such a table; ValueError if it is impossible, or contradicts the tallies of the columns."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = list(zip(*(table[name].to_pylist() for name in _COLUMNS), strict=True))
    if any(one[:3] >= other[:3] for one, other in itertools.pairwise(rows)):
        raise ValueError("a row is out of order or repeated")
    levels = [_mapping(row[1]) for row in rows]
    numbers = [_names(row[2]) for row in rows]
    names = tuple(sorted({name for each in numbers for name in each}))
    categories = tuple(sorted({name for each in levels for name in each}))
    texts = tuple(tuple(sorted({each[name] for each in levels if name in each})) for name in categories)
    classes = tuple(sorted({row[0] for row in rows}))
    if not set(classes) <= set(book.classes):
        raise ValueError("a class has no rows")
    frame = CoMomentAxes(classes, categories, texts, names)
    require_room(frame, len(rows))
    tally = form(frame, _cells(frame, rows, levels, numbers))
    tally = (tally.zero() + tally).with_classes(book.classes)  # in canonical order
    _require_right(tally, book)
    return {TOGETHER: tally}


def _mapping(text: str) -> dict[str, str]:
    found = parse(text.encode())
    if not isinstance(found, dict) or not all(type(level) is str for level in found.values()):
        raise ValueError("levels are not a mapping of columns to texts")
    if text != _JSON.encode({name: found[name] for name in sorted(found)}):
        raise ValueError("levels are not written in the canonical form")
    return found


def _names(text: str) -> list[str]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(type(name) is str for name in found):
        raise ValueError("numbers are not a list of columns")
    if text != _JSON.encode(sorted(set(found))):
        raise ValueError("numbers are not written in the canonical form")
    return found


def _cells(frame: CoMomentAxes, rows: Sequence[Any], levels: Sequence[Any], numbers: Sequence[Any]) -> CoMomentCells:
    size, p, pairs = len(rows), len(frame.numbers), frame.pairs
    codes = np.full((len(frame.categories), size), -1, dtype=np.int32)
    for place, (name, texts) in enumerate(zip(frame.categories, frame.levels, strict=True)):
        position = {text: code for code, text in enumerate(texts)}
        codes[place] = [position[each[name]] if name in each else -1 for each in levels]
    observed = np.zeros((p, size), dtype=bool)
    totals: list[int] = []
    products: list[int] = []
    place_of = {name: place for place, name in enumerate(frame.numbers)}
    for cell, names in enumerate(numbers):
        there = [place_of[name] for name in names]
        observed[there, cell] = True
        totals += [cell * p + i for i in there]
        products += [cell * pairs + pair_place(i, j, p) for k, i in enumerate(there) for j in there[k:]]
    return CoMomentCells(
        positions([row[0] for row in rows], frame.classes).astype(np.int32),
        codes,
        observed,
        _exact([row[3] for row in rows], range(size), size),
        _exact([row[4] for row in rows], totals, size * p),
        _exact([row[5] for row in rows], products, size * pairs),
    )


def _exact(lines: Sequence[str], places: Sequence[int], size: int) -> ExactArray:
    """Numbers at these places, zero elsewhere."""
    written = "".join(f"{number}\n" for line in lines if line for number in line.split(" "))
    found = ExactArray.from_text(written.encode())
    if len(found) != len(places):
        raise ValueError("a cell does not have the sums of its numbers")
    result = ExactArray(size)
    result.add(found, np.array(places, dtype=np.int64))
    return result


def _require_right(tally: CoMoments, book: Book) -> None:
    """Raise an error for impossible sums, and for sums that contradict the tallies of the columns."""
    if not tally.is_possible():
        raise ValueError("some sums cannot come from any rows")
    if not tally.fits(book.class_counts):
        raise ValueError("the classes have other numbers of rows")
    label = tally.cells.label.astype(np.int64)
    p, pairs = len(tally.frame.numbers), tally.frame.pairs
    for i, name in enumerate(tally.frame.numbers):
        moments = book.columns.get(name)
        if not isinstance(moments, Moments):
            raise ValueError(f"column `{name}` is not a number in its own tally")
        there = np.flatnonzero(tally.cells.observed[i])
        sums = (
            tally.cells.n.take(there),
            tally.cells.totals.take(there * p + i),
            tally.cells.products.take(there * pairs + pair_place(i, i, p)),
        )
        by_class = [each.sum_groups(label[there], len(book.classes)) for each in sums]
        if by_class != [moments.sums.n, moments.sums.total, moments.sums.squares]:
            raise ValueError(f"column `{name}` has other moments in its own tally")
    for i, name in enumerate(tally.frame.categories):
        own: Any = book.columns.get(name)
        if own is None:
            raise ValueError(f"column `{name}` has no tally of its own")
        levels = tally.frame.levels[i]
        if not set(levels) <= set(own.levels):
            raise ValueError(f"column `{name}` has other levels in its own tally")
        there = np.flatnonzero(tally.cells.codes[i] >= 0)
        place = positions(levels, own.levels)[tally.cells.codes[i][there]]
        width = len(own.levels)
        cells = tally.cells.n.take(there).sum_groups(label[there] * width + place, len(book.classes) * width)
        counts = own.flag_cells() if isinstance(own, Moments) else own.cells
        if cells != counts:
            raise ValueError(f"column `{name}` has other counts in its own tally")
