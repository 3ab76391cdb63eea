"""The options of `bayes evaluate --robustness`: the levels of each corruption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bayesbox.cli.options.shared import number, split

NONE = "none"

C = TypeVar("C", bound=Callable[..., Any])

_HELP = {
    "label_noise": ("P,...", "fractions of the training labels to corrupt; .2 by default, none to skip."),
    "noise_points": ("P,...", "fractions of isolated points to add to the training rows; .1 by default."),
    "irrelevant": ("N,...", "numbers of random columns to add; 10 by default."),
    "copies": ("N,...", "numbers of copies of each column; 1 by default."),
    "missing_values": ("P,...", "fractions of the values to set to missing; .2 by default."),
}
NOISE = tuple(_HELP)


def levels(_context: click.Context, _parameter: click.Parameter, given: str | None) -> tuple[float, ...] | None:
    """Comma-separated numbers; empty for the word none; None if the option is not given."""
    if given is None:
        return None
    return () if given.strip() == NONE else tuple(number(text) for text in split(given))


def noise_options(command: C) -> C:
    """The options, each a list of levels."""
    for name in reversed(NOISE):
        shape, words = _HELP[name]
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, name, metavar=shape, callback=levels, help=f"With --robustness: {words}")(
            command
        )
    return command
