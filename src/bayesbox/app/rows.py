"""The data of the classifier views: its columns, the answer for one row, and the rulers of its nomogram.

`row_answer` and `rulers_of` give the same as `whatIfAnswer` and `rulersOf` in answers.js, computed in Python.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.app.document.tree import numbers
from bayesbox.classifier.case import RowCase, batch_of_values
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.number.density import NumberFamily
from bayesbox.errors import BayesboxError, DataWarning
from bayesbox.explain.credible import share_interval
from bayesbox.file.reader import Json
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch
from bayesbox.tally.grid import Grid

SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)  # the quantiles of each class marked on a ruler
POINTS = 24  # of the Gauss rule over the quantiles of each class, with which the page averages over a number
MOST_CLASSES = 12  # with such points for a number
MOST_MARKS = 40
DIGITS = 3
LEVEL = 0.95  # of the intervals
DRAWS = 1000  # draws for the interval of an answer
MOST_SURE = 60  # levels of a column with intervals


def row_spec(classifier: AnyTableClassifier, *, suppress: int = 0) -> Json:
    """The columns that can be set, with levels, ranges and counts; counts below `suppress` are omitted."""
    schema = classifier.schema
    assert schema is not None
    ignored = classifier.model.ignored
    names = [name for name in schema.used_columns if name not in ignored]
    calibrated = classifier.calibrated
    sure = {} if suppress else _intervals(classifier)
    return {
        "target": classifier.target,
        "classes": list(classifier.model.classes),
        "title": classifier.title,
        "columns": [_column(classifier, name, suppress, sure) for name in names],
        "calibration": None if calibrated is None else calibrated.name,
        "rows": _whole(float(classifier.book.n.sum())) if not classifier.fixed else None,
        "digest": None if classifier.fixed else classifier.book.digest(),
    }


def _column(classifier: AnyTableClassifier, name: str, suppress: int, sure: Mapping[str, list[list[float]]]) -> Json:
    assert classifier.schema is not None
    kind = classifier.schema.kinds[name]
    known = classifier.known_levels().get(name)
    if known is not None or kind.tally == "counts":
        levels = list(known.levels) if known is not None else []
        found = {"name": name, "kind": "category", "levels": levels, **_counts(classifier, name, levels, suppress)}
        ranges = [sure.get(f"P({name}={level} | class)") for level in levels] if len(levels) <= MOST_SURE else [None]
        return found | ({"sure": ranges} if "counts" in found and all(ranges) else {})
    if kind.is_number and not kind.translates:
        return {"name": name, "kind": "number", **_range(classifier, name)}
    return {"name": name, "kind": "text"}


def _intervals(classifier: AnyTableClassifier) -> dict[str, list[list[float]]]:
    """The interval of each counted probability, by its name in the tables: low and high by class."""
    if classifier.fixed or not isinstance(classifier.model, NaiveModel):
        return {}
    if len(classifier.model.classes) > MOST_CLASSES:
        return {}
    found = {}
    for table in classifier.learned_tables(MOST_SURE):
        for row in table.rows:
            ranges = [
                share_interval(each, float(value), LEVEL)
                for each, value in zip(row.posteriors, row.values, strict=False)
            ]
            found[row.name] = [[_digits(each.low), _digits(each.high)] for each in ranges]
    return found


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _counts(classifier: AnyTableClassifier, name: str, levels: Sequence[str], suppress: int) -> Json:
    tally: Any = classifier.book.columns.get(name)
    if tally is None or classifier.fixed or getattr(tally, "of_numbers", False) or not hasattr(tally, "counts"):
        return {}
    order = [tally.classes.index(each) if each in tally.classes else None for each in classifier.model.classes]
    counted, places = np.asarray(tally.counts, dtype=float), {level: at for at, level in enumerate(tally.levels)}
    total = np.asarray(tally.n, dtype=float)
    rows = [
        [0.0 if at is None or level not in places else float(counted[at, places[level]]) for at in order]
        for level in levels
    ]
    if any(0 < each < suppress for row in rows for each in row):
        return {}
    n = [0.0 if at is None else float(total[at]) for at in order]
    return {"counts": [[_whole(each) for each in row] for row in rows], "n": [_whole(each) for each in n]}


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def _range(classifier: AnyTableClassifier, name: str) -> Json:
    """The range of a number, the marks of its ruler, and points of equal probability in each class."""
    found = classifier.model.conditional(name)
    marked = None if found is None else _quantiles(found, SHARES)
    if found is None or marked is None:
        low, high = _learned_range(classifier, name)
        return {"low": low, "high": high, "marks": _rounded(np.linspace(low, high, 9))}
    marks = _rounded(marked.ravel())
    spec: Json = {"low": marks[0], "high": marks[-1], "marks": marks[:MOST_MARKS]}
    if len(classifier.model.classes) <= MOST_CLASSES:
        places, weights = np.polynomial.legendre.leggauss(POINTS)
        points = _quantiles(found, ((places + 1) / 2).tolist())
        if points is not None:
            spec |= {"quantiles": numbers(points.T), "weights": (weights / 2).tolist()}
    return spec


def _quantiles(distribution: Distribution, shares: Sequence[float]) -> Doubles | None:
    """The quantiles, probabilities x classes; None if the column has none, or some are infinite."""
    if not isinstance(distribution, NumberFamily):
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DataWarning)
        found = distribution.quantiles(shares)
    return found if found is not None and np.isfinite(found).all() else None


def _learned_range(classifier: AnyTableClassifier, name: str) -> tuple[float, float]:
    tally = classifier.book.columns.get(name)
    if isinstance(tally, Grid):
        low, high = tally.clipped(-math.inf, math.inf)
        return float(low), float(high)
    if tally is None or not hasattr(tally, "pooled"):
        return 0.0, 1.0
    whole = tally.pooled()
    return whole.mean - 3 * whole.std, whole.mean + 3 * whole.std


def _rounded(values: Any) -> list[float]:
    """The sorted distinct values, rounded to a few digits of their range."""
    finite = [float(each) for each in values if math.isfinite(each)]
    if not finite:
        return []
    spread = max(finite) - min(finite)
    places = DIGITS - 1 - math.floor(math.log10(spread)) if spread > 0 else DIGITS
    return sorted({round(each, places) + 0.0 for each in finite})


def row_answer(classifier: AnyTableClassifier, row: Mapping[str, Any], *, brief: bool = False) -> Json:
    """The answer for one row: posterior, contributions of the columns and notes; unless brief, also what to ask next,
    what would flip it, and the calculation. Or the error in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            texts = texts_of(row)
            batch = batch_of_values(classifier, texts)
            answer = _answer(classifier, texts, batch)
            return answer if brief else {**answer, **_details(classifier, texts, batch)}
    except BayesboxError as error:
        return {"error": str(error)}


def texts_of(row: Mapping[str, Any]) -> dict[str, str]:
    """The values of a row as texts; unknown ones are omitted."""
    return {
        name: value if isinstance(value, str) else level_text(value) for name, value in row.items() if value is not None
    }


def _details(classifier: AnyTableClassifier, texts: Mapping[str, str], batch: Batch) -> Json:
    """The slower parts of the answer."""
    flip = _flipped(classifier, batch) if texts else None
    work, asked = str(classifier.work(batch)), _asked(classifier, batch)
    found: Json = finite({"ask": asked, "flip": flip, "work": work, "interval": _sure(classifier, batch)})
    return found


def _sure(classifier: AnyTableClassifier, batch: Batch) -> list[list[float]] | None:
    """The interval of the probability of each class; None if it does not depend on counts."""
    try:
        found = classifier.posterior_interval(batch, level=LEVEL, draws=DRAWS, seed=0)
    except BayesboxError:
        return None
    return [[float(each.low), float(each.high)] for each in found.values()]


def _answer(classifier: AnyTableClassifier, texts: Mapping[str, str], batch: Batch) -> Json:
    case = classifier.case(batch)
    assert isinstance(case, RowCase)
    classes = classifier.model.classes
    posterior = [case.posterior[name] for name in classes]
    odds = {name: moved for name, _, moved in case.columns}
    terms = [{"column": name, "text": f"= {texts[name]}", "logOdds": odds.get(name, 0.0)} for name in texts]
    plain = case.log_odds - (case.calibration_log_odds or 0.0)
    calibrated = case.calibration_log_odds
    answer: Json = {
        "posterior": posterior,
        "label": classes.index(case.prediction),
        "against": None if case.against is None else classes.index(case.against),
        "priorLogOdds": case.prior_log_odds,
        "terms": terms,
        "logOdds": plain,
        "calibration": None
        if calibrated is None or classifier.calibrated is None
        else {"name": classifier.calibrated.name, "logOdds": calibrated},
        "notes": case.notes(classifier),
    }
    shown: Json = finite(answer)
    return shown


def _asked(classifier: AnyTableClassifier, batch: Batch) -> list[Json]:
    """What to ask next; empty on an error, or if it would take long."""
    if classifier.answers_are_slow:
        return []
    try:
        asked = classifier.ask_next(batch)
    except BayesboxError:
        return []
    return [{"column": each.column, "bits": each.information} for each in asked]


def _flipped(classifier: AnyTableClassifier, batch: Batch) -> Json | None:
    """The smallest change that gives the row another class."""
    if classifier.answers_are_slow:
        return None
    try:
        best = classifier.flip(batch).best
    except BayesboxError:
        return None
    if best is None:
        return None
    return {"changes": best.values, "prediction": best.prediction, "probability": best.probability}


def finite(value: object) -> Any:
    """A JSON value with infinite numbers replaced by the largest finite ones."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return 0.0 if math.isnan(value) else math.copysign(1e308, value)
    return value


def rulers_of(
    classifier: AnyTableClassifier, spec: Json, pair: Sequence[int | None], row: Mapping[str, Any]
) -> Json | None:
    """The contribution of each value of each column to the log-odds of two classes; None if there is one class."""
    label, against = pair
    if label is None or against is None:
        return None
    marked: list[tuple[str, Any]] = []
    for column in spec["columns"]:
        own = column.get("marks") if column["kind"] == "number" else column.get("levels", [])[:MOST_MARKS]
        values = list(own or [])
        given = row.get(column["name"])
        if column["kind"] == "number" and isinstance(given, int | float) and given not in values:
            values = sorted([*values, given])
        marked += [(column["name"], value) for value in values]
    odds = _odds(classifier, marked, label, against)
    rulers = []
    for column in spec["columns"]:
        marks = [
            {"value": value, "logOdds": odd}
            for (name, value), odd in zip(marked, odds, strict=True)
            if name == column["name"]
        ]
        rulers.append({"column": column["name"], "isScale": column["kind"] == "number", "marks": marks})
    log_prior = classifier.model.log_prior
    start = float(log_prior[label] - log_prior[against])
    found: Json = finite({"label": label, "against": against, "start": start, "rulers": rulers})
    return found


def _odds(classifier: AnyTableClassifier, marked: Sequence[tuple[str, Any]], label: int, against: int) -> list[float]:
    labels = classifier.model.labels
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for name, value in marked:
            explanation: Any = classifier.explain(batch_of_values(classifier, texts_of({name: value})))
            moved = explanation.column_odds(labels[label], labels[against])[0]
            found.append(float(moved[explanation.columns.index(name)]) if name in explanation.columns else 0.0)
    return found
