"""What `train`, `update` and `forget` do with documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import remote_sources
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.text import ROWS_ONLY, new_classifier, refuse
from bayesbox.cli.print.output import captured_warnings, emit_json, note, plural

if TYPE_CHECKING:
    from bayesbox.classifier.training import Training
    from bayesbox.source.base import Source
    from bayesbox.tally.book import Book
    from bayesbox.text.classifier import DocumentClassifier
    from bayesbox.text.train import Labelled

TELLING = 5  # words of each class that are shown after training


def train(data: tuple[str, ...], given: dict[str, Any], path: str, *, as_json: bool) -> None:
    """Learn documents and write the model."""
    from bayesbox.classifier.training import one_class
    from bayesbox.file.save import save

    source = remote_sources.rows_elsewhere(data, given)
    if source is None and not data:
        raise click.UsageError("no data were given")
    refuse(given, ROWS_ONLY, "is about columns: --model text has none")
    with captured_warnings() as warned:
        classifier = new_classifier(given)
        labelled = documents(source or data, given, target=given["target"], column=given["text"])
        training, skipped = counted(classifier, labelled, given, forget=False)
        classifier.model  # noqa: B018  a prior or a rule that does not fit is refused before anything is written
        save(classifier, path)
    report = {
        "model": path,
        "kind": "text",
        "target": labelled.target,
        "text": labelled.column,
        "rows": training.rows,
        "unlabelled": training.unlabelled,
        "skipped": skipped,
        "classes": dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)),
        "words": len(classifier.words),
        "used": len(classifier.model.conditional.words),
        "telling": {name: [word for word, _ in found] for name, found in classifier.telling_words(TELLING).items()},
        "occurrence": classifier.rules.occurrence,
        "once": classifier.rules.once,
        "tried": [each._asdict() for each in classifier.tried],
        "warnings": [*warned, *one_class(classifier.book.classes)],
        "digest": classifier.book.digest(),
    }
    if as_json:
        emit_json(report)
    else:
        _print_report(report)


def documents(
    data: tuple[str, ...] | Source,
    given: dict[str, Any],
    *,
    target: str | None,
    column: str | None,
    label: str | None = None,
) -> Labelled:
    """The documents of a verb's arguments, or of rows elsewhere, with their classes."""
    from bayesbox.text.train import labelled_documents

    return labelled_documents(
        list(data) if isinstance(data, tuple) else data,
        target,
        column,
        label=label,
        weight=given["weight"],
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
    )


def counted(
    classifier: DocumentClassifier, labelled: Labelled, given: dict[str, Any], *, forget: bool
) -> tuple[Training, int]:
    """Learn or forget documents, with progress on a terminal; also how many broken ones were left out."""
    from bayesbox._core import keep_freed_memory
    from bayesbox.cli.options.sources import Progress, skipped_rows
    from bayesbox.text.train import train_documents

    keep_freed_memory()
    threads = options.threads_or_default(given["threads"])
    progress = Progress(labelled.source)
    try:
        training = train_documents(
            classifier, labelled, weight=given["weight"], threads=threads, progress=progress, forget=forget
        )
    finally:
        progress.close()
    return training, skipped_rows(labelled.source)


def change(
    classifier: DocumentClassifier, data: tuple[str, ...], given: dict[str, Any], *, forget: bool
) -> dict[str, Any]:
    """Learn or forget documents; what happened, for the report of `update` and `forget`."""
    label = given["label"]
    column, target = classifier.column, given["target"] or classifier.target
    labelled = documents(data, given, **columns_of(data, given, column, target), label=label)
    before = classifier.column, classifier.target
    training, skipped = counted(classifier, labelled, given, forget=forget)
    classifier.column, classifier.target = before  # those the model was trained with
    return {"rows": training.rows, "unlabelled": training.unlabelled, "skipped": skipped}


def book_of(classifier: DocumentClassifier, data: tuple[str, ...], given: dict[str, Any]) -> Book:
    """The tallies of some documents alone, read as the model reads them."""
    from bayesbox.text.train import train_documents

    fresh = classifier.with_empty_counts()
    given = {"bad_rows": "error", **given}
    labelled = documents(data, given, **columns_of(data, given, classifier.column, classifier.target))
    train_documents(fresh, labelled, weight=given["weight"])
    return fresh.book


def columns_of(
    data: tuple[str, ...], given: dict[str, Any], column: str | None, target: str | None
) -> dict[str, str | None]:
    """Where the classes and texts stand: in the model's columns of a table; documents in files have none."""
    from bayesbox.source.files.documents import is_table

    if is_table(list(data), given["input_format"]):
        return {"target": target, "column": column}
    return {"target": None, "column": None}


def _model_name(model: dict[str, Any]) -> str:
    return f"{model['occurrence']}{', each word once' if model['once'] else ''}"


def _print_report(report: dict[str, Any]) -> None:
    from bayesbox.cli.print.reports import counted_classes

    without = f", {report['unlabelled']:,} without a label left out" if report["unlabelled"] else ""
    note(f"{plural(report['rows'], 'document')}{without}; {report['target']}: {counted_classes(report['classes'])}")
    used = f", {report['used']:,} of them used" if report["used"] != report["words"] else ""
    note(f"{plural(report['words'], 'distinct word')}{used}")
    if report["tried"]:
        note(f"chosen: {_model_name(report)}, by documents that the model has not seen:")
        for each in report["tried"]:
            loss = "" if each["log_loss"] is None else f", log loss {each['log_loss']:.3f} if calibrated"
            note(f"  {_model_name(each)}: {each['accuracy']:.1%} right{loss}")
    for name, words in list(report["telling"].items())[:20]:
        note(f"most telling for {name}: {', '.join(words) or 'no word'}")
    for text in report["warnings"]:
        note(f"note: {text}")
    note(f"digest {report['digest']}")
    note(f"written to {report['model']}")
    note(f"next: bayes show {report['model']}   or   bayes predict {report['model']} NEW --proba")
