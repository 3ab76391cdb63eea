"""The parameters of an estimator: the fields of its kind's options, which it inherits.

An estimator keeps what it was given; it is parsed when a classifier is made of it. So `get_params`, `set_params` and
`clone` are scikit-learn's own.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, TypeVar, dataclass_transform

from bayesbox.schema.options import Options, option, options_of, required
from bayesbox.schema.parameters import options_from as options_from
from bayesbox.schema.parameters import parameters

T = TypeVar("T")

RENAMED = {"fold": "one_hot"}
"""Parameters by their old names, which go in 0.4."""


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(option, required))
def estimator(cls: type[T]) -> type[T]:
    """Make an estimator of a class that inherits the fields of options: its parameters, with their documentation."""
    made = parameters(cls)
    for old, new in RENAMED.items():
        if old in inspect.get_annotations(made):
            setattr(made, old, _renamed(old, new))
    return made


def _renamed(old: str, new: str) -> property:
    """An attribute under its old name."""

    def read(self: Any) -> Any:
        warn_of_name(old, stacklevel=3)
        return getattr(self, new)

    def write(self: object, value: object) -> None:
        warn_of_name(old, stacklevel=3)
        setattr(self, new, value)

    return property(read, write)


def warn_of_name(old: str, *, stacklevel: int) -> None:
    """Say that a parameter has another name now, which takes precedence over the old one where both are given."""
    warnings.warn(
        f"{old}= has been renamed to {RENAMED[old]}=; the old name will stop working in 0.4",
        FutureWarning,
        stacklevel + 1,
    )


def parameters_from(given: Options) -> dict[str, Any]:
    """The parameters of an estimator that has these options."""
    return {
        name: each.takes.parameter(getattr(given, name))
        for name, each in options_of(type(given)).items()
        if each.refusal is None
    }
