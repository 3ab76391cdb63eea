"""The trellis as SVG: one column per step, one line per state, and the best way into each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayesbox.explain.density_picture import COLORS, GRID, INK, QUIET
from bayesbox.explain.svg_text import safe

if TYPE_CHECKING:
    from bayesbox.sequence.work.viterbi import Trellis

LEFT, STEP, LINE, HEAD, FOOT, RADIUS = 100, 130, 74, 60, 26, 16


def trellis_svg(trellis: Trellis) -> str:
    """The trellis with back-pointers as lines, those of the best path thick."""
    width = LEFT + STEP * len(trellis.names)
    height = HEAD + LINE * len(trellis.states) + FOOT
    title = "Trellis: the best way into each state"
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="20" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
    ]
    return "\n".join([*head, *_lines(trellis), *_nodes(trellis), "</svg>"]) + "\n"


def _place(t: int, state: int) -> tuple[int, int]:
    return LEFT + STEP * t + STEP // 2, HEAD + LINE * state + LINE // 2


def _lines(trellis: Trellis) -> Iterator[str]:
    for t in range(1, len(trellis.names)):
        for state, come in enumerate(trellis.back[t]):
            best = (trellis.path[t - 1], trellis.path[t]) == (come, state)
            (x1, y1), (x2, y2) = _place(t - 1, come), _place(t, state)
            color, wide = (COLORS[0], 4) if best else (GRID, 1.5)
            yield f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="{wide}"/>'


def _nodes(trellis: Trellis) -> Iterator[str]:
    for state, name in enumerate(trellis.states):
        yield f'<text x="16" y="{_place(0, state)[1] + 4}" fill="{INK}">{safe(name[:14])}</text>'
    for t, name in enumerate(trellis.names):
        x = _place(t, 0)[0]
        yield f'<text x="{x}" y="{HEAD - 12}" fill="{QUIET}" text-anchor="middle">{safe(name[:18])}</text>'
        for state in range(len(trellis.states)):
            _, y = _place(t, state)
            best = trellis.path[t] == state
            fill, edge = (COLORS[0], COLORS[0]) if best else ("white", QUIET)
            yield f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{edge}"/>'
            value = f"{trellis.delta[t][state]:.3g}"
            yield f'<text x="{x}" y="{y + RADIUS + 13}" fill="{INK}" text-anchor="middle">{value}</text>'
