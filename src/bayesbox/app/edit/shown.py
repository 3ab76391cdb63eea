"""Displaying, downloading and saving an edited network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbox.app.edit.edits import AnyEdit, Edited, Editing, edits_json
from bayesbox.app.edit.texts import command_line, python_lines
from bayesbox.app.networks import network_spec
from bayesbox.errors import BadOption, BayesboxError
from bayesbox.file.reader import Json
from bayesbox.network.formats import FORMATS, graph_text, write_graph
from bayesbox.network.network import BayesianNetwork
from bayesbox.network.printed_tables import counts_by_node

WRITTEN = ("bif", "xdsl", "json", "net", "xmlbif", "uai")  # the download formats by extension


def edited_spec(editing: Editing, edited: Edited, *, path: str) -> Json:
    """The spec of a network after edits, with the equivalent Python and command."""
    network, base = edited.network, editing.network
    if not edited.edits:
        return network_spec(base)
    spec = network_spec(network, editing.unchanged_counts(network, counts_by_node(base)))
    output = str(Path(path).with_stem(f"{Path(path).stem}-edited"))
    return spec | {
        "edited": {
            "python": python_lines(base, edited.edits),
            "command": command_line(base, edited.edits, path, output),
            "output": output,
        }
    }


def known_evidence(network: BayesianNetwork, given: Mapping[str, Any]) -> Json:
    """The evidence on nodes and states that the network still has; the rest is dropped."""
    nodes = network.graph.nodes
    hard = {
        name: state for name, state in given.get("hard", {}).items() if name in nodes and state in nodes[name].states
    }
    soft = {
        name: shares
        for name, shares in given.get("soft", {}).items()
        if name in nodes and {*shares} <= {*nodes[name].states}
    }
    return {"hard": hard, "soft": soft}


def refused(edited: Edited) -> Json | None:
    """The error of an invalid edit, and the edits before it."""
    return None if edited.refused is None else {"why": edited.refused, "edits": edits_json(edited.edits)}


def downloaded(network: BayesianNetwork, extension: str, name: str) -> Json:
    """The text of a file and its name, or the error in words."""
    if extension not in WRITTEN:
        raise BadOption(f"choose one of: {', '.join(WRITTEN)}", found=extension)
    try:
        text = graph_text(network.graph, FORMATS[f".{extension}"])
    except BayesboxError as error:
        return {"error": str(error)}
    stem = Path(name).name.split(".")[0] or "network"
    return {"text": text, "name": f"{stem}.{extension}"}


def save_over(network: BayesianNetwork, path: str, edits: Sequence[AnyEdit], unchanged: Any) -> Json:
    """Replace a file by the edited network, under its lock; `unchanged` raises an error if the file has changed."""
    try:
        write_graph(network.graph, path, check=unchanged)
    except BayesboxError as error:
        return {"error": str(error)}
    return {"path": path, "edits": len(edits)}
