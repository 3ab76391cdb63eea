"""Counterfactuals: the smallest change of a row that flips its prediction.

Changes of fewer columns come first, then smaller changes. Another level is a change of 1; a number changes by its
distance in pooled standard deviations of its column. All levels are tried, and numbers within the training range, the
nearest first; if no single column is enough, all pairs are tried. Missing values stay missing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.answer.ask_next import listed_values
from bayesbox.classifier.answer.flips import ColumnChange, Flip, Flips
from bayesbox.classifier.answer.rows import given_values, repeated, require_one_row, require_table, with_column
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.schema.levels import class_position, level_text

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.source.base import Batch

POINTS = 100  # numbers tried on each side, by distance and again at even steps
FEW = 41  # numbers tried in a pair
MANY_INTEGERS = 2_000  # integers of no wider range are all tried
ROUNDS, PARTS = 3, 64  # of the search for the nearest number: each round divides its interval
ROUNDED = 0.01  # how many standard deviations farther a number may be if it has fewer digits
ROWS_AT_ONCE = 100_000
SHOWN = 10
WIDE = 4.0  # standard deviations around the mean, if the range of the numbers is unknown


class Candidates(NamedTuple):
    """Alternative values of a column, with the size of each change."""

    name: str
    now: Any
    values: list[Any]
    changes: Doubles
    scale: float | None = None  # the standard deviation of numbers; None for levels
    whole: bool = False  # whether numbers are integers


@dataclass(frozen=True)
class _Search:
    """The search for rows that have the requested class."""

    classifier: AnyTableClassifier
    batch: Batch
    place: int | None  # the index of the requested class; None for any other than the predicted one
    present: int

    def answers(self, columns: Mapping[str, Sequence[object]]) -> tuple[NDArray[np.bool_], Doubles, NDArray[np.int64]]:
        """For copies of the row with these values: whether the class is the requested one, P(class), and the class."""
        rows = len(next(iter(columns.values())))
        wanted, shares, found = [], [], []
        for first in range(0, rows, ROWS_AT_ONCE):
            some = {name: values[first : first + ROWS_AT_ONCE] for name, values in columns.items()}
            batch = repeated(self.batch, min(rows - first, ROWS_AT_ONCE))
            for name, values in some.items():
                batch = with_column(self.classifier, batch, name, values)
            posterior = self.classifier.posterior(batch)
            best = posterior.argmax(axis=1)
            flips = best != self.present if self.place is None else best == self.place
            wanted.append(flips)
            shares.append(posterior[np.arange(len(best)), best if self.place is None else self.place])
            found.append(best)
        return np.concatenate(wanted), np.concatenate(shares), np.concatenate(found)


def flip(
    classifier: AnyClassifier, batch: Batch, to: object = None, fixed: Sequence[str] = (), *, shown: int = SHOWN
) -> Flips:
    """The smallest changes of the one row of a batch that flip its prediction to the class `to`, or to any other.

    Columns in `fixed` do not change.
    """
    table = require_table(classifier, "flip")
    require_one_row(batch, "flip")
    given = given_values(table, batch)
    known = table.model_schema().used_columns
    for name in fixed:
        if name not in known:
            raise UnknownColumn(str(name), available=known)
    posterior = table.posterior(batch)[0]
    present, classes = int(posterior.argmax()), table.model.classes
    place = None if to is None else class_position(to, table.model.labels.tolist())
    if place == present:
        raise BadOption(f"the prediction is already `{classes[present]}`", found=to, remedy="Choose another class")
    search = _Search(table, batch, place, present)
    free = [name for name, value in given.items() if value is not None and name not in fixed]
    candidates = [found for name in free if (found := _candidates(table, name, given[name] or "")) is not None]
    options = sorted(_single(search, candidates), key=_order)
    if not options:
        options = sorted(_pairs(search, candidates), key=_order)
    return Flips(
        table.target or "class",
        classes[present],
        dict(zip(classes, posterior.tolist(), strict=True)),
        None if place is None else classes[place],
        tuple(options[:shown]),
        tuple(fixed),
    )


def _order(option: Flip) -> tuple[int, float, float, tuple[str, ...]]:
    return len(option.changes), option.change, -option.probability, tuple(each.column for each in option.changes)


def _candidates(classifier: AnyTableClassifier, name: str, value: str) -> Candidates | None:
    """The alternative values of a column; None if the column cannot be changed by itself."""
    kind = classifier.model_schema().kinds[name]
    if kind.is_text or kind.is_matrix or kind.has_parts:
        return None
    cuts = classifier.cut_points(name)
    levels = listed_values(classifier, name) if cuts is None else None
    if levels is not None:
        others = [level for level in levels if _text(level) != _text(value)]
        return Candidates(name, value, others, np.ones(len(others))) if others else None
    tally: Any = classifier.counted().book.columns.get(name)
    if tally is None or not tally.of_numbers:
        return None
    spread = tally.pooled()
    if not spread.std > 0:
        return None
    low, high = likely_range(tally)
    whole = not tally.sums.fractional.signs().any()
    return _numbers(name, float(value), low, high, spread.std, cuts or (), whole=whole)


def _text(level: object) -> str:
    """A level as text; all spellings of a flag are equal."""
    from bayesbox.schema.flags import FLAG_CODES

    text = level_text(level)
    return str(FLAG_CODES[text.lower()]) if text.lower() in FLAG_CODES else text


def likely_range(tally: Any) -> tuple[float, float]:
    """The training range of the numbers; if it is unknown, four standard deviations around the mean."""
    from bayesbox.classifier.case import learned_range

    known = learned_range(tally)
    if known is not None:
        return known
    spread = tally.pooled()
    return spread.mean - WIDE * spread.std, spread.mean + WIDE * spread.std


def _numbers(
    name: str, now: float, low: float, high: float, std: float, cuts: Sequence[float], *, whole: bool
) -> Candidates | None:
    """Candidate numbers on both sides of the current one, the nearest first."""
    if whole and high - low <= MANY_INTEGERS:
        points = np.arange(math.ceil(low), math.floor(high) + 1, dtype=np.float64)
    else:
        far = max(high - now, now - low, std)
        away = np.concatenate([np.geomspace(std * 1e-3, far, POINTS), np.linspace(0, far, POINTS)])
        edges = np.array(cuts, dtype=np.float64)
        inside = (edges[:-1] + edges[1:]) / 2
        points = np.concatenate([now - away, now + away, inside, np.linspace(low, high, POINTS), [low, high]])
        points = np.rint(points) if whole else points
    points = np.unique(points[(points >= low) & (points <= high) & (points != now)])
    if not len(points):
        return None
    order = np.argsort(np.abs(points - now), kind="stable")
    points = points[order]
    return Candidates(name, now, points.tolist(), np.abs(points - now) / std, std, whole)


# -- one column --------------------------------------------------------------------------------------------------------


def _single(search: _Search, candidates: Sequence[Candidates]) -> Iterator[Flip]:
    """For each column, the smallest change that flips the prediction."""
    for each in candidates:
        wanted, shares, found = search.answers({each.name: each.values})
        places = np.flatnonzero(wanted)
        if not len(places):
            continue
        if each.scale is None:
            best = int(places[np.argmax(shares[places])])
            yield _option(search, [(each, each.values[best])], float(shares[best]), int(found[best]))
            continue
        value = _nearest(search, each, each.values[int(places[0])], {})
        yield _settled(search, [(each, value)])


def _nearest(search: _Search, column: Candidates, value: float, others: Mapping[str, Any]) -> float:
    """A number that flips the prediction, moved as close as possible to the current one, and rounded."""
    assert column.scale is not None
    near, far = float(column.now), float(value)

    def enough(points: Doubles) -> NDArray[np.bool_]:
        values = {column.name: points.tolist(), **{name: [each] * len(points) for name, each in others.items()}}
        return search.answers(values)[0]

    tried = [each for each in column.values if abs(each - near) < abs(far - near) and (each - near) * (far - near) > 0]
    near = tried[-1] if tried else near  # the next candidate on the way: not enough
    for _ in range(ROUNDS):
        points = np.linspace(near, far, PARTS + 1)
        points = np.unique(np.rint(points)) if column.whole else points
        points = points if far > near else np.sort(points)[::-1]
        wanted = enough(points)
        first = int(np.argmax(wanted)) if wanted.any() else len(points) - 1
        far = float(points[first]) if wanted.any() else far
        near = float(points[max(first - 1, 0)])
        if column.whole and abs(far - near) <= 1:
            break
    return far if column.whole else _rounded(column, far, enough)


def _rounded(column: Candidates, value: float, enough: Any) -> float:
    """A nearby number with the fewest digits that is also enough."""
    assert column.scale is not None
    away = 1.0 if value >= column.now else -1.0
    lead = math.floor(math.log10(max(abs(value), column.scale, 1e-300)))
    steps = [10.0 ** (lead - digits) for digits in range(16)]
    shorter = [float(f"{math.ceil(value / step * away) * step * away:.15g}") for step in steps if step > 0]
    close = [each for each in shorter if abs(each - value) <= ROUNDED * column.scale]
    if not close:
        return value
    wanted = enough(np.array(close))
    return next((each for each, good in zip(close, wanted.tolist(), strict=True) if good), value)


# -- two columns -------------------------------------------------------------------------------------------------------


def _pairs(search: _Search, candidates: Sequence[Candidates]) -> Iterator[Flip]:
    """For each pair of columns, the smallest change that flips the prediction."""
    few = [_fewer(each) for each in candidates]
    for one, other in itertools.combinations(few, 2):
        first, second = (
            np.repeat(np.arange(len(one.values)), len(other.values)),
            np.tile(np.arange(len(other.values)), len(one.values)),
        )
        wanted, shares, _ = search.answers(
            {one.name: [one.values[k] for k in first], other.name: [other.values[k] for k in second]}
        )
        places = np.flatnonzero(wanted)
        if not len(places):
            continue
        changes = one.changes[first] + other.changes[second]
        best = int(places[np.lexsort([-shares[places], changes[places].round(9)])[0]])
        values = [one.values[first[best]], other.values[second[best]]]
        for place, column in enumerate((one, other)):
            if column.scale is not None:
                rest = (one, other)[1 - place]
                values[place] = _nearest(search, column, values[place], {rest.name: values[1 - place]})
        yield _settled(search, [(one, values[0]), (other, values[1])])


def _fewer(column: Candidates) -> Candidates:
    """Fewer candidate numbers of a column, including the nearest and the farthest."""
    if column.scale is None or len(column.values) <= FEW:
        return column
    kept = np.unique(np.linspace(0, len(column.values) - 1, FEW).astype(np.int64))
    return column._replace(values=[column.values[k] for k in kept], changes=column.changes[kept])


def _settled(search: _Search, changed: Sequence[tuple[Candidates, Any]]) -> Flip:
    """The result for these values, with the model's prediction."""
    _, shares, found = search.answers({column.name: [value] for column, value in changed})
    return _option(search, changed, float(shares[0]), int(found[0]))


def _option(search: _Search, changed: Sequence[tuple[Candidates, Any]], share: float, found: int) -> Flip:
    changes = tuple(
        ColumnChange(
            column.name,
            level_text(column.now),
            level_text(value),
            1.0 if column.scale is None else abs(float(value) - float(column.now)) / column.scale,
        )
        for column, value in changed
    )
    return Flip(changes, search.classifier.model.classes[found], share)
