"""A bar chart of log-odds as SVG: one bar per column, to the right for the class, to the left against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bayesbox.explain.svg_text import safe

TOWARDS, AWAY, WHOLE = "#3b6fb6", "#c8553d", "#444"
INK, QUIET, GRID = "#222", "#666", "#ddd"
NAMES, BARS, FIGURES = 250, 320, 70  # widths of the three columns of the picture
TOP, ROW = 52, 22
LONGEST_NAME = 38  # characters


class SignedBar(NamedTuple):
    """A bar: its name and its signed length; the total is drawn in another color."""

    name: str
    value: float
    is_sum: bool = False


def evidence_svg(title: str, bars: Sequence[SignedBar]) -> str:
    """The bar chart; infinite bars reach the edge."""
    width, height = NAMES + BARS + FIGURES, TOP + ROW * len(bars) + 12
    longest = max((abs(bar.value) for bar in bars if math.isfinite(bar.value)), default=0.0) or 1.0
    middle = NAMES + BARS / 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12" role="img">',
            f"<title>{safe(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="12" y="22" fill="{INK}" font-size="13" font-weight="bold">{safe(_cut(title, 90))}</text>',
            f'<text x="{middle - 8:g}" y="42" fill="{QUIET}" text-anchor="end">against</text>',
            f'<text x="{middle + 8:g}" y="42" fill="{QUIET}">for</text>',
            f'<line x1="{middle:g}" y1="{TOP - 6}" x2="{middle:g}" y2="{height - 8}" stroke="{GRID}"/>',
            *(line for place, bar in enumerate(bars) for line in _bar(place, bar, longest, middle)),
            "</svg>\n",
        ]
    )


def _bar(place: int, bar: SignedBar, longest: float, middle: float) -> Iterator[str]:
    y = TOP + ROW * place
    share = math.copysign(1.0, bar.value) if math.isinf(bar.value) else bar.value / longest
    length = abs(share) * BARS / 2
    left = middle if share >= 0 else middle - length
    color = WHOLE if bar.is_sum else TOWARDS if share >= 0 else AWAY
    weight = ' font-weight="bold"' if bar.is_sum else ""
    yield (
        f'<text x="{NAMES - 10}" y="{y + 12}" fill="{INK}" text-anchor="end"{weight}>'
        f"{safe(_cut(bar.name, LONGEST_NAME))}</text>"
    )
    yield (
        f'<rect x="{left:.2f}" y="{y + 2}" width="{max(length, 0.5):.2f}" height="{ROW - 9}" fill="{color}">'
        f"<title>{safe(bar.name)}: {bar.value:+.4f}</title></rect>"
    )
    yield (
        f'<text x="{NAMES + BARS + FIGURES - 8}" y="{y + 12}" fill="{QUIET}" text-anchor="end"{weight}>'
        f"{bar.value:+.3f}</text>"
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
