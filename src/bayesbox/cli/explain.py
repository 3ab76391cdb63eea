"""`bayes explain`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.interval import draws_option, interval_option
from bayesbox.cli.print.output import captured_warnings, emit_json, note, say

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.explain.credible import IntervalTable
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch

DRAWS = 10_000  # draws from the posteriors for an interval


@click.command(
    "explain",
    cls=options.Verb,
    groups={
        "Case": ("values", "row", "prior"),
        "Explanation": ("show_work", "counts", "flip", "fixed", "against", "interval", "draws", "seed"),
    },
    short_help="Explain the prediction for one row.",
    examples=(
        "bayes explain weather.bayes --set outlook=sunny --set temperature=cool --set windy=true",
        "bayes explain weather.bayes --set outlook=sunny --show-work",
        "bayes explain weather.bayes --set outlook=sunny --show-work --latex > sunny.tex",
        "bayes explain weather.bayes --set outlook=sunny --svg sunny.svg",
        "bayes explain weather.bayes --set outlook=sunny --interval .95",
        "bayes explain people.bayes new.csv --row 3 --against '>50K'",
        "bayes explain people.bayes new.csv --row 3 --set education=Doctorate --set age=50",
        "bayes explain people.bayes new.csv --row 3 --flip --fixed age,sex",
        "bayes explain people.bayes new.csv --row 3 --counts",
        "bayes explain spam.bayes message.eml",
    ),
    notes="Log-odds are natural logarithms: +0.69 doubles the odds. Keys of --json: prediction, against, posterior, "
    "prior, log_odds, prior_log_odds, columns (name, value, log_odds, behind: by class count, n, probability, low and "
    "high of a level, or n, mean, std, family and parameters of a number), notes, work with --show-work (title, steps, "
    "posterior, class), interval with --interval (level, draws, rows (levels, estimate, low, high), notes), of a "
    "calibrated model calibration_log_odds, and of a Bayes optimal model hypotheses (kind, "
    "weight, class, p); for a document absent_log_odds and words (word, times, log_odds, counts) in place of columns "
    "and notes. Infinite "
    'numbers are the texts "inf" and "-inf". With --set and a row: target, prediction, prediction_after, against, '
    "before and after (posteriors), log_odds_before, log_odds_after, columns (name, before, after, log_odds_before, "
    "log_odds_after), notes. With --flip: target, prediction, posterior, to, fixed, options (changes (column, before, "
    "after, size), change, prediction, probability).",
)
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "--set",
    "values",
    type=options.SETTING,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="A value of the case; repeat for several. With a row of DATA: a value to change.",
)
@click.option("--row", type=click.IntRange(min=1), metavar="N", help="Explain row N of DATA, counted from 1.")
@click.option(
    "--show-work",
    is_flag=True,
    help="Print the calculation step by step: prior, likelihood, joint, P(x), posterior and decision, each factor as "
    "a ratio of counts.",
)
@click.option("--latex", is_flag=True, help="With --show-work: print only the calculation, as LaTeX (amsmath).")
@click.option("--html", is_flag=True, help="With --show-work: print only the calculation, as an HTML page.")
@click.option("--counts", is_flag=True, help="Also print the counts or densities behind each term.")
@click.option(
    "--flip",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[CLASS]",
    help="Print the smallest changes of one or two columns that change the prediction to CLASS, or to any other class.",
)
@click.option(
    "--fixed",
    type=options.WORDS,
    multiple=True,
    metavar="COLUMN,...",
    help="With --flip: columns that must not change.",
)
@click.option("--against", metavar="CLASS", help="The class to compare with; the runner-up by default.")
@click.option("--svg", metavar="FILE", help="Draw the naive Bayes nomogram with the case marked.")
@interval_option("Print a credible interval of the posterior, from draws of the class-conditional probabilities")
@draws_option
@click.option("--seed", type=click.IntRange(min=0), help="With --interval: the random seed; 0 by default.")
@options.prior_option
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(model: str, data: str | None, as_json: bool, **given: Any) -> None:
    """Explain a prediction: the posterior, and the contribution of each column to the log-odds.

    The case is given by --set, or is row N of DATA; row N with --set is shown before and after the change. Columns that
    are not set are missing. For a model of documents, DATA may be a text file or a message, or - for standard input;
    the decisive words are shown with their counts.
    """
    from bayesbox.cli.print.printer import printer_of
    from bayesbox.file.load import load_classifier

    _check_form(given, as_json)
    if given["fixed"] and given["flip"] is None:
        raise click.UsageError("--fixed requires --flip")
    if given["flip"] is not None or (data is not None and given["values"]):
        _print_change(model, data, given, as_json=as_json)
        return
    with captured_warnings() as warned:
        classifier = load_classifier(model)
        printer = printer_of(classifier)
        printer.check_explain(given)
        if given["prior"]:
            classifier = classifier.with_prior(given["prior"])
        batch = _batch(classifier, model, data, given)
        case = classifier.case(batch, against=given["against"])
        work = classifier.work(batch, against=given["against"]) if given["show_work"] else None
        sure = _interval(classifier, batch, given)
        if given["svg"]:
            from bayesbox.cli.print.nomogram import write
            from bayesbox.table.naive.nomogram import nomogram

            write(nomogram(classifier, case.prediction, case.against, batch), given["svg"])
    notes = [*case.notes(classifier), *warned]
    if given["latex"] or given["html"]:
        assert work is not None
        say(work.latex() if given["latex"] else work.html())
    elif as_json:
        facts = {
            **case.as_dict(),
            **_behind(classifier, batch, case),
            **printer.case_facts(classifier, batch, notes, work),
        }
        emit_json(facts if sure is None else {**facts, "interval": sure.to_dict()})
        return
    else:
        printer.print_case(classifier, batch, case, work)
        if given["counts"]:
            _print_counts(classifier, batch, given["against"])
        if sure is not None:
            say()
            say(str(replace(sure, title=f"credible interval of P({classifier.target or 'class'} | x)")))
    for text in notes:
        note(f"note: {text}")


def _interval(classifier: AnyClassifier, batch: Batch, given: Json) -> IntervalTable | None:
    """The credible interval, if requested."""
    if given["interval"] is None:
        if given["draws"] is not None or given["seed"] is not None:
            raise click.UsageError("--draws and --seed require --interval")
        return None
    draws, seed = given["draws"] or DRAWS, given["seed"] or 0
    return classifier.posterior_interval(batch, level=given["interval"], draws=draws, seed=seed)


def _print_change(model: str, data: str | None, given: Json, *, as_json: bool) -> None:
    """Print a row before and after a change, or the changes that flip its class."""
    from bayesbox.file.load import load_classifier

    refused = [name for name in ("show_work", "latex", "html", "svg", "against", "counts", "interval") if given[name]]
    if refused:
        raise click.UsageError(
            f"--{refused[0].replace('_', '-')} cannot be combined with --flip, or with --row and --set together"
        )
    with captured_warnings() as warned:
        classifier = load_classifier(model)
        if given["prior"]:
            classifier = classifier.with_prior(given["prior"])
        found: Any
        if given["flip"] is not None:
            batch = _batch(classifier, model, data, given)
            found = classifier.flip(batch, given["flip"] or None, options.several(given["fixed"]))
        else:
            changes = options.values_set(given["values"], classifier.feature_names)
            batch = _batch(classifier, model, data, {**given, "values": ()})
            found = classifier.what_if(batch, changes)
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))
    for text in warned:
        note(f"note: {text}")


def _behind(classifier: AnyClassifier, batch: Batch, case: Any) -> Json:
    """The columns of a case with the counts or densities of their terms, for JSON."""
    from bayesbox.classifier.answer.behind import behind_terms
    from bayesbox.classifier.table import TableClassifier

    if not isinstance(classifier, TableClassifier):
        return {}
    found = behind_terms(classifier, batch)
    return {
        "columns": [
            {**column, "behind": {label: each.to_dict() for label, each in found.get(column["name"], {}).items()}}
            for column in case.as_dict()["columns"]
        ]
    }


def _print_counts(classifier: AnyClassifier, batch: Batch, against: str | None) -> None:
    """Print the counts and densities of the terms of a case."""
    from bayesbox.classifier.answer.explanation import ExplainedRow
    from bayesbox.classifier.table import TableClassifier
    from bayesbox.display.text import as_text

    if not isinstance(classifier, TableClassifier):
        raise click.UsageError("--counts does not apply to documents: the counts of the words are always printed")
    block = ExplainedRow.of(classifier, batch, against=against).behind_block()
    if block is not None:
        say()
        say(as_text("", [block]))


def _check_form(given: Json, as_json: bool) -> None:
    """Raise an error for --latex and --html where they do not apply."""
    if given["interval"] and (given["latex"] or given["html"]):
        raise click.UsageError("--interval cannot be combined with --latex or --html")
    forms = [name for name, asked in (("--latex", given["latex"]), ("--html", given["html"])) if asked]
    if forms and not given["show_work"]:
        raise click.UsageError(f"{forms[0]} requires --show-work")
    if len(forms) + as_json > 1:
        raise click.UsageError("choose one of --latex, --html and --json")


def _batch(classifier: AnyClassifier, model: str, data: str | None, given: Json) -> Batch:
    """The requested case: the values set, or one row or document of a file."""
    from bayesbox.classifier.predict import find_row
    from bayesbox.cli.options.sources import reading_of
    from bayesbox.cli.predict import print_absent

    if data is None:
        if given["row"] is not None:
            raise click.UsageError("--row and DATA must be given together")
        return classifier.one_row(options.values_set(given["values"], classifier.feature_names), where=model)
    if given["values"]:
        raise click.UsageError("--flip takes the case from --set or from DATA, not from both")
    opened = classifier.open_unlabelled([data], reading=reading_of(given))
    if given["row"] is None and not opened.in_files:
        raise click.UsageError("which row of DATA? Pass --row N")
    batch = find_row(opened.source, given["row"] or 1)
    print_absent(classifier, batch.names, opened.source.name)
    return batch
