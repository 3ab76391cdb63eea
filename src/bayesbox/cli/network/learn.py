"""`bayes network learn` and `bayes network fit`: networks from rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.network.edit import EDIT
from bayesbox.cli.network.opened import opened_network
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.actions import action_options, chosen, command_names
from bayesbox.cli.options.sources import declared_kinds, skipped_rows
from bayesbox.cli.print.output import captured_warnings, decimal, emit_json, note, plural, say, table
from bayesbox.cli.print.search_progress import SearchProgress
from bayesbox.network.learn.options import LearnOptions, TableOptions

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.learn.compare import Comparison
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.source.base import Source

F = TypeVar("F", bound=Callable[..., Any])

LEARN = (*command_names(LearnOptions), "known")
FIT = tuple(command_names(TableOptions))
BOTH = ("types", "ignore", "na", "bad_rows", *options.FILE_OPTIONS)
"""The options that these actions take, by the names of their parameters."""


def learning_options(verb: F) -> F:
    """The options for learning a network."""
    for option in reversed(
        (
            action_options({"learn": LearnOptions, "fit": TableOptions}, short={"target": "-t"}),
            click.option("--known", metavar="NETWORK", help="learn: compare the learned structure with this network."),
            options.types_option,
            click.option(
                "--ignore", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="learn: columns to ignore."
            ),
            options.na_option,
            options.bad_rows_option,
            options.input_format_option("-f", "--format"),
        )
    ):
        verb = option(verb)
    return verb


def refuse_strangers(context: click.Context, action: str) -> None:
    """Raise an error for options of another action."""
    learning = (*LEARN, *FIT, *BOTH)
    printing = {"tables", "interval", "latex", "html", "dot", "evidence", "probabilities", "strengths", "layout"}
    doubting = {"spread", "top"}
    acting = {*EDIT, "latent", *doubting}
    strange: dict[str, set[str]] = {
        "learn": ({*FIT} - {*LEARN}) | {"rows", *printing, *acting},
        "fit": ({*LEARN} - {*FIT}) | {"rows", *printing, *acting},
        "show": {*learning, "rows", "seed", "output", *acting},
        "edit": {*learning, "rows", "seed", "svg", *printing, "latent", *doubting},
        "adjust": {*learning, "rows", "seed", "output", "svg", *printing, *EDIT, *doubting},
        "sensitivity": {*learning, "rows", "seed", "output", *printing, *EDIT, "latent"},
        "compare": {*learning, "rows", "seed", "output", "svg", *printing, *acting},
        "convert": {*learning, "rows", "seed", "output", "svg", *printing, *acting},
        "sample": {*learning, "svg", *printing, *acting},
    }
    options.refuse_typed(context, strange[action], f"does not apply to {action}")


def learn(files: tuple[str, ...], given: Json, *, as_json: bool) -> None:
    """Learn the structure and the tables from rows."""
    from bayesbox.network.learn.learn_network import learn_network

    if given["missing"] == "ignore":
        raise click.UsageError("--missing ignore applies to fit; for learn, choose one of em, drop, level")
    if given["normalize"] and given["known"] is None:
        raise click.UsageError(
            "--normalize applies to the tables of a network, and learn reads a network only with --known"
        )
    known = _known(given["known"], normalize=given["normalize"])
    source, kinds = _source(files, given)
    progress = SearchProgress()
    with captured_warnings() as warned:
        try:
            network = learn_network(
                source, **chosen(LearnOptions, given), columns=kinds, seed=given["seed"], progress=progress
            )
        finally:
            progress.close()
        comparison = None if known is None else network.compare(known)
    skipped = skipped_rows(source)
    written = _write(network, given)
    if as_json:
        emit_json(_facts(network, comparison, written, given["missing"]) | {"skipped": skipped, "warnings": warned})
        return
    _print_report(network, given["missing"])
    if comparison is not None:
        _print_comparison(comparison)
    for text in warned:
        note(f"note: {text}")
    for path in written:
        note(f"written to {path}")


def fit(files: tuple[str, ...], given: Json, *, as_json: bool) -> None:
    """Estimate the tables of a given structure from rows."""
    from bayesbox.network.network import BayesianNetwork

    network = opened_network(files[0], normalize=given["normalize"])
    if not isinstance(network, BayesianNetwork):
        raise click.UsageError("fit needs a Bayesian network, but this is a factor graph")
    if given["missing"] == "level":
        raise click.UsageError("--missing level applies to learn; for fit, choose one of em, drop, ignore")
    source, _ = _source(files[1:], given, network)
    hidden = options.several(given["hidden"])
    progress = SearchProgress()
    try:
        network.fit(source, **chosen(TableOptions, given), seed=given["seed"], progress=progress)
    finally:
        progress.close()
    skipped = skipped_rows(source)
    written = _write(network, given)
    report = network.fit_
    assert report is not None
    facts: Json = {
        "rows": report.rows,
        "holes": report.holes,
        "rounds": len(report.history),
        "converged": report.converged,
        "log_likelihood": network.log_likelihood(source, hidden=hidden) if source.rereadable else None,
    }
    if as_json:
        emit_json({"written": written, **facts, "skipped": skipped})
        return
    how = f"EM in {plural(facts['rounds'], 'round')}" if facts["rounds"] else "by counting"
    note(f"{plural(facts['rows'], 'row')}, {facts['holes']:,} with missing values, {how}")
    if facts["log_likelihood"] is not None:
        say(f"log-likelihood {facts['log_likelihood']:.6f}")
    if not facts["converged"]:
        note("note: EM did not converge; the estimates may improve with more rounds")
    for path in written:
        note(f"written to {path}")


def _source(files: tuple[str, ...], given: Json, network: BayesianNetwork | None = None) -> tuple[Source, Json]:
    from bayesbox.classifier.train import source_of
    from bayesbox.network.learn.rows import texts_of
    from bayesbox.source.files.dialect import TextDialect

    kinds = declared_kinds(given["types"], options.several(given["ignore"]))
    declared: Json = kinds if network is None else {**texts_of(network.graph), **kinds}
    source = source_of(
        list(files),
        declared=declared,
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
        dialect=TextDialect.of(given),
        finite=network is None,  # fit ignores columns that are not nodes
    )
    return source, kinds


def _known(path: str | None, *, normalize: bool) -> BayesianNetwork | None:
    from bayesbox.network.network import BayesianNetwork

    if path is None:
        return None
    network = opened_network(path, normalize=normalize)
    if not isinstance(network, BayesianNetwork):
        raise click.UsageError("--known needs a Bayesian network, but this is a factor graph")
    return network


def _write(network: BayesianNetwork, given: Json) -> list[str]:
    from bayesbox.cli.network.network import write_text

    written = []
    if given["output"]:
        network.write(given["output"])
        written.append(given["output"])
    if given["svg"]:
        write_text(
            given["svg"], network.svg(strengths=network.learning_ is not None and bool(network.learning_.strengths))
        )
        written.append(given["svg"])
    return written


def _facts(network: BayesianNetwork, comparison: Comparison | None, written: list[str], missing: str) -> Json:
    learning = network.learning_
    assert learning is not None
    facts: Json = {
        "written": written,
        "method": learning.method,
        "score": {"name": learning.score_name, "value": learning.score},
        "parameters": learning.parameters,
        "rows": learning.rows,
        "holes": learning.holes,
        "missing": missing,
        "moves": learning.moves,
        "seconds": learning.seconds,
        "nodes": [{"name": name, "states": network.states(name)} for name in network.nodes],
        "edges": [list(edge) for edge in network.edges],
        "undirected": [list(edge) for edge in learning.undirected],
        "bound": learning.bound,
        "bound_parents": learning.bound_parents,
        "strengths": [
            {"parent": one, "child": other, "strength": strength, "direction": direction}
            for (one, other), (strength, direction) in learning.strengths.items()
        ],
    }
    if comparison is not None:
        facts["comparison"] = {
            "shd": comparison.shd,
            "same": comparison.same,
            "missing": [list(arc) for arc in comparison.missing],
            "extra": [list(arc) for arc in comparison.extra],
            "reversed": [list(arc) for arc in comparison.reversed],
        }
    return facts


SCORED = {
    "em": "of the rows as completed by EM: not comparable with the score of complete rows",
    "drop": "of the complete rows",
    "level": "with missing values counted as a state",
}
"""What the score refers to if values are missing, by how these are treated."""


def _print_report(network: BayesianNetwork, missing: str) -> None:
    learning = network.learning_
    assert learning is not None
    header = ["parent", "", "child"]
    undirected = {*learning.undirected, *(arc[::-1] for arc in learning.undirected)}
    rows = [[one, "--" if (one, other) in undirected else "->", other] for one, other in network.edges]
    if learning.strengths:
        header += ["strength", "direction"]
        for row in rows:
            row += [decimal(each) for each in learning.strengths.get((row[0], row[2]), (0.0, 0.0))]
    if rows:
        table(header, rows, right=[3, 4])
    else:
        note("no column is informative about another")
    holes = f", {learning.holes:,} with missing values" if learning.holes else ""
    taken = f", {learning.seconds:.1f} s" if sys.stderr.isatty() else ""
    note(
        f"{plural(learning.rows, 'row')}{holes}; {plural(len(rows), 'arc')}, {plural(learning.parameters, 'parameter')}"
    )
    moves = f", {plural(learning.moves, 'test' if learning.method == 'pc' else 'move')}" if learning.moves else ""
    scored = f", {SCORED[missing]}" if learning.holes else ""
    note(f"{learning.score_name} {learning.score:.4f}{scored}{moves}{taken}")
    if learning.method == "order" and learning.bound is not None and learning.gap is not None:
        among = "" if learning.bound_parents is None else f" of at most {plural(learning.bound_parents, 'parent')}"
        note(f"no structure{among} has a score above {learning.bound:.4f}: the gap is {learning.gap:.4f}")


def _print_comparison(comparison: Comparison) -> None:
    note(
        f"compared with the known network: {comparison.same} arcs correct, {len(comparison.missing)} missing, "
        f"{len(comparison.extra)} extra, {len(comparison.reversed)} reversed; structural Hamming distance "
        f"{comparison.shd}"
    )
    for what in ("missing", "extra", "reversed"):
        arcs = getattr(comparison, what)
        if arcs:
            note(f"  {what}: " + ", ".join(f"{parent}->{child}" for parent, child in arcs))
