"""The rows behind a cell of the confusion matrix, the most surprising first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.display.blocks import Block, TableBlock
from bayesbox.display.result import Result
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.source.base import Batch, taken
from bayesbox.stat.row_scores import RowScores

MOST_COLUMNS = 6  # columns of the data printed beside the prediction
LONGEST = 60  # characters printed per value


@dataclass(frozen=True, repr=False)
class PredictedRows(Result):
    """Rows with their true and predicted class, ordered by P(true class), the most surprising first.

    `index` has the row numbers, from 0; with repeated cross-validation a row may occur several times.
    """

    scores: RowScores
    batch: Batch | None = None

    @property
    def index(self) -> list[int]:
        """The numbers of the rows, from 0."""
        return [int(row) for row in self.scores.rows]

    def __len__(self) -> int:
        return len(self.scores)

    def _headline(self) -> str:
        return f"PredictedRows({len(self):,} rows, the most surprising first)"

    def _answers(self) -> dict[str, list[Any]]:
        scores = self.scores
        return {
            "row": self.index,
            "true": [scores.labels[code] for code in scores.true],
            "predicted": [scores.labels[code] for code in scores.predicted],
            "P(true)": np.exp(scores.log_true).tolist(),
            "P(predicted)": scores.confidence.tolist(),
        }

    def _columns(self) -> dict[str, Column]:
        batch = self.batch
        if batch is None:
            return {}
        return {
            name: taken(column, self.scores.rows)
            for name, column in zip(batch.names, batch.columns, strict=True)
            if not isinstance(column, CountMatrix)
        }

    def _blocks(self) -> Sequence[Block]:
        most = TableBlock(["row"], []).most
        shown = PredictedRows(self.scores.take(np.arange(min(len(self), most))), self.batch)
        answers, data = shown._answers(), shown._columns()
        names = list(data)[:MOST_COLUMNS]
        columns = [*answers.values(), *([_short(value) for value in _values(data[name])] for name in names)]
        rows = [list(row) for row in zip(*columns, strict=True)]
        rows += [[None] * len(columns)] * (len(self) - len(shown))  # counted, not shown
        hidden = len(data) - len(names)
        more = f"; {hidden} more columns in to_frame()" if hidden else ""
        return [TableBlock([*answers, *names], rows, caption=f"{len(self):,} rows, the most surprising first{more}")]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        answers = self._answers()
        data = {name if name not in answers else f"{name} (data)": column for name, column in self._columns().items()}
        return {**answers, **{name: _values(column) for name, column in data.items()}}


def _values(column: Column) -> list[Any]:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column.to_pylist()  # type: ignore[no-any-return]
    assert not isinstance(column, CountMatrix)
    return list(np.asarray(column).tolist())


def _short(value: object) -> Any:
    text = str(value)
    return value if not isinstance(value, str) or len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
