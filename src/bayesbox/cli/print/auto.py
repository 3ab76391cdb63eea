"""The output for AutoBayes: the models tried, their metrics and their weights in the pool."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import decimal, emit_json, note, say, table, whole
from bayesbox.cli.print.rows import SeveralPrinter
from bayesbox.file.digest import file_digest

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.table.auto.classifier import AutoClassifier


def facts(classifier: AutoClassifier) -> Json:
    """The evaluated models and the pool, for JSON."""
    pool = classifier.derived
    assert pool is not None
    judged = [each._asdict() for each in pool.judged]
    together = None if pool.pooled is None else {"log_loss": pool.pooled.log_loss, "accuracy": pool.pooled.accuracy}
    return {"rows": pool.rows, "models": judged, "pool": together, "left_out": list(pool.omitted)}


def print_report(classifier: AutoClassifier, *, err: bool = False) -> None:
    """Print the models as a table, the best first."""
    pool = classifier.derived
    assert pool is not None
    if pool.pooled is None:
        return
    rows = [
        [each.name, f"{each.log_loss:.4f}", f"{each.accuracy:.4f}", f"{each.power:.2f}" if each.power else "dropped"]
        for each in pool.judged
    ]
    rows.append(["combined", f"{pool.pooled.log_loss:.4f}", f"{pool.pooled.accuracy:.4f}", ""])
    table(["model, on held-out rows", "log loss", "accuracy", "weight"], rows, right=[1, 2, 3], err=err)
    if omitted := classifier.omitted_note():
        (note if err else say)(omitted)


def show(classifier: AutoClassifier, path: str, *, as_json: bool) -> None:
    """Print `bayes show` of such a model."""
    from bayesbox.classifier.report.describe import column_facts
    from bayesbox.cli.print.reports import columns_table
    from bayesbox.file.options_json import options_to_json

    assert classifier.schema is not None
    book, model = classifier.book, classifier.model
    counts = dict(zip(book.classes, book.n.tolist(), strict=True))
    prior = {name: math.exp(value) for name, value in zip(model.classes, model.log_prior, strict=True)}
    if as_json:
        emit_json(
            {
                "model": path,
                "kind": "auto",
                "target": classifier.target,
                "classes": counts,
                "prior": prior,
                "rules": options_to_json(classifier.rules),
                "columns": [each.as_dict() for each in column_facts(classifier.schema, book)],
                "pool": facts(classifier),
                "digest": book.digest(),
                "model_digest": file_digest(path),
                "ledger": book.ledger_digest(),
                "redacted": classifier.redacted,
            }
        )
        return
    say(f"{path}: {classifier.title}")
    say()
    rows = [[name, whole(counts[name]) if name in counts else "", decimal(p)] for name, p in prior.items()]
    table([classifier.target or "class", "rows", "prior"], rows, right=[1, 2])
    say()
    columns_table(classifier)
    say()
    print_report(classifier)
    say()
    say(f"rules: budget {classifier.rules.budget:g} s, seed {classifier.rules.seed}")
    say(f"digest {book.digest()}")


class AutoPrinter(SeveralPrinter["AutoClassifier"]):
    """The printer of AutoBayes."""

    def more(self, classifier: AutoClassifier) -> Json:
        return {"pool": facts(classifier)}

    def print_more(self, classifier: AutoClassifier, *, err: bool = False) -> None:
        print_report(classifier, err=err)

    def show_several(self, classifier: AutoClassifier, path: str, *, as_json: bool) -> None:
        show(classifier, path, as_json=as_json)
