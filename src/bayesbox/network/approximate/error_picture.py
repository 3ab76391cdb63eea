"""A plot of the error of approximations against the number of samples, on logarithmic scales."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayesbox.errors import BadOption
from bayesbox.explain.density_picture import COLORS, GRID, INK, QUIET
from bayesbox.explain.svg_text import safe

if TYPE_CHECKING:
    from bayesbox.network.approximate.beside_exact import ApproximateAnswers

LEFT, TOP, WIDE, HIGH, RIGHT, FOOT = 70, 46, 420, 260, 140, 44
LEAST = 1e-9  # smaller errors are drawn here, or at the bottom of the plot

Point = tuple[float, float]  # samples and error, in powers of ten


def error_picture(found: ApproximateAnswers) -> str:
    """One line per sampling method; a horizontal line for each other method."""
    if found.exact is None or not found.by_samples:
        raise BadOption(
            "the picture shows the error by number of samples, against the exact answer",
            found=found.refused or "no numbers of samples",
        )
    lines: dict[str, list[Point]] = {}
    for each in found.by_samples:
        if each.error is not None:
            lines.setdefault(each.method, []).append((math.log10(each.samples), math.log10(max(each.error, LEAST))))
    first = min(x for points in lines.values() for x, _ in points)
    last = max(max(x for points in lines.values() for x, _ in points), first + 1)
    floor = math.floor(min(y for points in lines.values() for _, y in points))
    names = {method: method for method in lines}
    for answer in found.answers:
        if answer.error is not None and answer.method not in lines:
            level = max(math.log10(max(answer.error, LEAST)), floor)
            lines[answer.method] = [(first, level), (last, level)]
            names[answer.method] = f"{answer.method}: {answer.error:.2g}"
    heights = [y for points in lines.values() for _, y in points]
    low, high = math.floor(min(heights)), max(math.ceil(max(heights)), math.floor(min(heights)) + 1)
    width, height = LEFT + WIDE + RIGHT, TOP + HIGH + FOOT
    title = f"Error by the number of samples: {found.question}"
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="22" fill="{INK}" font-size="13" font-weight="bold">{safe(title)}</text>',
    ]

    def place(point: Point) -> Point:
        x = LEFT + WIDE * (point[0] - first) / (last - first)
        return x, TOP + HIGH * (high - point[1]) / (high - low)

    def grid() -> Iterator[str]:
        for power in range(low, high + 1):
            _, y = place((first, power))
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDE}" y2="{y:.1f}" stroke="{GRID}"/>'
            text = f"{10.0**power:g}"
            yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" fill="{QUIET}" text-anchor="end">{text}</text>'
        for power in range(math.ceil(first), math.floor(last) + 1):
            x, _ = place((power, low))
            yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + HIGH}" stroke="{GRID}"/>'
            y = TOP + HIGH + 16
            yield f'<text x="{x:.1f}" y="{y}" fill="{QUIET}" text-anchor="middle">{10**power:,}</text>'
        yield f'<text x="{LEFT + WIDE / 2}" y="{height - 10}" fill="{INK}" text-anchor="middle">samples</text>'

    def drawn() -> Iterator[str]:
        ends: list[float] = []
        for number, (method, points) in enumerate(lines.items()):
            color = COLORS[number % len(COLORS)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, points))
            dashed = "" if any(each.method == method for each in found.by_samples) else ' stroke-dasharray="5 4"'
            yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dashed}/>'
            x, y = place(points[-1])
            while any(abs(y - other) < 13 for other in ends):
                y += 13
            ends.append(y)
            yield f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{color}">{safe(names[method])}</text>'

    return "\n".join([*head, *grid(), *drawn(), "</svg>"]) + "\n"
