"""The calculation as text of a given width: aligned tables, with cells that are too wide broken before "="."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence

from bayesbox.explain.steps import Cell, Row, Step, parts_between

GAP = 2  # between columns
WIDEST_NAME = 44  # of a row, before it is wrapped
NARROW_NAME = 28  # the same, if the columns need the space
NARROW_CELL = 20  # to which cells are wrapped at spaces, if they do not fit side by side


def as_text(title: str, steps: Sequence[Step], width: int) -> str:
    """All steps as lines of at most `width` characters."""
    lines = _wrapped(title, width) if title else []
    for part in parts_between(steps):
        lines.extend(_part(part, max(width, 20)))
    return "\n".join(lines)


def _part(steps: Sequence[Step], width: int) -> Iterator[str]:
    """Tables with the same columns under one heading, and the lines between them."""
    tables = [step for step in steps if step.columns]
    names = [_plain(row.name) for step in tables for row in step.rows]
    cells = [[_pieces(cell) for cell in row.cells] for step in tables for row in step.rows]
    columns = [_plain(name) for name in tables[0].columns] if tables else []
    first = min(max(map(len, names), default=0), WIDEST_NAME, width // 2)
    groups = _groups(columns, cells, width - first)
    if len(groups) > 1 and first > NARROW_NAME:
        first = NARROW_NAME
        groups = _groups(columns, cells, width - first)
    if len(groups) == 1:
        [(places, widths)] = groups
        headed = False
        for step in steps:
            if step.columns and not headed:
                yield from _head([columns[place] for place in places], first, widths)
                headed = True
            yield from _rows(step, places, first, widths, width)
        return
    for is_table, some in itertools.groupby(steps, key=lambda step: bool(step.columns)):
        together = list(some)
        for places, widths in groups if is_table else [([], [])]:
            if is_table:
                yield from _head([columns[place] for place in places], first, widths)
            for step in together:
                yield from _rows(step, places, first, widths, width)


def _rows(step: Step, places: Sequence[int], first: int, widths: Sequence[int], width: int) -> Iterator[str]:
    for row in step.rows:
        if not step.columns:
            yield from _wrapped(_plain(str(row)), width)
            continue
        yield from _table_row(row, places, first, widths)


def _table_row(row: Row, places: Sequence[int], first: int, widths: Sequence[int]) -> Iterator[str]:
    folded = [
        _folded(_pieces(row.cells[place]), width) if place < len(row.cells) else [""]
        for place, width in zip(places, widths, strict=True)
    ]
    names = textwrap.wrap(_plain(row.name), first) or [""]
    for number in range(max(len(names), *(len(each) for each in folded))):
        cells = [each[number] if number < len(each) else "" for each in folded]
        yield from _line(names[number] if number < len(names) else "", cells, first, widths)


def _head(names: Sequence[str], first: int, widths: Sequence[int]) -> Iterator[str]:
    """The names of the columns, wrapped if they are too wide."""
    folded = [textwrap.wrap(name, width) or [""] for name, width in zip(names, widths, strict=True)]
    for number in range(max(len(each) for each in folded)):
        yield from _line("", [each[number] if number < len(each) else "" for each in folded], first, widths)


def _line(name: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> Iterator[str]:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    yield (" " * GAP).join([name.ljust(first), *padded]).rstrip()


def _groups(
    columns: Sequence[str], cells: Sequence[Sequence[list[str]]], room: int
) -> list[tuple[list[int], list[int]]]:
    """The columns that fit side by side, with their widths: all of them, or as many as fit."""
    wide = [
        max([len(name), *(len(" = ".join(row[place])) for row in cells if place < len(row))])
        for place, name in enumerate(columns)
    ]
    least = [
        max([min(len(name), 12), *(_widest(row[place]) for row in cells if place < len(row))])
        for place, name in enumerate(columns)
    ]
    groups: list[tuple[list[int], list[int]]] = []
    waiting: list[int] = []
    for place in range(len(columns)):
        if waiting and sum(least[each] + GAP for each in [*waiting, place]) > room:
            groups.append((waiting, _widths(waiting, wide, least, room)))
            waiting = []
        waiting.append(place)
    return [*groups, (waiting, _widths(waiting, wide, least, room))]


def _widths(places: Sequence[int], wide: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The width of each column: its natural width, with the widest cut first."""
    widths = [wide[place] for place in places]
    while sum(width + GAP for width in widths) > room:
        spare = [index for index, place in enumerate(places) if widths[index] > least[place]]
        if not spare:
            return [max(room - GAP, 1)] if len(places) == 1 else widths
        widths[max(spare, key=lambda index: widths[index])] -= 1
    return widths


def _pieces(cell: Cell) -> list[str]:
    return [_plain(piece) for part in cell.parts() for piece in part.split(" = ")] or [""]


def _widest(pieces: Sequence[str]) -> int:
    """The minimum width of a cell, with each piece on its own line and all but the first after "= "."""
    return max(
        max(min(len(piece) + (GAP if place else 0), NARROW_CELL), *(len(word) for word in piece.split(" ")))
        for place, piece in enumerate(pieces)
    )


def _folded(pieces: Sequence[str], width: int) -> list[str]:
    """The pieces wrapped into lines of this width."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + 3 <= width:
            lines[-1] += f" = {piece}"
        else:
            lines.append(f"= {piece}")
    return [short for each in lines for short in (textwrap.wrap(each, max(width, 1)) or [""])]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(_plain(text), width, subsequent_indent="    ", break_on_hyphens=False) or [""]


def _plain(text: str) -> str:
    """Text without line ends and control characters.

    >>> print(_plain("two" + chr(10) + "lines"))
    two\\nlines
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
