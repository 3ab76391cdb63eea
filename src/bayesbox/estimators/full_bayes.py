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

    Categories and flags have a joint table over their tuples, numbers a multivariate normal (divided by n), and if
    there are both, a tuple with enough rows has a normal of its own. A table that would not fit is refused with the
    number of its cells.

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
