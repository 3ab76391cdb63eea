"""The layout of a nomogram: the scales, their marks, and the lines of the labels."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from bayesbox.explain.nomogram import Nomogram, Ruler, signed
from bayesbox.explain.rulers import FAR, round_values

FARTHEST = 10.0  # of levels, 22,000 : 1; those beyond are at the edge
TOTAL_SPAN = 14.0  # of the ruler of totals: beyond 0.001 and 0.999 probabilities differ little
LEAST_SPAN = 1e-6
CHANCES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
RARE = tuple(10.0**-power for power in range(12, 3, -1))  # for totals that are all far from even odds
LONG = 12  # characters of a label
DECIMALS = re.compile(r"-?\b\d+\.\d{4,}(e[-+]?\d+)?\b")
MOST_JOINED = 3  # values with the same contribution in one label


class LogOddsScale(NamedTuple):
    """A scale from log-odds `low` to `high` to fractions of a ruler's length."""

    low: float
    high: float

    def share(self, odds: float) -> float:
        """The position from 0 to 1; values beyond are at the edge."""
        return (min(max(odds, self.low), self.high) - self.low) / (self.high - self.low)

    def beyond(self, odds: float) -> int:
        """-1 if beyond the left edge, 1 if beyond the right edge, else 0."""
        return (odds > self.high) - (odds < self.low)

    def ticks(self, about: int) -> list[float]:
        """Round log-odds on the scale."""
        return [float(value) for value in round_values(self.low, self.high, about=about)]

    def chances(self) -> list[tuple[str, float]]:
        """Round probabilities on the scale, with their log-odds."""
        few = [share for share in CHANCES if not self.beyond(_odds_of(share))]
        few = few or [share for share in (*RARE, *(1 - p for p in RARE[::-1])) if not self.beyond(_odds_of(share))]
        return [(f"{share:.12g}", _odds_of(share)) for share in few]


def _odds_of(share: float) -> float:
    return math.log(share / (1 - share))


def points_scale(found: Nomogram) -> LogOddsScale:
    """The common scale of all columns: wide enough for the prior and all but extreme values."""
    ends = [0.0, _within(found.prior if math.isfinite(found.prior) else 0.0, FARTHEST)]
    for ruler in found.rulers:
        ends += [_within(value, FAR if ruler.is_scale else FARTHEST) for value in ruler.reach()]
    return _wide_enough(min(ends), max(ends))


def _within(odds: float, far: float) -> float:
    return min(max(odds, -far), far)


def total_scale(found: Nomogram) -> LogOddsScale:
    """The scale of totals: the whole range, or the part nearest to even odds."""
    low, high = found.reach()
    if high - low <= TOTAL_SPAN:
        return _wide_enough(low, high)
    half = TOTAL_SPAN / 2
    return LogOddsScale(max(low, min(-half, high - TOTAL_SPAN)), min(high, max(half, low + TOTAL_SPAN)))


def _wide_enough(low: float, high: float) -> LogOddsScale:
    return LogOddsScale(low, high) if high - low > LEAST_SPAN else LogOddsScale(low - 1.0, high + 1.0)


class Spot(NamedTuple):
    """A position on a ruler with its label; `names` are all the values there. `above` is the side of the label."""

    share: float
    label: str
    names: tuple[str, ...]
    odds: float
    beyond: int
    above: bool
    own: bool


def spots(ruler: Ruler, scale: LogOddsScale, longest: int, infinite: str = "inf") -> list[Spot]:
    """The marks of a ruler as drawn, ascending, including that of the row.

    Values with the same contribution share a spot. On a ruler of numbers that is not monotone, values where it rises
    are labelled above and those where it falls below, so that each side reads in one direction.
    """
    rising = _rising(ruler)
    groups: dict[tuple[float, bool, bool], list[str]] = {}
    for place, mark in enumerate(ruler.marks):
        if ruler.own is not None and mark.label == ruler.own.label:
            continue  # it is shown as the mark of the row
        groups.setdefault((mark.log_odds, rising[place], False), []).append(mark.label)
    if ruler.own is not None:
        groups[ruler.own.log_odds, rising[-1], True] = [ruler.own.label]
    found = []
    for (odds, above, own), names in groups.items():
        beyond = scale.beyond(odds)
        label = joined(names, longest)
        if beyond and label not in (signed(odds), signed(odds, infinite)):
            label += f" ({signed(odds, infinite) if math.isinf(odds) else f'{odds:+.0f}'})"
        found.append(Spot(scale.share(odds), label, tuple(names), odds, beyond, above, own))
    return sorted(found, key=lambda spot: (spot.odds, not spot.own))


def _rising(ruler: Ruler) -> list[bool]:
    """For each mark and that of the row, whether the log-odds increase there with the number.

    All False on a monotone ruler.
    """
    marks = [mark for mark in ruler.marks if mark.number is not None]
    steps = [after.log_odds - before.log_odds for before, after in itertools.pairwise(marks)]
    if not (any(step > 0 for step in steps) and any(step < 0 for step in steps)):
        return [False] * (len(ruler.marks) + 1)
    numbers = [mark.number or 0.0 for mark in marks]

    def rises(number: float | None) -> bool:
        if number is None:
            return False
        after = sum(value < number for value in numbers)  # the step before it, or the first one
        return steps[min(max(after - 1, 0), len(steps) - 1)] > 0

    return [rises(mark.number) for mark in ruler.marks] + [rises(ruler.own.number if ruler.own else None)]


def joined(names: Sequence[str], longest: int) -> str:
    """The names of values with the same contribution, each cut to a length.

    >>> joined(["suv", "station wagon", "truck", "bus"], 10)
    'suv, station..., truck, 1 more'
    """
    shown = [cut(name, longest) or "''" for name in names[:MOST_JOINED]]
    return ", ".join([*shown, f"{len(names) - MOST_JOINED} more"] if len(names) > MOST_JOINED else shown)


def cut(name: str, longest: int) -> str:
    """A name in one line and at most this many characters; a long one with fewer decimals in its numbers.

    >>> cut("up to 0.7500000000000001", 20), cut("Iris-versicolor", 10)
    ('up to 0.75', 'Iris-ve...')
    """
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(name.split()))
    if len(line) > LONG:
        line = DECIMALS.sub(lambda found: f"{float(found[0]):.4g}", line)
    return line if len(line) <= longest else line[: longest - 3] + "..."


class PlacedLabel(NamedTuple):
    """A label: its spot, its line (0 is next to the ruler), and where it begins."""

    spot: Spot
    line: int
    left: float


def placed(
    found: Sequence[Spot],
    place: tuple[float, float],
    letter: float,
    lines: int,
    bounds: tuple[float, float],
    bold: float = 1.0,
) -> list[PlacedLabel]:
    """The labels that fit into this many lines without overlap: that of the row, the ends, then the others.

    `place` is the start and length of the ruler, `letter` the width of a character, `bold` the factor for the label of
    the row.
    """
    taken: dict[tuple[bool, int], list[tuple[float, float]]] = {}
    kept = []
    for spot in sorted(found, key=lambda spot: (not spot.own, spot not in (found[0], found[-1]))):
        width = letter * len(spot.label) * (bold if spot.own else 1.0)
        left = place[0] + place[1] * spot.share - width / 2
        left = max(min(left, bounds[1] - width), bounds[0])
        for line in range(lines):
            others = taken.setdefault((spot.above, line), [])
            if all(left >= right + letter * 1.5 or left + width + letter * 1.5 <= start for start, right in others):
                others.append((left, left + width))
                kept.append(PlacedLabel(spot, line, left))
                break
    return kept


def tick_text(odds: float) -> str:
    """The text of log-odds on a scale."""
    return f"{odds:+g}" if odds else "0"
