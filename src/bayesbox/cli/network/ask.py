"""`bayes ask` for a network: the most informative unknown nodes."""

from __future__ import annotations

from collections.abc import Sequence

import click

from bayesbox.cli.network.evidence import evidence_of
from bayesbox.cli.network.opened import opened_network
from bayesbox.cli.print.output import decimal, emit_json, note, table

MOST_SHOWN = 20


def ask_network(
    path: str,
    target: str | None,
    known: Sequence[str],
    costs: dict[str, float] | None,
    *,
    top: int | None,
    as_json: bool,
) -> None:
    """Print the unknown nodes of a network, ranked by their expected information about the target."""
    network = opened_network(path, normalize=False)
    if target is None:
        raise click.UsageError("a network needs a target node: pass --target NODE")
    evidence = evidence_of(network, known)
    found = network.ask_next(evidence, target, costs)
    if as_json:
        emit_json({"model": path, "evidence": evidence, **found.to_dict()})
        return
    most = MOST_SHOWN if top is None else top
    names = ["ask for", "information in bits", *(["cost", "bits per cost"] if costs else [])]
    rows = [
        [
            each.node,
            f"{each.information:.4f}",
            *([f"{each.cost:g}", f"{each.worth:.4f}"] if costs else []),
        ]
        for each in found.questions[:most]
    ]
    table(names, rows, right=list(range(1, len(names))))
    shares = ", ".join(f"{state} {decimal(share)}" for state, share in found.posterior.items())
    note(f"{found.target} so far: {shares}; remaining uncertainty {found.entropy:.4f} bits")
    if len(found) > most:
        note(f"{len(found) - most} more nodes: use --top to show them")
