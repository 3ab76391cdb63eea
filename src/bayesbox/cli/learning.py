"""What `update` and `forget` share: rows counted into a model, or out of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.text import CHANGE, refuse_foreign
from bayesbox.cli.print.output import captured_warnings, emit_json, note, plural
from bayesbox.errors import BadModelFile, NoCounts

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json
    from bayesbox.tally.book import Book


def change(model: str, data: tuple[str, ...], given: Json, *, forget: bool, as_json: bool) -> None:
    """Learn or forget the rows of data and write the model again."""
    from bayesbox.file.load import load_classifier
    from bayesbox.file.save import save

    with captured_warnings() as warned:
        classifier = load_classifier(model)
        before = classifier.book.digest()
        old = classifier.book
        report = _counted(classifier, model, data, given, forget=forget)
        if classifier.classes:
            classifier.check()  # a model that cannot be made is not written
        path = given["output"] or model
        with certifying(given) as certify:
            save(classifier, path)
            certify(old, classifier, report["rows"] - report["unlabelled"])
    report |= {
        "model": path,
        "classes": dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)),
        "digest_before": before,
        "digest": classifier.book.digest(),
        "warnings": warned,
    }
    if forget:
        report["derived"] = list(classifier.irreversible_parts())
    if given.get("certificate"):
        report["certificate"] = given["certificate"]
    if as_json:
        emit_json(report)
    else:
        _print_report(report, "forgotten" if forget else "learned")


@contextlib.contextmanager
def certifying(given: Json) -> Iterator[Callable[[Book, AnyClassifier, int], None]]:
    """What writes the certificate of a forgetting, to be called when the model was saved.

    The key is read and the file made before anything is saved, so that what is wrong with them changes nothing; there
    is a certificate only where the block ends without an error.
    """
    from bayesbox.file.atomic import replacing

    path, key = given.get("certificate"), given.get("key")
    if not path:
        yield lambda _before, _classifier, _count: None
        return
    from bayesbox.classifier.certificate import Certificate
    from bayesbox.classifier.signature import load_private_key

    private = None if key is None else load_private_key(key)
    with replacing(path) as file:

        def certify(before: Book, classifier: AnyClassifier, count: int) -> None:
            taken = before - classifier.book
            certificate = Certificate.of(before, taken, classifier.book, count, classifier.irreversible_parts())
            file.write((certificate if private is None else certificate.signed(private)).text().encode())

        yield certify


def _counted(classifier: AnyClassifier, model: str, data: tuple[str, ...], given: Json, *, forget: bool) -> Json:
    from bayesbox.classifier.registry import kind_of
    from bayesbox.classifier.train import train
    from bayesbox.cli.options.sources import Progress, as_learned, model_source, skipped_rows
    from bayesbox.cli.print.printer import printer_of

    refuse_foreign(kind_of(classifier), given, CHANGE)
    if classifier.fixed:
        raise NoCounts("this model was made of given tables: there are no counts behind it", where=model)
    if classifier.needs_target and (given["target"] or classifier.target) is None:
        raise BadModelFile(
            "the model does not say which column held the classes", where=model, remedy="Say it: -t COLUMN"
        )
    printer_of(classifier).prepare()
    threads = options.threads_or_default(given["threads"])
    source, target = model_source(classifier, data, given, threads=threads)
    progress = Progress(source)
    try:
        with as_learned(model):
            training = train(
                classifier, source, target, weight=given["weight"], threads=threads, progress=progress, forget=forget
            )
    finally:
        progress.close()
    if source.left:
        listed = ", ".join(source.left[:8]) + (", ..." if len(source.left) > 8 else "")
        note(f"note: not in the model, so left out: {listed}")
    return {"rows": training.rows, "unlabelled": training.unlabelled, "skipped": skipped_rows(source)}


def _print_report(report: Json, done: str) -> None:
    from bayesbox.cli.print.reports import counted_classes

    without = f", {report['unlabelled']:,} without a label left out" if report["unlabelled"] else ""
    note(f"{plural(report['rows'] - report['unlabelled'], 'row')} {done}{without}")
    note(f"classes now: {counted_classes(report['classes']) or 'none, nothing is left'}")
    for text in report["warnings"]:
        note(f"note: {text}")
    for item in report.get("derived", ()):
        note(f"note: not undone by subtracting: {item}")
    note(f"digest before {report['digest_before']}")
    note(f"digest now    {report['digest']}")
    note(f"written to {report['model']}")
    if report.get("certificate"):
        path = report["certificate"]
        note(f"certificate in {path}: bayes verify {path} {report['model']} --rows DATA")
