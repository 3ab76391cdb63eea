"""The densities of one column of a classifier, side by side: its own, or any that its tally allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbox.dist.base import Distribution
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.student import apart
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.explain.density_picture import Panel, density_svg
from bayesbox.rule.choose import Choice, choose
from bayesbox.rule.densities import DensityOptions, of_moments, of_values
from bayesbox.rule.naive import density_options
from bayesbox.schema.kinds import OF_MOMENTS, check_density
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.moments import Moments
from bayesbox.tally.values import Values


def picture(classifier: NaiveClassifier, column: str, densities: Sequence[str] | None = None) -> str:
    """The density of a column in each class as SVG; with several names, each in a panel of its own."""
    tally = _tally(classifier, column)
    if densities is None:
        own = classifier.model.conditional(column)
        if not isinstance(own, (Gaussian, NumberDensity)):
            raise BadOption(f"column `{column}` has no density to draw", remedy="Name a column of numbers")
        panels = [Panel(own.describe(), own)]
    else:
        panels = [Panel(name, _density(classifier, column, tally, name)) for name in densities]
    low, high = _range(tally)
    return density_svg(column, panels, classifier.model.classes, low, high)


def losses(classifier: NaiveClassifier, column: str) -> Choice:
    """The density that `auto` chooses for a column, and the class log loss of each candidate."""
    tally = _tally(classifier, column)
    if not isinstance(tally, Values):
        raise _needs_values(column)
    return choose(*tally.table, _options(classifier, column))


def _tally(classifier: NaiveClassifier, column: str) -> Moments:
    if column not in classifier.book:
        raise UnknownColumn(column, available=classifier.book)
    tally = classifier.book.with_classes(classifier.model.classes)[column]
    if not isinstance(tally, Moments) or tally.pooled().excess.m == 0:
        raise BadOption(f"column `{column}` has no density", remedy="Name a column of numbers that are not all equal")
    return tally


def _density(classifier: NaiveClassifier, column: str, tally: Moments, name: str) -> Distribution | None:
    check_density(name)
    options = _options(classifier, column)
    if name in OF_MOMENTS:
        return of_moments(name, column, tally, options)
    if not isinstance(tally, Values):
        raise _needs_values(column)
    values, counts = tally.table
    chosen = choose(values, counts, options).density if name == "auto" else name
    return of_values(chosen, column, values, counts, options)


def _options(classifier: NaiveClassifier, column: str) -> DensityOptions:
    assert classifier.schema is not None
    nothing = np.zeros(len(classifier.model.classes))
    return density_options(classifier.schema.kinds[column], classifier.rules, nothing, nothing)


def _needs_values(column: str) -> BadOption:
    return BadOption(
        f"only the moments of column `{column}` were counted, and this needs its values",
        remedy="Train with a density that needs them, such as numeric='auto'",
    )


def _range(tally: Moments) -> tuple[float, float]:
    """The values that were seen; of moments alone, three deviations to either side."""
    if isinstance(tally, Values):
        return float(tally.values[0]), float(tally.values[-1])
    whole = tally.pooled()
    return float(apart(whole.mean, 3 * whole.deviation)), float(apart(whole.mean, -3 * whole.deviation))
