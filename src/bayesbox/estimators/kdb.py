"""`KDB`, a scikit-learn estimator over k-dependence Bayesian classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from bayesbox.estimators.augmented import AugmentedEstimator
from bayesbox.table.augmented.kdb import DependenceClassifier, DependenceRules


class KDB(AugmentedEstimator):
    """k-dependence Bayes: every column depends on the class and on at most k others.

    Columns stand in the order of what they say of the class; the parents of a column are those before it that it
    depends on most, given the class. What is rarely seen leans on fewer parents.

    Parameters
    ----------
    k : int or "auto"
        The parents of a column besides the class, at most; "auto" takes the number, from 0 to 3, that answers rows held
        out best.
    smoothing : "backoff", or a rule or its name
        How counts become probabilities. Back-off leans on the same table with one parent fewer.
    numeric : "mdl", "modl", "frequency:10" or "width:10"
        How numbers are cut into bins.
    prior, prior_smoothing, unseen, columns, fold, calibration
        As in `NaiveBayes`.

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

    classifier_: DependenceClassifier

    def __init__(
        self,
        k: int | str = 2,
        *,
        smoothing: Any = "backoff",
        numeric: str = "mdl",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        calibration: str | None = None,
    ) -> None:
        self.k = k
        self.smoothing = smoothing
        self.numeric = numeric
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column besides the class, the strongest first."""
        self._require_fitted()
        return {table.column: table.parents for table in self.classifier_.model.conditionals}

    def new_classifier(self) -> DependenceClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        return DependenceClassifier(DependenceRules(**self._common_rules(), k=self.k), self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: DependenceClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        return cls(**cls._common_parameters(classifier), k=classifier.rules.k).adopt(classifier)
