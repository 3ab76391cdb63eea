"""Export of a trained model to SQL, PMML and ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CalibrationNotExported, CannotExport
from bayesbox.stat.calibrate import Temperature
from bayesbox.table.naive.classifier import NaiveClassifier


def sql_of(classifier: object, dialect: str, *, table: str = "data", keep: Sequence[str] = ()) -> str:
    """The model as an SQL statement."""
    from bayesbox.export.sql import to_sql

    naive = _naive(classifier)
    return to_sql(_weighed(naive), dialect, table=table, keep=keep, one_hot=naive.one_hot, power=_power(naive))


def spark_steps_of(
    classifier: object, columns: Mapping[str, tuple[str, str]], *, proba: bool = False
) -> list[list[str]]:
    """The model as expressions of Spark, from columns given by their references and types."""
    from bayesbox.export.spark_columns import SparkColumn, scoring_steps

    naive = _naive(classifier)
    if naive.one_hot:
        raise CannotExport("one-hot groups are read by the core", remedy='Write engine="arrow"')
    found = {name: SparkColumn(*column) for name, column in columns.items()}
    return scoring_steps(_weighed(naive), found, power=_power(naive), proba=proba)


def pmml_of(classifier: object, *, target: str | None = None) -> str:
    """The model as a PMML document."""
    from bayesbox.export.pmml import to_pmml

    naive = _naive(classifier)
    model: NaiveModel = naive.model
    if naive.calibrated is not None:
        warnings.warn(CalibrationNotExported("PMML", naive.calibrated.name), stacklevel=3)
    if model.is_weighted:
        raise CannotExport(
            "PMML cannot express column weights",
            remedy="Export to SQL or ONNX, or train without column_weights; a selection of columns can be exported",
        )
    return to_pmml(model, target=target or naive.target, one_hot=naive.one_hot)


def onnx_of(classifier: object) -> bytes:
    """The model as an ONNX file."""
    from bayesbox.export.onnx import to_onnx

    naive = _naive(classifier)
    return to_onnx(_weighed(naive), one_hot=naive.one_hot, power=_power(naive))


def _naive(classifier: Any) -> NaiveClassifier:
    if not isinstance(classifier, NaiveClassifier):
        raise CannotExport(f"{classifier.title} cannot be exported", remedy="Train naive Bayes, which can be exported")
    kinds = classifier.schema.kinds if classifier.schema else {}
    for name, kind in kinds.items():
        if not kind.translates:
            continue
        raise CannotExport(
            f"column `{name}` is a {kind.name}, which cannot be exported",
            remedy="Convert the column before training, and declare its new type",
        )
    return classifier


def _weighed(classifier: NaiveClassifier) -> NaiveModel:
    """The model with the column weights of its calibration."""
    weights = None if classifier.calibrated is None else classifier.calibrated.weights
    return classifier.model if weights is None else classifier.weighed(weights).model


def _power(classifier: NaiveClassifier) -> float:
    """The exponent of the probabilities before normalisation: that of a temperature, or 1."""
    if classifier.calibrated is None:
        return 1.0
    calibration = classifier.calibrated.calibration
    if not (calibration is None or isinstance(calibration, Temperature)):  # its predictions would differ from predict
        raise CannotExport(
            f"this model has the calibration `{calibration.kind}`, which cannot be exported",
            remedy="Calibrate it by temperature, or train without calibration",
        )
    if not np.array_equal(classifier.calibrated.log_prior, classifier.model.log_prior):
        raise CannotExport(
            "this model was calibrated under another prior", remedy="Train it with the prior, or without calibration"
        )
    return 1.0 if calibration is None else calibration.power
