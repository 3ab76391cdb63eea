"""Counts of the unseen levels of a column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist.base import Columns
from bayesbox.errors import UnseenLevels
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import encode
from bayesbox.warned import level_of_caller, most_informative

if TYPE_CHECKING:
    from bayesbox.dist.naive import ProductModel


def count_unseen(column: Column, is_known: Callable[[str], bool]) -> tuple[int, tuple[str, ...]]:
    """The number of values of a column that are not known levels, and some of them.

    >>> import pyarrow as pa
    >>> count_unseen(pa.array(["Monthly", None, "Two year", "Monthly"]), {"One year", "Two year"}.__contains__)
    (2, ('Monthly',))
    """
    codes, levels, _ = encode(column)
    is_new = np.array([not is_known(level) for level in levels] + [False])  # the last entry is for a missing value
    if not is_new.any():
        return 0, ()
    new = codes[is_new[codes]]  # a dictionary may have levels that no row has
    return len(new), most_informative([levels[code] for code in np.unique(new).tolist()])


def warn_of_unseen_numbers(model: ProductModel, columns: Columns, rows: int) -> None:
    """Count and warn about numbers that are unseen levels, in arrays that the core looks up directly."""
    counts: dict[str, int] = {}
    examples: dict[str, Collection[str]] = {}
    known: dict[str, tuple[str, ...]] = {}
    for conditional in model.conditionals:
        name = conditional.columns[0]
        column, table = columns.get(name), conditional.level_table()
        if table is None or not isinstance(column, np.ndarray) or column.dtype.kind not in "iuf":
            continue
        count, some = count_unseen(column, lambda level, each=conditional: each.unseen(level) is None)  # type: ignore[misc]
        if count:
            counts[name], examples[name], known[name] = count, some, table.levels
    if counts:
        found = UnseenLevels(counts, {name: tuple(each) for name, each in examples.items()}, known, rows=rows)
        warnings.warn(found, stacklevel=level_of_caller())
