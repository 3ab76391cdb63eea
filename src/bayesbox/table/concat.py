"""Columns of several batches as one: numbers as doubles, categories as codes over the levels of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows
from bayesbox.table.auto.features import column_values


def class_codes(part: LabelledRows, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The labels as places among the classes, -1 for another."""
    place = {name: code for code, name in enumerate(classes)}
    return np.array([place.get(text, -1) for text in part.labels.levels], dtype=np.int64)[part.labels.codes]


def joined_column(parts: Sequence[LabelledRows], name: str, kind: Any) -> Any:
    """A column of all parts: doubles, or (codes, texts)."""
    found = []
    for part in parts:
        if name in part.batch.names:
            found.append(column_values(part.batch[name], kind, name=name))
        else:
            found.append(None)
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
        np.full(part.batch.rows, -1, dtype=np.int32)
        if each is None
        else np.array([*(place[text] for text in each[1]), -1], dtype=np.int32)[each[0]]
        for part, each in zip(parts, found, strict=True)
    ]
    return np.concatenate(codes), texts
