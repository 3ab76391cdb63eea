"""A trained model in the languages of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesbox.errors import CannotExport
from bayesbox.model.naive import NaiveModel
from bayesbox.workflow.naive import NaiveClassifier


def sql_of(classifier: Any, dialect: str, *, table: str = "data", keep: Sequence[str] = ()) -> str:
    """The model as an SQL statement."""
    from bayesbox.export.sql import to_sql

    return to_sql(_naive(classifier), dialect, table=table, keep=keep, fold=classifier.fold)


def pmml_of(classifier: Any, *, target: str | None = None) -> str:
    """The model as a PMML document."""
    from bayesbox.export.pmml import to_pmml

    return to_pmml(_naive(classifier), target=target or classifier.target, fold=classifier.fold)


def onnx_of(classifier: Any) -> bytes:
    """The model as an ONNX file."""
    from bayesbox.export.onnx import to_onnx

    return to_onnx(_naive(classifier), fold=classifier.fold)


def _naive(classifier: Any) -> NaiveModel:
    if not isinstance(classifier, NaiveClassifier):
        title = getattr(classifier, "title", "a model of documents")
        raise CannotExport(f"{title} has no form in another language so far", remedy="Naive Bayes can be exported")
    if classifier.calibrated is not None:  # its answers would be others than those of predict_proba
        raise CannotExport(
            "this model is calibrated, and its calibration has no form in another language so far",
            remedy="Train it without calibration and export that",
        )
    model: NaiveModel = classifier.model
    if any(model.weight_of(conditional) != 1 for conditional in model.conditionals):
        raise CannotExport(
            "the columns of this model have weights, which have no form in another language so far",
            remedy="Train it without column_weights; columns that were only selected can be exported",
        )
    return model
