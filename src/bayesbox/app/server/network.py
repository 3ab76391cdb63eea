"""A network in the app, which can be edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbox.app.edit.edits import Edited, Editing, edits_json, edits_of
from bayesbox.app.edit.shown import WRITTEN, downloaded, edited_spec, known_evidence, refused, save_over
from bayesbox.app.networks import network_answer
from bayesbox.app.server.shown import ShownFile, stamp_of
from bayesbox.described import Remedy
from bayesbox.errors import BadOption, SourceUnavailable
from bayesbox.file.reader import Json
from bayesbox.network.network import BayesianNetwork, FactorGraph, read_network


class OpenedNetwork(ShownFile):
    """A Bayesian network.

    The page sends its edits with every request, so that two tabs can differ and the back button works. The file is only
    written if `saves` allows it.
    """

    kind = "network"
    views = ("network", "edit")

    def __init__(
        self, name: str, network: BayesianNetwork, *, path: str | None = None, lesson: str | None = None
    ) -> None:
        super().__init__(name, lesson=lesson, paths=() if path is None else [path])
        self.saves = False
        self._editing = Editing(network)
        self._specs: dict[str, Json] = {}

    @property
    def network(self) -> BayesianNetwork:
        """The network in the file."""
        return self._editing.network

    @property
    def about(self) -> str:
        return f"network, {len(self.network.nodes):,} nodes"

    def reload(self) -> None:
        self._editing = Editing(read_shown_network(self.paths[0]))
        self._specs = {}

    def spec(self) -> Json:
        return self.edited_spec([])

    def edited_spec(self, edits: object) -> Json:
        self.refresh()
        editing = self._editing
        return self._spec_after(editing, _done(editing.after(edits_of(edits))))

    def _spec_after(self, editing: Editing, edited: Edited) -> Json:
        key = repr(edited.edits)
        if key not in self._specs:
            path = self.paths[0] if self.paths else f"{self.name}.bif"
            self._specs = {key: edited_spec(editing, edited, path=path)}
        return self._specs[key] | {
            "edits": edits_json(edited.edits),
            "saves": self.name if self.saves else None,
            "formats": list(WRITTEN),
            "counted": editing.network.book_ is not None,
            "version": self.version,
        }

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        self.refresh()
        editing = self._editing
        edited = editing.after(edits_of(asked.get("edits")))
        network, given, target = edited.network, asked.get("evidence") or {}, asked.get("target")
        if view == "network":
            return {"answer": network_answer(_done(edited).network, given, target)}
        if asked.get("download") is not None:
            return {"download": downloaded(_done(edited).network, asked["download"], self.name)}
        if asked.get("save"):
            return {"saved": self._saved(_done(edited), asked.get("version"))}
        known = known_evidence(network, given)
        found = {
            "answer": network_answer(network, known, target if target in network.graph.nodes else None),
            "refused": refused(edited),
        }
        if asked.get("have") != (spec := self._spec_after(editing, edited))["edits"]:
            found["spec"] = spec
        return found

    def _saved(self, edited: Edited, version: object) -> Json:
        """Replace the file, which must not have changed since the page was loaded."""
        if not self.saves:
            raise BadOption("the app may not write files", remedy=Remedy("Allow it to save", "Start it with --save"))
        stamp = self._stamp

        def unchanged() -> None:
            if stamp_of(self.paths) != stamp or version != self.version:
                raise SourceUnavailable(
                    "the file has changed since it was read",
                    where=self.paths[0],
                    remedy="Nothing was written. Download the edited network, or reload the page",
                )

        return save_over(edited.network, self.paths[0], edited.edits, unchanged)


def _done(edited: Edited) -> Edited:
    """The edited network; BadOption if an edit is invalid."""
    if edited.refused is not None:
        raise BadOption(f"an edit is refused: {edited.refused}")
    return edited


def read_shown_network(path: str) -> BayesianNetwork:
    """The network in a file; BadOption for a factor graph."""
    network = read_network(path)
    if isinstance(network, FactorGraph):
        raise BadOption("the app shows Bayesian networks, and this is a factor graph", found=path)
    return network
