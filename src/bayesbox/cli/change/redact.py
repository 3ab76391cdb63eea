"""`bayes redact`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note


@click.command(
    "redact",
    cls=options.Verb,
    short_help="Pool rare levels and words.",
    examples=(
        "bayes redact people.bayes -o public.bayes",
        "bayes redact people.bayes --min-count 10 -o public.bayes",
    ),
    notes="Keys of --json: model, min_count, digest_before, digest, remaining (as in bayes show --privacy).",
)
@click.argument("model")
@click.option(
    "--min-count",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="Pool levels and words that fewer rows than this have.",
)
@click.option(
    "-o", "--output", required=True, type=options.MODEL_FILE, metavar="FILE", help="The file for the redacted model."
)
@options.wait_option
@options.json_option
def command(model: str, min_count: int, output: str, wait: float, as_json: bool) -> None:
    """Pool rare levels and words, so that the model file does not contain them.

    The other counts and the class totals do not change. Rows with a pooled level can no longer be forgotten. Models
    that store more about their rows (numbers, points, combinations of columns) cannot be redacted.
    """
    from bayesbox.classifier.privacy.disclosures import disclosures
    from bayesbox.classifier.privacy.redact import redact
    from bayesbox.cli.print.privacy import print_disclosures
    from bayesbox.file.load import load_classifier
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save

    with FileLock(output, wait=wait, verb="redact") as lock:
        classifier = load_classifier(model)  # under the lock, since it may be replaced
        before = classifier.book.digest()
        thinned = redact(classifier, min_count)
        thinned.check()  # raises before anything is written
        save(thinned, output, lock=lock)
    remaining = disclosures(thinned, min_count)
    if as_json:
        report = [each.as_dict(values=False) for each in remaining]
        digests = {"digest_before": before, "digest": thinned.book.digest()}
        emit_json({"model": output, "min_count": min_count, **digests, "remaining": report})
        return
    if remaining:
        note(f"still in the model, with fewer than {min_count} rows:")
        print_disclosures(remaining, values=False, err=True)
    note(f"digest before {before}")
    note(f"digest now    {thinned.book.digest()}")
    note(f"written to {output}")
