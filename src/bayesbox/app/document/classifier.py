"""A classifier as a document: its form, its classes and prior, its calibration."""

from __future__ import annotations

from typing import Any

from bayesbox.app.document.forms import form_of
from bayesbox.app.document.tree import PAGE, numbers
from bayesbox.classifier.base import AnyClassifier
from bayesbox.errors import CannotExport
from bayesbox.file.reader import Json

FORMAT = 1


def classifier_document(classifier: AnyClassifier) -> Json:
    """The document of `Classifier` in engine.js, which gives the same answers as `predict_proba`."""
    kinds = {} if classifier.schema is None else classifier.schema.kinds
    for name, kind in kinds.items():
        if kind.translates:
            raise CannotExport(
                f"column `{name}` is a {kind.name}, which {PAGE} does not support",
                remedy="Open the model in the app, which uses the library",
            )
    calibrated = classifier.calibrated
    return {
        "format": FORMAT,
        "kind": classifier.kind,
        "classes": list(classifier.model.classes),
        "logPrior": numbers(classifier.model.log_prior),
        "oneHot": {name: list(flags) for name, flags in getattr(classifier, "one_hot", {}).items()},
        "calibration": None if calibrated is None else numbers_inside(calibrated.to_json()),
        "form": form_of(classifier),
    }


def numbers_inside(value: object) -> Any:
    """A JSON value with its numbers in JSON form."""
    if isinstance(value, dict):
        return {name: numbers_inside(each) for name, each in value.items()}
    return numbers(value)
