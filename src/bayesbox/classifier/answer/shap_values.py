"""The terms of an explanation as a `shap.Explanation`: base values and values that sum to the model's output."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.case import value_text
from bayesbox.errors import BadData, MissingExtra
from bayesbox.explain.evidence import lead
from bayesbox.schema.columns import CountMatrix

if TYPE_CHECKING:
    from bayesbox.classifier.answer.explanation import RowsExplanation
    from bayesbox.dist.base import Doubles

CALIBRATION = "(calibration)"


def shap_explanation(found: RowsExplanation, label: object, against: object) -> Any:
    """A `shap.Explanation`: see `RowsExplanation.to_shap`."""
    try:
        with warnings.catch_warnings():  # shap may use deprecated parts of matplotlib
            warnings.simplefilter("ignore")
            import shap
    except ImportError as error:
        raise MissingExtra("shap", "shap") from error
    values, base, output = _log_odds(found, label, against)
    if not (np.isfinite(values).all() and np.isfinite(base).all()):
        raise BadData(
            "a term is infinite, since a value is impossible in a class, and shap needs finite numbers",
            remedy="Train with a smoothing rule without zeros, such as laplace",
        )
    names = list(found.columns)
    data = np.array([list(row) for row in shown_values(found)], dtype=object).reshape(len(found), len(names))
    if output is not None:
        rest = output - base - values.sum(axis=1)
        values = np.concatenate([values, rest[:, None]], axis=1)
        data = np.concatenate([data, np.full((len(found), 1), "", dtype=object)], axis=1)
        names.append(CALIBRATION)
    classes = [str(each) for each in found.labels.tolist()]
    outputs = classes if values.ndim == 3 else None
    return shap.Explanation(values, base_values=base, data=data, feature_names=names, output_names=outputs)


def _log_odds(found: RowsExplanation, label: object, against: object) -> tuple[Doubles, Doubles, Doubles | None]:
    """(values, base values, the calibrated sums or None for a model without calibration)."""
    calibrated = found.classifier.calibrated is not None
    log_p = found.classifier.log_posterior(found.batch) if calibrated else None
    rows = len(found)
    if label is None and against is None and len(found.labels) > 2:
        terms = np.moveaxis(found.terms, 1, 2)  # rows x columns x classes
        values = terms - terms.mean(axis=2, keepdims=True)
        base = np.tile(found.prior - found.prior.mean(), (rows, 1))
        return values, base, None if log_p is None else log_p - log_p.mean(axis=1, keepdims=True)
    one, other = _pair(found, label, against)
    values = lead(found.terms[:, one], found.terms[:, other])
    base = np.full(rows, float(lead(found.prior[one], found.prior[other])))
    return values, base, None if log_p is None else lead(log_p[:, one], log_p[:, other])


def _pair(found: RowsExplanation, label: object, against: object) -> tuple[int, int]:
    """The indices of two classes: those named, or the second against the first if there are two."""
    if len(found.labels) == 2:
        if label is not None:
            one = found.position(label)
            return one, 1 - one if against is None else found.position(against)
        other = 0 if against is None else found.position(against)
        return 1 - other, other
    if label is None or against is None:
        raise BadData("with more than two classes, name both", remedy="Pass label= and against=, or neither")
    return found.position(label), found.position(against)


def shown_values(found: RowsExplanation) -> list[list[Any]]:
    """The values of the rows, rows x columns; None for a missing value."""
    columns = found.classifier.shown_columns(found.batch)
    by_column: list[list[Any]] = []
    for name in found.columns:
        column = columns.get(name)
        if column is None:
            by_column.append([None] * len(found))
        elif isinstance(column, CountMatrix):
            by_column.append([value_text(column)] * len(found))
        else:
            values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
            by_column.append([None if value is None or value != value else value for value in values])
    return [list(row) for row in zip(*by_column, strict=True)] if by_column else [[] for _ in range(len(found))]
