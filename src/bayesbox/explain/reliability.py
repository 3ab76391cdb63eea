"""Reliability diagrams: of the rows predicted with a confidence of 0.8, were 80 % right?

As a text table, and as a small self-contained SVG.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bayesbox.display.blocks import TableBlock
from bayesbox.explain.svg_text import safe
from bayesbox.stat.metrics import Bin

BAR = 20  # characters of the longest bar


def reliability_block(bins: Sequence[Bin], caption: str = "") -> TableBlock:
    """The non-empty bins, with a bar for the accuracy and a mark for the confidence.

    >>> from bayesbox.display.text import as_text
    >>> bins = [Bin(0, 0.5, 0, *[math.nan] * 4), Bin(0.5, 1, 8, 0.75, 0.5, 0.21, 0.78)]
    >>> print(as_text("", [reliability_block(bins)]))
      confidence   n  mean confidence  accuracy
      0.500-1.000  8           0.7500    0.5000  ##########     |
    """
    rows = []
    for each in (each for each in bins if each.n):
        span = f"{each.start:.3f}-{each.stop:.3f}"
        rows.append([span, count_text(each.n), f"{each.confidence:.4f}", f"{each.accuracy:.4f}", bar(each)])
    head = ["confidence", "n", "mean confidence", "accuracy", ""]
    return TableBlock(head, rows, caption=caption, right=(1, 2, 3), most=len(rows), in_html=False)


def bar(each: Bin) -> str:
    """The accuracy as a bar of #, and | at the mean confidence."""
    filled, mark = round(BAR * each.accuracy), min(round(BAR * each.confidence), BAR)
    cells = ["#"] * filled + [" "] * (BAR + 1 - filled)
    cells[mark] = "|"
    return "".join(cells).rstrip()


def count_text(count: float) -> str:
    """A count with thousands separators, and decimals only if it is not an integer.

    >>> count_text(16281), count_text(2.5)
    ('16,281', '2.5')
    """
    return f"{int(count):,}" if float(count).is_integer() else f"{float(count):,.6g}"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows of text as aligned lines; `right` are the right-aligned columns."""
    cells = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
    lines = []
    for row in cells:
        sized = list(enumerate(zip(row, widths, strict=True)))
        padded = [cell.rjust(width) if index in right else cell.ljust(width) for index, (cell, width) in sized]
        lines.append(("  " + "  ".join(padded)).rstrip())
    return lines


# -- the drawing -------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 380, 466
LEFT, TOP, SIDE = 60, 44, 296  # the square of the diagram
HIST_TOP, HIST_HEIGHT = 364, 50
TITLE = 48  # the maximum length of the title in characters
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
INK, QUIET, GRID, POINT, SHADE = "#222222", "#666666", "#dddddd", "#1f5fa8", "#9bbbdd"
LEAST_RADIUS, MOST_RADIUS = 2.5, 8.0


def reliability_svg(bins: Sequence[Bin], title: str = "Reliability", before: Sequence[Bin] | None = None) -> str:
    """The reliability diagram: one point per non-empty bin, with area by the number of rows, and a histogram below.

    Points on the diagonal are calibrated; below it the model is overconfident. Hollow points are the bins `before`
    calibration.
    """
    drawn = [*_frame(title), *_axes(), *_hollow(before or ()), *_points(bins), *_histogram(bins)]
    body = "\n".join(f"  {line}" for line in drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="11">\n'
        f"{body}\n</svg>\n"
    )


def _text(x: float, y: float, words: str, *, anchor: str = "middle", color: str = QUIET, extra: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}"{extra}>{safe(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, extra: str = "") -> str:
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{color}"{extra}/>'


def _x(share: float) -> float:
    return LEFT + SIDE * share


def _y(share: float) -> float:
    return TOP + SIDE * (1 - share)


def _frame(title: str) -> Iterator[str]:
    shown = title if len(title) <= TITLE else title[: TITLE - 3] + "..."
    yield f"<title>{safe(title)}</title>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    yield _text(WIDTH / 2, 26, shown, color=INK, extra=' font-size="12" font-weight="bold"')


def _axes() -> Iterator[str]:
    for tick in TICKS:
        yield _line(_x(tick), TOP, _x(tick), TOP + SIDE, GRID)
        yield _line(LEFT, _y(tick), LEFT + SIDE, _y(tick), GRID)
        yield _text(LEFT - 7, _y(tick) + 4, f"{tick:.1f}", anchor="end")
        yield _text(_x(tick), HIST_TOP + HIST_HEIGHT + 16, f"{tick:.1f}")
    yield _line(_x(0), _y(0), _x(1), _y(1), QUIET, ' stroke-dasharray="4 3"')
    yield f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{QUIET}"/>'
    middle = TOP + SIDE / 2
    yield _text(18, middle, "accuracy", extra=f' transform="rotate(-90 18 {middle:g})"')
    yield _text(LEFT + SIDE / 2, HEIGHT - 14, "confidence: P(predicted class)")


def _points(bins: Sequence[Bin]) -> Iterator[str]:
    filled = [each for each in bins if each.n]
    most = max((each.n for each in filled), default=1.0)
    for each in filled:
        yield _line(_x(each.confidence), _y(each.low), _x(each.confidence), _y(each.high), SHADE, ' stroke-width="2"')
    for each in filled:
        radius = max(MOST_RADIUS * math.sqrt(each.n / most), LEAST_RADIUS)
        words = f"{count_text(each.n)} rows: confidence {each.confidence:.3f}, accuracy {each.accuracy:.3f}"
        yield (
            f'<circle cx="{_x(each.confidence):.2f}" cy="{_y(each.accuracy):.2f}" r="{radius:.2f}" fill="{POINT}" '
            f'fill-opacity="0.85" stroke="white"><title>{words}</title></circle>'
        )


def _hollow(bins: Sequence[Bin]) -> Iterator[str]:
    """The bins before calibration: rings joined by a line."""
    filled = [each for each in bins if each.n]
    if not filled:
        return
    path = " ".join(f"{_x(each.confidence):.2f},{_y(each.accuracy):.2f}" for each in filled)
    yield f'<polyline points="{path}" fill="none" stroke="{QUIET}" stroke-dasharray="1 2"/>'
    for each in filled:
        words = f"before: {count_text(each.n)} rows: confidence {each.confidence:.3f}, accuracy {each.accuracy:.3f}"
        yield (
            f'<circle cx="{_x(each.confidence):.2f}" cy="{_y(each.accuracy):.2f}" r="4" fill="white" '
            f'stroke="{QUIET}"><title>{words}</title></circle>'
        )
    yield _text(LEFT + 8, TOP + 16, "rings: before calibration", anchor="start")


def _histogram(bins: Sequence[Bin]) -> Iterator[str]:
    floor = HIST_TOP + HIST_HEIGHT
    most = max((each.n for each in bins), default=0.0)
    for each in bins:
        if each.n:
            height = HIST_HEIGHT * each.n / most
            width = SIDE * (each.stop - each.start) - 1
            yield (
                f'<rect class="bar" x="{_x(each.start) + 0.5:.2f}" y="{floor - height:.2f}" width="{width:.2f}" '
                f'height="{height:.2f}" fill="{SHADE}"/>'
            )
    yield _line(LEFT, floor, LEFT + SIDE, floor, QUIET)
    yield _text(LEFT - 7, floor + 4, "0", anchor="end")
    if most:
        yield _text(LEFT - 7, HIST_TOP + 4, _short(most), anchor="end")
    middle = HIST_TOP + HIST_HEIGHT / 2
    yield _text(18, middle, "rows", extra=f' transform="rotate(-90 18 {middle:g})"')


def _short(count: float) -> str:
    """A count in about six characters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if count >= size:
            return f"{count / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{count:.4g}"
