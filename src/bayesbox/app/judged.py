"""The data of the data view and of the evaluation view."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.app.rows import finite
from bayesbox.classifier.case import batch_of_values
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.report.describe import column_facts, remarks
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.errors import BayesboxError, DataWarning
from bayesbox.file.reader import Json
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.kinds import BY_NAME
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch, Source, taken
from bayesbox.tally.grid import Grid, edges

FIGURES = {
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "brier": "Brier score",
    "auc": "area under ROC",
    "calibration_error": "calibration error",
}
HOW = {"rows": "", "training-rows": "training rows", "held-out": "held-out rows"}  # rows: of a given table
STEPS = 100  # of the threshold from 0 to 1
MOST_ROWS = 50  # of a cell, shown
MOST_KEPT = 100_000  # rows of a table kept for display; with more, a sample
MOST_REMARKS = 20
MOST_BARS = 24  # of the histogram of a column


def evaluation_found(evaluation: Evaluation) -> Json:
    """Metrics with intervals, the confusion matrix, the reliability bins, and for two classes the thresholds."""
    found = evaluation.as_dict()
    figures = []
    for name, title in FIGURES.items():
        value = getattr(evaluation, name)
        if math.isnan(value):  # the area under ROC of rows of one class
            continue
        low, high = value.interval
        figures.append({"name": title, "value": float(value), "low": float(low), "high": float(high)})
    bins = [each for each in found["bins"] if each["n"]]
    shown: Json = finite(
        {
            "how": HOW.get(found["how"], found["how"]),
            "rows": found["rows"],
            "classes": found["classes"],
            "figures": figures,
            "confusion": found["confusion"],
            "bins": [{key: each[key] for key in ("n", "confidence", "accuracy", "low", "high")} for each in bins],
            "steps": _steps(evaluation) if len(found["classes"]) == 2 and evaluation.each is not None else None,
        }
    )
    return shown


def _steps(evaluation: Evaluation) -> Json:
    """For the second class, the numbers of positive and negative rows with at least each probability."""
    table = evaluation.thresholds(evaluation.labels[1])
    at = [place / STEPS for place in range(STEPS + 1)]
    places = np.searchsorted(table.thresholds, at)
    hits, alarms = (np.append(each, 0.0)[places].tolist() for each in (table.hits, table.alarms))
    counts = {"positives": table.positives, "negatives": table.negatives}
    return {"label": table.label, "at": at, "hits": hits, "alarms": alarms, **counts}


class KeptRows:
    """The rows of an evaluated table, to show those of a cell; a fixed sample of a long table."""

    def __init__(self, evaluation: Evaluation, source: Source, names: Sequence[str]) -> None:
        each = evaluation.each
        self.total = 0 if each is None or not len(each) else int(each.rows.max()) + 1
        self.sampled = self.total > MOST_KEPT
        draw = np.random.default_rng(0)
        self._wanted = np.sort(draw.choice(self.total, MOST_KEPT, replace=False)) if self.sampled else None
        self._names = names
        self._parts: list[tuple[NDArray[np.int64], Batch]] = []
        self._starts: list[int] = []
        first = 0
        for batch in source.batches() if self.total else ():
            self._keep(batch, first)
            first += batch.rows

    def _keep(self, batch: Batch, first: int) -> None:
        names = tuple(name for name in self._names if name in batch.names and not isinstance(batch[name], CountMatrix))
        if self._wanted is None:
            rows = np.arange(first, first + batch.rows)
            part = batch.select(names)
        else:
            rows = self._wanted[slice(*np.searchsorted(self._wanted, [first, first + batch.rows]))]
            part = Batch(names, tuple(taken(batch[name], rows - first) for name in names), len(rows), first)
        if len(rows):
            self._starts.append(int(rows[0]))
            self._parts.append((rows, part))

    def has(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these are kept."""
        return np.ones(len(rows), dtype=bool) if self._wanted is None else np.isin(rows, self._wanted)

    def values(self, row: int) -> Json:
        """The values of a row by column."""
        at = int(np.searchsorted(self._starts, row, side="right")) - 1
        if at < 0:
            return {}
        rows, part = self._parts[at]
        place = int(np.searchsorted(rows, row))
        if place >= len(rows) or rows[place] != row:
            return {}
        found = {name: _cell(part[name], place) for name in part.names}
        return {name: value for name, value in found.items() if value is not None}


def cell_rows(evaluation: Evaluation, kept: KeptRows, cell: Sequence[int]) -> Json:
    """The rows of a cell of the confusion matrix, the most surprising first."""
    true, predicted = (evaluation.labels[place] for place in cell)
    scores = evaluation.rows(true=true, predicted=predicted).scores
    shown = []
    for place in np.flatnonzero(kept.has(scores.rows))[:MOST_ROWS].tolist():
        row, share = int(scores.rows[place]), math.exp(float(scores.log_true[place]))
        shown.append({"number": row + 1, "pTrue": share, "row": kept.values(row)})
    sample = [MOST_KEPT, kept.total] if kept.sampled else None
    return {"number": len(scores), "shown": shown, "sample": sample}


def _cell(column: Any, row: int) -> Any:
    value = column[row].as_py() if hasattr(column[row], "as_py") else column[row]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:
        return None
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else level_text(value)


def data_found(classifier: AnyTableClassifier) -> Json:
    """Every column: its type, missing values, distribution, and expected information about the class in bits."""
    schema, book = classifier.schema, classifier.book
    assert schema is not None
    bits, why = _bits(classifier)
    columns = []
    for each in column_facts(schema, book):
        seen = each.observed + each.missing
        columns.append(
            {
                "name": each.name,
                "kind": each.kind,
                "missing": each.missing / seen if seen else 0.0,
                "values": each.values,
                "shape": _shape(book.columns.get(each.name)),
                "bits": bits.get(each.name),
                "why": classifier.model.ignored.get(each.name) or why.get(each.name),
            }
        )
    notes = [str(each) for each in remarks(schema, book)[:MOST_REMARKS]]
    kinds = [name for name in BY_NAME if name != "words"]
    return {"rows": _whole(float(book.n.sum())), "columns": columns, "remarks": notes, "kinds": kinds}


def _shape(tally: Any) -> list[Json] | None:
    """The counts of a column as bars: by level, the most frequent first, or by bins of equal width."""
    if isinstance(tally, Grid):
        return _histogram(tally)
    if not hasattr(tally, "by_level"):
        return None
    counts = tally.by_level().to_doubles()
    order = np.argsort(-counts, kind="stable")[:MOST_BARS]
    return [{"name": tally.levels[place], "count": _whole(float(counts[place]))} for place in order.tolist()]


def _histogram(tally: Grid) -> list[Json] | None:
    """The cells of the values between the 1st and the 99th percentile, merged if there are many."""
    if tally.is_empty():
        return None
    low, high = tally.quantile(0.01)[0], tally.quantile(0.99)[1]
    left, right = edges(tally.cells)
    inside = np.flatnonzero((left >= low) & (right <= high))
    parts = np.array_split(inside, min(len(inside), MOST_BARS))
    counts = tally.pooled_counts()
    bars = [(float(left[part[0]]), float(right[part[-1]]), float(counts[part].sum())) for part in parts if len(part)]
    if not bars or not all(math.isfinite(end) for start, stop, _ in bars for end in (start, stop)):
        return None
    return [
        {"name": f"{start:.4g} to {stop:.4g}", "count": _whole(count), "from": start, "to": stop}
        for start, stop, count in bars
        if stop > start
    ]


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def _bits(classifier: AnyTableClassifier) -> tuple[dict[str, float], dict[str, str]]:
    """The information of each column without evidence, and why others have none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            asked = classifier.ask_next(batch_of_values(classifier, {}))
    except BayesboxError as error:
        return {}, dict.fromkeys(classifier.model.columns, str(error))
    return {each.column: each.information for each in asked}, dict(asked.silent)
