"""The output for document models: their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.print.output import bar, decimal, emit_json, note, plural, say, signed, table, whole
from bayesbox.cli.print.printer import Printer
from bayesbox.errors import BadOption
from bayesbox.file.digest import file_digest

if TYPE_CHECKING:
    from bayesbox.classifier.training import Training
    from bayesbox.explain.nomogram import Nomogram
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch
    from bayesbox.text.case import DocumentCase
    from bayesbox.text.classifier import DocumentClassifier

MOST_WORDS = 20  # words of a document that are shown
TELLING = 10  # words per class in the summary of a model
TOLD = 5  # words per class shown after training


class DocumentPrinter(Printer["DocumentClassifier"]):
    """The printer of document models."""

    def prepare(self) -> None:
        from bayesbox._core import keep_freed_memory

        keep_freed_memory()

    def learned(self, classifier: DocumentClassifier, training: Training, skipped: int, warned: list[str]) -> Json:
        from bayesbox.classifier.training import one_class
        from bayesbox.text.model import distinct_words

        telling = classifier.telling_words(TOLD)
        return {
            "target": classifier.target,
            "text": classifier.column,
            "rows": training.rows,
            "unlabelled": training.unlabelled,
            "skipped": skipped,
            "classes": dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)),
            "words": distinct_words(classifier.words, classifier.tokens),
            "used": distinct_words(classifier.model.conditional.words, classifier.tokens),
            "telling": {name: [word for word, _ in found] for name, found in telling.items()},
            "occurrence": classifier.rules.occurrence,
            "once": classifier.rules.once,
            "phrases": list(classifier.tokens.phrases),
            "tried": [{**each._asdict(), "phrases": list(each.phrases)} for each in classifier.settled.tried],
            "calibration": _calibration(classifier),
            "notes": list(classifier.notes()),
            "warnings": [*warned, *map(str, one_class(classifier.book.classes))],
            "digest": classifier.book.digest(),
        }

    def print_learned(self, classifier: DocumentClassifier, report: Json) -> None:
        from bayesbox.cli.print.reports import counted_classes

        without = f", {report['unlabelled']:,} without a label dropped" if report["unlabelled"] else ""
        note(f"{plural(report['rows'], 'document')}{without}; {report['target']}: {counted_classes(report['classes'])}")
        used = f", {report['used']:,} of them used" if report["used"] != report["words"] else ""
        note(f"{plural(report['words'], 'distinct word')}{used}")
        if report["tried"]:
            sample = plural(classifier.settled.documents, "document")
            note(f"chosen: {_model_name(report)}, on {sample}, each held out of the counts:")
            for each in report["tried"]:
                loss = "" if each["log_loss"] is None else f", log loss {each['log_loss']:.3f} when calibrated"
                note(f"  {_model_name(each)}: accuracy {each['accuracy']:.1%}{loss}")
        calibration = report["calibration"]
        if calibration and calibration["kind"] is None:
            note("not calibrated: calibration does not clearly lower the log loss of held-out documents")
        elif calibration and calibration["before"] is not None:
            note(
                f"calibrated by {calibration['kind']}: log loss {calibration['before']:.3f} before and "
                f"{calibration['after']:.3f} after, on held-out documents"
            )
        for name, words in list(report["telling"].items())[:20]:
            note(f"most informative for {name}: {', '.join(words) or 'no word'}")
        for text in (*report["notes"], *report["warnings"]):
            note(f"note: {text}")
        note(f"digest {report['digest']}")
        note(f"written to {report['model']}")
        note(f"next: bayes show {report['model']}   or   bayes predict {report['model']} NEW --proba")

    def show(
        self,
        classifier: DocumentClassifier,
        path: str,
        *,
        column: str | None,
        svg: str | None,  # noqa: ARG002  goes with a column
        found: Nomogram | None,  # noqa: ARG002  that of naive Bayes
        as_json: bool,
    ) -> None:
        """Print what a document model has learned; `column` is a word."""
        word = column
        report = _report(classifier, path)
        of_word = None if word is None else _counts_of(classifier, word, path)
        if as_json:
            emit_json({**report, "column": {"name": word, "classes": of_word}} if word else report)
            return
        say(f"{path}: naive Bayes for documents, {classifier.rules.occurrence}")
        say()
        rows = [
            [name, whole(report["classes"].get(name, 0)), whole(report["words"].get(name, 0)), decimal(p)]
            for name, p in report["prior"].items()
        ]
        table([classifier.target or "class", "documents", "words", "prior"], rows, right=[1, 2, 3])
        say()
        for name, words in report["telling"].items():
            say(f"most informative for {name}: {', '.join(each['word'] for each in words) or 'no word'}")
        say()
        used = f", {report['used']:,} of them used" if report["used"] != report["vocabulary"] else ""
        say(f"{plural(report['vocabulary'], 'distinct word')}{used}")
        if report["chosen"]:
            say(f"chosen on held-out documents: {'; '.join(report['chosen'])}")
        if report["calibration"]:
            say(f"calibration: {report['calibration']['kind'] or 'none'}")
        say("rules: " + ", ".join(f"{name} {value}" for name, value in report["rules"].items() if value))
        say(f"parameters: {report['parameters']:,}, {report['free_parameters']:,} of them free")
        say(f"digest {report['digest']}")
        if of_word is not None:
            say()
            rows = [[name, whole(each["words"]), whole(each["documents"])] for name, each in of_word.items()]
            table([word or "", "words", "documents"], rows, right=[1, 2])

    def check_explain(self, given: Json) -> None:
        if given["svg"]:
            raise click.UsageError("--svg draws the columns of naive Bayes, but this is a model of documents")

    def print_case(self, classifier: DocumentClassifier, batch: Batch, case: Any, work: Work | None) -> None:  # noqa: ARG002
        from bayesbox.cli.print.case import print_work

        print_case(case, classifier.target or "class")
        if work is not None:
            say()
            print_work(work)


def _model_name(model: Json) -> str:
    fewest, most = model["phrases"]
    words = "" if most == 1 else f", phrases of {fewest} to {most} words"
    return f"{model['occurrence']}{', each word once' if model['once'] else ''}{words}"


def _calibration(classifier: DocumentClassifier) -> Json | None:
    """The calibration and the held-out log loss before and after it; None if there is none."""
    from bayesbox.text.model import Strength

    strength, calibrated = classifier.settled.strength, classifier.calibrated
    if strength is None:
        return None
    before, after = classifier.settled.losses or (None, None)
    kind = "temperature" if strength != Strength() else None
    return {"kind": kind if calibrated is None else calibrated.name, "before": before, "after": after}


def print_case(case: DocumentCase, target: str) -> None:
    """Print the posterior and the evidence of the words."""
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
        rows.append(["(absent words)", "", signed(case.absent_log_odds), "", ""])
    rows += [
        [each.word, whole(each.times), signed(each.log_odds), *(whole(count) for count in each.counts)]
        for each in shown
    ]
    if rest:
        rows.append([f"({plural(len(rest), 'other word')})", "", signed(sum(each.log_odds for each in rest)), "", ""])
    if case.calibration_log_odds is not None:
        rows.append(["(calibration)", "", signed(case.calibration_log_odds), "", ""])
    rows.append(["total", "", signed(case.log_odds), "", ""])
    header = [
        f"log-odds of {case.prediction} against {case.against}",
        "times",
        "",
        f"in {case.prediction}",
        f"in {case.against}",
    ]
    table(header, rows, right=[1, 2, 3, 4])


def _report(classifier: DocumentClassifier, path: str) -> Json:
    from bayesbox.rule.priors import prior_shares
    from bayesbox.tally.documents import WORDS
    from bayesbox.text.model import distinct_words

    model, book, size = classifier.model, classifier.book, classifier.parameters()
    telling = classifier.telling_words(TELLING)
    return {
        "model": path,
        "kind": "text",
        "target": classifier.target,
        "text": classifier.column,
        "classes": dict(zip(book.classes, book.n.tolist(), strict=True)),
        "words": dict(zip(book.classes, book[WORDS].n.tolist(), strict=True)) if WORDS in book else {},
        "prior": prior_shares(classifier),
        "rules": _rules(classifier),
        "vocabulary": distinct_words(classifier.words, classifier.tokens),
        "used": distinct_words(model.conditional.words, classifier.tokens),
        "telling": {name: [{"word": each, "lead": lead} for each, lead in words] for name, words in telling.items()},
        "parameters": size.terms,
        "free_parameters": size.free,
        "parameter_counts": size.to_dict(),
        "digest": book.digest(),
        "model_digest": file_digest(path),
        "ledger": book.ledger_digest(),
        "redacted": classifier.redacted,
        "chosen": [f"{name} {classifier.choice_text(name)}" for name in classifier.settled.chosen],
        "calibration": _calibration(classifier),
    }


def _rules(classifier: DocumentClassifier) -> Json:
    """The options of tokens and rules, by name."""
    from bayesbox.classifier.report.describe import rules_facts

    strength = classifier.settled.strength
    learned = {"dropped": classifier.dropped, "strength": None if strength is None else list(strength)}
    return {**rules_facts(classifier.rules), **learned, **rules_facts(classifier.tokens)}


def _counts_of(classifier: DocumentClassifier, word: str, path: str) -> dict[str, dict[str, float]]:
    """The occurrences of a word in each class, and the number of documents."""
    from bayesbox.tally.documents import DOCUMENTS, WORDS

    if word not in classifier.words:
        raise BadOption(f"the word `{word}` does not occur in the training documents", where=path)
    words, holders = classifier.book[WORDS], classifier.book[DOCUMENTS]
    place = words.levels.index(word)
    counts = zip(words.classes, words.counts[:, place].tolist(), holders.counts[:, place].tolist(), strict=True)
    return {name: {"words": count, "documents": held} for name, count, held in counts}
