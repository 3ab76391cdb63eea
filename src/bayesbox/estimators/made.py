"""A generated scikit-learn estimator for a kind of classifier that does not define one."""

from __future__ import annotations

from functools import cache
from typing import Any

from bayesbox.classifier.table import TableClassifier
from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.parameters import estimator


@cache
def estimator_of_kind(classifier: type[TableClassifier[Any, Any, Any]]) -> Any:
    """The estimator class of a registered kind of classifier: `estimator_of_kind(Tempered)(power=0.5).fit(X, y)`."""
    body = {
        "classifier_type": classifier,
        "__doc__": classifier.__doc__,
        "__module__": classifier.__module__,
        "__qualname__": f"{classifier.__qualname__}Estimator",
    }
    return estimator(type(f"{classifier.__name__}Estimator", (CalibratedEstimator, classifier.options_type), body))
