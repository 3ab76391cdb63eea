"""A sequence as SVG: the observations in the colours of the most probable path, and P(state) below."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.explain.density_picture import COLORS, GRID, INK, QUIET
from bayesbox.explain.svg_text import safe

WIDTH, LEFT, RIGHT, HEAD = 760, 84, 16, 48
SEEN_HEIGHT, LINE, SHARES_HEIGHT, GAP, FOOT = 150, 20, 110, 14, 30
MOST_LEVELS = 12  # levels of a column that get a line each
TICKS = 6


class Seen(NamedTuple):
    """One observed column: numbers (NaN if missing), or the line of each level (-1 if missing)."""

    name: str
    values: Doubles
    levels: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        return LINE * min(len(self.levels), MOST_LEVELS) if self.levels else SEEN_HEIGHT


class Decoded(NamedTuple):
    """The data of the drawing: P(state) as steps x states, the state of each step, and the names of the steps."""

    states: tuple[str, ...]
    shares: Doubles
    path: NDArray[np.int64]
    names: tuple[str, ...]


def sequence_svg(title: str, decoded: Decoded, seen: Seen | None) -> str:
    """The drawing; states beyond the eighth share the colours of the first ones."""
    top = HEAD
    parts: list[str] = []
    if seen is not None:
        parts += _seen(seen, decoded, top)
        top += seen.height + GAP
    parts += _shares(decoded, top)
    floor = top + SHARES_HEIGHT
    parts += _ticks(decoded, floor)
    height = floor + FOOT
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
        *_legend(decoded.states),
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


def _color(state: int) -> str:
    return COLORS[state % len(COLORS)]


def _legend(states: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for index, name in enumerate(states[: len(COLORS)]):
        yield f'<rect x="{x:g}" y="28" width="10" height="10" fill="{_color(index)}"/>'
        yield f'<text x="{x + 14:g}" y="37" fill="{QUIET}">{safe(name)}</text>'
        x += 14 + 7 * len(name) + 14


def _step_width(decoded: Decoded) -> float:
    return (WIDTH - LEFT - RIGHT) / max(len(decoded.path), 1)


def _seen(seen: Seen, decoded: Decoded, top: float) -> Iterator[str]:
    wide, floor = _step_width(decoded), top + seen.height
    centres = [LEFT + (step + 0.5) * wide for step in range(len(decoded.path))]
    radius = max(0.8, min(3.2, wide / 2.5))
    across = WIDTH - LEFT - RIGHT
    yield f'<rect x="{LEFT}" y="{top}" width="{across}" height="{seen.height}" fill="none" stroke="{GRID}"/>'
    if seen.levels:
        shown = seen.levels[:MOST_LEVELS]
        for line, level in enumerate(shown):
            y, text = top + LINE * (line + 0.5), safe(level[:12])
            yield f'<text x="{LEFT - 8}" y="{y + 4:g}" fill="{QUIET}" text-anchor="end">{text}</text>'
        heights = [top + LINE * (value + 0.5) if 0 <= value < len(shown) else math.nan for value in seen.values]
    else:
        low, high = _range(seen.values)
        heights = [floor - 6 - (value - low) / (high - low) * (seen.height - 12) for value in seen.values.tolist()]
        for value, y in ((high, top + 6), (low, floor - 6)):
            yield f'<text x="{LEFT - 8}" y="{y + 4:g}" fill="{QUIET}" text-anchor="end">{value:.4g}</text>'
        points = [f"{x:.1f},{y:.1f}" for x, y in zip(centres, heights, strict=True) if not math.isnan(y)]
        yield f'<polyline points="{" ".join(points)}" fill="none" stroke="{GRID}"/>'
    name = safe(seen.name[:12])
    yield f'<text x="{LEFT - 8}" y="{top - 6}" fill="{INK}" text-anchor="end">{name}</text>'
    for x, y, state in zip(centres, heights, decoded.path.tolist(), strict=True):
        if not math.isnan(y):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_color(state)}"/>'


def _range(values: Doubles) -> tuple[float, float]:
    present = values[np.isfinite(values)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _shares(decoded: Decoded, top: float) -> Iterator[str]:
    """Stacked bands, one per state, as high as the state is probable."""
    wide, floor = _step_width(decoded), top + SHARES_HEIGHT
    yield f'<text x="{LEFT - 8}" y="{top + 10}" fill="{INK}" text-anchor="end">P(state)</text>'
    below = np.zeros(len(decoded.path))
    for state in range(len(decoded.states)):
        above = below + decoded.shares[:, state]
        edge = [f"{LEFT + step * wide:.1f},{floor - p * SHARES_HEIGHT:.1f}" for step, p in _corners(above)]
        back = [f"{LEFT + step * wide:.1f},{floor - p * SHARES_HEIGHT:.1f}" for step, p in _corners(below)][::-1]
        yield f'<polygon points="{" ".join([*edge, *back])}" fill="{_color(state)}" fill-opacity="0.75"/>'
        below = above


def _corners(levels: Doubles) -> Iterator[tuple[int, float]]:
    for step, level in enumerate(levels.tolist()):
        yield step, level
        yield step + 1, level


def _ticks(decoded: Decoded, floor: float) -> Iterator[str]:
    wide, count = _step_width(decoded), len(decoded.path)
    few = range(count) if count <= 2 * TICKS else [round(place * (count - 1) / (TICKS - 1)) for place in range(TICKS)]
    for step in few:
        x = LEFT + (step + 0.5) * wide
        yield f'<line x1="{x:.1f}" y1="{floor}" x2="{x:.1f}" y2="{floor + 4}" stroke="{QUIET}"/>'
        name = safe(decoded.names[step][:14])
        yield f'<text x="{x:.1f}" y="{floor + 16}" fill="{QUIET}" text-anchor="middle">{name}</text>'


def seen_levels(name: str, texts: Sequence[str | None], levels: Sequence[str]) -> Seen:
    """A column of levels as lines."""
    place: dict[Any, float] = {level: float(line) for line, level in enumerate(levels)}
    return Seen(name, np.array([place.get(text, -1.0) for text in texts]), tuple(levels))
