"""The parameters of an estimator, inherited from the fields of the options of its kind.

An estimator stores its parameters as given and parses them when it makes a classifier. So `get_params`, `set_params`
and `clone` are scikit-learn's own.
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
"""Renamed parameters by their old names, which will be removed in 0.4."""


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(option, required))
def estimator(cls: type[T]) -> type[T]:
    """Decorate an estimator class that inherits from options: their fields become documented parameters."""
    made = parameters(cls)
    for old, new in RENAMED.items():
        if old in inspect.get_annotations(made):
            setattr(made, old, _renamed(old, new))
    return made


def _renamed(old: str, new: str) -> property:
    """A property that forwards an old attribute name to the new one."""

    def read(self: Any) -> Any:
        warn_of_name(old, stacklevel=3)
        return getattr(self, new)

    def write(self: object, value: object) -> None:
        warn_of_name(old, stacklevel=3)
        setattr(self, new, value)

    return property(read, write)


def warn_of_name(old: str, *, stacklevel: int) -> None:
    """Warn that a parameter was renamed; the new name takes precedence if both are given."""
    warnings.warn(
        f"{old}= has been renamed to {RENAMED[old]}=; the old name will stop working in 0.4",
        FutureWarning,
        stacklevel + 1,
    )


def parameters_from(given: Options) -> dict[str, Any]:
    """The parameters of an estimator with these options."""
    return {
        name: each.takes.parameter(getattr(given, name))
        for name, each in options_of(type(given)).items()
        if each.refusal is None
    }
