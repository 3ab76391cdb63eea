"""What `predict`, `explain`, `evaluate` and `show` do with a model of documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import bar, decimal, emit_json, note, plural, say, signed, table, whole
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.schema.tokens import Documents
    from bayesbox.text.case import TextCase
    from bayesbox.text.classifier import DocumentClassifier

MOST_WORDS = 20
TELLING = 10


def predict(classifier: DocumentClassifier, data: tuple[str, ...], given: dict[str, Any]) -> str | None:
    """Judge documents and write the answers; the prediction where there was one document."""
    from bayesbox._core import keep_freed_memory
    from bayesbox.classifier.predict import PredictOptions, answer_tables
    from bayesbox.cli.options.sources import Progress, skipped_rows
    from bayesbox.cli.print.writers import format_of, output_file, table_writer
    from bayesbox.source.files.documents import FILE
    from bayesbox.source.wrapped import peek
    from bayesbox.text.predict import DocumentAnswers, documents_to_judge

    keep_freed_memory()
    keep = options.several(given["keep"])
    threads = options.threads_or_default(given["threads"])
    asked_for = documents_to_judge(
        classifier,
        list(data),
        keep=keep,
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
    )
    first, source = peek(asked_for.source)
    names = asked_for.source.names if first is None else first.names
    if asked_for.in_files and "-" not in data and not keep:
        keep = [FILE]  # which answer is whose
    asked = PredictOptions(
        given["proba"], given["explain"] or 0, tuple(keep), unsure=given["unsure"], threshold=given["threshold"]
    )
    answers = DocumentAnswers(classifier, asked, names, column=asked_for.column, where=source.name)
    predictions: list[Any] = []
    progress = Progress(asked_for.source)
    try:
        with (
            output_file(given["output"]) as file,
            table_writer(
                file,
                format_of(given["output"], given["output_format"]),
                answers.names,
                escape=not given["no_escape"],
            ) as write,
        ):
            for answered in answer_tables(answers, source, threads=threads):
                write(answered)
                progress(answered.num_rows)
                predictions = predictions or answered["prediction"].slice(0, 1).to_pylist()
            if not progress.rows:
                write(answers.no_rows())
    finally:
        progress.close()
    skipped_rows(source)
    if given["output"] not in (None, "-"):
        note(f"{plural(progress.rows, 'document')} written to {given['output']}")
    return str(predictions[0]) if progress.rows == 1 else None


def explain(classifier: DocumentClassifier, data: str | None, given: dict[str, Any]) -> TextCase:
    """One document, and the words that decided."""
    from bayesbox.text.case import TextCase

    if given["show_work"]:
        raise click.UsageError("--show-work prints the Bayes box of a table; the words of a text are shown in any case")
    return TextCase.of(classifier, _one(classifier, data, given), against=given["against"])


def _one(classifier: DocumentClassifier, data: str | None, given: dict[str, Any]) -> Documents:
    from bayesbox.classifier.predict import find_row
    from bayesbox.schema.tokens import Documents
    from bayesbox.source.files.documents import TEXT
    from bayesbox.text.predict import documents_to_judge

    if data is None:
        column = classifier.column or TEXT
        values = options.values_set(given["values"], [column])
        if set(values) != {column} or given["row"] is not None:
            raise click.UsageError(f"give a document: a file, - for standard input, or --set {column}=...")
        return Documents.of([values[column]])
    if given["values"]:
        raise click.UsageError("the document comes from --set or from a file, not from both")
    reading = {"na": options.several(given["na"]), "format": given["input_format"]}
    asked_for = documents_to_judge(classifier, [data], **reading)
    if given["row"] is None and not asked_for.in_files:
        raise click.UsageError("say which row of DATA: --row N")
    batch = find_row(asked_for.source, given["row"] or 1)
    if asked_for.column not in batch.names:
        from bayesbox.errors import UnknownColumn

        raise UnknownColumn(asked_for.column, available=batch.names, where=data)
    return Documents.of(batch[asked_for.column])


def print_case(case: TextCase, target: str) -> None:
    """The posterior and what the words say, for the eye."""
    say(f"{target} = {case.prediction}, given {plural(len(case.words), 'known word')}")
    say()
    ranked = sorted(case.posterior.items(), key=lambda item: -item[1])[:MOST_WORDS]
    table(
        [target, "posterior", "prior", ""],
        [[name, decimal(p), decimal(case.prior[name]), bar(p)] for name, p in ranked],
        right=[1, 2],
    )
    if case.against is None:
        return
    say()
    shown, rest = case.words[:MOST_WORDS], case.words[MOST_WORDS:]
    rows = [["(prior)", "", signed(case.prior_log_odds), "", ""]]
    if case.absent_log_odds:
        rows.append(["(words that are absent)", "", signed(case.absent_log_odds), "", ""])
    rows += [
        [each.word, whole(each.times), signed(each.log_odds), *(whole(count) for count in each.counts)]
        for each in shown
    ]
    if rest:
        rows.append([f"({plural(len(rest), 'other word')})", "", signed(sum(each.log_odds for each in rest)), "", ""])
    rows.append(["all together", "", signed(case.log_odds), "", ""])
    header = [
        f"log-odds of {case.prediction} against {case.against}",
        "times",
        "",
        f"in {case.prediction}",
        f"in {case.against}",
    ]
    table(header, rows, right=[1, 2, 3, 4])


def evaluate_model(classifier: DocumentClassifier, data: Sequence[str], given: dict[str, Any]) -> Evaluation:
    """A model of documents held against others."""
    from bayesbox.cli.options.sources import Progress, skipped_rows
    from bayesbox.cli.text_learning import columns_of, documents
    from bayesbox.text.evaluate import evaluate_held_out

    columns = columns_of(tuple(data), given, given["text"] or classifier.column, given["target"] or classifier.target)
    labelled = documents(tuple(data), given, **columns)
    progress = Progress(labelled.source)
    try:
        threads = options.threads_or_default(given["threads"])
        found = evaluate_held_out(
            classifier, labelled, weight=given["weight"], bins=given["bins"], threads=threads, progress=progress
        )
    finally:
        progress.close()
    skipped_rows(labelled.source)
    return found


def evaluate_documents(data: Sequence[str], given: dict[str, Any], folds: int) -> Evaluation:
    """Documents learned and judged in turns."""
    from bayesbox.cli.options.sources import Progress, skipped_rows
    from bayesbox.cli.options.text import ROWS_ONLY, new_classifier, refuse
    from bayesbox.cli.text_learning import documents
    from bayesbox.text.evaluate import cross_validate, leave_one_out

    refuse(given, ROWS_ONLY, "is about columns: --model text has none")
    classifier = new_classifier(given)
    labelled = documents(tuple(data), given, target=given["target"], column=given["text"])
    progress = Progress(labelled.source)
    common = {"bins": given["bins"], "threads": options.threads_or_default(given["threads"]), "progress": progress}
    try:
        if given["loo"]:
            found = leave_one_out(classifier, labelled, **common)
        else:
            found = cross_validate(
                classifier,
                labelled,
                folds=folds,
                repeats=given["repeats"] or 1,
                seed=given["seed"] or 0,
                weight=given["weight"],
                **common,
            )
    finally:
        progress.close()
    skipped_rows(labelled.source)
    return found


def show(classifier: DocumentClassifier, path: str, word: str | None, *, as_json: bool) -> None:
    """What a model of documents has learned."""
    report = _report(classifier, path)
    of_word = None if word is None else _counts_of(classifier, word, path)
    if as_json:
        emit_json({**report, "column": {"name": word, "classes": of_word}} if word else report)
        return
    say(f"{path}: naive Bayes of documents, {classifier.rules.occurrence}")
    say()
    rows = [
        [name, whole(report["classes"].get(name, 0)), whole(report["words"].get(name, 0)), decimal(p)]
        for name, p in report["prior"].items()
    ]
    table([classifier.target or "class", "documents", "words", "prior"], rows, right=[1, 2, 3])
    say()
    for name, words in report["telling"].items():
        say(f"most telling for {name}: {', '.join(each['word'] for each in words) or 'no word'}")
    say()
    used = f", {report['used']:,} of them used" if report["used"] != report["vocabulary"] else ""
    say(f"{plural(report['vocabulary'], 'distinct word')}{used}")
    say("rules: " + ", ".join(f"{name} {value}" for name, value in report["rules"].items() if value))
    say(f"parameters: {report['parameters']:,}, {report['free_parameters']:,} of them free")
    say(f"digest {report['digest']}")
    if of_word is not None:
        say()
        rows = [[name, whole(each["words"]), whole(each["documents"])] for name, each in of_word.items()]
        table([word or "", "words", "documents"], rows, right=[1, 2])


def _report(classifier: DocumentClassifier, path: str) -> dict[str, Any]:
    from bayesbox.tally.documents import WORDS

    model, book, size = classifier.model, classifier.book, classifier.parameters()
    telling = classifier.telling_words(TELLING)
    return {
        "model": path,
        "kind": "text",
        "target": classifier.target,
        "text": classifier.column,
        "classes": dict(zip(book.classes, book.n.tolist(), strict=True)),
        "words": dict(zip(book.classes, book[WORDS].n.tolist(), strict=True)) if WORDS in book else {},
        "prior": {name: math.exp(value) for name, value in zip(model.classes, model.log_prior, strict=True)},
        "rules": classifier.rules_in_words(),
        "vocabulary": len(classifier.words),
        "used": len(model.conditional.words),
        "telling": {name: [{"word": each, "lead": lead} for each, lead in words] for name, words in telling.items()},
        "parameters": size.terms,
        "free_parameters": size.free,
        "digest": book.digest(),
    }


def _counts_of(classifier: DocumentClassifier, word: str, path: str) -> dict[str, dict[str, float]]:
    """How often a word occurs in each class, and in how many documents."""
    from bayesbox.tally.documents import DOCUMENTS, WORDS

    if word not in classifier.words:
        raise BadOption(f"the word `{word}` was never learned", where=path)
    words, holders = classifier.book[WORDS], classifier.book[DOCUMENTS]
    place = words.levels.index(word)
    counts = zip(words.classes, words.counts[:, place].tolist(), holders.counts[:, place].tolist(), strict=True)
    return {name: {"words": count, "documents": held} for name, count, held in counts}
