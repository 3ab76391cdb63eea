"""`bayes demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say, table

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

FOLDS, SHARE = 10, 0.3
CASE = {"cabin": "1st", "sex": "female", "age": "adult"}


@click.command(
    "demo",
    cls=options.Verb,
    short_help="Take a ten-second tour with the Titanic data.",
    examples=("bayes demo", "bayes demo --data > titanic.csv"),
    notes="Keys of --json: people, survivors, digest, majority, cross_validation and held_out (rows, accuracy, "
    "log_loss), forgets_exactly, case (as in bayes explain, with work).",
)
@click.option("--data", is_flag=True, help="Only print the table of counts, as CSV.")
@options.json_option
def command(data: bool, as_json: bool) -> None:
    """Train on the 2,201 people of the Titanic, predict people the model has not seen, and explain one prediction."""
    from bayesbox.cli.print import titanic

    if data:
        click.echo(titanic.TITANIC.read_text(encoding="utf-8"), nl=False)
        return
    people = titanic.People.of_titanic()
    classifier = people.classifier()
    counts = dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True))
    report = {
        "people": people.number,
        "survivors": counts["yes"],
        "digest": classifier.book.digest(),
        "majority": max(counts.values()) / people.number,
        "cross_validation": vars(titanic.cross_validated(people, FOLDS)),
        "held_out": vars(titanic.held_out_share(people, SHARE)),
        "forgets_exactly": titanic.forgets_exactly(people, FOLDS),
    }
    if as_json:
        case, work = _case(classifier)
        emit_json({**report, "case": {**case.as_dict(), "work": work.to_dict()}})
        return
    _print_report(report)
    _print_case(classifier)
    _print_next()


def _case(classifier: Any) -> tuple[Any, Any]:
    from bayesbox.classifier.case import batch_of_values

    batch = batch_of_values(classifier, CASE)
    return classifier.case(batch), classifier.work(batch)


def _print_report(report: Json) -> None:
    say(f"The {report['people']:,} people aboard the Titanic, by cabin, sex and age; {report['survivors']} survived.")
    say("Learning is counting: the model is a table of counts.")
    say(f"digest {report['digest']}")
    say()
    say("How well does it predict people it has not seen?")
    rows = [
        [f"{FOLDS}-fold cross-validation", *_figures(report["cross_validation"])],
        [f"{SHARE:.0%} held out", *_figures(report["held_out"])],
        ['always answering "no"', f"{report['people']:,}", f"{report['majority']:.4f}", ""],
    ]
    table(["", "people", "accuracy", "log loss"], rows, right=[1, 2, 3])
    say("Nothing was refitted: each fold was subtracted from the counts, predicted, and added back.")
    if report["forgets_exactly"]:
        say("The counts minus a fold equal those of the other folds, byte for byte: forgetting is exact.")
    say()


def _figures(score: Json) -> list[str]:
    return [f"{score['rows']:,}", f"{score['accuracy']:.4f}", f"{score['log_loss']:.4f}"]


def _print_case(classifier: Any) -> None:
    from bayesbox.cli.print.case import print_report, print_work

    case, work = _case(classifier)
    say("Why? A woman in first class:")
    print_report(case, classifier.target)
    say()
    say("The work, by hand:")
    print_work(work)
    say()


def _print_next() -> None:
    name = _command_name()
    say("What to type next:")
    for line in (
        "bayes app",
        "bayes demo --data > titanic.csv",
        "bayes train titanic.csv -t survived --weight people",
        "bayes show titanic.bayes --column cabin",
        "bayes explain titanic.bayes --set cabin=3rd --set sex=female --show-work",
        "bayes predict titanic.bayes titanic.csv --proba --keep '*'",
        "bayes app titanic.bayes",
    ):
        say(f"  {name}{line.removeprefix('bayes')}")


def _command_name() -> str:
    """The command to type: its path if it is not on the PATH, as after `make demo`."""
    import os
    import shutil
    import sys

    if shutil.which("bayes") or os.path.basename(sys.argv[0]) != "bayes":
        return "bayes"
    path = os.path.relpath(sys.argv[0])
    return sys.argv[0] if path.startswith(os.pardir) else path
