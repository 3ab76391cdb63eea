"""Estimates of the memory of a book's tables, before they are made."""

from __future__ import annotations

from collections.abc import Mapping

from bayesbox.described import ignoring, parameter
from bayesbox.limits import BYTES_A_COUNT, BYTES_A_MOMENT, require_memory


def require_room_for_levels(classes: int, levels: Mapping[str, int], *, where: str | None = None) -> None:
    """Raise an error if dense tables of classes x levels, given by column, would take too much memory.

    All of them are in memory at once; the widest takes twice its size while batches are added or its probabilities
    computed.
    """
    if not levels:
        return
    widest = max(levels, key=lambda name: levels[name])
    total = sum(levels.values())
    more = f" (`{widest}` has {levels[widest]:,})" if len(levels) > 1 else f" of `{widest}`"
    require_memory(
        float(BYTES_A_COUNT * classes * (total + levels[widest])),
        f"{classes:,} classes x {total:,} levels{more}",
        remedy="Choose another target, or ignore the column (" + ignoring(widest) + ")",
        where=where,
    )


def require_room_for_table(classes: int, levels: int) -> None:
    """Raise an error if a dense table of classes x levels would take too much memory."""
    require_memory(
        float(2 * BYTES_A_COUNT * classes * levels),
        f"all {classes:,} classes x {levels:,} levels of a column at once",
        remedy="Choose another target, or ignore the column",
    )


def require_room_for_numbers(classes: int, columns: int, *, where: str | None = None) -> None:
    """Raise an error if the moments of classes x columns would take too much memory."""
    require_memory(
        float(BYTES_A_MOMENT * classes * columns),
        f"{classes:,} classes x {columns:,} columns of numbers",
        remedy="Choose another target, or ignore columns",
        where=where,
    )


def require_room_for_values(classes: int, values: int, *, where: str | None = None) -> None:
    """Raise an error if the counts of a column's distinct numbers would take too much memory."""
    require_memory(
        float(2 * BYTES_A_COUNT * classes * values),
        f"{classes:,} classes x {values:,} distinct numbers",
        remedy="Choose another target, or a density that keeps no values (" + parameter("numeric", "gaussian") + ")",
        where=where,
    )
