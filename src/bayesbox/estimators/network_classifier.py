"""`NetworkClassifier`, a scikit-learn classifier over one node of a Bayesian network."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesbox.bridge.network_target import NetworkTarget, features_of, require_nodes, under_names
from bayesbox.errors import BadData
from bayesbox.estimators.inputs import batch_from, labels_from, row_of
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import estimator
from bayesbox.estimators.shared.doc_link import DocLink
from bayesbox.network.learn.options import TakesTableRules
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import Labels
from bayesbox.schema.options import Options, option, options, required
from bayesbox.schema.parameters import HasParameters, describe_methods
from bayesbox.schema.takes import Takes
from bayesbox.source.frames import column_names
from bayesbox.source.labels import labels_of


@options
class NetworkOptions(Options):
    """Which node of a network is the class, and how its tables are learned."""

    network: BayesianNetwork = required(Takes("BayesianNetwork"), help="The network.", kw_only=False)
    target: str = required(Takes("str"), help="The class node.", kw_only=False)
    smoothing: object = option(
        TakesTableRules(),
        default="laplace",
        help="The smoothing rule of `fit`, which learns the tables of a copy of the network from rows.",
    )


@estimator
@describe_methods(METHODS["NetworkClassifier"])
class NetworkClassifier(DocLink, HasParameters, ClassifierMixin, BaseEstimator, NetworkOptions):  # type: ignore[misc]
    """A classifier whose class is one node of a network and whose columns are the others; see `net.classifier(target)`.

    A network that already has its tables does not need `fit`. Columns may be absent and values missing: unknown nodes
    are marginalised exactly, and an unknown state counts as missing. Arrays without names must have a column for each
    node except the target, in the order of the network.

    Examples
    --------
    >>> net = BayesianNetwork(
    ...     {"alarm": ["burglary"], "john": ["alarm"]},
    ...     {"burglary": 0.1, "alarm": {True: 0.9, False: 0.05}, "john": {True: 0.9, False: 0.1}})
    >>> clf = net.classifier("burglary")
    >>> clf.predict({"john": ["true", "false", None], "alarm": ["true", None, None]})
    array(['true', 'false', 'false'], dtype='<U5')
    >>> clf.predict_proba({"john": ["true"]}).round(4)
    array([[0.6058, 0.3942]])
    """

    def __post_init__(self) -> None:
        """Do nothing: `fit` parses parameters, since scikit-learn requires them to be stored as given."""

    def fit(self, X: object, y: object) -> Self:
        """Estimate the tables of the same graph from rows; `network_` has them, the given network does not change."""
        named = column_names(X) is not None
        batch = under_names(batch_from(X), features_of(self.network, self.target), self.target, named=named)
        require_nodes(self.network, batch.names)
        if batch.rows == 0:
            raise BadData("Found array with 0 sample(s): there are no rows")
        labels_from(y, batch.rows)
        rows = dict(zip(batch.names, batch.columns, strict=True)) | {self.target: labels_of(y)}
        self.network_ = copy.deepcopy(self.network).fit(rows, smoothing=self.smoothing)
        return self

    # -- fitted attributes -------------------------------------------------------------------------------------------

    @property
    def _compiled(self) -> NetworkTarget:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet")
        network = getattr(self, "network_", self.network)
        found: NetworkTarget | None = self.__dict__.get("_target")
        if found is None or found.network is not network or found.target != str(self.target):
            found = NetworkTarget(network, self.target)
            self.__dict__["_target"] = found
        return found

    @property
    def classes_(self) -> Labels:
        """The states of the target, sorted."""
        return np.array(sorted(self._compiled.classes))

    @property
    def feature_names_in_(self) -> AnyArray:
        """The nodes other than the target, in the order of the network."""
        return np.array(self._compiled.features, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of nodes other than the target."""
        return len(self._compiled.features)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_") or bool(self.network.graph.has_tables)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the compiled network, which is compiled again on first use."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_target"}

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, X: object) -> Labels:
        """The most probable state of the target for each row; the first in case of a tie."""
        best = self.predict_proba(X).argmax(axis=1)
        labels: Labels = self.classes_[best]
        return labels

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(state | row), rows x classes."""
        check_is_fitted(self)
        return self._compiled.posterior(row_of(X, self._compiled.features))[:, self._order()]

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(state | row), rows x classes."""
        check_is_fitted(self)
        return self._compiled.posterior(row_of(X, self._compiled.features), log=True)[:, self._order()]

    def _order(self) -> NDArray[np.intp]:
        return np.argsort(np.array(self._compiled.classes), kind="stable")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
