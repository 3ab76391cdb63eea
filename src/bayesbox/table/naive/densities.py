"""The densities of one column of a classifier, side by side: the one in use, or any that its tally supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bayesbox.display.picture import Picture
from bayesbox.dist.base import Distribution
from bayesbox.dist.fit import FitOptions, fitted
from bayesbox.dist.number.choose import Choice, choose
from bayesbox.dist.number.special import apart
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.explain.density_picture import Panel, density_svg
from bayesbox.rule.naive import fit_options
from bayesbox.schema.families import check_density
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.values import Values


def picture(classifier: NaiveClassifier, column: str, densities: Sequence[str] | None = None) -> Picture:
    """The density of a column in each class as SVG; with several names, one panel per density."""
    panels, (low, high) = panels_of(classifier, column, densities)
    drawn = density_svg(column, panels, classifier.model.classes, low, high)
    return Picture(drawn, f"density of {column} by class: {', '.join(panel.title for panel in panels)}")


def panels_of(
    classifier: NaiveClassifier, column: str, densities: Sequence[str] | None
) -> tuple[list[Panel], tuple[float, float]]:
    """The densities of a column, each with its title, and the range of the values."""
    tally = _tally(classifier, column)
    if densities is not None:
        panels = [Panel(name, _density(classifier, column, tally, name)) for name in densities]
        return panels, value_range(tally)
    own = classifier.model.conditional(column)
    if own is None or not own.has_density:
        raise BadOption(f"column `{column}` has no density to draw", remedy="Name a numeric column")
    return [Panel(own.describe(), own)], value_range(tally)


def losses(classifier: NaiveClassifier, column: str) -> Choice:
    """The density that `auto` chooses for a column, and the class log loss of each candidate."""
    tally = _tally(classifier, column)
    if tally.form != Values.form:
        raise _needs_values(column)
    values, counts = tally.table
    return choose(values, counts, _options(classifier, column))


def _tally(classifier: NaiveClassifier, column: str) -> Any:
    if column not in classifier.book:
        raise UnknownColumn(column, available=classifier.book)
    tally = classifier.book.with_classes(classifier.model.classes)[column]
    if not tally.of_numbers or tally.pooled().excess.m == 0:
        raise BadOption(
            f"column `{column}` has no density", remedy="Name a numeric column whose values are not all equal"
        )
    return tally


def _density(classifier: NaiveClassifier, column: str, tally: Any, name: str) -> Distribution | None:
    needed = check_density(name).number_form
    if needed == Values.form != tally.form:
        raise _needs_values(column)
    if needed not in ("", tally.form):
        raise BadOption(
            f"the density `{name}` of column `{column}` needs a {needed} of its values, which was not counted",
            remedy=f"Train with numeric='{name}'",
        )
    return fitted(column, tally, replace(_options(classifier, column), density=name)).distribution


def _options(classifier: NaiveClassifier, column: str) -> FitOptions:
    assert classifier.schema is not None
    return fit_options(classifier.schema, classifier.book, classifier.rules, column).without_missing()


def _needs_values(column: str) -> BadOption:
    return BadOption(
        f"this needs the values of column `{column}`, but only its moments were counted",
        remedy="Train with a density that needs them, such as numeric='auto'",
    )


def value_range(tally: Any) -> tuple[float, float]:
    """The training range; if only moments were counted, three standard deviations to either side."""
    known: tuple[float, float] | None = tally.range()
    if known is not None:
        return known
    whole = tally.pooled()
    low, high = float(apart(whole.mean, 3 * whole.std)), float(apart(whole.mean, -3 * whole.std))
    clipped: tuple[float, float] = tally.clipped(low, high)
    return clipped
