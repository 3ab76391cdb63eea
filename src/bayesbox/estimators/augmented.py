"""What the estimators share in which columns depend on each other."""

from __future__ import annotations

from typing import Any, TypeVar

from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.parameters import estimator
from bayesbox.table.augmented.classifier import AugmentedClassifier

A = TypeVar("A", bound=AugmentedClassifier[Any, Any, Any])


@estimator
class AugmentedEstimator(CalibratedEstimator[A]):
    """A table estimator that cuts numbers into bins."""

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The cut points of the bins, by column of numbers."""
        self._require_fitted()
        return dict(self.classifier_.cuts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
