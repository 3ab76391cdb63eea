"""Output of the command: data on standard output, everything else on standard error; tables as text or drawn."""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from bayesbox.errors import DataWarning, ImpossibleRows, UnseenLevels

BAR = 30  # characters of the longest bar
DIGEST_SHOWN = 16


def printable(text: str) -> str:
    r"""Text without control characters, so that data cannot control a terminal.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def say(text: str = "") -> None:
    """Print a line to standard output."""
    click.echo(printable(text))


def note(text: str = "") -> None:
    """Print a line to standard error."""
    click.echo(printable(text), err=True)


def print_warnings(texts: Iterable[str]) -> None:
    """Print each warning as a note; one longer than two lines is split between sentences.

    >>> print_warnings([])
    """
    for text in texts:
        sentences = SENTENCES.split(text) if len(text) > LONG_NOTE else [text]
        note("\n  ".join((f"note: {sentences[0]}", *sentences[1:])))


LONG_NOTE = 240  # characters: two lines of a wide terminal
SENTENCES = re.compile(r"(?<=[.;?]) (?=[A-Z]|without )")


def emit_json(result: object) -> None:
    """Print the result as JSON: keys in a fixed order, infinite numbers as the texts inf and -inf."""
    click.echo(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: object) -> Any:
    """A value for JSON."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return plain(value.item())
    if isinstance(value, float):
        return finite_or_text(value)
    return value


def finite_or_text(value: float) -> float | str | None:
    """A number for JSON; None for NaN, a text for infinity."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def decimal(value: float) -> str:
    """A number as text with six digits; integers without a fraction.

    >>> decimal(0.795417348), decimal(25.0), decimal(1e-12)
    ('0.795417', '25', '1e-12')
    """
    return f"{value:.6g}"


def whole(value: float) -> str:
    """A count as text with thousands separators, and a fraction only if there is one.

    >>> whole(32561), whole(2.5)
    ('32,561', '2.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{float(value):,.6g}"


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "row"), plural(2201, "row")
    ('1 row', '2,201 rows')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def bar(share: float) -> str:
    """A bar of characters, of length `share` between 0 and 1.

    >>> len(bar(0.5))
    15
    """
    return "█" * round(BAR * min(max(share, 0.0), 1.0))


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    title: str = "",
    err: bool = False,
) -> None:
    """Print a table: drawn on a terminal, else as aligned text. `right` are the right-aligned columns."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        _drawn_table(header, rows, right, title, stream)
        return
    if title:
        click.echo(printable(title), err=err)
    for line in aligned([header, *rows] if any(header) else rows, right):
        click.echo(line, err=err)


def signed(value: float) -> str:
    """Log-odds as text, without a minus sign if they round to zero.

    >>> signed(-0.25), signed(-1e-17)
    ('-0.2500', '+0.0000')
    """
    return f"{round(value, 4) + 0.0:+.4f}"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows of text as lines with aligned columns.

    >>> aligned([["age", "25"], ["income", "7"]], right=[1])
    ['  age     25', '  income   7']
    """
    cells = [[printable(cell).replace("\n", "\\n") for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(padded)).rstrip())
    return lines


def _drawn_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], title: str, stream: Any
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD,
        show_header=any(header),
        title=Text(printable(title)) if title else None,
        title_justify="left",
    )
    for index, name in enumerate(header):
        drawn.add_column(Text(printable(name)), justify="right" if index in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(printable(cell)) for cell in row))
    Console(file=stream).print(drawn)


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """A context that collects the texts of the library's warnings in a list, filled at the end.

    Each text occurs once, and row counts of many batches are summed.
    """
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        yield texts
    warned = [each.message for each in caught if isinstance(each.message, Warning)]
    texts.extend(map(str, sum_warnings(warned)))


def sum_warnings(warned: Iterable[Warning]) -> list[Warning]:
    """The warnings of many batches: each text once, and those with row counts summed, at the end.

    >>> batches = [ImpossibleRows(1, 100, "rows are impossible"), ImpossibleRows(2, 50, "rows are impossible")]
    >>> [str(warning) for warning in sum_warnings(batches)]
    ['3 of 150 rows are impossible']
    """
    once: dict[str, Warning] = {}
    counted: dict[str, Warning] = {}
    for warning in warned:
        if isinstance(warning, ImpossibleRows):
            before = counted.get(warning.answer)
            counted[warning.answer] = before + warning if isinstance(before, ImpossibleRows) else warning
        elif isinstance(warning, UnseenLevels):
            before = counted.get("unseen")
            counted["unseen"] = before + warning if isinstance(before, UnseenLevels) else warning
        else:
            once.setdefault(str(warning), warning)
    return [*once.values(), *counted.values()]
