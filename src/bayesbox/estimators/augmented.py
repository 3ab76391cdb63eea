"""What the estimators with dependent columns share."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from bayesbox.bridge.augmented_network import network_of
from bayesbox.display.picture import Picture
from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import estimator
from bayesbox.network.network import BayesianNetwork
from bayesbox.network.shown import MOST_DRAWN
from bayesbox.schema.parameters import describe_methods
from bayesbox.table.augmented.arcs import ArcsClassifier
from bayesbox.table.augmented.classifier import AugmentedClassifier

A = TypeVar("A", bound=AugmentedClassifier[Any, Any, Any])
B = TypeVar("B", bound=ArcsClassifier[Any, Any])


@estimator
class AugmentedEstimator(CalibratedEstimator[A]):
    """A table estimator that cuts numbers into bins."""

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The cut points of the bins of each numeric column."""
        self._require_fitted()
        return dict(self.classifier_.cuts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


@estimator
@describe_methods(METHODS["ArcsEstimator"])
class ArcsEstimator(AugmentedEstimator[B]):
    """A table estimator whose model is one network: the parents of a column are the class and some other columns."""

    def to_network(self, target: str | None = None) -> BayesianNetwork:
        """The same model as a Bayesian network: the class, and the arcs between the columns.

        Both give the same probabilities for rows without missing values, before any calibration; the network
        marginalises missing values.

        >>> import bayesbox as bb
        >>> rows = {"sky": ["sun", "sun", "rain", "rain"] * 5, "windy": [True, False, True, False] * 5}
        >>> bb.TAN().fit(rows, ["no", "yes", "yes", "no"] * 5).to_network("play").factorisation()
        'P(play, sky, windy) = P(play) P(sky | play) P(windy | play, sky)'
        """
        check_is_fitted(self)
        return network_of(self.classifier_, target)

    def svg(self) -> Picture:
        """The model drawn as a network: the class, the columns, and the arcs between them."""
        check_is_fitted(self)
        return self.to_network().svg()

    def _repr_html_(self) -> str:
        """The summary of the model, and a drawing of its network."""
        if not hasattr(self, "classifier_"):
            return super()._repr_html_()
        network = self.to_network()
        drawn = network.svg()._repr_html_() if len(network.nodes) <= MOST_DRAWN else ""
        return super()._repr_html_() + drawn
