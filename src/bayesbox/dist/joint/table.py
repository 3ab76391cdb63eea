"""The joint distribution of several categories: a table of P(tuple | class); missing levels are marginalised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, ignored_where_impossible
from bayesbox.errors import UnseenLevel
from bayesbox.schema.encode import encode_narrow
from bayesbox.schema.flags import FLAG_CODES

Codes = NDArray[np.int32]

GONE = -1  # the code of a missing level, which is summed out
NEW = -2  # the code of an unseen level


@dataclass(frozen=True)
class Axis:
    """One category of the table: its levels, and whether missing is an additional last level.

    The two levels of a flag may be named false and true or 0 and 1.
    """

    column: str
    levels: tuple[str, ...]
    missing: bool = False
    flag: bool = False

    @property
    def size(self) -> int:
        return len(self.levels) + self.missing

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of each level."""
        place = {level: index for index, level in enumerate(self.levels)}
        return place | (FLAG_CODES if self.flag else {})

    def codes(self, columns: Columns, rows: int, unseen: str) -> Codes:
        """The code of each row's level."""
        absent = len(self.levels) if self.missing else GONE
        if self.column not in columns:
            return np.full(rows, absent, dtype=np.int32)
        codes, texts, _ = encode_narrow(columns[self.column])
        place = [self.position.get(text.lower() if self.flag else text, NEW) for text in texts]
        if unseen == "error" and NEW in place:
            raise UnseenLevel(
                f"column `{self.column}` has a level that was not seen in training",
                found=texts[place.index(NEW)],
                remedy="With unseen='smooth' the smoothing rule gives it a probability",
                column=self.column,
            )
        if unseen == "ignore":
            place = [GONE if code == NEW else code for code in place]
        return np.array([*place, absent], dtype=np.int32)[codes.astype(np.int64)]


@dataclass(frozen=True)
class JointTable:
    """log P(tuple | class), cells x classes, the last column fastest; `log_unseen` is that of a cell without rows."""

    axes: tuple[Axis, ...]
    log_p: Doubles
    log_unseen: Doubles
    unseen: str = "smooth"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(axis.column for axis in self.axes)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    def codes_of(self, columns: Columns, rows: int) -> Codes:
        """The level codes, columns x rows: GONE if missing, NEW if unseen."""
        codes = np.empty((len(self.axes), rows), dtype=np.int32)
        for place, axis in enumerate(self.axes):
            codes[place] = axis.codes(columns, rows, self.unseen)
        return codes

    def cell(self, codes: Codes) -> NDArray[np.int64]:
        """The cell of each complete tuple (columns x tuples)."""
        cell = np.zeros(codes.shape[1], dtype=np.int64)
        for column, size in zip(codes, self.sizes, strict=True):
            cell = cell * size + column
        return cell

    def log_marginal(self, codes: tuple[int, ...]) -> Doubles:
        """log P of one tuple by class, summed over missing levels; -inf if impossible."""
        gone = [place for place, code in enumerate(codes) if code == GONE]
        if len(gone) == len(codes):
            return np.zeros(len(self.log_unseen))
        if NEW in codes:
            ways = float(np.prod([self.sizes[place] for place in gone]))
            new: Doubles = self.log_unseen + functions.log(ways)
            return new
        index = tuple(slice(None) if code == GONE else code for code in codes)
        cells = self.log_p.reshape(*self.sizes, -1)[index].reshape(-1, len(self.log_unseen))
        return functions.log_sum_along(cells)

    def log_terms(self, codes: Codes) -> Doubles:
        """log P of each tuple, tuples x classes; one that is impossible in every class is ignored."""
        complete = (codes >= 0).all(axis=0)
        if complete.all():
            return ignored_where_impossible(self.log_p[self.cell(codes)])
        terms = np.zeros((codes.shape[1], len(self.log_unseen)))
        terms[complete] = self.log_p[self.cell(codes[:, complete])]
        partial = np.flatnonzero(~complete)
        kinds, group = np.unique(codes[:, partial].T, axis=0, return_inverse=True)
        found = np.array([self.log_marginal(tuple(kind)) for kind in kinds.tolist()])
        terms[partial] = found[group.ravel()]
        return ignored_where_impossible(terms)
