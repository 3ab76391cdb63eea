"""--interval: the credible interval of a probability or an answer; its level is optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bayesbox.cli.options.shared import number
from bayesbox.errors import BadOption

C = TypeVar("C", bound=Callable[..., Any])


def level(_context: click.Context, _parameter: click.Parameter, given: str | None) -> float | None:
    """The level of an interval, as a share or in percent."""
    if given is None:
        return None
    try:
        found = number(given)
    except BadOption:
        raise click.UsageError(f"--interval must be a level such as .95 or 95%, got {given!r}") from None
    if not 0 < found < 1:
        raise click.UsageError(f"--interval must be between 0 and 1, such as .95, got {given!r}")
    return found


def interval_option(words: str) -> Callable[[C], C]:
    """The option with its help."""
    return click.option(
        "--interval",
        metavar="[LEVEL]",
        is_flag=False,
        flag_value="0.95",
        callback=level,
        help=f"{words}; .95 by default.",
    )


draws_option = click.option(
    "--draws", type=click.IntRange(100, 10_000_000), metavar="N", help="With --interval: the number of draws."
)
