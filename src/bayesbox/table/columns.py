"""Columns for table models: numbers as doubles, categories as codes with their texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows
from bayesbox.schema.coded import LevelCodes, recode
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import MISSING, encode
from bayesbox.schema.flags import flag_level
from bayesbox.schema.kinds import Kind

Doubles = NDArray[np.float64]
Values = Doubles | LevelCodes


def column_values(column: object, kind: Kind, *, name: str) -> Values:
    """The values of a column: numbers as doubles with NaN for missing, a category as codes and their texts."""
    if kind.has_levels:
        found = encode(column)
        return found.codes, level_texts(found.levels, kind)
    return np.asarray(as_numbers(column, name=name), dtype=np.float64)


def level_texts(levels: Sequence[str], kind: Kind) -> list[str]:
    """The levels as texts; those of a flag are false and true in any spelling."""
    if kind.is_flag:
        return [flag_level(text) or text for text in levels]
    return list(levels)


def takes_part(kind: Kind) -> bool:
    """Whether a column of this type can be used."""
    return kind.has_levels or kind.is_number


def class_codes(part: LabelledRows, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The labels as indices of the classes, MISSING for an unknown one."""
    place = {name: code for code, name in enumerate(classes)}
    return recode(part.labels.codes, part.labels.levels, place, dtype=np.int64)


def concat_column(parts: Sequence[LabelledRows], name: str, kind: Kind) -> Values:
    """A column of all parts concatenated: doubles, or codes and their texts; missing in a part without it."""
    found = [column_values(part.batch[name], kind, name=name) if name in part.batch.names else None for part in parts]
    if not any(isinstance(each, tuple) for each in found):
        return np.concatenate(
            [
                np.full(part.batch.rows, np.nan) if each is None else each
                for part, each in zip(parts, found, strict=True)
            ]
        )
    texts = sorted({text for each in found if each is not None for text in each[1]})
    place = {text: code for code, text in enumerate(texts)}
    codes = [
        np.full(part.batch.rows, MISSING, dtype=np.int32) if each is None else recode(each[0], each[1], place)
        for part, each in zip(parts, found, strict=True)
    ]
    return np.concatenate(codes), texts
