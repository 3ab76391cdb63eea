"""`TAN`, a scikit-learn estimator over tree-augmented naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MethodType
from typing import Any, Self

from sklearn.base import ClassifierMixin

from bayesbox.estimators.augmented import AugmentedEstimator
from bayesbox.table.augmented.tan import TreeClassifier, TreeRules


class _MethodBesideParameter:
    """scikit-learn's method and the parameter of TAN have one name, `score`: to read it gives the method, for the class
    too, whose signature says what is routed to it; to set it sets the parameter, which `get_params` tells."""

    def __get__(self, instance: TAN | None, owner: type[TAN]) -> Any:
        return ClassifierMixin.score if instance is None else MethodType(ClassifierMixin.score, instance)

    def __set__(self, instance: TAN, value: str) -> None:
        instance.__dict__["score"] = value


class TAN(AugmentedEstimator):
    """Tree-augmented naive Bayes: every column depends on the class and on at most one other column.

    Parameters
    ----------
    score : "mi", "aic" or "bic"
        What an arc is worth: the dependence of the two columns given the class, with "aic" and "bic" less what its
        numbers cost. Arcs that are worth nothing are left out.
    root : name of a column, or None
        Where the tree begins; by default with the first column.
    smoothing : "backoff", or a rule or its name
        How counts become probabilities. Back-off leans on P(x | class) where a pair of levels was rarely seen.
    numeric : "mdl", "modl", "frequency:10" or "width:10"
        How numbers are cut into bins.
    prior, prior_smoothing, unseen, columns, fold, calibration
        As in `NaiveBayes`.

    Examples
    --------
    >>> outlook = ["sunny", "sunny", "rain", "rain"] * 5
    >>> windy = [True, False, True, False] * 5
    >>> clf = TAN().fit({"outlook": outlook, "windy": windy}, ["no", "yes", "yes", "no"] * 5)
    >>> clf.predict([{"outlook": "sunny", "windy": False}, {"outlook": "rain", "windy": False}])
    array(['yes', 'no'], dtype='<U3')
    >>> clf.arcs_
    (('outlook', 'windy'),)
    """

    classifier_: TreeClassifier

    def __init__(
        self,
        score: str = "mi",
        root: str | None = None,
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
        self.score = score
        self.root = root
        self.smoothing = smoothing
        self.numeric = numeric
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration

    score = _MethodBesideParameter()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    @property
    def arcs_(self) -> tuple[tuple[str, str], ...]:
        """The arcs between columns, from parent to child."""
        self._require_fitted()
        arcs: tuple[tuple[str, str], ...] = self.classifier_.model.arcs
        return arcs

    def new_classifier(self) -> TreeClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        rules = TreeRules(**self._common_rules(), score=self.__dict__["score"], root=self.root)
        return TreeClassifier(rules, self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: TreeClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        rules = classifier.rules
        return cls(**cls._common_parameters(classifier), score=rules.score, root=rules.root).adopt(classifier)
