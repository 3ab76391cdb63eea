"""`bayes network sensitivity` and `bayes network compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.print.output import decimal, emit_json, note, say, table

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.network import BayesianNetwork


def sensitivity(network: BayesianNetwork, question: str, given: Json, *, as_json: bool) -> None:
    """Print the table entries with the largest effect on the answer, and draw the tornado chart."""
    from bayesbox.cli.network.network import write_text

    found = network.sensitivity(question, spread=given["spread"])
    if given["svg"]:
        write_text(given["svg"], found.svg())
        note(f"{given['svg']} written")
    if as_json:
        facts = found.to_dict()
        emit_json(facts | {"cells": facts["cells"][: given["top"]], "all_cells": len(found)})
        return
    say(f"{found.question} = {decimal(found.value)}, each cell less and more by {100 * found.spread:g} %")
    rows = [
        [str(cell), decimal(cell.value), f"{cell.derivative:+.4g}", decimal(cell.low), decimal(cell.high)]
        for cell in found.cells[: given["top"]]
    ]
    table(["cell", "value", "derivative", "answer below", "answer above"], rows, right=[1, 2, 3, 4])
    if len(found) > given["top"]:
        note(f"{len(found) - given['top']:,} more cells: --top")


def compare(first: BayesianNetwork, second: BayesianNetwork, *, as_json: bool) -> None:
    """Print the arcs that differ and, if both have tables, the cross-entropy."""
    arcs = second.compare(first)
    entropy = first.cross_entropy(second) if first.graph.has_tables and second.graph.has_tables else None
    facts = {
        "shd": arcs.shd,
        **{name: [list(arc) for arc in getattr(arcs, name)] for name in ("missing", "extra", "reversed")},
    }
    if as_json:
        emit_json(facts | ({} if entropy is None else entropy.to_dict()))
        return
    say(f"structural Hamming distance {arcs.shd}")
    for name in ("missing", "extra", "reversed"):
        for parent, child in getattr(arcs, name):
            say(f"  {name}: {parent} -> {child}")
    if entropy is not None:
        say(f"cross-entropy {decimal(float(entropy))} bits, divergence {decimal(entropy.divergence)}")


def require_question(files: tuple[str, ...], action: str) -> None:
    """Raise an error unless there are a network and a question, or two networks."""
    if len(files) == 2:
        return
    if action == "compare":
        raise click.UsageError("compare takes two networks")
    asked = "P(y | do(x))" if action == "adjust" else "P(y=true | x=true)"
    raise click.UsageError(f"{action} takes a network and a question, such as '{asked}'")
