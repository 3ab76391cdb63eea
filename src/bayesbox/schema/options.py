"""Options, defined once: a field of a dataclass with its default, its type and its help.

    @options
    class TreeOptions(AugmentedOptions):
        score: str = option(OneOf("mi", "aic", "bic"), default="mi", help="What an arc is worth.", colon=True)

The parameters of the estimator (`schema/parameters.py`), the JSON of the model file (`file/options_json.py`) and the
options of the command (`cli/options/fields.py`) are made from the fields. Nothing slow is imported here, since the
command needs these modules for its help.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from bayesbox.schema.takes import AnyText, NumbersByName, RealNumber, Takes, WholeNumber

T = TypeVar("T")

ALWAYS, GIVEN, NEVER = "always", "given", "never"  # when an option is in the file: `given` means if it is not None
SINCE = "since"  # always, but files of earlier versions do not have it


@dataclass(frozen=True)
class Option:
    """The properties of an option besides name and default."""

    takes: Takes
    help: str = ""
    in_file: str = ALWAYS
    after: str | None = None  # the preceding option in the file, if it is not that of the class
    colon: bool = False  # whether it may follow the name of the model after a colon: kdb:2
    command: bool | str = True  # whether the command has it, or the name that it has there
    refusal: str | None = None  # of one that cannot be chosen: why
    command_default: str | None = None  # the default of the command, if it differs


def option(
    takes: Takes,
    *,
    default: object,
    help: str = "",
    in_file: str = ALWAYS,
    after: str | None = None,
    colon: bool = False,
    command: bool | str = True,
    kw_only: bool = True,
    repr: bool = True,
    command_default: str | None = None,
) -> Any:
    """A field that is an option; `kw_only=False` also makes it a positional parameter."""
    found = Option(takes, help, in_file, after, colon, command, command_default=command_default)
    return field(default=default, kw_only=kw_only, repr=repr, metadata={"option": found})


def required(takes: Takes, *, help: str = "", kw_only: bool = True) -> Any:
    """A field without a default: a required parameter, which files and the command do not have."""
    return field(kw_only=kw_only, metadata={"option": Option(takes, help, NEVER, command=False)})


def aside(*, default_factory: Callable[[], Any]) -> Any:
    """A field that is not an option; it is neither compared nor saved."""
    return field(default_factory=default_factory, compare=False, metadata={"option": None})


def fixed(refusal: str, *, default: Any, in_file: str = ALWAYS, init: Literal[False] = False) -> Any:
    """An inherited option that this kind fixes to one value; `refusal` is the error message for others."""
    found = Option(Takes(), in_file=in_file, command=False, refusal=refusal)
    return field(default=default, init=init, metadata={"option": found})


class Options:
    """The base of options, which define how tallies become probabilities: a frozen dataclass, decorated by `options`.

    Changing an option does not change the counts. Values are parsed in the constructor.
    """

    _passes: ClassVar[tuple[str, ...]] = ()
    """The command options that are passed on to other models."""

    def __post_init__(self) -> None:
        parse_options(self)
        self._check()

    def _check(self) -> None:
        """Raise an error if options contradict each other."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)


@dataclass_transform(kw_only_default=True, field_specifiers=(option, required, fixed, aside, field))
def options(cls: type[T]) -> type[T]:
    """A decorator that makes a subclass of `Options` a dataclass, compared and hashed by value.

    It is frozen by `Options.__setattr__` rather than by dataclasses, so that an estimator, whose parameters can be set,
    can inherit its fields.
    """
    return _by_value(dataclass(kw_only=True, eq=False, repr=False)(cls))


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
def frozen(cls: type[T]) -> type[T]:
    """A decorator that makes a frozen dataclass whose fields are options."""
    return _by_value(dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls))


def _by_value(cls: type[T]) -> type[T]:
    """Add comparison, hash and repr by the fields, with functions shared by all such classes.

    dataclasses would generate three functions per class, which would slow down every start of the command.
    """
    for name, function in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _shown)):
        if name == "__hash__" or name not in cls.__dict__:
            setattr(cls, name, function)
    return cls


def _compared(given: Any) -> tuple[object, ...]:
    kind = type(given)
    names = _COMPARED.get(kind)
    if names is None:
        names = _COMPARED[kind] = tuple(each.name for each in dataclasses.fields(kind) if each.compare)
    return tuple(getattr(given, name) for name in names)


def _equal(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _shown(self: Any) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"


def options_of(cls: type) -> dict[str, Option]:
    """The options among the fields of a dataclass, by name; a plain field is an option by its type.

    >>> @options
    ... class Example(Options):
    ...     depth: int = option(WholeNumber(0), default=2, help="How deep.")
    >>> options_of(Example)["depth"].help, Example(), Example(depth=3).depth
    ('How deep.', ...Example(depth=2), 3)
    """
    known_already = _OPTIONS_OF.get(cls)
    if known_already is not None:
        return known_already
    found = {}
    for each in dataclasses.fields(cls):
        known = each.metadata["option"] if "option" in each.metadata else _by_type(cls, each)
        if known is not None:
            found[each.name] = known
    _OPTIONS_OF[cls] = found
    return found


_OPTIONS_OF: dict[type, dict[str, Option]] = {}  # cached: a table may have many columns, each with a kind
_COMPARED: dict[type, tuple[str, ...]] = {}


_TYPES = {
    "float": RealNumber(float("-inf")),
    "int": WholeNumber(0),
    "str": AnyText(),
    "Mapping[Any, float]": NumbersByName(),
    "Mapping[Any, float] | None": NumbersByName(none=True),
}
"""The types of plain fields, such as those of a smoothing rule."""


def _by_type(cls: type, given: dataclasses.Field[Any]) -> Option:
    kind = given.type if isinstance(given.type, str) else getattr(given.type, "__name__", str(given.type))
    if kind not in _TYPES:
        raise TypeError(f"{cls.__name__}.{given.name}: say what it takes, with option(...)")
    return Option(_TYPES[kind])


def parse_options(given: object) -> None:
    """Parse every option of a dataclass; BadOption if one is not valid."""
    for name, each in options_of(type(given)).items():
        if each.refusal is None:
            object.__setattr__(given, name, each.takes.parse(name, getattr(given, name)))
