"""`bayes verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say
from bayesbox.errors import BadData, BadModelFile, SourceUnavailable

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json
    from bayesbox.tally.book import Book


@click.command(
    "verify",
    cls=options.Verb,
    short_help="Check the certificate of a forgetting.",
    examples=(
        "bayes verify withdrawn.json people.bayes",
        "bayes verify withdrawn.json people.bayes --rest remaining.csv",
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv --rest remaining.csv",
    ),
    notes="Keys of --json: holds, statements (by their text), derived (what subtracting does not undo). "
    "The exit code is 3 if a statement does not hold.",
)
@click.argument("certificate")
@click.argument("model")
@click.option("--rest", multiple=True, metavar="DATA", help="The rows that are left: a model is trained on them alone.")
@click.option("--rows", multiple=True, metavar="DATA", help="The rows that were taken out.")
@options.weight_option
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(certificate: str, model: str, as_json: bool, **given: Any) -> None:
    """Check the certificate of a forgetting: that a model has the tallies it promises.

    With the rows that are left, a model is trained on them alone, and its digest must be the one of the certificate:
    then nothing of the rows taken out is in the tallies.
    """
    from bayesbox.classifier.certificate import Certificate
    from bayesbox.file.load import load_classifier

    try:
        text = Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        raise SourceUnavailable(error.strerror or "cannot be read", where=certificate) from None
    except UnicodeDecodeError:
        raise BadData("this is no certificate: not text", where=certificate) from None
    promised = Certificate.from_text(text, where=certificate)
    classifier = load_classifier(model)
    rows, count = _counted(classifier, model, given["rows"], given)
    rest, _ = _counted(classifier, model, given["rest"], given)
    found = promised.check(model=classifier.book, rows=rows, rest=rest, count=count)
    holds = all(found.values())
    if as_json:
        emit_json({"holds": holds, "statements": dict(found), "derived": list(promised.derived)})
    else:
        for statement, true in found.items():
            say(f"{'yes' if true else 'NO '}  {statement}")
        for item in promised.derived:
            say(f"not undone by subtracting: {item}")
    if not holds:
        raise BadData("the certificate does not hold", where=certificate)


def _counted(
    classifier: AnyClassifier, model: str, data: tuple[str, ...], given: Json
) -> tuple[Book | None, int | None]:
    """The tallies of some rows alone, read as the model reads them, and of a table how many rows they are."""
    from bayesbox.classifier.train import train
    from bayesbox.cli.options.sources import model_source

    if not data:
        return None, None
    if classifier.needs_target and classifier.target is None:
        raise BadModelFile("the model does not say which column held the classes", where=model)
    fresh = classifier.with_empty_counts()
    source, target = model_source(classifier, data, given)
    training = train(fresh, source, target, weight=given["weight"])
    return fresh.book, training.rows - training.unlabelled
