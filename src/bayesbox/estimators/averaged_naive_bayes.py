"""`AveragedNaiveBayes`, a scikit-learn estimator over averaged naive Bayes."""

from __future__ import annotations

from typing import Any

from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.parameters import estimator
from bayesbox.table.averaged.classifier import AveragedClassifier
from bayesbox.table.averaged.options import AveragedOptions


@estimator
class AveragedNaiveBayes(CalibratedEstimator[AveragedClassifier], AveragedOptions):
    """Naive Bayes averaged exactly over all subsets of the columns.

    P(c, x) = P(c) times the product of w_j P(x_j | c) + (1 - w_j) P(x_j), at the cost of one naive Bayes.

    Examples
    --------
    >>> smoker = ["yes", "no"] * 20
    >>> day = ["odd", "odd", "even", "even"] * 10
    >>> clf = AveragedNaiveBayes().fit({"smoker": smoker, "day": day}, ["ill", "well"] * 20)
    >>> {name: round(weight, 3) for name, weight in clf.inclusion_.items()}
    {'smoker': 1.0, 'day': 0.273}
    """

    classifier_type = AveragedClassifier

    @property
    def inclusion_(self) -> dict[str, float]:
        """P(the column depends on the class | rows), by column."""
        self._require_fitted()
        return dict(self.classifier_.model.inclusion)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
