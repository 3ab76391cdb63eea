"""The Bayesian network of a classifier: naive Bayes, TAN or KDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.bridge import augmented_network, naive_network
from bayesbox.described import Remedy
from bayesbox.errors import BadOption
from bayesbox.table.augmented.arcs import ArcsClassifier
from bayesbox.table.averaged.classifier import AveragedClassifier
from bayesbox.table.naive.classifier import NaiveClassifier

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.network.network import BayesianNetwork


def network_of(classifier: AnyClassifier, target: str | None = None) -> BayesianNetwork:
    """The classifier as a Bayesian network; BadOption for other kinds."""
    if isinstance(classifier, NaiveClassifier) and not isinstance(classifier, AveragedClassifier):
        return naive_network.network_of(classifier, target)
    if isinstance(classifier, ArcsClassifier):
        return augmented_network.network_of(classifier, target)
    raise BadOption(
        "only naive Bayes, TAN and KDB can be shown as Bayesian networks",
        found=classifier.title,
        remedy=Remedy("Fit bb.TAN()", "Train with --model tan"),
    )
