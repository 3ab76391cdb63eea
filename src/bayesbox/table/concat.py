"""Columns of several batches as one: numbers as doubles, categories as codes over the levels of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows
from bayesbox.dist.base import Doubles
from bayesbox.schema.coded import LevelCodes, recode
from bayesbox.schema.encode import MISSING
from bayesbox.schema.kinds import Kind
from bayesbox.table.auto.features import column_values


def class_codes(part: LabelledRows, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The labels as places among the classes, MISSING for another."""
    place = {name: code for code, name in enumerate(classes)}
    return recode(part.labels.codes, part.labels.levels, place, dtype=np.int64)


def concat_column(parts: Sequence[LabelledRows], name: str, kind: Kind) -> Doubles | LevelCodes:
    """A column of all parts: doubles, or codes and their texts; missing in a part that does not have it."""
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
