"""The options of a kind of model as the command has them."""

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
NO_CALIBRATION = "none"  # as the command says it
AUTO_CALIBRATION = "auto"
FEWEST_CALIBRATED = 50  # rows below which `auto` does nothing, and nothing is imported for it


def calibration_of_command(given: str | None, default: str | None = None) -> str | None:
    """The calibration that the command asks for, or its default for a kind of model where it asks for none."""
    return None if given == NO_CALIBRATION else given or default


def calibration_option() -> Any:
    """How answers are calibrated, of the models that can be."""
    return option(
        OneOf(*CALIBRATIONS, none=True),
        default=None,
        help=CALIBRATION_HELP,
    )


LEDGER_HELP = "Keep a hash of the rows, so that a forget can be verified row by row."


def ledger_option() -> Any:
    """Whether a hash of the rows is kept beside the tallies."""
    return option(OnOff(), default=False, help=LEDGER_HELP)


def options_from_command(cls: type[T], title: str, parameter: str, given: Mapping[str, Any]) -> T:
    """The options of a kind, called `title`, from those of the command; what is None there was not given.

    `parameter` is what follows the name of the model after a colon.

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
    """`pooled,enough=50`: the first option that may be there by its value alone, the others by name."""
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
