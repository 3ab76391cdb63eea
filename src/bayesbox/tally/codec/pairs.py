"""Counts of every column and every pair as a table: see `combinations`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from bayesbox.limits import BYTES_A_WRITTEN_PAIR, require_memory
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.codec.combinations import Combination, read_combinations, require_possible, write_combinations
from bayesbox.tally.counts import Counts
from bayesbox.tally.pairs import MOST_LEVELS, Pairs, blocks, require_few_cells

P = TypeVar("P", bound=Pairs)


def write(form: type[P], tallies: Mapping[str, P]) -> dict[str, bytes]:
    """The table of the joint tally."""
    pairs = tallies[TOGETHER]
    pairs = pairs.with_classes(tuple(sorted(pairs.classes)))
    rows: list[Combination] = []
    kept = []
    signs = pairs.cells.signs()
    written = int(np.count_nonzero(signs))
    require_memory(
        float(BYTES_A_WRITTEN_PAIR * written),
        f"a file of {written:,} counts of the pairs of {len(pairs.names)} columns",
        remedy="Ignore columns with many levels or little information, choose a naive model",
    )
    for block in pairs.blocks():
        there = np.flatnonzero(signs[block.start : block.stop])
        kept.append(there + block.start)
        places = [block.first] if block.first == block.second else [block.first, block.second]
        names = tuple(pairs.names[place] for place in places)
        for label, *level in zip(*(axis.tolist() for axis in np.unravel_index(there, block.shape)), strict=True):
            texts = tuple(pairs.levels[place][code] for place, code in zip(places, level, strict=True))
            rows.append((names, pairs.classes[label], texts))
    cells = pairs.cells.take(np.concatenate([np.empty(0, dtype=np.int64), *kept]))
    return {form.members[0]: write_combinations(rows, cells)}


def read(form: type[P], tables: Mapping[str, bytes], book: Book) -> dict[str, P]:
    """The joint tally in such a table; ValueError if it is impossible."""
    data = tables[form.members[0]]
    rows, cells = read_combinations(data, book)
    seen: dict[str, set[str]] = {}
    for columns, _, levels in rows:
        if len(columns) > 2 or len(set(columns)) < len(columns) or None in levels:
            raise ValueError("a row has neither one column nor two")
        if len(columns) == 1:
            seen.setdefault(columns[0], set()).add(str(levels[0]))
    names = tuple(sorted(seen))
    texts = tuple(tuple(sorted(seen[name])) for name in names)
    if any(len(each) > MOST_LEVELS for each in texts):
        raise ValueError(f"a column has more than {MOST_LEVELS} levels")
    require_few_cells(len(book.classes), {name: len(seen[name]) for name in names})
    classes = book.classes
    starts = {(block.first, block.second): block for block in blocks(len(classes), [len(each) for each in texts])}
    place = {name: index for index, name in enumerate(names)}
    code = [{text: index for index, text in enumerate(each)} for each in texts]
    index = np.empty(len(rows), dtype=np.int64)
    for number, (columns, label, levels) in enumerate(rows):
        at = [place.get(name, -1) for name in columns]
        if -1 in at or any(level not in code[each] for each, level in zip(at, levels, strict=True)):
            raise ValueError("a pair of columns has a level that one of them does not have")
        block = starts.get((at[0], at[-1]))
        if block is None:
            raise ValueError("two columns are not sorted by name")
        inside = (classes.index(label), *(code[each][str(level)] for each, level in zip(at, levels, strict=True)))
        index[number] = block.start + int(np.ravel_multi_index(inside, block.shape))
    size = sum(int(np.prod(block.shape)) for block in starts.values())
    wide = frozenset(
        name for name, tally in book.columns.items() if isinstance(tally, Counts) and tally.levels and name not in seen
    )
    found = {TOGETHER: form(classes, names, texts, cells.sum_groups(index, size), wide)}
    require_possible(found[TOGETHER], write(form, found)[form.members[0]], data, book)
    return found
