"""Every column as codes of levels: categories as they are, numbers by the bins between their cut points.

Models in which columns depend on each other see nothing but codes. The levels of a number are the names of its bins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns
from bayesbox.dist.cuts import bin_names, codes_of
from bayesbox.errors import BadOption, UnseenLevel
from bayesbox.schema.columns import as_numbers, whole_numbers
from bayesbox.schema.encode import encode_narrow
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.kinds import Category, CountGroup, Flag, Ignore, Kind, Unknown
from bayesbox.schema.schema import Schema

Codes = NDArray[np.int32]
Cuts = Mapping[str, tuple[float, ...]]
Coded = tuple[NDArray[Any], list[str]]  # codes of any integer type, negative where missing, and the texts of the codes


def is_number(kind: Kind) -> bool:
    """Whether a column of this kind is cut into bins."""
    return not isinstance(kind, (Category, Flag, Ignore, Unknown))


def coded_columns(columns: Columns, schema: Schema, cuts: Cuts, *, where: str | None = None) -> dict[str, Coded]:
    """The columns that are used, as codes; a number without cut points is one bin."""
    found: dict[str, Coded] = {}
    for name, column in columns.items():
        kind = schema.kinds[name]
        if isinstance(kind, (Ignore, Unknown)) or _is_null(column):
            continue
        if isinstance(kind, CountGroup):
            raise BadOption(
                "a sparse matrix is one group of counts, whose columns cannot depend on each other",
                remedy="Give it as a dense array, or take naive Bayes",
            )
        if is_number(kind):
            found[name] = _binned(as_numbers(column, name=name, where=where), cuts.get(name, ()))
        else:
            found[name] = _levels(name, column, kind, where=where)
    return found


def _is_null(column: Any) -> bool:
    return not isinstance(column, np.ndarray) and str(getattr(column, "type", "")) == "null"


def _binned(values: NDArray[Any], cuts: tuple[float, ...]) -> Coded:
    edges = np.array(cuts, dtype=np.float64)
    return codes_of(values, edges), list(bin_names(edges))


def _levels(name: str, column: Any, kind: Kind, *, where: str | None) -> Coded:
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        column = whole_numbers(column)
    codes, texts, _ = encode_narrow(column)
    if not isinstance(kind, Flag):
        return codes, texts
    place = np.array([*flag_codes(texts, lambda: codes, name=name, where=where), -1], dtype=np.int32)
    return place[codes], list(FLAG_LEVELS)


@dataclass(frozen=True)
class Coding:
    """The levels of each column that a model knows, and the cut points of numbers.

    The code after the last level stands for a level that was never seen, -1 for a missing value.
    """

    schema: Schema
    levels: Mapping[str, tuple[str, ...]]
    cuts: Cuts = field(default_factory=dict)
    unseen: str = "smooth"

    def codes(self, columns: Columns) -> dict[str, Codes]:
        """The columns of some rows as codes; what is not there is missing in every row, and not in the result."""
        used = {name: column for name, column in columns.items() if name in self.levels}
        return {name: self._placed(name, coded) for name, coded in coded_columns(used, self.schema, self.cuts).items()}

    def declared(self, name: str) -> NDArray[np.bool_]:
        """Of each level of a column whether it is known though no row may have it."""
        kind = self.schema.kinds[name]
        if isinstance(kind, Category):
            return np.array([level in (kind.levels or ()) for level in self.levels[name]], dtype=bool)
        return np.full(len(self.levels[name]), not isinstance(kind, Unknown))

    def _placed(self, name: str, coded: Coded) -> Codes:
        codes, texts = coded
        levels = self.levels[name]
        position = {text: code for code, text in enumerate(levels)}
        unseen = -1 if self.unseen == "ignore" else len(levels)
        place = [position.get(text, unseen) for text in texts]
        if self.unseen == "error" and unseen in place:
            raise UnseenLevel(
                f"column `{name}` has a level that was never seen",
                found=texts[place.index(unseen)],
                remedy="Set unseen='smooth' to let the smoothing rule answer",
            )
        if place == list(range(len(texts))) and codes.dtype == np.int32:
            return codes
        found: Codes = np.array([*place, -1], dtype=np.int32)[codes]
        return found


def coding_of(schema: Schema, levels: Mapping[str, tuple[str, ...]], cuts: Cuts, *, unseen: str = "smooth") -> Coding:
    """The coding of columns with these levels, those that are declared or can only be included."""
    known: dict[str, tuple[str, ...]] = {}
    for name in schema.used:
        kind = schema.kinds[name]
        if name not in levels:
            continue
        domain: tuple[str, ...] = ()
        if isinstance(kind, Category):
            domain = kind.levels or ()
        elif isinstance(kind, Flag):
            domain = FLAG_LEVELS
        elif is_number(kind):
            known[name] = bin_names(np.array(cuts.get(name, ())))
            continue
        known[name] = levels[name] if set(domain) <= set(levels[name]) else tuple(sorted({*levels[name], *domain}))
    return Coding(schema, known, cuts, unseen)
