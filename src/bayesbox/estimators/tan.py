"""`TAN`, a scikit-learn estimator over tree-augmented naive Bayes."""

from __future__ import annotations

from types import MethodType
from typing import Any

from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.augmented import ArcsEstimator
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import estimator
from bayesbox.schema.parameters import describe_methods
from bayesbox.table.augmented.options import TreeOptions
from bayesbox.table.augmented.tan import TreeClassifier


class _MethodBesideParameter:
    """A descriptor for `score`, which is both scikit-learn's method and a parameter of TAN. Reading it, on the class
    too, returns the method, whose signature scikit-learn inspects; setting it sets the parameter, which `get_params`
    returns."""

    def __get__(self, instance: TAN | None, owner: type[TAN]) -> Any:
        return CountedEstimator.score if instance is None else MethodType(CountedEstimator.score, instance)

    def __set__(self, instance: TAN, value: str) -> None:
        instance.__dict__["score"] = value


@estimator
@describe_methods(METHODS["TAN"])
class TAN(ArcsEstimator[TreeClassifier], TreeOptions):
    """Tree-augmented naive Bayes: every column depends on the class and on at most one other column.

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

    classifier_type = TreeClassifier

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
