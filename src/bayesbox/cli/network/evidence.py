"""Evidence from the command line: NODE=STATE, or a likelihood in the notation of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork, FactorGraph
    from bayesbox.network.query.notation import Query


def evidence_of(network: BayesianNetwork | FactorGraph, texts: Sequence[str]) -> dict[str, Any]:
    """The evidence by node, with the states of the network.

    `xray=yes` needs no quotes, whatever the names are; everything else is in the notation of `bayes query`, such as
    `xray~(yes:0.7, no:0.3)`.
    """
    from bayesbox.network.query.notation import parse_query, quoted_name

    evidence: dict[str, Any] = {}
    for text in texts:
        name, equals, state = text.partition("=")
        if equals and name in network.model.place:
            place = network.model.place[name]
            evidence[name] = network.model.states[place][network.findings({name: state}).states[place]]
            continue
        if not equals and "~" not in text:
            raise BadOption("evidence must be written NODE=STATE", found=text)
        found = network.evidence_of(parse_query(f"P({quoted_name(network.nodes[0])} | {text})"))
        network.findings(found)  # raises an error for unknown nodes and states
        evidence |= {name: _plain(value) for name, value in found.items()}
    return evidence


def with_evidence_of(asked: Query, path: str | None) -> Query:
    """A question with the additional evidence of a file."""
    from bayesbox.network.formats.evidence import read_evidence
    from bayesbox.network.query.notation import Term

    if path is None:
        return asked
    more = [Term(name, state) for name, state in read_evidence(path).items()]
    return replace(asked, evidence=(*asked.evidence, *more))


def _plain(value: Any) -> Any:
    """Likelihoods as numbers instead of fractions."""
    return {state: float(share) for state, share in value.items()} if isinstance(value, dict) else value
