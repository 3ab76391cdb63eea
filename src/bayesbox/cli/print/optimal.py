"""The output for a Bayes optimal model: its hypotheses, their weights and their predictions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import decimal, emit_json, say, table
from bayesbox.cli.print.rows import SeveralPrinter
from bayesbox.file.digest import file_digest

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch
    from bayesbox.table.optimal.classifier import OptimalClassifier


def facts(classifier: OptimalClassifier) -> list[Json]:
    """Each hypothesis with its weight and the log-probability of the labels, for JSON."""
    from bayesbox.classifier.registry import model_name

    known = classifier.known
    scores = known.log_scores or (None,) * len(known.weights)
    return [
        {"kind": model_name(each), "weight": weight, "log_score": score}
        for each, weight, score in zip(known.classifiers, known.weights, scores, strict=True)
    ]


def print_report(classifier: OptimalClassifier, *, err: bool = False) -> None:
    """Print the hypotheses as a table."""
    known = classifier.known
    rows = [[each.title, decimal(weight)] for each, weight in zip(known.classifiers, known.weights, strict=True)]
    head, right = ["hypothesis", "P(hypothesis | rows)"], [1]
    if known.log_scores is not None:
        head.append("log P(labels), leave-one-out")
        right.append(2)
        rows = [[*row, f"{score:.2f}"] for row, score in zip(rows, known.log_scores, strict=True)]
    table(head, rows, right=right, err=err)


def answers(classifier: OptimalClassifier, batch: Batch) -> list[Json]:
    """The prediction of each hypothesis for one case, for JSON."""
    found = zip(facts(classifier), classifier.answers(batch), strict=True)
    return [{"kind": each["kind"], "weight": each["weight"], "class": name, "p": p} for each, (name, p) in found]


def print_answers(classifier: OptimalClassifier, batch: Batch) -> None:
    """Print the same as a table; the most probable hypothesis is marked."""
    known = classifier.known
    rows = [
        [each.title, decimal(weight), name, decimal(p), "the most probable" if place == known.best else ""]
        for place, (each, weight, (name, p)) in enumerate(
            zip(known.classifiers, known.weights, classifier.answers(batch), strict=True)
        )
    ]
    table(["hypothesis", "P(hypothesis | rows)", "alone", "", ""], rows, right=[1, 3])


def show(classifier: OptimalClassifier, path: str, *, as_json: bool) -> None:
    """Print `bayes show` of such a model."""
    from bayesbox.classifier.report.describe import column_facts
    from bayesbox.cli.print.reports import columns_table
    from bayesbox.file.options_json import options_to_json

    assert classifier.schema is not None
    book, model = classifier.book, classifier.model
    prior = {name: math.exp(value) for name, value in zip(model.classes, model.log_prior, strict=True)}
    counted = bool(book.classes)
    if as_json:
        emit_json(
            {
                "model": path,
                "kind": "optimal",
                "target": classifier.target,
                "classes": dict(zip(book.classes, book.n.tolist(), strict=True)),
                "prior": prior,
                "rules": options_to_json(classifier.rules),
                "columns": [each.as_dict() for each in column_facts(classifier.schema, book)],
                "hypotheses": facts(classifier),
                "digest": book.digest() if counted else None,
                "model_digest": file_digest(path),
                "ledger": book.ledger_digest(),
                "redacted": classifier.redacted,
            }
        )
        return
    say(f"{path}: {classifier.title}")
    say()
    table([classifier.target or "class", "prior"], [[name, decimal(p)] for name, p in prior.items()], right=[1])
    if counted:
        say()
        columns_table(classifier)
    say()
    print_report(classifier)
    if counted:
        say()
        say(f"digest {book.digest()}")


class OptimalPrinter(SeveralPrinter["OptimalClassifier"]):
    """The printer of Bayes optimal models."""

    def more(self, classifier: OptimalClassifier) -> Json:
        return {"hypotheses": facts(classifier)}

    def print_more(self, classifier: OptimalClassifier, *, err: bool = False) -> None:
        print_report(classifier, err=err)

    def show_several(self, classifier: OptimalClassifier, path: str, *, as_json: bool) -> None:
        show(classifier, path, as_json=as_json)

    def case_facts(self, classifier: OptimalClassifier, batch: Batch, notes: list[str], work: Work | None) -> Json:
        return {**super().case_facts(classifier, batch, notes, work), "hypotheses": answers(classifier, batch)}

    def print_answers(self, classifier: OptimalClassifier, batch: Batch) -> None:
        say()
        print_answers(classifier, batch)
