"""The learned tables of a classifier in printable form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.report.size import Parameters, parameters_of
from bayesbox.described import Remedy

if TYPE_CHECKING:
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.explain.credible import IntervalTable
    from bayesbox.explain.printed_tables import PrintedTables

MOST_ROWS = 30  # rows shown per table by default
MOST_TABLES = 60
PRIOR = "P(class)"


class Learns:
    """The part of `Classifier` that shows what was learned: its tables and the number of parameters."""

    def inner(self) -> tuple[Any, ...]:
        """The classifiers it contains, each with its own tallies."""
        return ()

    def learned_tables(self, most: int | None) -> Iterator[LearnedTable]:
        """A table for each distribution of the model, or of the models it contains."""
        return tables_of(self, most)

    def tables(self, most: int | None = MOST_ROWS, interval: float | None = None) -> PrintedTables:
        """The prior and all tables, with the `most` common rows of each (None for all) and intervals if requested."""
        return printed(self, most, interval)

    def posterior_interval(self, batch: Any, *, level: float, draws: int, seed: int) -> IntervalTable:  # noqa: ARG002
        """The credible interval of P(class | x) of one row, for models that count each column by class."""
        from bayesbox.errors import BadOption

        raise BadOption(
            "credible intervals are available for naive Bayes (tables and documents) and for Bayesian networks",
            found=getattr(self, "title", type(self).__name__),
            remedy=Remedy("Train bayesbox.NaiveBayes(), or fit a network: net.interval(question)", "Try --model naive"),
        )

    def parameters(self) -> Parameters:
        """The number of parameters: free, all, and those of naive Bayes and of the full joint."""
        return counted_parameters(self)


def tables_of(classifier: Any, most: int | None) -> Iterator[LearnedTable]:
    """The tables of the distributions of a model, then those of the models it contains."""
    from bayesbox.dist.learned import LearnedRow, LearnedTable
    from bayesbox.explain.work import prior_factor
    from bayesbox.rule.naive import fit_options

    model = classifier.model
    book = classifier.book.with_classes(model.classes)
    for conditional in getattr(model, "conditionals", ()):
        options = fit_options(classifier.schema, book, classifier.rules, conditional.columns[0])
        weight = model.weight_of(conditional) if hasattr(model, "weight_of") else 1.0
        for table in conditional.learned(book, options, most):
            power = "" if weight == 1 else f"its factors are raised to the weight {weight:.4g}"
            yield replace(table, about="; ".join(text for text in (table.about, power) if text))
    for number, each in enumerate(classifier.inner(), start=1):
        classes, prior = each.model.classes, prior_factor(each.model, each.book, each.rules)
        rows = (LearnedRow(PRIOR, prior.formulas, prior.values),)
        yield LearnedTable(f"model {number}: {PRIOR}", rows, about=each.title, columns=classes)
        for table in each.learned_tables(most):
            yield replace(table, name=f"model {number}: {table.name}", columns=table.columns or classes)


def counted_parameters(classifier: Any) -> Parameters:
    """The parameters of the distributions of a model, or of all models it contains."""
    members = [each.parameters() for each in classifier.inner()]
    if members:
        return Parameters(sum(each.free for each in members), sum(each.terms for each in members))
    return parameters_of(len(classifier.model.classes), getattr(classifier.model, "conditionals", ()))


def printed(classifier: Any, most: int | None, interval: float | None = None) -> PrintedTables:
    """The tables of a classifier with notes and, if requested, the credible interval of each probability."""
    from bayesbox.dist.learned import LearnedRow
    from bayesbox.explain.credible import interval_row, prior_notes, require_level
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.explain.steps import Cell, Row, Step
    from bayesbox.explain.work import prior_factor

    model = classifier.model
    prior = prior_factor(model, classifier.book, classifier.rules)
    level = None if interval is None else require_level(interval)
    sure: list[Any] = []

    def with_interval(row: LearnedRow) -> Iterator[Row]:
        yield Row(row.name, tuple(map(Cell, row.formulas, row.values)))
        if level is not None and row.posteriors:
            sure.extend(row.posteriors)
            yield interval_row(row.posteriors, row.values, level)

    first = LearnedRow(PRIOR, prior.formulas, prior.values, prior.posteriors)
    steps = {PRIOR: Step("prior", tuple(with_interval(first)), model.classes)}
    notes: list[str] = []
    about: dict[str, list[str]] = {}
    found = classifier.learned_tables(most)
    for table in found if most is None else itertools.islice(found, MOST_TABLES):
        rows = tuple(each for row in table.rows for each in with_interval(row))
        if rows:
            steps[table.name] = Step(table.name, rows, model.classes if table.columns is None else table.columns)
        if table.about:
            about.setdefault(table.about, []).append(table.name)
        if table.hidden:
            shown = len(table.rows)
            notes.append(f"{table.name}: {shown:,} of {shown + table.hidden:,} rows are shown")
    notes += [f"{'; '.join(names)}: {text}" for text, names in about.items()]
    more = sum(1 for _ in found)
    if more:
        notes.append(f"{more:,} more tables are not shown")
    notes += [f"ignored: {name}, since {reason}" for name, reason in getattr(model, "ignored", {}).items()]
    if level is not None:
        notes += prior_notes(sure) or ["no probability was counted, so there are no intervals"]
    size = classifier.parameters()
    title = f"what was learned about {classifier.target or 'class'}: {classifier.title}"
    return PrintedTables(title, steps, (*notes, f"parameters: {size.text()}"), size.to_dict())
