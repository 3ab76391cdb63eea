"""`FullBayes`, a scikit-learn estimator over the full Bayes classifier."""

from __future__ import annotations

from typing import Any

from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.parameters import estimator
from bayesbox.table.full.classifier import FullClassifier
from bayesbox.table.full.options import FullOptions


@estimator
class FullBayes(CalibratedEstimator[FullClassifier], FullOptions):
    """The full Bayes classifier: P(all columns | class), without any independence assumption.

    Categories and flags have one joint table, numbers a multivariate normal whose covariance is divided by n. If there
    are both, each combination of levels with enough rows has its own normal. A joint table that is too large for memory
    is an error that names its number of cells.

    Examples
    --------
    >>> clf = FullBayes(smoothing="mle").fit(
    ...     {"colour": ["red", "red", "blue", "blue"], "size": ["small", "large", "small", "large"]},
    ...     ["+", "-", "-", "+"])
    >>> clf.predict([{"colour": "blue", "size": "large"}])
    array(['+'], dtype='<U1')
    """

    classifier_type = FullClassifier

    @property
    def notes_(self) -> tuple[str, ...]:
        """Notes on the covariances that were shrunk."""
        self._require_fitted()
        notes: tuple[str, ...] = self.classifier_.model.notes
        return notes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
