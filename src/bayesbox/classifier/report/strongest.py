"""The strongest evidence for the class of each row, as one text per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox.explain.evidence import lead
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.compute import pc
from bayesbox.schema.encode import encode
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier

TERMS_AT_ONCE = 4_000_000  # rows x classes x columns held in memory at once
LONGEST = 60  # characters of a value shown in an explanation


def strongest_columns(
    classifier: AnyTableClassifier, batch: Batch, best: AnyArray, against: AnyArray, number: int
) -> pa.ChunkedArray:
    """For each row, the columns with the most evidence for one class over another: `age=34 +1.39; ...`."""
    model = classifier.model
    step = max(TERMS_AT_ONCE // (len(model.classes) * max(len(model.columns), 1)), 1)
    texts = []
    for start in range(0, batch.rows, step):
        part = batch.slice(start, min(start + step, batch.rows))
        rows, own = np.arange(part.rows), slice(start, start + part.rows)
        explanation = classifier.explain(part)
        odds = lead(explanation.terms[rows, best[own]], explanation.terms[rows, against[own]])
        order = np.argsort(-np.abs(odds), axis=1, kind="stable")[:, :number]
        texts.append(_strongest(explanation.columns, classifier.shown_columns(part), odds, order))
    return pa.chunked_array(texts, pa.string())


def _strongest(names: Sequence[str], columns: Mapping[str, Any], odds: Any, order: Any) -> pa.Array:
    """For each row, the columns in `order` as `name=value +1.39; ...`; columns without evidence are omitted."""
    rows, ranks = np.nonzero(np.take_along_axis(odds, order, axis=1))
    chosen = order[rows, ranks]
    texts, places = [pa.array([], pa.string())], []
    for index, name in enumerate(names):
        found = np.flatnonzero(chosen == index)
        if len(found):
            places.append(found)
            texts.append(_moved(name, columns.get(name), rows[found], odds[rows[found], index]))
    back = np.argsort(np.concatenate(places), kind="stable") if places else np.zeros(0, dtype=np.int64)
    offsets = np.searchsorted(rows, np.arange(len(odds) + 1)).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(offsets, pa.concat_arrays(texts).take(pa.array(back))), "; ")


def _moved(name: str, column: Any, rows: Any, odds: Any) -> pa.Array:
    """`name=value +1.39` for some rows of a column; distinct values and distinct figures are written once."""
    if column is None:
        values = pa.array(["(missing)"]).take(pa.array(np.zeros(len(rows), dtype=np.int64)))
    else:
        codes, levels, _ = encode(column)
        values = pa.array([*(cut(level) for level in levels), "(missing)"], pa.string()).take(
            pa.array(codes[rows] % (len(levels) + 1))
        )
    figures, inverse = np.unique(np.round(odds, 2), return_inverse=True)
    moves = pa.array([f"{figure:+.2f}" for figure in figures]).take(pa.array(inverse))
    return pc.binary_join_element_wise(pc.binary_join_element_wise(f"{name}=", values, ""), moves, " ")


def cut(text: str) -> str:
    """A value as text, truncated if it is long."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
