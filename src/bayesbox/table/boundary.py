"""The decision boundary of a classifier over two of its columns: linear for flags, quadratic for normals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.explain.boundary_picture import STEPS, PictureAxis, boundary_svg
from bayesbox.source.base import Batch
from bayesbox.table.naive.densities import value_range

LEAST = -1e6  # replaces log 0, so that differences are finite
REMEDY = "Name numeric columns, or columns with two levels"


class _Sampled(NamedTuple):
    """An axis and the values to predict: its grid points, or its two levels."""

    axis: PictureAxis
    values: list[Any]


def boundary_picture(classifier: AnyTableClassifier, across: str, up: str) -> str:
    """The most probable class over two columns, with all others missing, as SVG.

    The probabilities are those before calibration. Between the two levels of a category the log-probabilities are
    interpolated, so that the boundary of flags is the line of `linear_weights`.
    """
    if across == up:
        raise BadOption("a boundary needs two different columns", found=across)
    first, second = _sampled(classifier, across), _sampled(classifier, up)
    scores = _scores(classifier, first, second)
    title = f"{classifier.target or 'class'} by {across} and {up}"
    return boundary_svg(title, first.axis, second.axis, scores, classifier.model.classes)


def _scores(classifier: AnyTableClassifier, first: _Sampled, second: _Sampled) -> NDArray[np.float64]:
    """log P(class, the two values) at all grid points: (up, across, class)."""
    width, height = len(first.values), len(second.values)
    names = first.axis.name, second.axis.name
    columns = _column(np.tile(np.arange(width), height), first), _column(np.repeat(np.arange(height), width), second)
    joint = classifier.joint_of_rows(Batch(names, columns, width * height))
    scores = np.maximum(joint, LEAST).reshape(height, width, -1)
    return _between(_between(scores, axis=0), axis=1)


def _column(places: NDArray[np.int64], sampled: _Sampled) -> Any:
    values = [sampled.values[place] for place in places.tolist()]
    return pa.array(values, pa.float64() if isinstance(sampled.values[0], float) else pa.string())


def _between(scores: Doubles, *, axis: int) -> Doubles:
    """The scores interpolated between two levels; others unchanged."""
    if scores.shape[axis] != 2:
        return scores
    low, high = np.split(scores, 2, axis=axis)
    shape = [1, 1, 1]
    shape[axis] = STEPS + 1
    share = np.linspace(0.0, 1.0, STEPS + 1).reshape(shape)
    found: Doubles = low * (1 - share) + high * share
    return found


def _sampled(classifier: AnyTableClassifier, name: str) -> _Sampled:
    """A column as an axis: two levels, or the training range."""
    if name not in classifier.model.columns:
        raise UnknownColumn(name, available=classifier.model.columns)
    tally: Any = classifier.book.columns.get(name)
    conditional = classifier.model.conditional(name)
    table = None if conditional is None else conditional.level_table()
    levels: tuple[str, ...] = () if tally is None or tally.of_numbers else tuple(tally.levels)
    levels = levels if table is None else table.levels
    if tally is not None and tally.of_numbers and (len(levels) != 2 or levels != ("0", "1")):
        low, high = value_range(tally)
        if not high > low:
            raise BadOption(f"column `{name}` has fewer than two values", remedy=REMEDY)
        axis = PictureAxis(
            name, low, high, tuple((value, f"{value:.4g}") for value in np.linspace(low, high, 5).tolist())
        )
        return _Sampled(axis, axis.values().tolist())
    if len(levels) != 2:
        raise BadOption(f"column `{name}` is neither numeric nor has two levels", remedy=REMEDY)
    numeric = tally is not None and tally.of_numbers
    asked: list[Any] = [0.0, 1.0] if numeric else list(levels)
    return _Sampled(PictureAxis(name, 0.0, 1.0, ((0.0, levels[0]), (1.0, levels[1]))), asked)
