"""Reading the network of a file for the verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.print.output import captured_warnings, note

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork, FactorGraph


def opened_network(path: str, *, normalize: bool) -> BayesianNetwork | FactorGraph:
    """The network of a file, or of a model file that can be a network; warnings are printed as notes."""
    from bayesbox.network.network import read_network

    if is_model_file(path):
        return _network_of_model(path, normalize=normalize)
    with captured_warnings() as warned:
        found = read_network(path, normalize=normalize)
    for text in warned:
        note(f"note: {path}: {text}")
    return found


def is_model_file(path: str) -> bool:
    """Whether a file is a model file, by its name."""
    return path.lower().endswith(".bayes")


def _network_of_model(path: str, *, normalize: bool) -> BayesianNetwork:
    from bayesbox.bridge.classifier_network import network_of
    from bayesbox.file.load import load_classifier

    if normalize:
        raise click.UsageError("--normalize applies to network files, but this is a model file")
    classifier = load_classifier(path)
    if not classifier.classes:
        raise classifier.nothing_learned()
    network = network_of(classifier)
    if classifier.calibrated is not None:
        note("the network has the uncalibrated probabilities of the counts")
    return network
