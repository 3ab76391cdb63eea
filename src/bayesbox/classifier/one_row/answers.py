"""Predictions of one model for one row at a time.

`_core.RowScorer` precomputes everything that does not depend on the row and reads a dict by column names. It returns
None for a special case: a value of another type, a level that is an error, a row that is impossible in every class.
Such a row is predicted as a table of one row, so that it gives the same result, warning or error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import Column
from bayesbox.schema.levels import Labels
from bayesbox.source.base import Batch
from bayesbox.source.frames import batch_of

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier

Row = Mapping[str, Any]


class PlacedRows(NamedTuple):
    """Rows of numbers, and the position of each column that the core reads."""

    matrix: NumberArray
    places: NDArray[np.int64]


FewRows = NumberArray | PlacedRows | list[Row]


class RowAnswers:
    """The compiled predictions of a classifier; later training does not change them."""

    def __init__(self, classifier: AnyClassifier) -> None:
        self.classifier = classifier
        self.labels = tuple(classifier.model.labels.tolist())
        self._names = classifier.feature_names
        self.special = frozenset(_special_columns(classifier))
        """The columns that are converted before counting: dates, one-hot flags, texts that a type parses."""
        self.worked_out: tuple[tuple[Distribution, float], ...] = ()
        """The distributions that the core does not support, with their weights."""
        self.inputs: list[str] = []  # the columns that the core reads
        self._frame: tuple[object, list[tuple[str, int]] | None] | None = None  # their positions in a DataFrame
        self.core = self._compiled()
        self.is_plain = self.core is not None and not self.special and not self.worked_out

    @cached_property
    def features(self) -> frozenset[str]:
        """The columns in use."""
        return frozenset(self._names)

    def _compiled(self) -> _core.RowScorer | _core.PoolScorer | None:
        found = self.classifier.product()
        if found is None:
            return self._compiled_codes()
        model, calibration = found
        columns: list[tuple[Any, ...]] = []
        others = []
        is_weighted = model.is_weighted
        for together, each in groupby(model.conditionals, attrgetter("fitted_together")):
            some = list(each)
            if together is not None and not is_weighted:
                columns.append(together.compiled(some))
                continue
            for conditional, weight in zip(some, map(model.weight_of, some), strict=True):
                made = conditional.compiled(weight)
                if made is None:
                    others.append((conditional, weight))
                else:
                    columns.append(made)
        self.worked_out = tuple(others)
        self._reads(columns)
        prior = np.ascontiguousarray(model.log_prior, dtype=np.float64)
        return _core.RowScorer(prior, columns, self.labels, bool(others), calibration)

    def _compiled_codes(self) -> _core.RowScorer | _core.PoolScorer | None:
        found = self.classifier.coded()
        if found is None:
            self._reads([])
            return None if self.special else self.classifier.pool_scorer()
        prior, columns, families, one_dependence, calibration, joint = found
        self._reads(columns)
        return _core.RowScorer(prior, columns, self.labels, False, calibration, families, one_dependence, joint)

    def _reads(self, columns: list[tuple[Any, ...]]) -> None:
        """Store the columns that the core reads, and their positions."""
        self.inputs = []
        for kind, name, *_ in columns:
            if kind in ("normals", "cells"):
                self.inputs.extend(name)
            else:
                self.inputs.append(name)
        if tuple(self.inputs) == self._names:
            self._places = np.arange(len(self._names))
            return
        place = dict(zip(self._names, range(len(self._names)), strict=True))
        self._places = np.array([place.get(name, -1) for name in self.inputs], dtype=np.int64)

    # -- answers -------------------------------------------------------------------------------------------------

    def by_label(self, row: dict[str, Any]) -> dict[Any, float]:
        """P(class | x) by label."""
        if self.core is not None:
            found = self.core.proba_by_label(row) if self.is_plain else self._asked("proba_by_label", row)
            if found is not None:
                return found
        return dict(zip(self.labels, self._as_table(row).tolist(), strict=True))

    def proba(self, row: dict[str, Any]) -> Doubles:
        """P(class | x), one value per class."""
        if self.core is not None:
            found = self.core.proba(row) if self.is_plain else self._asked("proba", row)
            if found is not None:
                return found
        return self._as_table(row)

    def log_proba(self, row: dict[str, Any]) -> Doubles:
        """log P(class | x), one value per class."""
        if self.core is not None:
            found = self.core.log_proba(row) if self.is_plain else self._asked("log_proba", row)
            if found is not None:
                return found
        logs: Doubles = self.classifier.log_posterior(self.batch(row))[0]
        return logs

    def predict(self, row: dict[str, Any]) -> Any:
        """The label of the most probable class; the first in case of a tie."""
        if self.core is not None:
            found = self.core.predict(row) if self.is_plain else self._asked("predict", row)
            if found is not None:
                return found
        return self.labels[int(np.argmax(self._as_table(row)))]

    def batch(self, row: Row) -> Batch:
        """The row as a table; in an empty row all values are missing."""
        return self.classifier.batch_of_row(row)

    def _as_table(self, row: Row) -> Doubles:
        found: Doubles = self.classifier.posterior(self.batch(row))[0]
        return found

    # -- a few rows ----------------------------------------------------------------------------------------------

    def of_rows(self, rows: FewRows, *, logs: bool = False) -> Doubles | None:
        """P(class | x), or its logs, of an array or of dicts; None if a row needs Python or a warning."""
        if self.core is None or not self.is_plain:
            return None
        if isinstance(rows, list):
            return self.core.proba_many(rows, logs, True)
        return self.core.proba_of_matrix(*self._placed(rows), logs)

    def _placed(self, rows: NumberArray | PlacedRows) -> PlacedRows:
        return rows if isinstance(rows, PlacedRows) else PlacedRows(rows, self._places)

    def of_columns(self, columns: Mapping[str, list[Any]], rows: int) -> Doubles | None:
        """P(class | x) of rows given as one list per column; None if the core cannot predict all rows."""
        if not isinstance(self.core, _core.RowScorer) or not self.is_plain:
            return None
        if not any(name in columns for name in self.inputs):
            return None
        return self.core.proba_of_columns([columns.get(name) for name in self.inputs], rows)

    def best_of_rows(self, rows: FewRows) -> Labels | None:
        """The label of each of these rows, or None."""
        if self.core is None or not self.is_plain:
            return None
        if isinstance(rows, list):
            found = self.core.best_many(rows, True)
        else:
            found = self.core.best_of_matrix(*self._placed(rows))
        return None if found is None else self.classifier.model.labels[found[:, 0]]

    def placed(self, matrix: NumberArray, columns: Any) -> PlacedRows | None:
        """The doubles of a pandas DataFrame with these columns; None if one is absent or must be converted."""
        places = self._places_in(columns) if self.is_plain else None
        return None if places is None else PlacedRows(matrix, np.array([place for _, place in places], dtype=np.int64))

    def _places_in(self, columns: Any) -> list[tuple[str, int]] | None:
        """The columns that the core reads with their positions in a frame; None if one is absent."""
        found = self._frame  # once: another thread may ask about another frame
        if found is None or found[0] is not columns:
            there = {name: place for place, name in enumerate(columns) if type(name) is str}
            complete = columns.is_unique and self.features <= there.keys()
            found = self._frame = columns, [(name, there[name]) for name in self.inputs] if complete else None
        return found[1]

    def dicts_of(self, frame: Any) -> list[Row] | None:
        """The rows of a small pandas DataFrame with the columns in use; None if one is absent or must be converted."""
        if not self.is_plain:
            return None
        places = self._places_in(frame.columns)
        if places is None:
            return None
        rows = (frame.iloc[row].tolist() for row in range(len(frame)))
        return [{name: values[place] for name, place in places} for values in rows]

    def dicts_of_table(self, table: pa.Table) -> list[Row] | None:
        """The same for a small Arrow table."""
        names = table.column_names
        if not self.is_plain or len(set(names)) < len(names) or not self.features.issubset(names):
            return None
        rows: list[Row] = table.select(self.inputs).to_pylist()
        return rows

    # -- columns that must be converted ------------------------------------------------------------------------------

    def _asked(self, method: str, row: Row) -> Any:
        """The core's result, with dates converted to seconds and the terms of unsupported families added."""
        if row and self.features.isdisjoint(row):
            return None  # which is an error
        plain = self._plain_row(row)
        if not self.worked_out:
            return getattr(self.core, method)(plain)
        extra = self._extra(row)
        return None if extra is None else getattr(self.core, method)(plain, extra)

    def _plain_row(self, row: Row) -> Row:
        some = {name: row[name] for name in self.special if name in row}
        return {**row, **{name: _value(column) for name, column in self._counted(some).items()}} if some else row

    def _counted(self, some: Row) -> Mapping[str, Column]:
        """Some columns of a row, converted as for counting."""
        schema = self.classifier.schema
        assert schema is not None
        return schema.expanded(self.classifier.named(batch_of([some])))

    def _columns(self, some: Row) -> Mapping[str, Column]:
        """The same, with a shortcut for rows of numbers."""
        if not some:
            return {}
        if self.special.isdisjoint(some) and all(type(value) in (float, int) for value in some.values()):
            return {name: np.array([value]) for name, value in some.items()}
        return self._counted(some)

    def _extra(self, row: Row) -> Doubles | None:
        """The sum of the terms computed in Python; None if a value has a point mass, which precedes a density."""
        names = {name for conditional, _ in self.worked_out for name in self._sources(conditional) if name in row}
        columns = self._columns({name: row[name] for name in names})
        extra = np.zeros(len(self.labels))
        for conditional, weight in self.worked_out:
            plan = conditional.planned(columns, 1)
            if plan.point_mass_hits is not None:
                return None
            extra = extra + weight * plan.run(_core.JOINT)[0]
        return extra

    def _sources(self, conditional: Distribution) -> list[str]:
        """The input columns of a distribution, such as the date of a month."""
        schema = self.classifier.schema
        assert schema is not None
        one_hot: Mapping[str, Any] = getattr(self.classifier, "one_hot", {})
        kinds = (schema.kinds.get(name) for name in conditional.columns)
        owners = (
            (None if kind is None else kind.part_of) or name
            for kind, name in zip(kinds, conditional.columns, strict=True)
        )
        return [flag for name in owners for flag in one_hot.get(name, (name,))]


def _special_columns(classifier: AnyClassifier) -> list[str]:
    schema = classifier.schema
    if schema is None:
        return []
    one_hot: Mapping[str, Any] = getattr(classifier, "one_hot", {})
    flags = [flag for flags in one_hot.values() for flag in flags]
    return [*flags, *schema.translating, *(name for name, parts in schema.parts.items() if parts)]


def _value(column: Column) -> Any:
    return column[0].as_py() if hasattr(column[0], "as_py") else column[0]  # type: ignore[index]
