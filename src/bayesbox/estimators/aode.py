"""`AODE`, a scikit-learn estimator over averaged one-dependence estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from bayesbox.estimators.augmented import AugmentedEstimator
from bayesbox.table.augmented.aode import OneDependenceClassifier
from bayesbox.table.augmented.one_dependence import OneDependenceRules


class AODE(AugmentedEstimator):
    """Averaged one-dependence estimators: each column in turn is a parent of all others, and the answers are averaged.

    Parameters
    ----------
    smoothing : "backoff", or a rule or its name
        How counts become probabilities. Back-off leans on P(x | class) where a pair of levels was rarely seen.
    least : int
        A level is a parent where so many rows have it.
    numeric : "mdl", "modl", "frequency:10" or "width:10"
        How numbers are cut into bins.
    prior, prior_smoothing, unseen, columns, fold, calibration
        As in `NaiveBayes`.

    Examples
    --------
    >>> outlook = ["sunny", "sunny", "rain", "rain"] * 5
    >>> windy = [True, False, True, False] * 5
    >>> clf = AODE().fit({"outlook": outlook, "windy": windy}, ["no", "yes", "yes", "no"] * 5)
    >>> clf.predict([{"outlook": "sunny", "windy": False}, {"outlook": "rain", "windy": False}])
    array(['yes', 'no'], dtype='<U3')
    """

    classifier_: OneDependenceClassifier

    def __init__(
        self,
        *,
        smoothing: Any = "backoff",
        least: int = 1,
        numeric: str = "mdl",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        calibration: str | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.least = least
        self.numeric = numeric
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration

    def new_classifier(self) -> OneDependenceClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        rules = OneDependenceRules(**self._common_rules(), least=self.least)
        return OneDependenceClassifier(rules, self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: OneDependenceClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        return cls(**cls._common_parameters(classifier), least=classifier.rules.least).adopt(classifier)
