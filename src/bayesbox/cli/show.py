"""`bayes show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.written_work import html_option, latex_option, print_work, require_form
from bayesbox.cli.print import nomogram
from bayesbox.cli.print.output import emit_json, say

if TYPE_CHECKING:
    from bayesbox.explain.printed_tables import PrintedTables

FEW = 5  # rows, below which --privacy lists what they have


@click.command(
    "show",
    cls=options.Verb,
    short_help="Show what a model has learned.",
    examples=(
        "bayes show people.bayes",
        "bayes show people.bayes --column age --svg age.svg",
        "bayes show people.bayes --nomogram --class '>50K' --svg people.svg",
        "bayes show people.bayes --privacy -k 10",
        "bayes show people.bayes --json",
        "bayes show days.bayes --tables",
        "bayes show alarm.bif --tables --latex",
    ),
    notes="Keys of --json: model, kind, target, classes, prior, rules, columns, densities and intervals (of the "
    "numbers; an interval holds 90 % of the values of a class), left_out, "
    "parameters, joint_parameters (null where a density takes part), column_weights (where columns were selected or "
    "have weights), naive_parameters and notes (of full Bayes), "
    "hypotheses (kind, weight, log_score: of a Bayes optimal model), "
    "digest (of the counts; null for a model of given tables), model_digest, ledger (null where none is kept), "
    "redacted (levels of fewer rows were pooled; else null), calibration (null where there is none), "
    "stale (whether the calibration or the weights were learned at other counts), "
    "and with --column also column (name, classes, interval or likely_levels), with --nomogram also nomogram (class, "
    "against, prior_log_odds, columns (name, marks (value, log_odds)), others); for documents text, words, vocabulary, "
    "used, telling and free_parameters in place of columns, densities, left_out and joint_parameters; for hidden "
    "Markov models model, kind, origin, states, start, transition, columns (what is seen in each state), left_out, "
    "parameters, digest and model_digest. With --privacy: model, fewer_than, columns, redacted, ledger and disclosures "
    "(model, column, what, count, of, and with --values values). With --tables: title, tables (name, columns, rows "
    "(name, cells)), parameters.",
)
@click.argument("model")
@click.option("--column", metavar="NAME", help="Also the tally of one column, or word, class by class.")
@click.option(
    "--nomogram",
    is_flag=True,
    help="Also, of naive Bayes, a ruler for each column: what each value adds to the log-odds of a class.",
)
@click.option("--class", "label", metavar="CLASS", help="--nomogram: that of this class; by default the second one.")
@click.option("--against", metavar="CLASS", help="--nomogram: compared with this one; by default the most probable.")
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", help="--nomogram: the N most telling columns; by default 10."
)
@click.option(
    "--svg", metavar="FILE", help="Draw the density of the --column, a number, in each class, or the --nomogram."
)
@click.option("--privacy", is_flag=True, help="Only what the file reveals of single rows.")
@click.option(
    "-k",
    "--fewer-than",
    type=click.IntRange(min=2),
    metavar="N",
    help="--privacy: what fewer rows than this have; by default 5.",
)
@click.option("--values", is_flag=True, help="--privacy: print the levels, words and numbers themselves.")
@click.option(
    "--tables",
    is_flag=True,
    help="Of a hidden Markov model, or the file of a network: only its tables, as fractions where they are counted.",
)
@latex_option
@html_option
@options.json_option
def command(model: str, column: str | None, svg: str | None, as_json: bool, **given: Any) -> None:
    """Show what a model has learned: classes, columns, rules, the number of its parameters, and its digest."""
    from bayesbox.cli.print.printer import printer_of
    from bayesbox.file.digest import file_digest
    from bayesbox.file.load import load
    from bayesbox.sequence.hmm import HiddenMarkovModel

    nomogram.require_fitting(column, svg, given)
    if not given["privacy"] and (given["values"] or given["fewer_than"]):
        raise click.UsageError("--values and --fewer-than go with --privacy")
    require_form(latex=given["latex"], html=given["html"], shown=given["tables"], option="--tables", as_json=as_json)
    if given["tables"]:
        if column or svg or given["nomogram"] or given["privacy"]:
            raise click.UsageError("--tables goes without --column, --nomogram, --svg and --privacy")
        tables = _tables(model)
        emit_json(tables.to_dict()) if as_json else print_work(tables, latex=given["latex"], html=given["html"])
        return
    classifier = load(model)
    if isinstance(classifier, HiddenMarkovModel):
        from bayesbox.cli.print import chain

        if given["privacy"]:
            raise click.UsageError("--privacy lists what classifiers reveal, and this is a hidden Markov model")
        if given["nomogram"]:
            raise click.UsageError("--nomogram draws naive Bayes, and this is a hidden Markov model")
        if svg:
            raise click.UsageError("--svg draws the densities of naive Bayes; bayes hmm decode --svg draws a sequence")
        chain.show(classifier, model, column, as_json=as_json)
        if not as_json and column is None:
            say(f"model digest {file_digest(model)}")
        return
    if given["privacy"]:
        from bayesbox.cli.print.privacy import show_privacy

        if column or svg or given["nomogram"]:
            raise click.UsageError("--privacy goes without --column, --nomogram and --svg")
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


def _tables(path: str) -> PrintedTables:
    """The tables of a hidden Markov model or of a network."""
    from bayesbox.cli.network.opened import opened_network
    from bayesbox.file.load import load
    from bayesbox.network.formats import format_of
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.sequence.hmm import HiddenMarkovModel

    found = load(path) if format_of(path) is None else opened_network(path, normalize=False)
    if not isinstance(found, (HiddenMarkovModel, BayesianNetwork)):
        raise click.UsageError(f"--tables is for hidden Markov models and Bayesian networks, and {path} is neither")
    return found.tables()
