"""Counts of each column with its parents as a table: see `combinations`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa

from bayesbox._core import ExactArray
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.codec.combinations import Combination, read_combinations, require_possible, write_combinations
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.family import Family

D = TypeVar("D", bound=Dependent)


def write(form: type[D], tallies: Mapping[str, D]) -> dict[str, bytes]:
    """The table of the joint tally."""
    dependent = tallies[TOGETHER]
    rows: list[Combination] = []
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
    return {form.members[0]: write_combinations(rows, cells)}


def read(form: type[D], tables: Mapping[str, bytes], book: Book) -> dict[str, D]:
    """The joint tally in such a table; ValueError if it is impossible."""
    data = tables[form.members[0]]
    rows, cells = read_combinations(data, book)
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
    found = {TOGETHER: form(book.classes, parents, families)}
    require_possible(found[TOGETHER], write(form, found)[form.members[0]], data, book)
    return found
