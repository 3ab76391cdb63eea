"""Blocks as plain text that fits into 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from bayesbox.display.blocks import Block, PictureBlock, TableBlock, TextBlock, cell_text

WIDTH = 100
LEAST_CELL = 12  # the minimum width of a truncated cell in characters
INDENT, GAP = "  ", "  "


def as_text(title: str, blocks: Sequence[Block], width: int = WIDTH) -> str:
    """The title and the blocks, separated by empty lines.

    >>> print(as_text("two columns", [TableBlock(["name", "bits"], [["age", 0.25], ["car", 12]])]))
    two columns
    <BLANKLINE>
      name    bits
      age   0.2500
      car       12
    """
    parts = [*_wrapped(title, width), *[""] * bool(blocks)] if title else []
    shown = ["\n".join(_lines(block, width)) for block in blocks if not isinstance(block, PictureBlock)]
    return "\n".join([*parts, "\n\n".join(part for part in shown if part)]).rstrip("\n")


def _lines(block: TableBlock | TextBlock, width: int) -> Iterator[str]:
    if isinstance(block, TableBlock):
        if block.caption:
            yield from _wrapped(block.caption, width)
        yield from table_lines(block, width)
        return
    for line in block.text.splitlines():
        yield from [line] if block.fixed or len(line) <= width else _wrapped(line, width)


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)


def table_lines(block: TableBlock, width: int = WIDTH) -> Iterator[str]:
    """A table as lines: long texts are truncated, and columns that do not fit are put below."""
    right = block.at_right()
    cells = [
        list(map(one_line, block.columns)),
        *([one_line(cell_text(each)) for each in row] for row in block.shown()),
    ]
    widths = [max(len(row[place]) for row in cells) for place in range(len(block.columns))]
    widths = _cut(widths, {*range(len(widths))} - right, width - len(INDENT))
    for places in _side_by_side(widths, width - len(INDENT)):
        for row in cells:
            sized = ((_shortened(row[place], widths[place]), place) for place in places)
            padded = [
                cell.rjust(widths[place]) if place in right else cell.ljust(widths[place]) for cell, place in sized
            ]
            yield (INDENT + GAP.join(padded)).rstrip()
    if block.more:
        yield INDENT + block.more


def one_line(text: str) -> str:
    """A cell without line breaks and unprintable characters."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.splitlines()))


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _cut(widths: list[int], texts: set[int], room: int) -> list[int]:
    """Widths that fit, by truncating the widest text columns as far as possible."""
    found = list(widths)
    while sum(found) + len(GAP) * (len(found) - 1) > room:
        widest = max((place for place in texts if found[place] > LEAST_CELL), key=lambda at: found[at], default=None)
        if widest is None:
            break
        found[widest] -= 1
    return found


def _side_by_side(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """The positions of columns shown side by side; the first column is repeated in each part."""
    part, used = [0], widths[0] if widths else 0
    for place in range(1, len(widths)):
        if used + len(GAP) + widths[place] > room and len(part) > 1:
            yield part
            part, used = [0], widths[0]
        part.append(place)
        used += len(GAP) + widths[place]
    if widths:
        yield part
