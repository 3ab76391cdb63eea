"""`AODE`, a scikit-learn estimator over averaged one-dependence estimators."""

from __future__ import annotations

from bayesbox.estimators.augmented import AugmentedEstimator
from bayesbox.estimators.parameters import estimator
from bayesbox.table.augmented.aode import OneDependenceClassifier
from bayesbox.table.augmented.options import OneDependenceOptions


@estimator
class AODE(AugmentedEstimator[OneDependenceClassifier], OneDependenceOptions):
    """Averaged one-dependence estimators: each column in turn is a parent of all others; the predictions are averaged.

    Examples
    --------
    >>> outlook = ["sunny", "sunny", "rain", "rain"] * 5
    >>> windy = [True, False, True, False] * 5
    >>> clf = AODE().fit({"outlook": outlook, "windy": windy}, ["no", "yes", "yes", "no"] * 5)
    >>> clf.predict([{"outlook": "sunny", "windy": False}, {"outlook": "rain", "windy": False}])
    array(['yes', 'no'], dtype='<U3')
    """

    classifier_type = OneDependenceClassifier
