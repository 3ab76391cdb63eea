"""The tornado chart of a sensitivity analysis: one bar per cell over its range of answers, the longest at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.explain.density_picture import COLORS, GRID, INK, QUIET
from bayesbox.explain.svg_text import safe

if TYPE_CHECKING:
    from bayesbox.network.analyse.sensitivity import Sensitivity

TOP, ROW, WIDE, RIGHT, FOOT = 46, 22, 420, 24, 34
BARS = 15
CHARACTER = 6.2  # average width of a character in points


def tornado_picture(found: Sensitivity) -> str:
    """The most influential cells; blue for a decreased cell, orange for an increased one."""
    cells = found.cells[:BARS]
    labels = [f"{cell} = {cell.value:.4g}" for cell in cells]
    left = 24 + CHARACTER * max((len(label) for label in labels), default=0)
    ends = [end for cell in cells for end in (cell.low, cell.high)] + [found.value]
    low, high = min(ends), max(ends)
    span = (high - low) or 1e-12
    width, height = left + WIDE + RIGHT, TOP + ROW * len(cells) + FOOT
    title = f"{found.question} = {found.value:.4g}, each cell less and more by {100 * found.spread:g} %"

    def across(value: float) -> float:
        return left + WIDE * (value - low) / span

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="sans-serif" font-size="11" role="img">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width:.0f}" height="{height}" fill="white"/>',
        f'<text x="16" y="22" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
    ]
    foot = TOP + ROW * len(cells)
    for value in (low, found.value, high):
        x = across(value)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{foot}" stroke="{GRID}"/>')
        lines.append(f'<text x="{x:.1f}" y="{foot + 16}" fill="{QUIET}" text-anchor="middle">{value:.4g}</text>')
    for place, (cell, label) in enumerate(zip(cells, labels, strict=True)):
        y = TOP + ROW * place
        lines.append(f'<text x="{left - 8:.1f}" y="{y + 13}" fill="{INK}" text-anchor="end">{safe(label)}</text>')
        for end, color in ((cell.low, COLORS[0]), (cell.high, COLORS[1])):
            one, other = sorted((across(end), across(found.value)))
            tooltip = f"{label}: the answer is {end:.4g}"
            lines.append(
                f'<rect x="{one:.1f}" y="{y}" width="{other - one:.1f}" height="{ROW - 6}" fill="{color}">'
                f"<title>{safe(tooltip)}</title></rect>"
            )
    return "\n".join([*lines, "</svg>"]) + "\n"
