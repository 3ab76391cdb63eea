"""The options of a kind of model in the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from bayesbox.errors import BadOption
from bayesbox.schema.options import option, options_of
from bayesbox.schema.takes import OneOf, OnOff

T = TypeVar("T")

CALIBRATION_HELP = (
    "Calibrate the probabilities on held-out rows. auto chooses by held-out log loss between column weights, "
    "temperature, isotonic, dirichlet, shares (mixing in the class shares) and none. Default: auto; none for "
    "rows in evaluate."
)
CALIBRATIONS = ("temperature", "isotonic", "dirichlet", "shares", "auto")
NO_CALIBRATION = "none"  # the name in the command
AUTO_CALIBRATION = "auto"
FEWEST_CALIBRATED = 50  # rows below which `auto` does nothing and imports nothing


def calibration_of_command(given: str | None, default: str | None = None) -> str | None:
    """The calibration given to the command, or the default of the kind of model."""
    return None if given == NO_CALIBRATION else given or default


def calibration_option() -> Any:
    """The option for the calibration, for models that support it."""
    return option(
        OneOf(*CALIBRATIONS, none=True),
        default=None,
        help=CALIBRATION_HELP,
    )


LEDGER_HELP = "Keep a hash of the rows, so that a forget can be verified row by row."


def ledger_option() -> Any:
    """The option to keep a ledger: a hash of the rows."""
    return option(OnOff(), default=False, help=LEDGER_HELP)


def options_from_command(cls: type[T], title: str, parameter: str, given: Mapping[str, Any]) -> T:
    """The options of a kind, called `title`, from those of the command, where None means not given.

    `parameter` is the text after the colon of the model's name.

    >>> from bayesbox.table.full.options import FullOptions
    >>> found = options_from_command(FullOptions, "full Bayes", "pooled,enough=50", {"unseen": "error"})
    >>> found.covariance, found.enough, found.unseen
    ('pooled', 50, 'error')
    """
    values: dict[str, Any] = {}
    for name, each in options_of(cls).items():
        value = given.get(name)
        if value is None:
            continue
        if each.refusal is None:
            values[name] = value
        elif value != getattr(cls, name):
            raise BadOption(each.refusal, found=f"{name}={value}")
    return cls(**values, **_after_colon(cls, title, parameter))


def _after_colon(cls: type, title: str, parameter: str) -> dict[str, Any]:
    """Parse a parameter such as `pooled,enough=50`: the first option may be given by value, the others by name."""
    known = {name: each.takes for name, each in options_of(cls).items() if each.colon}
    if not parameter:
        return {}
    if not known:
        raise BadOption(f"{title} has no parameter after a colon", found=parameter)
    first = next(iter(known))
    if len(known) == 1:
        return {first: known[first].from_text(first, parameter)}
    found = {}
    for part in filter(None, parameter.split(",")):
        name, _, text = part.partition("=") if "=" in part else (first, "=", part)
        if name not in known:
            others = " and ".join(f"{each}=..." for each in list(known)[1:])
            raise BadOption(f"the parameters of {title} after a colon are {known[first].words}, {others}", found=part)
        found[name] = known[name].from_text(name, text)
    return found
