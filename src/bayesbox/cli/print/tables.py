"""`bayes show --tables`, `--weights` and `--boundary`: learned tables as in textbooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.options.written_work import print_work, require_form
from bayesbox.cli.print.output import emit_json, note

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.file.reader import Json
    from bayesbox.sequence.hmm import HiddenMarkovModel


def require_fitting(column: str | None, svg: str | None, given: Json, *, as_json: bool) -> str:
    """Which of the three is requested, if any; an error for options that do not apply to it."""
    asked = [f"--{name}" for name in ("tables", "weights", "boundary") if given[name]]
    require_form(
        latex=given["latex"],
        html=given["html"],
        shown=bool({"--tables", "--weights"} & set(asked)),
        option="--tables and --weights",
        as_json=as_json,
    )
    for name, option in (("every", "--all"), ("interval", "--interval")):
        if given[name] and "--tables" not in asked:
            raise click.UsageError(f"{option} requires --tables")
    if not asked:
        return ""
    if len(asked) > 1 or column or given["nomogram"] or given["privacy"]:
        raise click.UsageError("choose one of --tables, --weights, --boundary, --column, --nomogram and --privacy")
    if given["label"] and asked != ["--weights"]:
        raise click.UsageError("--class requires --nomogram or --weights")
    if given["against"] or given["top"] is not None or given["values"] or given["fewer_than"]:
        raise click.UsageError(f"{asked[0]} cannot be combined with --against, --top, --values or --fewer-than")
    if (asked == ["--boundary"]) != bool(svg):
        raise click.UsageError("--boundary requires --svg FILE" if not svg else f"--svg cannot draw {asked[0]}")
    return asked[0]


def show_learned(classifier: AnyClassifier, path: str, svg: str | None, given: Json, *, as_json: bool) -> None:
    """Print the tables or the weights, or draw the boundary."""
    if not classifier.classes:
        raise classifier.nothing_learned()
    if given["tables"]:
        _show_tables(classifier, path, given, as_json=as_json)
    elif given["weights"]:
        _show_weights(classifier, path, given, as_json=as_json)
    else:
        assert svg is not None
        _draw_boundary(classifier, given["boundary"], svg)


def is_network(path: str) -> bool:
    """Whether this is a network file, by its name."""
    from bayesbox.network.formats import format_of

    return format_of(path) is not None


def show_network(path: str, given: Json, *, as_json: bool) -> None:
    """Print the tables of a network file."""
    from bayesbox.cli.network.opened import opened_network
    from bayesbox.network.network import BayesianNetwork

    found = opened_network(path, normalize=False)
    if not isinstance(found, BayesianNetwork):
        raise click.UsageError(f"--tables needs a model or a Bayesian network, and {path} is neither")
    _print_tables(found.tables(interval=given["interval"]), path, given, as_json=as_json)


def show_chain(chain: HiddenMarkovModel, path: str, given: Json, *, as_json: bool) -> None:
    """Print the tables of a hidden Markov model."""
    if given["interval"]:
        raise click.UsageError("--interval needs a classifier or a network, but this is a hidden Markov model")
    _print_tables(chain.tables(), path, given, as_json=as_json)


def _print_tables(tables: PrintedTables, path: str, given: Json, *, as_json: bool) -> None:
    if given["every"]:
        raise click.UsageError("--all applies to classifiers: for networks and hidden Markov models all rows are shown")
    if as_json:
        emit_json({"model": path, **tables.to_dict()})
    else:
        print_work(tables, latex=given["latex"], html=given["html"])


def _show_tables(classifier: AnyClassifier, path: str, given: Json, *, as_json: bool) -> None:
    from bayesbox.classifier.report.tables import MOST_ROWS

    tables = classifier.tables(None if given["every"] else MOST_ROWS, given["interval"])
    if as_json:
        emit_json({"model": path, "kind": classifier.kind, **tables.to_dict()})
        return
    print_work(tables, latex=given["latex"], html=given["html"])
    if any("are shown" in text or "not shown" in text for text in tables.notes):
        note("--all shows all rows")


def _show_weights(classifier: AnyClassifier, path: str, given: Json, *, as_json: bool) -> None:
    from bayesbox.errors import NotLinear
    from bayesbox.table.naive.classifier import NaiveClassifier
    from bayesbox.table.naive.linear import linear_weights

    if not isinstance(classifier, NaiveClassifier):
        raise NotLinear(f"--weights needs naive Bayes, but this is {classifier.title}")
    found = linear_weights(classifier, given["label"])
    if as_json:
        one, zero = found.classes
        weights = dict(zip(found.names, found.w.tolist(), strict=True))
        emit_json({"model": path, "weights": {"class": one, "against": zero, "weights": weights, "constant": found.a}})
        return
    print_work(found.work(), latex=given["latex"], html=given["html"])


def _draw_boundary(classifier: AnyClassifier, columns: tuple[str, str], svg: str) -> None:
    from bayesbox.classifier.table import TableClassifier
    from bayesbox.errors import BadOption
    from bayesbox.file.atomic import replacing
    from bayesbox.table.boundary import boundary_picture

    if not isinstance(classifier, TableClassifier):
        raise BadOption("--boundary needs a model of tables", found=classifier.title)
    drawn = boundary_picture(classifier, *columns)
    with replacing(svg) as file:
        file.write(drawn.encode())
    note(f"boundary over {columns[0]} and {columns[1]} written to {svg}")
