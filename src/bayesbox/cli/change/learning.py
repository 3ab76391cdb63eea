"""What `update` and `forget` share: adding rows to a model, or subtracting them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from bayesbox.cli.change.history import record
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.text import CHANGE, refuse_foreign
from bayesbox.cli.print.calibration import stale_lines
from bayesbox.cli.print.output import captured_warnings, emit_json, note, plural
from bayesbox.errors import BadModelFile, ModelChanged, NoCounts, UnknownColumn

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.training import PendingRows, Training
    from bayesbox.file.reader import Json
    from bayesbox.file.version import FileVersion
    from bayesbox.tally.book import Book

T = TypeVar("T")


def change(model: str, data: tuple[str, ...], given: Json, *, forget: bool, as_json: bool) -> None:
    """Learn or forget the rows of data, and write the model.

    The rows are counted first, without a lock, then added to the newest version of the locked file. If something is
    derived from the rows, the file is locked throughout.
    """
    from bayesbox.classifier.training import counts_apart
    from bayesbox.file.load import CLASSIFIER, load_newest, load_version
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import old_name, save

    path = given["output"] or model
    lock = FileLock(path, wait=given["wait"], verb="forget" if forget else "update")
    rows = ChangingRows(model, data, given, forget=forget)
    with captured_warnings() as warned, contextlib.ExitStack() as held:
        classifier, known = load_version(model, holds=CLASSIFIER)
        rows.require_usable(classifier)
        pending = rows.count(classifier) if counts_apart(classifier) else None
        held.enter_context(lock)
        classifier, version = load_newest(model, classifier, known, holds=CLASSIFIER)
        rows.require_usable(classifier)
        old = classifier.book
        if pending is not None and not pending.fits(classifier):
            rows.require_again(known, version)
            pending = None
        training = rows.learn(classifier) if pending is None else rows.add(pending, classifier)
        if classifier.classes:
            classifier.check()  # raises before anything is written
        expected = version if version.is_at(path) else None
        with certifying(given) as certify:
            save(classifier, path, expected=expected, lock=lock, keep_old=given.get("keep_old", False))
            certify(old, classifier, labelled := training.rows - training.unlabelled)
        record(lock.verb, path, data, labelled, classifier, before=old.digest(), begin=given["history"])
    report: Json = {
        "rows": training.rows,
        "unlabelled": training.unlabelled,
        "skipped": rows.skipped,
        "model": path,
        "classes": dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)),
        "digest_before": old.digest(),
        "digest": classifier.book.digest(),
        "warnings": warned,
    }
    warned += stale_lines(classifier, path)
    report["stale"] = classifier.stale
    kept = old_name(os.path.realpath(path))
    if forget and os.path.exists(kept):
        warned.append(f"{os.path.basename(kept)} is an earlier version of the model and may still contain these rows")
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
    """A context with a function that writes the certificate of a forget, to be called after the model is saved.

    The key is read and the file created before anything is saved, so that an error in them changes nothing; the
    certificate is kept only if the block ends without an error.
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


class ChangingRows:
    """The rows of a verb that changes a model, read as a version of the model needs them."""

    def __init__(self, model: str, data: tuple[str, ...], given: Json, *, forget: bool) -> None:
        self.model = model
        self.data = data
        self.given = given
        self.forget = forget
        self.skipped = 0

    def require_usable(self, classifier: AnyClassifier) -> None:
        """Raise an error for a model that cannot be changed by rows, or not with these options."""
        from bayesbox.classifier.registry import kind_of

        refuse_foreign(kind_of(classifier), self.given, CHANGE)
        if classifier.fixed:
            raise NoCounts("this model was made from given tables: it has no counts", where=self.model)
        if classifier.needs_target and (self.given["target"] or classifier.target) is None:
            raise BadModelFile("the model does not record its target column", where=self.model, remedy="Pass -t COLUMN")

    def require_again(self, known: FileVersion, now: FileVersion) -> None:
        """Raise an error if rows must be counted again but can be read only once."""
        if all(name != "-" and not is_pipe(name) for name in self.data):
            return
        raise ModelChanged(
            self.model,
            expected=known.sha256,
            found=now.sha256,
            remedy="Nothing was changed. The rows came from a pipe and must be read again: run the command once more",
        )

    def count(self, classifier: AnyClassifier) -> PendingRows:
        """Count the rows for a model without changing it."""
        from bayesbox.classifier.training import count_source

        return self._read(classifier, count_source)

    def learn(self, classifier: AnyClassifier) -> Training:
        """Train the model on the rows, including all derived parts."""
        from bayesbox.classifier.train import train

        return self._read(classifier, train)

    def add(self, pending: PendingRows, classifier: AnyClassifier) -> Training:
        """Add counted rows to a model, or subtract them."""
        from bayesbox.cli.options.sources import as_learned

        with as_learned(self.model):
            pending.apply(classifier)
        return pending.training()

    def _read(self, classifier: AnyClassifier, do: Callable[..., T]) -> T:
        from bayesbox.cli.options.sources import Progress, as_learned, lacking_column, model_source, skipped_rows
        from bayesbox.cli.print.printer import printer_of

        printer_of(classifier).prepare()
        threads = options.threads_or_default(self.given["threads"])
        source, target = model_source(classifier, self.data, self.given, threads=threads)
        progress = Progress(source)
        try:
            with as_learned(self.model):
                done = do(
                    classifier,
                    source,
                    target,
                    weight=self.given["weight"],
                    threads=threads,
                    progress=progress,
                    forget=self.forget,
                )
        except UnknownColumn as error:
            raise lacking_column(error, source, target) from None
        finally:
            progress.close()
        if source.left:
            listed = ", ".join(source.left[:8]) + (", ..." if len(source.left) > 8 else "")
            note(f"note: ignored, not columns of the model: {listed}")
        self.skipped = skipped_rows(source)
        return done


def is_pipe(name: str) -> bool:
    """Whether a name is a pipe, which can be read only once."""
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def _print_report(report: Json, done: str) -> None:
    from bayesbox.cli.print.reports import counted_classes

    without = f", {report['unlabelled']:,} without a label dropped" if report["unlabelled"] else ""
    note(f"{plural(report['rows'] - report['unlabelled'], 'row')} {done}{without}")
    note(f"classes now: {counted_classes(report['classes']) or 'none; the model is empty'}")
    for text in report["warnings"]:
        note(f"note: {text}")
    for item in report.get("derived", ()):
        note(f"note: not undone by subtraction: {item}")
    note(f"digest before {report['digest_before']}")
    note(f"digest now    {report['digest']}")
    note(f"written to {report['model']}")
    if report.get("certificate"):
        path = report["certificate"]
        note(f"certificate written to {path}; check it: bayes verify {path} {report['model']} --rows DATA")
