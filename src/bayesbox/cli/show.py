"""`bayes show`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.interval import interval_option
from bayesbox.cli.options.written_work import html_option, latex_option
from bayesbox.cli.print import nomogram, tables
from bayesbox.cli.print.output import say

FEW = 5  # the number of rows below which --privacy lists values


@click.command(
    "show",
    cls=options.Verb,
    groups={
        "Tables": ("tables", "every", "weights", "interval"),
        "Columns and pictures": ("column", "nomogram", "label", "against", "top", "boundary", "svg"),
        "Privacy": ("privacy", "fewer_than", "values"),
    },
    short_help="Show what a model has learned.",
    examples=(
        "bayes show people.bayes",
        "bayes show people.bayes --tables",
        "bayes show people.bayes --tables --latex > people.tex",
        "bayes show people.bayes --tables --interval .95",
        "bayes show people.bayes --weights",
        "bayes show people.bayes --boundary age hours --svg boundary.svg",
        "bayes show people.bayes --column age --svg age.svg",
        "bayes show people.bayes --nomogram --class '>50K' --svg people.svg",
        "bayes show people.bayes --privacy -k 10",
        "bayes show people.bayes --history",
        "bayes show people.bayes --json",
        "bayes show days.bayes --tables",
        "bayes show alarm.bif --tables --latex",
    ),
    notes="Keys of --json: model, kind, target, classes, prior, rules, columns, densities and intervals (of the "
    "numbers; an interval holds 90 % of the values of a class), left_out, "
    "parameters, joint_parameters (null where a density takes part), parameter_counts (free, terms, naive, joint: "
    "as the texts count them), column_weights (where columns were selected or "
    "have weights), naive_parameters and notes (of full Bayes), "
    "hypotheses (kind, weight, log_score: of a Bayes optimal model), "
    "digest (of the counts; null for a model of given tables), model_digest, ledger (null where none is kept), "
    "redacted (levels of fewer rows were pooled; else null), calibration (null where there is none), "
    "stale (whether the calibration or the weights were learned at other counts), "
    "and with --column also column (name, classes, interval or likely_levels), with --nomogram also nomogram (class, "
    "against, prior_log_odds, columns (name, marks (value, log_odds)), others); for documents text, words, vocabulary, "
    "used, telling and free_parameters in place of columns, densities, left_out and joint_parameters; for hidden "
    "Markov models model, kind, origin, states, start, transition, columns (what is seen in each state), left_out, "
    "parameters, digest and model_digest. With --tables: model, kind, title, tables (name, columns, rows (name, "
    "cells (formula, fraction, value, text; of intervals low, high))) and parameters; with --weights: model, weights "
    "(class, against, weights, constant). With --privacy: model, fewer_than, columns, redacted, ledger and disclosures "
    "(model, column, what, count, of, and with --values values). With --history: model, history (time, verb, data, "
    "rows, before, digest, total) and gaps (where the model was changed by other means than the command).",
)
@click.argument("model")
@click.option("--tables", is_flag=True, help="Only the probability tables of a model or network, with formulas.")
@click.option(
    "--all", "every", is_flag=True, help="With --tables: all rows; by default the 30 most common of each table."
)
@click.option(
    "--weights",
    is_flag=True,
    help="Only the weights of the linear boundary between two classes, for naive Bayes on two-level or count columns.",
)
@interval_option("With --tables: also the credible interval of every counted probability")
@latex_option
@html_option
@click.option(
    "--boundary",
    nargs=2,
    metavar="COLUMN COLUMN",
    help="Draw the decision regions over two columns to the file of --svg.",
)
@click.option("--column", metavar="NAME", help="Also the counts or moments of one column, or word, by class.")
@click.option(
    "--nomogram",
    is_flag=True,
    help="Also the nomogram of naive Bayes: what each value adds to the log-odds of a class.",
)
@click.option(
    "--class", "label", metavar="CLASS", help="With --nomogram or --weights: this class; by default the second."
)
@click.option(
    "--against", metavar="CLASS", help="With --nomogram: the class to compare with; the most probable by default."
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --nomogram: the N most informative columns; 10 by default.",
)
@click.option(
    "--svg",
    metavar="FILE",
    help="Draw the density of --column (a number) in each class, the --nomogram or the --boundary.",
)
@click.option("--privacy", is_flag=True, help="Only what the file reveals about individual rows.")
@click.option(
    "-k",
    "--fewer-than",
    type=click.IntRange(min=2),
    metavar="N",
    help="With --privacy: list values that fewer than N rows have; 5 by default.",
)
@click.option("--values", is_flag=True, help="With --privacy: print the levels, words and numbers themselves.")
@click.option(
    "--history", is_flag=True, help="Only the batches that were learned and forgotten; train --history begins the list."
)
@options.json_option
def command(model: str, column: str | None, svg: str | None, as_json: bool, **given: Any) -> None:
    """Show what a model has learned: classes, columns, rules, the number of parameters, and the digest."""
    from bayesbox.cli.print.printer import printer_of
    from bayesbox.file.digest import file_digest
    from bayesbox.file.load import load
    from bayesbox.sequence.hmm import HiddenMarkovModel

    learned = tables.require_fitting(column, svg, given, as_json=as_json)
    if not learned:
        nomogram.require_fitting(column, svg, given)
    if not given["privacy"] and (given["values"] or given["fewer_than"]):
        raise click.UsageError("--values and --fewer-than require --privacy")
    if given["history"] and (learned or column or svg or given["nomogram"] or given["privacy"]):
        raise click.UsageError("--history cannot be combined with other parts of a model")
    if learned == "--tables" and tables.is_network(model):
        tables.show_network(model, given, as_json=as_json)
        return
    classifier = load(model)
    if isinstance(classifier, HiddenMarkovModel):
        from bayesbox.cli.print import chain

        if learned == "--tables":
            tables.show_chain(classifier, model, given, as_json=as_json)
            return
        if learned:
            raise click.UsageError(f"{learned} applies to classifiers, but this is a hidden Markov model")
        for name in ("privacy", "history"):
            if given[name]:
                raise click.UsageError(f"--{name} applies to classifiers, but this is a hidden Markov model")
        if given["nomogram"]:
            raise click.UsageError("--nomogram applies to naive Bayes, but this is a hidden Markov model")
        if svg:
            raise click.UsageError(
                "--svg draws the densities of naive Bayes; use bayes hmm decode --svg to draw a sequence"
            )
        chain.show(classifier, model, column, as_json=as_json)
        if not as_json and column is None:
            say(f"model digest {file_digest(model)}")
        return
    if learned:
        tables.show_learned(classifier, model, svg, given, as_json=as_json)
        return
    if given["history"]:
        from bayesbox.cli.change.history import show_history

        show_history(model, classifier, as_json=as_json)
        return
    if given["privacy"]:
        from bayesbox.cli.print.privacy import show_privacy

        if column or svg or given["nomogram"]:
            raise click.UsageError("--privacy cannot be combined with --column, --nomogram or --svg")
        fewer_than = given["fewer_than"] or FEW
        show_privacy(classifier, model, fewer_than=fewer_than, values=given["values"], as_json=as_json)
        return
    found = nomogram.asked(classifier, given)
    printer_of(classifier).show(classifier, model, column=column, svg=svg, found=found, as_json=as_json)
    if not as_json and column is None:
        say(f"model digest {file_digest(model)}")
    if not as_json and classifier.redacted is not None:
        say(f"redacted: levels and words of fewer than {classifier.redacted:,} rows are pooled as (rare)")
    if not as_json and classifier.book.ledger is not None:
        say(f"ledger {classifier.book.ledger_digest()}")
