"""`KDB`, a scikit-learn estimator over k-dependence Bayesian classifiers."""

from __future__ import annotations

from bayesbox.estimators.augmented import ArcsEstimator
from bayesbox.estimators.parameters import estimator
from bayesbox.table.augmented.kdb import DependenceClassifier
from bayesbox.table.augmented.options import DependenceOptions


@estimator
class KDB(ArcsEstimator[DependenceClassifier], DependenceOptions):
    """k-dependence Bayes: every column depends on the class and on at most k others.

    Columns are ordered by their mutual information with the class; the parents of a column are the k earlier columns
    with the highest mutual information with it, given the class. Rare combinations back off to fewer parents.

    Examples
    --------
    >>> outlook = ["sunny", "sunny", "rain", "rain"] * 5
    >>> windy = [True, False, True, False] * 5
    >>> clf = KDB(k=1).fit({"outlook": outlook, "windy": windy}, ["no", "yes", "yes", "no"] * 5)
    >>> clf.predict([{"outlook": "sunny", "windy": False}, {"outlook": "rain", "windy": False}])
    array(['yes', 'no'], dtype='<U3')
    >>> clf.parents_
    {'outlook': (), 'windy': ('outlook',)}
    """

    classifier_type = DependenceClassifier

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column besides the class, the strongest first."""
        self._require_fitted()
        return {table.column: table.parents for table in self.classifier_.model.conditionals}
