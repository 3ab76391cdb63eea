"""The nomogram as SVG: one ruler per column on a common scale, then the prior, the total and its probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bayesbox.explain.density_picture import COLORS, GRID, INK, QUIET
from bayesbox.explain.nomogram import Mark, Nomogram, Ruler, chance_text, signed
from bayesbox.explain.nomogram_layout import (
    LogOddsScale,
    PlacedLabel,
    Spot,
    cut,
    placed,
    points_scale,
    spots,
    tick_text,
    total_scale,
)
from bayesbox.explain.svg_text import safe

WIDTH, LEFT, RIGHT, HEAD, FOOT = 760, 168, 44, 82, 14
MARGIN = 16  # of the text on either side
LINE = 13  # of labels
ABOVE, BELOW, GAP = 7, 16, 14  # from a ruler to the labels above it, to those below it, and to the next ruler
LETTER, BOLD = 5.7, 1.12  # mean width of a character at this size, and the factor for bold
INFINITE = "∞"
MOST_LINES = 3
LONGEST_NAME, LONGEST_LABEL, LONGEST_LINE = 23, 20, 110
TICKS = 8
RULER, OWN = COLORS[0], COLORS[1]
HALO = ' stroke="white" stroke-width="3"'  # keeps a label readable over a line


def nomogram_svg(found: Nomogram) -> str:
    """The drawing as SVG text. Hover over a mark for its value and its log-odds."""
    scale = points_scale(found)
    parts: list[str] = []
    y: float = HEAD
    for ruler in found.rulers:
        if ruler.every:
            drawn, y = _ruler(ruler, scale, y)
            parts += drawn
    drawn, y = _rest(found, scale, y)
    parts += drawn
    drawn, y = _single(Ruler("prior", (Mark(signed(found.prior, INFINITE), found.prior),)), scale, y)
    parts += drawn
    axis = list(_axis(scale, y))
    drawn, y = _totals(found, y + 8)
    height = y + FOOT
    title = safe(found.title)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" role="img" font-family="sans-serif" font-size="11">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
        f'<text x="{MARGIN}" y="20" fill="{INK}" font-size="13" font-weight="bold">{safe(cut(found.title, 90))}</text>',
        _text(MARGIN, 38, "What each value adds to the log-odds; values to the right favour " + cut(found.label, 40)),
    ]
    return "\n".join([*head, *axis, *parts, *drawn, "</svg>"]) + "\n"


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _text(
    x: float, y: float, words: str, *, color: str = QUIET, anchor: str = "start", extra: str = "", halo: bool = False
) -> str:
    """A text; with a halo it is drawn twice, since not all SVG renderers support `paint-order`."""
    place = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}'
    behind = f'{place} fill="white"{HALO} aria-hidden="true">{safe(words)}</text>' if halo else ""
    return f'{behind}{place} fill="{color}">{safe(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, extra: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{extra}/>'


def _axis(scale: LogOddsScale, floor: float) -> Iterator[str]:
    """The axis of log-odds at the top, with grid lines down to the last ruler on this scale."""
    top = HEAD - 22
    yield _text(MARGIN, top, "log-odds")
    for tick in scale.ticks(TICKS):
        x = _x(scale.share(tick))
        yield _line(x, top + 5, x, floor - 4, QUIET if tick == 0 else GRID)
        yield _text(x, top, tick_text(tick), anchor="middle")


def _ruler(ruler: Ruler, scale: LogOddsScale, top: float) -> tuple[list[str], float]:
    """The elements of one column, and where the next begins."""
    found = spots(ruler, scale, LONGEST_LABEL, infinite=INFINITE)
    labels = placed(found, (LEFT, WIDTH - LEFT - RIGHT), LETTER, MOST_LINES, (LEFT - 24, WIDTH - 4), BOLD)
    above = max((each.line + 1 for each in labels if each.spot.above), default=0)
    below = max((each.line + 1 for each in labels if not each.spot.above), default=0)
    y = top + above * LINE + (ABOVE if above else 0)
    parts = [_text(MARGIN, y + 4, cut(ruler.column, LONGEST_NAME), color=INK)]
    under = y + 4
    if ruler.own is not None:
        under += LINE
        words = f"{cut(ruler.own.label, LONGEST_NAME - 7)}  {signed(ruler.own.log_odds, INFINITE)}"
        parts.append(_text(MARGIN, under, words, color=OWN, extra=' font-weight="bold"'))
    hidden = sum(len(spot.names) for spot in found) - sum(len(each.spot.names) for each in labels)
    if hidden:
        under += LINE
        parts.append(_text(MARGIN, under, f"{hidden} more without a label", extra=' font-size="10"'))
    parts += _marks(found, labels, y)
    return parts, max(y + BELOW + max(below - 1, 0) * LINE, under) + GAP + 6


def _marks(found: Sequence[Spot], labels: Sequence[PlacedLabel], y: float) -> Iterator[str]:
    """The line from the smallest to the largest mark, the marks, and the labels."""
    yield _line(_x(found[0].share), y, _x(found[-1].share), y, RULER, ' stroke-width="2"')
    for each in labels:
        if each.line:  # a thin line leads to a label that is not next to its mark
            end = y - ABOVE - each.line * LINE if each.spot.above else y + BELOW + each.line * LINE - 9
            yield _line(_x(each.spot.share), y, _x(each.spot.share), end, GRID)
    for spot in sorted(found, key=lambda spot: spot.own):  # the mark of the row is on top
        yield _mark(spot, y)
    for each in labels:
        width = LETTER * len(each.spot.label) * (BOLD if each.spot.own else 1.0)
        height = y - ABOVE - each.line * LINE if each.spot.above else y + BELOW + each.line * LINE
        color, weight = (OWN, ' font-weight="bold"') if each.spot.own else (INK, "")
        yield _text(
            each.left + width / 2, height, each.spot.label, color=color, anchor="middle", extra=weight, halo=True
        )


def _mark(spot: Spot, y: float) -> str:
    """A tick, a dot for the value of the row, an arrow for a value beyond the edge."""
    x, color = _x(spot.share), OWN if spot.own else RULER
    words = f"<title>{safe(', '.join(spot.names[:50]))}: {signed(spot.odds, INFINITE)}</title>"
    if spot.beyond:
        tip = x + 9 * spot.beyond
        return f'<path d="M{tip:.1f} {y:.1f} L{x:.1f} {y - 5:.1f} L{x:.1f} {y + 5:.1f} z" fill="{color}">{words}</path>'
    if spot.own:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}" stroke="white">{words}</circle>'
    up, down = (6, 0) if spot.above else (0, 6)
    return (
        f'<line x1="{x:.1f}" y1="{y - up:.1f}" x2="{x:.1f}" y2="{y + down:.1f}" stroke="{color}" stroke-width="2">'
        f"{words}</line>"
    )


def _single(ruler: Ruler, scale: LogOddsScale, top: float) -> tuple[list[str], float]:
    """A ruler with one mark, which needs no name besides its label."""
    [spot] = spots(ruler, scale, LONGEST_LABEL, infinite=INFINITE)
    [label] = placed([spot], (LEFT, WIDTH - LEFT - RIGHT), LETTER, 1, (LEFT - 24, WIDTH - 4), BOLD)
    return [_text(MARGIN, top + 4, ruler.column, color=INK), *_marks([spot], [label], top)], top + BELOW + GAP + 6


def _rest(found: Nomogram, scale: LogOddsScale, top: float) -> tuple[list[str], float]:
    """The columns that have no ruler here."""
    rest = found.rest()
    parts, y = _single(rest, scale, top) if isinstance(rest, Ruler) else ([], top)
    for words in (rest, found.unmarked()):
        if isinstance(words, str):
            parts.append(_text(MARGIN, y + 4, cut(words, LONGEST_LINE), halo=True))
            y += LINE + GAP
    return parts, y


def _totals(found: Nomogram, top: float) -> tuple[list[str], float]:
    """The total with its scale, and below it the probability."""
    scale = total_scale(found)
    y, lower = top + LINE, top + LINE + 46
    parts = []
    if found.total is not None:
        x = _x(scale.share(found.total))
        parts.append(_line(x, y, x, lower, OWN, ' stroke-dasharray="2 2"'))
    parts += _scale("total log-odds", [(tick_text(tick), tick) for tick in scale.ticks(TICKS)], scale, y)
    parts += _scale(f"P({found.label})", scale.chances(), scale, lower)
    if found.total is not None:
        for height, words in ((y, signed(found.total, INFINITE)), (lower, chance_text(found.total))):
            parts.append(_mark(spots(Ruler("", (), Mark(words, found.total)), scale, LONGEST_LABEL)[0], height))
            parts.append(
                _text(x, height - 9, words, color=OWN, anchor="middle", extra=' font-weight="bold"', halo=True)
            )
    end = lower + BELOW
    for remark in found.remarks:
        end += LINE + 8
        parts.append(_text(MARGIN, end, cut(remark, LONGEST_LINE)))
    return parts, end + 4


def _scale(name: str, ticks: Sequence[tuple[str, float]], scale: LogOddsScale, y: float) -> Iterator[str]:
    """A ruler from edge to edge; a label that would overlap the previous one is omitted."""
    yield _text(MARGIN, y + 4, cut(name, LONGEST_NAME), color=INK)
    yield _line(_x(0), y, _x(1), y, INK, ' stroke-width="1.5"')
    right = -math.inf
    for words, odds in ticks:
        x, half = _x(scale.share(odds)), LETTER * len(words) / 2
        yield _line(x, y, x, y + 5, INK)
        if x - half > right + LETTER:
            yield _text(x, y + BELOW, words, anchor="middle", halo=True)
            right = x + half
