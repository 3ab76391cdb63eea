"""The parameters of a class or a function: the fields of options, with their defaults and documentation."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from bayesbox.schema.options import Options, option, options_of, required

T = TypeVar("T")
P = TypeVar("P", bound=Options)

WIDTH = 116  # of the documentation


class HasParameters:
    """A class that inherits the fields of options as its parameters.

    Unlike those of options they can be set, and an instance is equal to itself only. It comes before the options among
    the bases.
    """

    __setattr__ = object.__setattr__
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(option, required))
def parameters(cls: type[T]) -> type[T]:
    """Make the constructor of a class that inherits the fields of options, and document its parameters."""
    made = dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__doc__ = documentation(made)
    return made


def documentation(cls: type) -> str | None:
    """The docstring of an estimator with a section on its parameters, before that of the examples."""
    if not cls.__dict__.get("__doc__"):
        return None
    head, examples, rest = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n--------\n")
    lines = ["Parameters", "----------"]
    for name, each in options_of(cls).items():
        if each.refusal is None:
            lines.append(f"{name} : {each.takes.words}")
            lines += textwrap.wrap(each.help, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([head.rstrip(), "", *lines, "", examples + rest])


def options_from(holder: object, cls: type[P]) -> P:
    """The options of what has them as its parameters, parsed."""
    return cls(**{name: vars(holder)[name] for name, each in options_of(cls).items() if each.refusal is None})
