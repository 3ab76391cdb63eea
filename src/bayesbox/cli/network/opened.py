"""The network of a file, as the verbs of the command read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.cli.print.output import captured_warnings, note

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork, FactorGraph


def opened_network(path: str, *, normalize: bool) -> BayesianNetwork | FactorGraph:
    """The network of a file; what is odd about it is said in a note."""
    from bayesbox.network.network import read_network

    with captured_warnings() as warned:
        found = read_network(path, normalize=normalize)
    for text in warned:
        note(f"note: {path}: {text}")
    return found
