"""A served Bayesian network or factor graph: posteriors given evidence, and what to ask next."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from typing import Any

from bayesbox.errors import BadData
from bayesbox.network.network import BayesianNetwork, FactorGraph
from bayesbox.serve.models.base import Action, Body, Json, ModelAnswer, Row, ServiceModel, json_of
from bayesbox.serve.models.rows import read_row
from bayesbox.serve.models.schemas import NUMBER, TEXT, listed, record

Evidence = dict[str, str | int | float | bool | dict[str, float] | None]


class EvidenceBody(Body):
    """Rows of evidence: the state of each known node, or likelihoods of its states."""

    rows: list[Evidence]
    targets: list[str] | None = None

    def rows_asked(self) -> int:
        """The number of rows."""
        return len(self.rows)


class AskNodeBody(Body):
    """The evidence, the target, and the costs of asking."""

    row: Row
    target: str
    costs: dict[str, float] | None = None


class ServedNetwork(ServiceModel):
    """A network from a file; `digest` is the SHA-256 of the file."""

    kind = "network"

    def __init__(self, name: str, network: BayesianNetwork | FactorGraph, digest: str) -> None:
        super().__init__(name)
        self.network = network
        self._digest = digest
        self.states = {node: list(network.states(node)) for node in network.nodes}

    @property
    def digest(self) -> str:
        return self._digest

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        def slow(body: Any) -> bool:  # noqa: ARG001
            return False

        found = {
            "predict": Action(
                EvidenceBody,
                self.predict,
                slow,
                self._predict_schema,
                self._posteriors_schema,
                "The posterior of each node, given rows of evidence",
            )
        }
        if isinstance(self.network, BayesianNetwork):
            found["ask"] = Action(
                AskNodeBody, self.ask, slow, self._ask_schema, self._questions_schema, "What to ask next about a node"
            )
        return found

    def summary(self) -> Json:
        kind = "network" if isinstance(self.network, BayesianNetwork) else "factor-graph"
        return {"name": self.name, "kind": kind, "digest": self._digest, "rows": 0, "classes": [], "nodes": self.states}

    def predict(self, body: EvidenceBody) -> ModelAnswer:
        """The posteriors of all nodes, or of the targets."""
        targets = self.network.nodes if body.targets is None else body.targets
        with read_row():
            for target in targets:
                self.network.states(target)  # an error for an unknown node
        answers = []
        for place, row in enumerate(body.rows):
            with read_row(place):
                found = self.network.posteriors({name: value for name, value in row.items() if value is not None})
                answers.append({"posteriors": {node: dict(found[node]) for node in targets}})
        return ModelAnswer(json_of({"digest": self._digest, "answers": answers}), self._digest, len(answers))

    def ask(self, body: AskNodeBody) -> ModelAnswer:
        """The unknown nodes by their information about the target."""
        assert isinstance(self.network, BayesianNetwork)
        with read_row():
            known = {name: value for name, value in body.row.items() if value is not None}
            found = self.network.ask_next(known, body.target, body.costs)
        return ModelAnswer(json_of({"digest": self._digest, **found.to_dict()}), self._digest, 1)

    # -- the Open Inference Protocol -----------------------------------------------------------------------------

    def tensors(self) -> tuple[list[Json], list[Json]]:
        optional: Json = {"optional": True, "null": "not known"}
        inputs: list[Json] = [
            {"name": node, "datatype": "BYTES", "shape": [-1], "parameters": {**optional, "states": states}}
            for node, states in self.states.items()
        ]
        outputs: list[Json] = [
            {"name": node, "datatype": "FP64", "shape": [-1, len(states)], "parameters": {"states": states}}
            for node, states in self.states.items()
        ]
        return inputs, outputs

    def input_names(self) -> Container[str]:
        return self.states

    def infer(self, inputs: Mapping[str, list[Any]], rows: int) -> tuple[str, list[Json], Sequence[Any]]:
        found: dict[str, list[float]] = {node: [] for node in self.states}
        for place in range(rows):
            evidence = {name: values[place] for name, values in inputs.items() if values[place] is not None}
            with read_row(place):
                posteriors = self.network.posteriors(evidence)
            for node, states in self.states.items():
                shares = posteriors[node]
                found[node] += [float(shares[state]) for state in states]
        outputs = [
            {
                "name": node,
                "datatype": "FP64",
                "shape": [rows, len(states)],
                "parameters": {"states": states},
                "data": found[node],
            }
            for node, states in self.states.items()
        ]
        return self._digest, outputs, ()

    # -- shapes ----------------------------------------------------------------------------------------------------

    def _evidence_schema(self) -> Json:
        nodes: Json = {}
        for node, states in self.states.items():
            likelihoods = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}
            nodes[node] = {"oneOf": [{"enum": [*states, None]}, likelihoods]}
        return record(nodes, closed=True)

    def _predict_schema(self) -> Json:
        targets = {"type": ["array", "null"], "items": {"enum": list(self.states)}}
        return record({"rows": listed(self._evidence_schema()), "targets": targets}, ["rows"], closed=True)

    def _posteriors_schema(self) -> Json:
        shares = {node: record(dict.fromkeys(states, NUMBER)) for node, states in self.states.items()}
        return record({"digest": TEXT, "answers": listed(record({"posteriors": record(shares)}, ["posteriors"]))})

    def _ask_schema(self) -> Json:
        row = record({node: {"enum": [*states, None]} for node, states in self.states.items()}, closed=True)
        costs = {"type": ["object", "null"], "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}
        asked = {"row": row, "target": {"enum": list(self.states)}, "costs": costs}
        return record(asked, ["row", "target"], closed=True)

    def _questions_schema(self) -> Json:
        question = record({"node": TEXT, "information": NUMBER, "cost": NUMBER, "worth": NUMBER})
        return record({"digest": TEXT, "target": TEXT, "entropy": NUMBER, "questions": listed(question)})


def require_answers(network: BayesianNetwork | FactorGraph, path: str) -> None:
    """Raise an error for a network without tables."""
    if isinstance(network, BayesianNetwork) and any(network.cpt(node) is None for node in network.nodes):
        raise BadData("some nodes of the network have no table", where=path, remedy="Fit it to data first")
