"""`bayes explain`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import bar, captured_warnings, decimal, emit_json, note, say, signed, table, wide_table
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.classifier.base import Classifier
    from bayesbox.classifier.case import Case
    from bayesbox.explain.box import Work
    from bayesbox.source.base import Batch
    from bayesbox.table.naive.classifier import NaiveClassifier
    from bayesbox.text.classifier import DocumentClassifier


@click.command(
    "explain",
    cls=options.Verb,
    short_help="Show why one case gets its class.",
    examples=(
        "bayes explain weather.bayes --set outlook=sunny --set temperature=cool --set windy=true",
        "bayes explain weather.bayes --set outlook=sunny --show-work",
        "bayes explain weather.bayes --set outlook=sunny --svg sunny.svg",
        "bayes explain people.bayes new.csv --row 3 --against '>50K'",
        "bayes explain spam.bayes message.eml",
    ),
    notes="Log-odds are natural logarithms: +0.69 doubles the odds. Keys of --json: prediction, against, posterior, "
    "prior, log_odds, prior_log_odds, columns (name, value, log_odds), notes, work with --show-work, of a calibrated "
    "model calibration_log_odds, and of a Bayes optimal model hypotheses (kind, weight, class, p); for a document "
    "absent_log_odds and words (word, times, log_odds, counts) in place of columns and notes. Infinite "
    'numbers are the texts "inf" and "-inf".',
)
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "--set",
    "values",
    type=options.SETTING,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="A value of the case; repeat it.",
)
@click.option(
    "--row", type=click.IntRange(min=1), metavar="N", help="Take the case from row N of DATA, counted from 1."
)
@click.option("--show-work", is_flag=True, help="Print the Bayes box: every factor as a count over a count.")
@click.option("--against", metavar="CLASS", help="The class to compare with; by default the runner-up.")
@click.option("--svg", metavar="FILE", help="Draw the nomogram of naive Bayes with the case marked on its rulers.")
@options.prior_option
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(model: str, data: str | None, as_json: bool, **given: Any) -> None:
    """Show the posterior of one case, and what each column says for its class.

    The case is given by --set, or is row N of DATA. Columns that are not set are missing. For a model of documents DATA
    may be a text file or a message, or - for standard input; the words that decided are shown with their counts.
    """
    from bayesbox.classifier.case import Case
    from bayesbox.file.load import load_classifier
    from bayesbox.text.classifier import DocumentClassifier

    with captured_warnings() as warned:
        classifier = load_classifier(model)
        if given["prior"]:
            classifier = classifier.with_prior(given["prior"])
        if isinstance(classifier, DocumentClassifier):
            if given["svg"]:
                raise click.UsageError("--svg draws the columns of naive Bayes, and this is a model of documents")
            _explain_text(classifier, data, given, as_json=as_json)
            return
        batch = _batch(classifier, model, data, given)
        case = Case.of(classifier, batch, against=given["against"])
        work = _work(classifier, batch) if given["show_work"] else None
        optimal = _hypotheses(classifier, batch)
        if given["svg"]:
            from bayesbox.cli.print.nomogram import write
            from bayesbox.table.naive.nomogram import nomogram

            write(nomogram(classifier, case.prediction, case.against, batch), given["svg"])
    notes = [*case.notes(classifier), *warned]
    if as_json:
        emit_json({**case.as_dict(), "notes": notes, **({"work": work.as_dict()} if work else {}), **optimal})
        return
    print_report(case, classifier.target or "class")
    if optimal:
        from bayesbox.cli.print.optimal import print_answers

        say()
        print_answers(classifier, batch)
    if work is not None:
        say()
        print_work(work)
        if classifier.calibrated is not None:
            shares = ", ".join(f"{name} {decimal(p)}" for name, p in case.posterior.items())
            kind = classifier.calibrated.calibration.kind
            say(f"after calibration ({kind}): {shares}, so the class is {case.prediction}")
    for text in notes:
        note(f"note: {text}")


def _explain_text(classifier: DocumentClassifier, data: str | None, given: dict[str, Any], *, as_json: bool) -> None:
    from bayesbox.cli import text

    case = text.explain(classifier, data, given)
    if as_json:
        emit_json(case.as_dict())
    else:
        text.print_case(case, classifier.target or "class")


def _hypotheses(classifier: Classifier, batch: Batch) -> dict[str, Any]:
    """What each hypothesis of a Bayes optimal model says by itself."""
    if classifier.kind != "bayes-optimal":
        return {}
    from bayesbox.cli.print.optimal import answers

    return {"hypotheses": answers(classifier, batch)}  # type: ignore[arg-type]


def _work(classifier: NaiveClassifier, batch: Batch) -> Any:
    if classifier.kind == "auto":
        raise click.UsageError("--show-work shows the sums of one model; AutoBayes pools several: see bayes show")
    from bayesbox.explain.work import bayes_box

    if classifier.kind != "naive-bayes":
        raise BadOption(
            f"--show-work prints the factors of naive Bayes, and this is a model of {classifier.title}",
            remedy="Leave it out: the log-odds are shown anyway",
        )
    assert classifier.schema is not None
    columns = classifier.columns_of(batch)
    return bayes_box(classifier.schema, classifier.book, classifier.rules, classifier.model, columns)


def _batch(classifier: NaiveClassifier, model: str, data: str | None, given: dict[str, Any]) -> Batch:
    from bayesbox.classifier.case import batch_of_values
    from bayesbox.classifier.predict import find_row, reading_of
    from bayesbox.cli.predict import print_absent
    from bayesbox.source.files.open import open_source

    if (data is None) != (given["row"] is None):
        raise click.UsageError("--row and DATA belong together" if data is None else "say which row of DATA: --row N")
    if data is None:
        return batch_of_values(classifier, options.values_set(given["values"], classifier.feature_names), where=model)
    if given["values"]:
        raise click.UsageError("the case comes from --set or from a row, not from both")
    reading = reading_of(classifier)
    source = open_source(data, **reading, na=options.several(given["na"]), format=given["input_format"])
    batch = find_row(source, given["row"])
    print_absent(classifier, batch.names, source.name)
    return batch


def print_report(case: Case, target: str) -> None:
    """The posterior and what each column says, for the eye."""
    from bayesbox.classifier.predict import cut

    values = ", ".join(f"{name}={cut(value)}" for name, value, _ in case.columns if value is not None) or "nothing"
    say(f"{target} = {case.prediction}, given {values}")
    say()
    ranked = sorted(case.posterior.items(), key=lambda item: -item[1])
    rows = [[name, decimal(p), decimal(case.prior[name]), bar(p)] for name, p in ranked]
    table([target, "posterior", "prior", ""], rows, right=[1, 2])
    if case.against is None:
        return
    say()
    longest = max((abs(odds) for odds in case.all_log_odds() if math.isfinite(odds)), default=1.0) or 1.0
    rows = [["(prior)", signed(case.prior_log_odds), _arrow(case.prior_log_odds, longest)]]
    ordered = sorted(case.columns, key=lambda item: -abs(item[2]))
    rows += [
        [f"{name} {'is missing' if value is None else f'= {cut(value)}'}", signed(odds), _arrow(odds, longest)]
        for name, value, odds in ordered
        if value is not None or odds
    ]
    if case.calibration_log_odds is not None:
        share = case.calibration_log_odds
        rows.append(["(calibration)", signed(share), _arrow(share, longest)])
    rows.append(["all together", signed(case.log_odds), f"odds {_odds(case.log_odds)}"])
    title = f"log-odds of {case.prediction} against {case.against}"
    table([title, "", ""], rows, right=[1])


def print_work(work: Work) -> None:
    """The Bayes box, and what follows from it."""
    wide_table(work.rows(), work.box())
    for line in work.below():
        say(line)


def _arrow(value: float, longest: float) -> str:
    sign = "+" if value > 0 else "-"
    return sign * max(len(bar(min(abs(value), longest) / longest)), 1) if round(value, 4) else ""


def _odds(log_odds: float) -> str:
    if math.isinf(log_odds):
        return "infinite : 1" if log_odds > 0 else "0 : 1"
    if log_odds >= 0:
        return f"{decimal(math.exp(log_odds)) if log_odds < 700 else f'e^{log_odds:.0f}'} : 1"
    return f"1 : {decimal(math.exp(-log_odds)) if log_odds > -700 else f'e^{-log_odds:.0f}'}"
