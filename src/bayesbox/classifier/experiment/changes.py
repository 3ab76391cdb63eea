"""Deliberate corruption of rows: noise in labels and rows, irrelevant and repeated columns, missing values.

Noise is added to the training rows only, and models are evaluated on clean rows: this measures how much noise a model
learns. Columns are added to all rows, and values are made missing in all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadOption

Random = np.random.Generator
Changed = Callable[[pa.Table, Random], pa.Table]
AS_THEY_ARE = "as they are"


@dataclass(frozen=True)
class NoiseLevels:
    """The levels of each change to try; an empty one skips the change.

    `label_noise`: shares of the labels that are changed to another class. `noise_points`: isolated points to add, as
    shares of the rows: each value and the label of such a point are drawn from other rows, independently for each
    column. `irrelevant`: numbers of random columns to add, numbers and flags in turn. `copies`: numbers of copies of
    each column to add. `missing`: shares of values to make missing.
    """

    label_noise: tuple[float, ...] = (0.2,)
    noise_points: tuple[float, ...] = (0.1,)
    irrelevant: tuple[int, ...] = (10,)
    copies: tuple[int, ...] = (1,)
    missing: tuple[float, ...] = (0.2,)

    @classmethod
    def of(cls, **given: Any) -> NoiseLevels:
        """The levels from parameters: a number or several; None for the default.

        >>> NoiseLevels.of(label_noise=0.1, copies=[1, 2], missing=()).copies
        (1, 2)
        """
        defaults = cls()
        found = {}
        for field in fields(cls):
            value = given.get(field.name)
            if value is None:
                found[field.name] = getattr(defaults, field.name)
                continue
            listed = tuple(value) if isinstance(value, Sequence | np.ndarray) else (value,)
            found[field.name] = _checked(field.name, listed, whole=field.name in ("irrelevant", "copies"))
        return cls(**found)


def _checked(name: str, values: tuple[Any, ...], *, whole: bool) -> tuple[Any, ...]:
    for value in values:
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if whole and not (number and value == int(value) and 1 <= value <= 10_000):
            raise BadOption(f"{name} must be numbers of columns from 1 to 10,000", found=value)
        if not whole and not (number and 0 < value < 1 + (name == "noise_points")):
            most = "2" if name == "noise_points" else "1"
            raise BadOption(f"{name} must be fractions above 0 and below {most}", found=value)
    return tuple(int(value) if whole else float(value) for value in values)


class RowChange(NamedTuple):
    """One change of the rows: its name, its amount in words, and the function that applies it.

    `training` changes the training rows, `all_rows` the whole table; a change has at most one of the two.
    """

    experiment: str
    level: float | None
    text: str
    training: Changed | None = None
    all_rows: Changed | None = None


def changes(levels: NoiseLevels, target: str, weight: str | None = None) -> Iterator[RowChange]:
    """The unchanged rows, and every change of them."""
    apart = {target} if weight is None else {target, weight}
    yield RowChange(AS_THEY_ARE, None, AS_THEY_ARE)
    for share in levels.label_noise:
        text = f"{100 * share:.4g} % of the training labels wrong"
        yield RowChange("label noise", share, text, training=partial(_noisy, target=target, share=share))
    for share in levels.noise_points:
        text = f"{100 * share:.4g} % noise points among the training rows"
        yield RowChange("noise points", share, text, training=partial(_points, share=share))
    for number in levels.irrelevant:
        text = f"{number:,} irrelevant column{'s' if number > 1 else ''}"
        yield RowChange("irrelevant columns", number, text, all_rows=partial(_more, number=number))
    for number in levels.copies:
        times = {1: "twice", 2: "three times"}.get(number, f"{number + 1} times")
        yield RowChange(
            "copies", number, f"every column {times}", all_rows=partial(_copied, number=number, apart=apart)
        )
    for share in levels.missing:
        text = f"{100 * share:.4g} % of the values missing"
        yield RowChange("missing values", share, text, all_rows=partial(_gaps, share=share, apart=apart))


def _noisy(rows: pa.Table, random: Random, target: str, share: float) -> pa.Table:
    """The rows with some labels changed to another class, drawn uniformly."""
    labels = rows[target].combine_chunks()
    codes = labels.dictionary_encode() if not pa.types.is_dictionary(labels.type) else labels
    kinds, at = codes.dictionary, codes.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    classes = np.unique(at[at >= 0])
    if len(classes) > 1:
        place = np.searchsorted(classes, at)
        other = classes[(place + random.integers(1, len(classes), len(at))) % len(classes)]
        at = np.where((random.random(len(at)) < share) & (at >= 0), other, at)
    changed = pa.DictionaryArray.from_arrays(pa.array(at.astype(np.int32), mask=at < 0), kinds)
    if not pa.types.is_dictionary(labels.type):
        changed = changed.cast(labels.type)
    return rows.set_column(rows.column_names.index(target), target, changed)


def _points(rows: pa.Table, random: Random, share: float) -> pa.Table:
    """The rows with noise points added, whose values each come from a different row."""
    number = max(round(share * len(rows)), 1)
    drawn = [_taken(rows[name], random.integers(0, len(rows), number)) for name in rows.column_names]
    added = pa.table(drawn, schema=rows.schema)
    return pa.concat_tables([rows, added]).combine_chunks()


def _more(rows: pa.Table, random: Random, number: int) -> pa.Table:
    """The rows with random columns added that are independent of the class."""
    for place in range(number):
        column = (
            pa.array(random.normal(size=len(rows)))
            if place % 2 == 0
            else pa.array(np.where(random.random(len(rows)) < 0.5, "yes", "no"), pa.string())
        )
        rows = rows.append_column(_free_name(rows, f"irrelevant {place + 1}"), column)
    return rows


def _copied(rows: pa.Table, _random: Random, number: int, apart: set[str]) -> pa.Table:
    for name in [name for name in rows.column_names if name not in apart]:
        for time in range(number):
            rows = rows.append_column(_free_name(rows, f"{name} again {time + 1}"), rows[name])
    return rows


def _gaps(rows: pa.Table, random: Random, share: float, apart: set[str]) -> pa.Table:
    for place, name in enumerate(rows.column_names):
        if name not in apart:
            kept = pa.array(np.arange(len(rows)), mask=random.random(len(rows)) < share)
            rows = rows.set_column(place, name, rows[name].combine_chunks().take(kept))
    return rows


def _taken(column: pa.ChunkedArray, rows: object) -> Any:
    return column.combine_chunks().take(pa.array(rows))


def _free_name(rows: pa.Table, name: str) -> str:
    """An unused column name."""
    while name in rows.column_names:
        name += "'"
    return name
