"""`bayes merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.change.history import record
from bayesbox.cli.options import shared as options
from bayesbox.cli.print.calibration import stale_lines
from bayesbox.cli.print.output import captured_warnings, emit_json, note
from bayesbox.errors import BayesboxError, CannotMerge

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


@click.command(
    "merge",
    cls=options.Verb,
    short_help="Merge models that were trained separately.",
    examples=("bayes merge north.bayes south.bayes -o country.bayes", "bayes merge part-*.bayes -o whole.bayes"),
    notes="Keys of --json: model, classes, digests_before (by file), digest, stale, warnings.",
)
@click.argument("models", nargs=-1, required=True)
@click.option(
    "-o", "--output", required=True, type=options.MODEL_FILE, metavar="FILE", help="The file for the merged model."
)
@options.keep_old_option
@options.history_option
@options.wait_option
@options.json_option
def command(models: tuple[str, ...], output: str, keep_old: bool, history: bool, wait: float, as_json: bool) -> None:
    """Merge models that were trained separately: the result is identical, bit for bit, to training on all the rows.

    The models must have the same rules. Rows that two of them have learned count twice.
    """
    from bayesbox.cli.print.reports import counted_classes
    from bayesbox.file.load import load_classifier
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save

    if len(models) < 2:
        raise click.UsageError("merge needs at least two models")
    with captured_warnings() as warned, FileLock(output, wait=wait, verb="merge") as lock:
        loaded = [(path, load_classifier(path)) for path in models]  # under the lock, since one of them may be replaced
        (_, whole), *others = loaded
        digests = {path: classifier.book.digest() for path, classifier in loaded}
        for path, other in others:
            whole = _merged(whole, other, path)
        whole.check()  # raises before anything is written
        save(whole, output, lock=lock, keep_old=keep_old)
        record("merge", output, models, int(sum(whole.book.n.tolist())), whole, begin=history)
    classes = dict(zip(whole.book.classes, whole.book.n.tolist(), strict=True))
    digest = whole.book.digest()
    warned += stale_lines(whole, output)
    if as_json:
        report = {
            "model": output,
            "classes": classes,
            "digests_before": digests,
            "digest": digest,
            "stale": whole.stale,
            "warnings": warned,
        }
        emit_json(report)
        return
    for path, before in digests.items():
        note(f"digest of {path}: {before}")
    for text in warned:
        note(f"note: {text}")
    note(f"classes now: {counted_classes(classes)}")
    note(f"digest now {digest}")
    note(f"written to {output}")


def _merged(whole: AnyClassifier, other: AnyClassifier, path: str) -> AnyClassifier:
    from bayesbox.classifier.registry import kind_of

    one, second = kind_of(whole).of, kind_of(other).of
    if one != second:
        raise CannotMerge(f"one model is of {one}, the other of {second}", where=path)
    try:
        merged = whole.merged(other)
    except BayesboxError as error:
        error.where = error.where or path
        raise
    if whole.target != other.target:
        raise CannotMerge(f"the target is `{other.target}`, but the other models have `{whole.target}`", where=path)
    return merged
