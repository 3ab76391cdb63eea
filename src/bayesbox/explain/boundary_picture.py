"""Decision regions over two columns, and the boundaries between them, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.explain.density_picture import COLORS, INK, QUIET
from bayesbox.explain.svg_text import safe

SIZE = 360  # of the plot, in points
LEFT, TOP, RIGHT, BOTTOM = 60, 62, 20, 46
STEPS = 60  # cells per side


class PictureAxis(NamedTuple):
    """One of the two columns: its range from `low` to `high`, and the labelled positions."""

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def values(self) -> Doubles:
        """The corners of the cells."""
        share = np.linspace(0.0, 1.0, STEPS + 1)
        values: Doubles = self.low * (1 - share) + self.high * share
        return values


def boundary_svg(
    title: str, across: PictureAxis, up: PictureAxis, scores: NDArray[np.float64], classes: Sequence[str]
) -> str:
    """`scores` are log-probabilities up to a constant at the corners: (up, across, class)."""
    width, height = LEFT + SIZE + RIGHT, TOP + SIZE + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
        *_legend(classes),
        *_regions(scores),
        *(_path(scores, place) for place in range(len(classes))),
        f'<rect x="{LEFT}" y="{TOP}" width="{SIZE}" height="{SIZE}" fill="none" stroke="{QUIET}"/>',
        *_ticks(across, up),
    ]
    return "\n".join([*(part for part in parts if part), "</svg>"]) + "\n"


def _legend(classes: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for place, name in enumerate(classes):
        color = COLORS[place % len(COLORS)]
        yield f'<rect x="{x:g}" y="32" width="10" height="10" fill="{color}" fill-opacity="0.5"/>'
        yield f'<text x="{x + 14:g}" y="41" fill="{QUIET}">{safe(name)}</text>'
        x += 28 + 7 * len(name)


def _regions(scores: NDArray[np.float64]) -> Iterator[str]:
    """The regions: runs of cells in a row with the same most probable class, by the mean score of their corners."""
    corners = scores[:-1, :-1] + scores[1:, :-1] + scores[:-1, 1:] + scores[1:, 1:]
    best = corners.argmax(axis=2)
    side = SIZE / STEPS
    for row in range(STEPS):
        starts = [0, *(np.flatnonzero(np.diff(best[row])) + 1).tolist(), STEPS]
        for first, last in pairwise(starts):
            color = COLORS[int(best[row, first]) % len(COLORS)]
            x, y = LEFT + first * side, TOP + SIZE - (row + 1) * side
            yield (
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{(last - first) * side:.1f}" height="{side:.1f}" '
                f'fill="{color}" fill-opacity="0.25" shape-rendering="crispEdges"/>'
            )


def _path(scores: NDArray[np.float64], place: int) -> str:
    """The boundary of a class: where it and the best of the others are equally probable (marching squares)."""
    if scores.shape[2] < 2 or (scores.shape[2] == 2 and place == 1):  # two classes share one boundary
        return ""
    lead = scores[..., place] - np.delete(scores, place, axis=2).max(axis=2)
    lines = [f"M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}" for (x1, y1), (x2, y2) in zero_lines(lead)]
    return f'<path d="{"".join(lines)}" fill="none" stroke="{INK}" stroke-width="1.5"/>' if lines else ""


Point = tuple[float, float]


def zero_lines(lead: NDArray[np.float64]) -> list[tuple[Point, Point]]:
    """The zero contour of a function given at the corners, by linear interpolation within each cell."""
    found: list[tuple[Point, Point]] = []
    above = (lead > 0).astype(np.int8)
    corners = above[:-1, :-1] + above[1:, :-1] + above[:-1, 1:] + above[1:, 1:]
    mixed = (corners > 0) & (corners < 4)
    for row, column in np.argwhere(mixed).tolist():
        ring = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
        cuts = [
            _cut(first, second, lead[first], lead[second])
            for first, second in zip(ring, [*ring[1:], ring[0]], strict=True)
            if (lead[first] > 0) != (lead[second] > 0)
        ]
        found += [(cuts[place], cuts[place + 1]) for place in range(0, len(cuts) - 1, 2)]
    return found


def _cut(first: tuple[int, int], second: tuple[int, int], low: float, high: float) -> Point:
    """The zero crossing between two corners."""
    share = low / (low - high) if np.isfinite(low - high) and low != high else 0.5
    row = first[0] + share * (second[0] - first[0])
    column = first[1] + share * (second[1] - first[1])
    return LEFT + column * SIZE / STEPS, TOP + SIZE - row * SIZE / STEPS


def _ticks(across: PictureAxis, up: PictureAxis) -> Iterator[str]:
    floor = TOP + SIZE
    for value, label in across.ticks:
        x = LEFT + (value - across.low) / (across.high - across.low) * SIZE
        yield f'<text x="{x:.1f}" y="{floor + 15}" fill="{QUIET}" text-anchor="middle">{safe(label)}</text>'
    for value, label in up.ticks:
        y = floor - (value - up.low) / (up.high - up.low) * SIZE
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" fill="{QUIET}" text-anchor="end">{safe(label)}</text>'
    yield f'<text x="{LEFT + SIZE / 2}" y="{floor + 34}" fill="{INK}" text-anchor="middle">{safe(across.name)}</text>'
    middle = TOP + SIZE / 2
    yield (
        f'<text x="16" y="{middle}" fill="{INK}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        f"{safe(up.name)}</text>"
    )
