"""What a model of rows has learned: its classes, columns, rules and size, for the eye and for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbox.cli.print.output import decimal, say, table, whole

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.report.size import ModelSize
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.file.reader import Json

EXACT_UP_TO = 10**15


def counted(classifier: AnyClassifier) -> Json:
    """How many rows of each class were learned."""
    return dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True))


def prior_of(classifier: AnyClassifier) -> dict[str, float]:
    """The prior of each class."""
    model = classifier.model
    return {name: math.exp(value) for name, value in zip(model.classes, model.log_prior, strict=True)}


def densities_of(classifier: AnyTableClassifier) -> dict[str, str]:
    """The density of each column of numbers, in a few words."""
    conditionals = getattr(classifier.model, "conditionals", ())
    texts = {each.columns[0]: each.describe() for each in conditionals}
    return {name: text for name, text in texts.items() if text}


def print_model(
    classifier: AnyTableClassifier, path: str, size: ModelSize | None, weights: Mapping[str, float] | None
) -> None:
    """What a model has learned, for the eye."""
    from bayesbox.classifier.report.describe import rules_facts
    from bayesbox.cli.print.reports import columns_table, weights_text

    counts, prior = counted(classifier), prior_of(classifier)
    say(f"{path}: {classifier.title}" + (", made of given tables" if classifier.fixed else ""))
    say()
    rows = [[name, whole(counts[name]) if name in counts else "", decimal(p)] for name, p in prior.items()]
    table([classifier.target or "class", "rows", "prior"], rows, right=[1, 2])
    say()
    columns_table(classifier)
    densities = densities_of(classifier)
    if set(densities.values()) - {"gaussian"}:
        columns = {text: [name for name in densities if densities[name] == text] for text in densities.values()}
        say("densities: " + "; ".join(f"{', '.join(names)} {text}" for text, names in columns.items()))
    if weights is not None:
        say(weights_text(weights))
    for name, reason in classifier.model.left_out.items():
        say(f"left out: {name}, since {reason}")
    for name, flags in classifier.one_hot.items():
        say(f"one-hot: {name} from {', '.join(flags)}")
    say()
    if not classifier.fixed:
        say(
            "rules: "
            + ", ".join(f"{name} {_rule(value)}" for name, value in rules_facts(classifier.rules).items() if value)
        )
    for text in classifier.notes():
        say(f"shrunk: {text}")
    if size is not None:
        say(f"parameters: {size.parameters:,}{_compared(size)}")
    if not classifier.fixed:
        say(f"digest {classifier.book.digest()}")


def _compared(size: ModelSize) -> str:
    """How many numbers another model of the same columns would have."""
    if size.naive is not None:
        return f"; naive Bayes would need {_large(size.naive)}"
    return f"; the full joint would need {_large(size.joint)}" if size.joint is not None else ""


def _rule(value: Any) -> str:
    return ", ".join(f"{name}={p}" for name, p in value.items()) if isinstance(value, dict) else str(value)


def _large(number: int) -> str:
    """A whole number in full, or by its power of ten.

    >>> _large(287), _large(3 * 10**20)
    ('287', '3.00e+20')
    """
    if number < EXACT_UP_TO:
        return f"{number:,}"
    power = len(str(number)) - 1 if number < 10**4000 else int(math.log10(2) * (number.bit_length() - 1))
    return f"{number // 10 ** (power - 2) / 100:.2f}e+{power}"


def tally_of(classifier: AnyTableClassifier, name: str, path: str) -> Json:
    """The tally of one column as numbers by class."""
    from bayesbox.errors import UnknownColumn

    if name not in classifier.book:
        raise UnknownColumn(name, available=classifier.book, where=path)
    tally = classifier.book[name]
    conditional = classifier.model.conditional(name)
    shown = tally if conditional is None else conditional.shown_tally(tally)
    return {"name": name, "classes": dict(zip(tally.classes, shown.by_class(), strict=True))}


def print_column(tally: Json) -> None:
    """The tally of one column."""
    name, by_class = tally["name"], tally["classes"]
    rows = list(next(iter(by_class.values()), {}))
    body = [[row, *(decimal(values[row]) for values in by_class.values())] for row in rows]
    table([name, *by_class], body, right=range(1, len(by_class) + 1))
