"""A trained model in the languages of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport
from bayesbox.stat.calibrate import Temperature
from bayesbox.table.naive.classifier import NaiveClassifier


def sql_of(classifier: Any, dialect: str, *, table: str = "data", keep: Sequence[str] = ()) -> str:
    """The model as an SQL statement."""
    from bayesbox.export.sql import to_sql

    model = _naive(classifier)
    return to_sql(model, dialect, table=table, keep=keep, fold=classifier.fold, power=_power(classifier))


def pmml_of(classifier: Any, *, target: str | None = None) -> str:
    """The model as a PMML document."""
    from bayesbox.export.pmml import to_pmml

    model = _naive(classifier)
    if _power(classifier) != 1:
        raise CannotExport("PMML has no form for a calibration", remedy="Export to SQL or ONNX, or train without it")
    if any(model.weight_of(conditional) != 1 for conditional in model.conditionals):
        raise CannotExport(
            "PMML has no form for the weights of columns",
            remedy="Export to SQL or ONNX, or train without column_weights; columns only selected can be exported",
        )
    return to_pmml(model, target=target or classifier.target, fold=classifier.fold)


def onnx_of(classifier: Any) -> bytes:
    """The model as an ONNX file."""
    from bayesbox.export.onnx import to_onnx

    model = _naive(classifier)
    return to_onnx(model, fold=classifier.fold, power=_power(classifier))


def _naive(classifier: Any) -> NaiveModel:
    if not isinstance(classifier, NaiveClassifier):
        title = getattr(classifier, "title", "a model of documents")
        raise CannotExport(f"{title} has no form in another language so far", remedy="Naive Bayes can be exported")
    model: NaiveModel = classifier.model
    return model


def _power(classifier: NaiveClassifier) -> float:
    """What the probabilities are raised to before they are made to sum to 1: a temperature, or 1."""
    if classifier.calibrated is None:
        return 1.0
    calibration = classifier.calibrated.calibration
    if not isinstance(calibration, Temperature):  # its answers would be others than those of predict_proba
        raise CannotExport(
            f"this model is calibrated by `{calibration.kind}`, which has no form in another language so far",
            remedy="Train it with calibration by temperature, or without",
        )
    if not np.array_equal(classifier.calibrated.log_prior, classifier.model.log_prior):
        raise CannotExport(
            "this model was calibrated under another prior", remedy="Train it with the prior, or without calibration"
        )
    return calibration.power
