"""What `bayes network show` prints besides the structure: posteriors, conflict, strengths, DOT, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.network.evidence import evidence_of
from bayesbox.cli.options.written_work import print_work
from bayesbox.cli.print.output import decimal, note, say, table

if TYPE_CHECKING:
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.file.reader import Json
    from bayesbox.network.analyse.conflict import Conflict
    from bayesbox.network.analyse.strengths import ArcStrengths
    from bayesbox.network.network import BayesianNetwork

PRINTED = ("tables", "strengths", "dot")  # only one of them can go to standard output


@dataclass(frozen=True)
class ShownNetwork:
    """The requested parts."""

    evidence: dict[str, Any]
    posteriors: Mapping[str, Mapping[str, float]] | None = None
    conflict: Conflict | None = None
    strengths: ArcStrengths | None = None
    dot: str | None = None
    layout: Json | None = None
    tables: PrintedTables | None = None

    @property
    def facts(self) -> Json:
        """As a dict for JSON."""
        facts: Json = {}
        if self.posteriors is not None:
            facts |= {"evidence": self.evidence, "posteriors": {name: dict(p) for name, p in self.posteriors.items()}}
        if self.conflict is not None:
            facts["conflict"] = self.conflict.to_dict()
        if self.strengths is not None:
            facts |= self.strengths.to_dict()
        if self.dot is not None:
            facts["dot"] = self.dot
        if self.layout is not None:
            facts["layout"] = self.layout
        if self.tables is not None:
            printed = self.tables.to_dict()
            printed.pop("title", None)
            facts |= printed
        return facts


def require_fitting(given: Json, *, as_json: bool) -> None:
    """Raise an error for options that contradict each other."""
    asked = [f"--{name}" for name in PRINTED if given[name]]
    if len(asked) > 1 and not as_json:
        raise click.UsageError(f"choose one of {', '.join(asked)}, or use --json")
    if given["layout"] and not as_json:
        raise click.UsageError("--layout requires --json")
    if given["interval"] and not given["tables"]:
        raise click.UsageError("--interval requires --tables")
    if (given["evidence"] or given["probabilities"]) and given["tables"]:
        raise click.UsageError("--tables does not depend on evidence: remove --evidence")


def shown(network: BayesianNetwork, given: Json) -> ShownNetwork:
    """The parts requested by the options."""
    evidence = evidence_of(network, given["evidence"])
    with_posteriors = bool(evidence) or given["probabilities"]
    return ShownNetwork(
        evidence,
        posteriors=network.posteriors(evidence) if with_posteriors else None,
        conflict=network.conflict(evidence) if len(evidence) > 1 else None,
        strengths=network.strengths(evidence) if given["strengths"] else None,
        dot=network.dot(probabilities=with_posteriors, evidence=evidence) if given["dot"] else None,
        layout=network.layout(probabilities=with_posteriors).to_dict() if given["layout"] else None,
        tables=network.tables(interval=given["interval"]) if given["tables"] else None,
    )


def print_shown(found: ShownNetwork, given: Json) -> bool:
    """Print the parts; returns whether there was anything to print."""
    if found.tables is not None:
        print_work(found.tables, latex=given["latex"], html=given["html"])
    elif found.dot is not None:
        say(found.dot.rstrip("\n"))
    elif found.strengths is not None:
        rows = [
            [arc.parent, arc.child, f"{arc.conditional:.4f}", f"{arc.mutual:.4f}", f"{100 * arc.share:.1f} %"]
            for arc in found.strengths
        ]
        table(["parent", "child", "bits given other parents", "bits by itself", "share"], rows, right=[2, 3, 4])
    elif found.posteriors is not None:
        rows = [
            [name if place == 0 else "", state, decimal(share)]
            for name, posterior in found.posteriors.items()
            for place, (state, share) in enumerate(posterior.items())
        ]
        table(["node", "state", "probability"], rows, right=[2])
    else:
        return False
    if found.conflict is not None and found.conflict > 0:
        note(
            f"note: the evidence conflicts by {decimal(float(found.conflict))} bits: it is less probable than "
            "independent findings would be"
        )
    return True
