"""The summary of a table model: its classes, columns, rules and size, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbox.cli.print.output import decimal, say, table, whole

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.report.size import ModelSize
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.dist.base import Distribution
    from bayesbox.file.reader import Json

HELD = 0.9  # the share of the values of a class within the interval shown
MOST_CLASSES = 6  # the most classes whose intervals are side by side


def counted(classifier: AnyClassifier) -> Json:
    """The number of training rows of each class."""
    return dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True))


def prior_of(classifier: AnyClassifier) -> dict[str, float]:
    """The prior of each class."""
    from bayesbox.rule.priors import prior_shares

    return prior_shares(classifier)


def densities_of(classifier: AnyTableClassifier) -> dict[str, str]:
    """The density of each numeric column, as a short text."""
    conditionals = getattr(classifier.model, "conditionals", ())
    texts = {each.columns[0]: each.describe() for each in conditionals}
    return {name: text for name, text in texts.items() if text}


def intervals_of(classifier: AnyTableClassifier) -> dict[str, dict[str, list[float]]]:
    """The central 90 % interval of each numeric column by class, from its density."""
    found = {}
    for each in getattr(classifier.model, "conditionals", ()):
        by_class = _interval(each, classifier.model.classes)
        if by_class is not None:
            found[each.columns[0]] = by_class
    return found


def _interval(conditional: Distribution, classes: Sequence[str]) -> dict[str, list[float]] | None:
    from bayesbox.errors import CannotSample

    try:
        found = conditional.interval(HELD)
    except CannotSample:  # a family of an extension that is not a density
        return None
    if found is None:
        return None
    return {name: list(ends) for name, *ends in zip(classes, found.low.tolist(), found.high.tolist(), strict=True)}


def _from_to(ends: Sequence[float]) -> str:
    """An interval as text.

    >>> _from_to([1.23456789, 20.0])
    '1.235 to 20'
    """
    return " to ".join(f"{each:.4g}" for each in ends)


def _held(
    classifier: AnyTableClassifier, shown: Sequence[tuple[str, Mapping[str, Sequence[float]]]]
) -> list[list[str]]:
    """The intervals of columns as text, those of dates as dates."""
    kinds = classifier.schema.kinds if classifier.schema else {}
    rows = []
    for name, by_class in shown:
        kind = kinds.get(name)
        if kind is None or not kind.has_parts:
            rows.append([name, *map(_from_to, by_class.values())])
        else:
            texts = [[kind.number_text(each, high - low) for each in (low, high)] for low, high in by_class.values()]
            rows.append([name, *map(" to ".join, texts)])
    return rows


def print_model(
    classifier: AnyTableClassifier,
    path: str,
    size: ModelSize | None,
    weights: Mapping[str, float] | None,
    *,
    apart: str | None = None,
) -> None:
    """Print the summary of a model; the interval of the column shown `apart` is printed there."""
    from bayesbox.classifier.report.describe import rules_facts
    from bayesbox.cli.print.reports import MOST_COLUMNS, columns_table, weights_text

    counts, prior = counted(classifier), prior_of(classifier)
    say(f"{path}: {classifier.title}" + (", from given tables" if classifier.fixed else ""))
    say()
    rows = [[name, whole(counts[name]) if name in counts else "", decimal(p)] for name, p in prior.items()]
    table([classifier.target or "class", "rows", "prior"], rows, right=[1, 2])
    say()
    columns_table(classifier)
    intervals = {name: each for name, each in intervals_of(classifier).items() if name != apart}
    if intervals and len(prior) <= MOST_CLASSES:
        shown = list(intervals.items())[:MOST_COLUMNS]
        say()
        table([f"{HELD:.0%} of the values", *prior], _held(classifier, shown))
    densities = densities_of(classifier)
    if set(densities.values()) - {"gaussian"}:
        columns = {text: [name for name in densities if densities[name] == text] for text in densities.values()}
        say("densities: " + "; ".join(f"{', '.join(names)} {text}" for text, names in columns.items()))
    if weights is not None:
        say(weights_text(weights))
    bits = sorted(information_of(classifier).items(), key=lambda each: -each[1])
    if bits:
        say("bits about the class: " + ", ".join(f"{name} {value:.4f}" for name, value in bits[:MOST_COLUMNS]))
    for name, reason in {**classifier.model.ignored, **classifier.ignored}.items():
        say(f"ignored: {name}, since {reason}")
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
        say(f"as textbooks count them: {classifier.parameters().text()}")
    if not classifier.fixed:
        say(f"digest {classifier.book.digest()}")


def information_of(classifier: AnyTableClassifier) -> dict[str, float]:
    """The information of each column about the class, in bits; empty if it is slow to compute."""
    from bayesbox.classifier.answer.importance import quick_information

    return quick_information(classifier)


def _compared(size: ModelSize) -> str:
    """The number of parameters of other models of the same columns, as text."""
    from bayesbox.classifier.report.size import large

    if size.naive is not None:
        return f"; naive Bayes would need {large(size.naive)}"
    return f"; the full joint would need {large(size.joint)}" if size.joint is not None else ""


def _rule(value: object) -> str:
    return ", ".join(f"{name}={p}" for name, p in value.items()) if isinstance(value, dict) else str(value)


def own_rules(classifier: AnyTableClassifier) -> dict[str, str]:
    """The smoothing rules of individual columns, as text."""
    kinds = {} if classifier.schema is None else classifier.schema.kinds
    given = getattr(classifier.rules, "column_smoothing", None) or {}
    found = {name: kind.smoothing or given.get(name) for name, kind in kinds.items()}
    return {name: rule.text() for name, rule in found.items() if rule is not None}


def tally_of(classifier: AnyTableClassifier, name: str, path: str) -> Json:
    """The tally of one column as numbers by class."""
    from bayesbox.errors import UnknownColumn

    conditional = classifier.model.conditional(name)
    if classifier.fixed:
        return _given_column(classifier, name, path)
    if name not in classifier.book:
        raise UnknownColumn(name, available=classifier.book, where=path)
    tally = classifier.book[name]
    shown = tally if conditional is None else conditional.shown_tally(tally)
    by_class = _with_declared(conditional, tally, shown.by_class())
    facts: Json = {"name": name, "classes": dict(zip(tally.classes, by_class, strict=True))}
    if conditional is not None:
        classes = classifier.model.classes
        interval, levels = _interval(conditional, classes), conditional.likely_levels(HELD)
        if interval is not None:
            facts["interval"] = interval
        elif levels is not None:
            facts["likely_levels"] = {label: list(each) for label, each in zip(classes, levels, strict=True)}
    return facts


def _with_declared(conditional: Distribution | None, tally: Any, by_class: list[Json]) -> list[Json]:
    """The counts of levels, including declared levels without rows."""
    if conditional is None or tally.form != "counts" or getattr(tally, "sparse", False):
        return by_class
    table = conditional.level_table()
    known = () if table is None else table.levels
    if not by_class or set(known) <= by_class[0].keys():
        return by_class
    rest = [name for name in by_class[0] if name not in known]
    return [{name: each.get(name, 0) for name in (*known, *rest)} for each in by_class]


def _given_column(classifier: AnyTableClassifier, name: str, path: str) -> Json:
    """The probabilities of one column of a model made from given tables."""
    from bayesbox.errors import UnknownColumn

    conditional = classifier.model.conditional(name)
    table = None if conditional is None else conditional.level_table()
    if table is None:
        raise UnknownColumn(name, available=classifier.model.columns, where=path)
    shares = table.shares().T.tolist()
    by_class = [dict(zip(table.levels, row, strict=True)) for row in shares]
    return {"name": name, "classes": dict(zip(classifier.model.classes, by_class, strict=True))}


def print_column(tally: Json) -> None:
    """Print the tally of one column."""
    name, by_class = tally["name"], tally["classes"]
    rows = list(next(iter(by_class.values()), {}))
    body = [[row, *(decimal(values[row]) for values in by_class.values())] for row in rows]
    table([name, *by_class], body, right=range(1, len(by_class) + 1))
    held = {label: _from_to(ends) for label, ends in tally.get("interval", {}).items()}
    held |= {label: ", ".join(levels) for label, levels in tally.get("likely_levels", {}).items()}
    if held:
        say(f"{HELD:.0%} of the values: " + "; ".join(f"{label} {text}" for label, text in held.items()))
