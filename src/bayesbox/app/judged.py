"""What the pictures of data and of an evaluation show."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbox.app.rows import finite
from bayesbox.classifier.case import batch_of_values
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.report.describe import column_facts, remarks
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.errors import BayesboxError, DataWarning
from bayesbox.file.reader import Json
from bayesbox.schema.levels import level_text

FIGURES = ("accuracy", "log_loss", "brier", "auc", "calibration_error")
STEPS = 100  # of the threshold from 0 to 1
MOST_ROWS = 50  # of a cell that are shown
MOST_REMARKS = 20


def evaluation_found(evaluation: Evaluation) -> Json:
    """Figures with intervals, the confusion matrix, the bins of reliability, and of two classes the thresholds."""
    found = evaluation.as_dict()
    figures = []
    for name in FIGURES:
        value = getattr(evaluation, name)
        low, high = value.interval
        figures.append({"name": name.replace("_", " "), "value": float(value), "low": float(low), "high": float(high)})
    bins = [each for each in found["bins"] if each["n"]]
    shown: Json = finite(
        {
            "how": str(found["how"]).replace("-", " "),
            "rows": found["rows"],
            "classes": found["classes"],
            "figures": figures,
            "confusion": found["confusion"],
            "bins": [{key: each[key] for key in ("n", "confidence", "accuracy", "low", "high")} for each in bins],
            "steps": _steps(evaluation) if len(found["classes"]) == 2 else None,
        }
    )
    return shown


def _steps(evaluation: Evaluation) -> Json:
    """Of the second class: the rows with at least each probability, those that have the class and those that do not."""
    table = evaluation.thresholds(evaluation.labels[1])
    at = [place / STEPS for place in range(STEPS + 1)]
    places = np.searchsorted(table.thresholds, at)
    hits, alarms = (np.append(each, 0.0)[places].tolist() for each in (table.hits, table.alarms))
    counts = {"positives": table.positives, "negatives": table.negatives}
    return {"label": table.label, "at": at, "hits": hits, "alarms": alarms, **counts}


def cell_rows(evaluation: Evaluation, cell: Sequence[int], names: Sequence[str]) -> Json:
    """The rows of a cell of the confusion matrix, the most surprising first."""
    true, predicted = (evaluation.labels[place] for place in cell)
    found = evaluation.rows(true=true, predicted=predicted)
    batch = found.batch
    frame = found.scores.take(np.arange(min(len(found), MOST_ROWS)))
    shown = []
    for place, row in enumerate(frame.rows.tolist()):
        values = {} if batch is None else {name: _cell(batch[name], row) for name in names if name in batch.names}
        known = {name: value for name, value in values.items() if value is not None}
        shown.append({"number": row + 1, "pTrue": math.exp(float(frame.log_true[place])), "row": known})
    return {"number": len(found), "shown": shown}


def _cell(column: Any, row: int) -> Any:
    value = column[row].as_py() if hasattr(column[row], "as_py") else column[row]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:
        return None
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else level_text(value)


def data_found(classifier: AnyTableClassifier) -> Json:
    """Every column: its type, missing values, what it holds, and the bits it is expected to say of the class."""
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
                "bits": bits.get(each.name),
                "why": classifier.model.left_out.get(each.name) or why.get(each.name),
            }
        )
    notes = [str(each) for each in remarks(schema, book)[:MOST_REMARKS]]
    return {"rows": int(book.n.sum()), "columns": columns, "remarks": notes}


def _bits(classifier: AnyTableClassifier) -> tuple[dict[str, float], dict[str, str]]:
    """What each column says where nothing is known, and why others say nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            asked = classifier.ask_next(batch_of_values(classifier, {}))
    except BayesboxError as error:
        return {}, dict.fromkeys(classifier.model.columns, str(error))
    return {each.column: each.information for each in asked}, dict(asked.silent)
