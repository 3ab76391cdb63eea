"""Absent columns and unseen levels of rows to predict."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox.dist.unseen import count_unseen
from bayesbox.errors import BadData, MissingColumns, UnknownColumn, UnseenLevels
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.compute import pc
from bayesbox.schema.encode import as_dictionary
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.source.base import Batch
from bayesbox.warned import level_of_caller

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.table import AnyTableClassifier

MANY = 1_000  # the number of levels above which Arrow looks them up


def missing_columns(
    classifier: AnyClassifier, names: Sequence[str], *, where: str | None = None, partial: bool = False
) -> MissingColumns | None:
    """A warning about the absent columns of new rows, or None; an error if all are absent, or with `absent="error"`.

    With `partial`, rows may have only some columns: only names that may be misspelt cause a warning.
    """
    absent = classifier.absent_columns(names, where=where)
    if not absent:
        return None
    nearest = nearest_names(absent, [name for name in names if name not in classifier.feature_names])
    if partial and not nearest:
        return None
    if getattr(classifier, "absent", "missing") == "error" and not partial:
        name = next(iter(nearest), absent[0])
        near = f"Is `{nearest[name]}` meant to be `{name}`? " if name in nearest else ""
        raise BadData(
            f"no column `{name}`, and the model has absent='error'",
            where=where,
            found=", ".join(map(str, names)),
            remedy=f"{near}Rename or add the column; with absent='missing' it is treated as missing in every row",
            column=name,
        )
    return MissingColumns(absent, nearest, where=where)


def nearest_names(absent: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """For each absent column, the most similar of the other names, if there is one.

    >>> nearest_names(["tenure", "contract"], ["Tenure", "id"])
    {'tenure': 'Tenure'}
    """
    by_case = {name.casefold(): name for name in others}
    found = {}
    for name in absent:
        near = [by_case[name.casefold()]] if name.casefold() in by_case else None
        near = near or difflib.get_close_matches(name, others, n=1)
        if near:
            found[name] = near[0]
    return found


def none_there(used: Sequence[str], names: Sequence[str], *, where: str | None) -> BadData:
    """The error for rows that have none of the columns in use."""
    near = next((name for name in used if nearest_names([name], names)), used[0])
    error = UnknownColumn(near, available=names, where=where)
    error.what = "the data have none of the model's columns"
    given = nearest_names([near], names).get(near)
    known = error.remedy if given is None else f"Is `{given}` the column `{near}`?"
    error.remedy = f"The model needs `{near}`, for example. {known}"
    return error


@dataclass(frozen=True)
class KnownLevels:
    """The known levels of a column.

    `here` is true if numbers are looked up here; for naive Bayes the core finds unseen numbers as it predicts.
    """

    levels: tuple[str, ...]
    is_flag: bool = False
    here: bool = True

    @cached_property
    def position(self) -> frozenset[str]:
        return frozenset(self.levels)

    def __contains__(self, level: str) -> bool:
        return level in self.position or (self.is_flag and level.lower() in FLAG_CODES)


def known_levels(classifier: AnyTableClassifier, *, here: bool = True) -> dict[str, KnownLevels]:
    """The known levels of each categorical column in use, under its name in the rows."""
    schema, book, model = classifier.schema, classifier.book, classifier.model
    assert schema is not None
    computed = {
        name for each in getattr(model, "conditionals", ()) if not each.looks_up_levels for name in each.columns
    }
    number_flags = frozenset(classifier.number_flags())
    found = {}
    for name in schema.used:
        kind = schema.kinds[name]
        if (
            name in computed
            or kind.translates
            or kind.is_matrix
            or kind.is_text
            or name in classifier.one_hot
            or name in model.ignored
        ):
            continue
        tally: Any = book.columns.get(name)
        is_flag = kind.is_flag or name in number_flags
        if not (kind.has_levels or is_flag or (tally is not None and tally.form == "counts")):
            continue
        counted = () if tally is None else tally.levels
        listed = classifier.listed_levels(name)
        levels = (
            counted if {*kind.domain, *listed} <= set(counted) else tuple(sorted({*counted, *kind.domain, *listed}))
        )
        found[name] = KnownLevels(levels, is_flag, here)
    return found


def unseen_counter(classifier: AnyClassifier) -> UnseenCounter:
    """The counter of unseen levels of a classifier; for documents it counts nothing."""
    from bayesbox.classifier.table import TableClassifier

    if not isinstance(classifier, TableClassifier) or classifier.unseen == "error":
        return UnseenCounter({})
    return UnseenCounter(classifier.known_levels(), ignored=classifier.unseen == "ignore")


_ADDING = Lock()  # threads may count batches concurrently; the counter itself may be sent to other machines


class UnseenCounter:
    """Counts unseen levels, one batch at a time; `found` is the total so far."""

    def __init__(self, known: Mapping[str, KnownLevels], *, ignored: bool = True) -> None:
        self.known = known
        self.ignored = ignored
        self.rows = 0
        self.found: UnseenLevels | None = None

    def __call__(self, batch: Batch) -> Batch:
        """The batch with its texts encoded; unseen levels are counted."""
        if not self.known:
            return batch
        columns = list(batch.columns)
        new: dict[str, tuple[int, tuple[str, ...]]] = {}
        for place, name in enumerate(batch.names):
            known = self.known.get(name)
            if known is None or isinstance(columns[place], CountMatrix):
                continue
            columns[place], count, examples = _unseen_in(columns[place], known)
            if count:
                new[name] = count, examples
        with _ADDING:
            self.rows += batch.rows
            if new:
                found = UnseenLevels(
                    {name: count for name, (count, _) in new.items()},
                    {name: examples for name, (_, examples) in new.items()},
                    {name: self.known[name].levels for name in new},
                    rows=batch.rows,
                    ignored=self.ignored,
                )
                self.found = found if self.found is None else self.found + found
        return Batch(batch.names, tuple(columns), batch.rows, batch.first_row, watched=self.ignored)

    def warn(self) -> None:
        """Warn once about the unseen levels of all rows."""
        if self.found is not None:
            warnings.warn(self.found.of_rows(self.rows), stacklevel=level_of_caller())


def _unseen_in(column: Column, known: KnownLevels) -> tuple[Column, int, tuple[str, ...]]:
    """The column, encoded if it was text; the number of its unseen values; and some examples."""
    if _is_numeric(column):
        return (column, *count_unseen(column, known.__contains__)) if known.here else (column, 0, ())
    coded = as_dictionary(pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column)
    if _all_known(coded.dictionary, known):
        return coded, 0, ()
    return (coded, *count_unseen(coded, known.__contains__))


def _is_numeric(column: Column) -> bool:
    """Whether the core can read a column directly."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iubf"
    assert not isinstance(column, CountMatrix)
    return not column.null_count and bool(pa.types.is_integer(column.type) or pa.types.is_boolean(column.type))


def _all_known(levels: pa.Array, known: KnownLevels) -> bool:
    """Whether every text is known; False if that needs a full check."""
    if not (pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type)):
        return False
    if len(levels) <= MANY:
        return known.position.issuperset(levels.to_pylist())
    return bool(pc.all(pc.is_in(levels, value_set=pa.array(known.levels, levels.type))).as_py())
