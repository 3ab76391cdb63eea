"""All columns as codes of levels: categories directly, numbers by their bins.

Models with dependent columns use only codes. The levels of a number are the names of its bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns
from bayesbox.dist.number.cuts import bin_names, codes_of
from bayesbox.errors import BadOption, UnseenLevel
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.coded import LevelCodes, Variable, recode
from bayesbox.schema.columns import Column, as_numbers, whole_numbers
from bayesbox.schema.encode import MISSING, Codes, encode_narrow
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema

Cuts = Mapping[str, tuple[float, ...]]


def is_number(kind: Kind) -> bool:
    """Whether a column of this type is binned."""
    return kind.tally not in (None, "counts")


def coded_columns(columns: Columns, schema: Schema, cuts: Cuts, *, where: str | None = None) -> dict[str, LevelCodes]:
    """The columns in use as codes; a number without cut points is one bin."""
    found: dict[str, LevelCodes] = {}
    for name, column in columns.items():
        kind = schema.kinds[name]
        if kind.tally is None or _is_null(column):
            continue
        if kind.is_matrix:
            raise BadOption(
                "a sparse matrix cannot be used here: its columns are counted as one group and cannot depend on "
                "each other",
                remedy="Pass a dense array, or use naive Bayes",
            )
        if is_number(kind):
            found[name] = _binned(as_numbers(column, name=name, where=where), cuts.get(name, ()))
        else:
            found[name] = _levels(name, column, kind, where=where)
    return found


def _is_null(column: Column) -> bool:
    return not isinstance(column, np.ndarray) and str(getattr(column, "type", "")) == "null"


def _binned(values: NumberArray, cuts: tuple[float, ...]) -> LevelCodes:
    edges = np.array(cuts, dtype=np.float64)
    return codes_of(values, edges), list(bin_names(edges))


def _levels(name: str, column: Column, kind: Kind, *, where: str | None) -> LevelCodes:
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        column = whole_numbers(column)
    codes, texts, _ = encode_narrow(column)
    if not kind.is_flag:
        return codes, texts
    place = np.array([*flag_codes(texts, lambda: codes, name=name, where=where), MISSING], dtype=np.int32)
    return place[codes], list(FLAG_LEVELS)


@dataclass(frozen=True)
class Coding:
    """The columns of a model, each with its levels and, if it is a number, its cut points.

    MISSING is the code of a missing value, the code after the last level that of an unseen level.
    """

    schema: Schema
    variables: Mapping[str, Variable]
    unseen: str = "smooth"

    @cached_property
    def levels(self) -> Mapping[str, tuple[str, ...]]:
        """The levels of each column."""
        return {name: variable.levels for name, variable in self.variables.items()}

    def is_cut(self, name: str) -> bool:
        """Whether a column is a number with cut points."""
        return self.variables[name].cuts is not None

    def codes(self, columns: Columns) -> dict[str, Codes]:
        """The columns of some rows as codes; an absent column is not in the result."""
        cuts = {name: variable.cuts for name, variable in self.variables.items() if variable.cuts is not None}
        used = {name: column for name, column in columns.items() if name in self.variables}
        return {name: self._recoded(name, *coded) for name, coded in coded_columns(used, self.schema, cuts).items()}

    def declared(self, name: str) -> NDArray[np.bool_]:
        """For each level of a column, whether it is declared."""
        kind = self.schema.kinds[name]
        if kind.lists_levels:
            return np.array([level in kind.domain for level in self.levels[name]], dtype=bool)
        if kind.is_flag and self.schema.ignores_constants:
            return np.array([level in self.schema.lasting_levels(name) for level in self.levels[name]], dtype=bool)
        return np.full(len(self.levels[name]), kind.tally is not None)

    def _recoded(self, name: str, codes: Codes, texts: Sequence[str]) -> Codes:
        levels, place = self.variables[name].levels, self.variables[name].place
        fate = self.schema.kinds[name].unseen or self.unseen
        if fate == "error" and not place.keys() >= set(texts):
            raise UnseenLevel(
                f"column `{name}` has a level that was not seen in training",
                found=next(text for text in texts if text not in place),
                remedy="With unseen='smooth' the smoothing rule gives it a probability",
                column=name,
            )
        if codes.dtype == np.int32 and tuple(texts) == levels[: len(texts)]:
            return codes
        return recode(codes, texts, place, unseen=MISSING if fate == "ignore" else len(levels))


def coding_of(schema: Schema, levels: Mapping[str, tuple[str, ...]], cuts: Cuts, *, unseen: str = "smooth") -> Coding:
    """The coding of columns with these levels, including declared ones."""
    known: dict[str, Variable] = {}
    for name in schema.used:
        kind = schema.kinds[name]
        if name not in levels:
            continue
        domain = schema.lasting_levels(name) if schema.ignores_constants else kind.domain
        if is_number(kind):
            known[name] = Variable(name, bin_names(np.array(cuts.get(name, ()))), cuts.get(name))
            continue
        both = levels[name] if set(domain) <= set(levels[name]) else tuple(sorted({*levels[name], *domain}))
        known[name] = Variable(name, both)
    return Coding(schema, known, unseen)
