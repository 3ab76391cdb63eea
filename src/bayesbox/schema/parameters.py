"""Parameters of classes and functions, made from the fields of options with defaults and documentation."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast, dataclass_transform

from bayesbox.schema.options import Options, option, options_of, required

T = TypeVar("T")
Own = TypeVar("Own", bound=Options)
C = TypeVar("C", bound=type)
S = TypeVar("S")
D = TypeVar("D")
G = TypeVar("G")
R = TypeVar("R")
P = ParamSpec("P")
D_contra = TypeVar("D_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

WIDTH = 116  # of the documentation


class HasParameters:
    """A class whose parameters are the inherited fields of options.

    Unlike options, its parameters can be set, and it is compared by identity. It must come before the options among the
    bases.
    """

    __setattr__ = object.__setattr__
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(option, required))
def parameters(cls: type[T]) -> type[T]:
    """A decorator that makes the constructor of a class from the inherited options, and documents its parameters."""
    made = dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__doc__ = documentation(made)
    return made


class OfData(Protocol[D_contra, P, R_co]):
    """A function of data and keyword arguments."""

    def __call__(self, data: D_contra, *args: P.args, **given: P.kwargs) -> R_co: ...


def by_keywords(make: Callable[P, G]) -> Callable[[Callable[[D, G], R]], OfData[D, P, R]]:
    """A decorator that turns a function of data and options into one of data and keywords, documented.

    >>> from bayesbox.schema.options import frozen
    >>> from bayesbox.schema.takes import WholeNumber
    >>> @frozen
    ... class Cut:
    ...     width: int = option(WholeNumber(1), default=2, help="How wide.")
    >>> @by_keywords(Cut)
    ... def pieces(data, options):
    ...     '''The data in pieces.'''
    ...     return [data[at : at + options.width] for at in range(0, len(data), options.width)]
    >>> pieces("abcde", width=3), str(inspect.signature(pieces))
    (['abc', 'de'], "(data, *, width: 'int' = 2)")
    """

    def decorate(function: Callable[[D, G], R]) -> OfData[D, P, R]:
        def call(data: D, *args: P.args, **given: P.kwargs) -> R:
            return function(data, make(*args, **given))

        _show_fields(call, function, make)
        return call

    return decorate


def method_by_keywords(
    make: Callable[P, G],
) -> Callable[[Callable[[S, D, G], R]], Callable[Concatenate[S, D, P], R]]:
    """The same for a method."""

    def decorate(function: Callable[[S, D, G], R]) -> Callable[Concatenate[S, D, P], R]:
        def call(self: S, data: D, *args: P.args, **given: P.kwargs) -> R:
            return function(self, data, make(*args, **given))

        _show_fields(call, function, make)
        return cast("Callable[Concatenate[S, D, P], R]", call)

    return decorate


def _show_fields(call: Callable[..., object], function: Callable[..., object], make: Callable[..., object]) -> None:
    """Set the signature and the documentation of the options' fields."""
    assert isinstance(make, type)
    functools.update_wrapper(call, function)
    own = inspect.signature(function)
    *before, _ = own.parameters.values()
    fields = inspect.signature(make).parameters.values()
    vars(call)["__signature__"] = own.replace(parameters=[*before, *fields])
    call.__doc__ = with_parameters(function.__doc__ or "", make)


def documentation(cls: type) -> str | None:
    """The docstring of a class with a Parameters section before the examples."""
    own: str | None = cls.__dict__.get("__doc__")
    return with_parameters(own, cls) if own else None


def with_parameters(text: str, cls: type) -> str:
    """A docstring with a Parameters section for the options of a dataclass."""
    head, examples, rest = inspect.cleandoc(text).partition("Examples\n--------\n")
    lines = ["Parameters", "----------"]
    for name, each in options_of(cls).items():
        if each.refusal is None:
            lines.append(f"{name} : {each.takes.words}")
            lines += textwrap.wrap(each.help, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([head.rstrip(), "", *lines, "", examples + rest])


def describe_methods(entries: Mapping[str, Mapping[str, str]]) -> Callable[[C], C]:
    """A decorator that adds Parameters and Returns sections to the docstrings of methods, by method name.

    It keeps the files of the classes short; `help()` and the reference show the same text.
    """

    def decorate(cls: C) -> C:
        for name, entry in entries.items():
            member = vars(cls)[name]
            function = getattr(member, "__func__", member)
            function.__doc__ = described(function.__doc__ or "", entry)
        return cls

    return decorate


def described(text: str, entry: Mapping[str, str]) -> str:
    """A docstring with the missing sections added: Parameters, Returns.

    >>> print(described("The class of a row.", {"row": "dict", "returns": "str"}))
    The class of a row.
    <BLANKLINE>
    Parameters
    ----------
    row : dict
    <BLANKLINE>
    Returns
    -------
    str
    """
    text = inspect.cleandoc(text)
    sections = []
    head = "Parameters\n----------\n"
    lines = [f"{name} : {said}" for name, said in entry.items() if name != RETURNS and f"\n{name} : " not in text]
    if lines and head in text:
        text = text.replace(head, head + "\n".join(lines) + "\n")
    elif lines:
        sections.append(head + "\n".join(lines))
    if "Returns\n---" not in text and RETURNS in entry:
        sections.append("\n".join(["Returns", "-------", entry[RETURNS]]))
    places = [text.find(mark) for mark in ("See Also\n---", "Examples\n---", ">>> ")]
    at = min((place for place in places if place >= 0), default=len(text))
    return "\n\n".join(part for part in (text[:at].rstrip(), *sections, text[at:]) if part)


RETURNS = "returns"


def options_from(holder: object, cls: type[Own]) -> Own:
    """The parsed options of an object that has them as parameters."""
    return cls(**{name: vars(holder)[name] for name, each in options_of(cls).items() if each.refusal is None})
