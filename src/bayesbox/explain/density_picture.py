"""Densities as SVG: one panel per density, one curve per class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bayesbox.dist.base import Distribution
from bayesbox.dist.number.special import unit_of
from bayesbox.explain.svg_text import safe

COLORS = ("#3b6fb6", "#c8553d", "#4c9f70", "#8f5fa8", "#b08900", "#4f8a8b", "#a23b72", "#6b705c")
INK, QUIET, GRID = "#222", "#666", "#ddd"
PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 300, 170, 2
LEFT, TOP, BOTTOM = 16, 26, 24  # margins of a panel
HEAD = 46  # the space above the panels for the title and the classes
POINTS = 200


class Panel(NamedTuple):
    """A density with its title; None if the column has none."""

    title: str
    density: Distribution | None


def density_svg(title: str, panels: Sequence[Panel], classes: Sequence[str], low: float, high: float) -> str:
    """The panels side by side over the same range of values. Bins are drawn as probability over width."""
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * PANEL_WIDTH, HEAD + rows * PANEL_HEIGHT
    if len(panels) == 1:
        width = PANEL_WIDTH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
        *_legend(classes),
    ]
    for index, panel in enumerate(panels):
        x, y = index % COLUMNS * PANEL_WIDTH, HEAD + index // COLUMNS * PANEL_HEIGHT
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _panel(panel, low, high)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(classes: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for index, name in enumerate(classes[: len(COLORS)]):
        yield f'<rect x="{x:g}" y="28" width="10" height="10" fill="{COLORS[index]}"/>'
        yield f'<text x="{x + 14:g}" y="37" fill="{QUIET}">{safe(name)}</text>'
        x += 14 + 7 * len(name) + 14


def _panel(panel: Panel, low: float, high: float) -> Iterator[str]:
    right, floor = PANEL_WIDTH - LEFT, PANEL_HEIGHT - BOTTOM
    yield f'<text x="{LEFT}" y="16" fill="{INK}">{safe(panel.title)}</text>'
    yield f'<line x1="{LEFT}" y1="{floor}" x2="{right}" y2="{floor}" stroke="{QUIET}"/>'
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = LEFT + share * (right - LEFT)
        value = low * (1 - share) + high * share
        yield f'<line x1="{x:g}" y1="{TOP}" x2="{x:g}" y2="{floor}" stroke="{GRID}"/>'
        yield f'<text x="{x:g}" y="{floor + 15}" fill="{QUIET}" text-anchor="{anchor}">{value:.4g}</text>'
    if panel.density is None:
        yield f'<text x="{PANEL_WIDTH / 2}" y="{PANEL_HEIGHT / 2}" fill="{QUIET}" text-anchor="middle">none</text>'
        return
    x_values, heights = panel.density.curve(low, high, POINTS)
    spikes = _spikes(panel.density, high / POINTS - low / POINTS)  # high - low may overflow
    shown = [index for index in range(heights.shape[1]) if index not in spikes] or [*range(heights.shape[1])]
    highest = float(heights[:, shown].max()) or 1.0
    unit = unit_of(low, high)
    places = LEFT + (x_values * unit - low * unit) / (high * unit - low * unit) * (right - LEFT)
    for index, curve in enumerate(heights.T):
        color = COLORS[index % len(COLORS)]
        if index in spikes:
            x = LEFT + (spikes[index] * unit - low * unit) / (high * unit - low * unit) * (right - LEFT)
            yield f'<line x1="{x:.1f}" y1="{floor}" x2="{x:.1f}" y2="{TOP}" stroke="{color}" stroke-width="1.5"/>'
            continue
        tops = floor - curve / highest * (floor - TOP)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(places.tolist(), tops.tolist(), strict=True))
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>'


def _spikes(density: Distribution, step: float) -> dict[int, float]:
    """The positions of classes so narrow that a step of the curve would miss them, or flatten all others."""
    known = density.mean_and_std()
    if known is None:
        return {}
    mean, std = known
    return {index: float(mean[index]) for index in range(len(mean)) if std[index] < 2 * step}
