"""The types of options: how values are parsed, saved, read from the command, and described."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from bayesbox.errors import BadData, BadOption, integer_of

Types = tuple[type | None, ...]


class Takes:
    """The type of an option: how its values are parsed, checked, saved and described.

    `types` are its JSON types; `metavar` is the placeholder in the help of the command.
    """

    types: Types = (str,)
    metavar: str = "TEXT"
    choices: tuple[str, ...] = ()  # the only valid texts
    listed: tuple[str, ...] = ()  # examples of valid texts
    several: bool = False  # whether the command accepts it repeatedly

    def __init__(self, said: str = "str") -> None:
        self.said = said

    @property
    def words(self) -> str:
        """A description of the values for the documentation of a parameter."""
        return self.said

    def parse(self, name: str, given: Any) -> object:  # noqa: ARG002  most messages name the option
        """The parsed value; BadOption if it is not valid."""
        return given

    def from_text(self, name: str, text: str) -> object:  # noqa: ARG002
        """The value of a command-line text."""
        return text

    def parameter(self, value: object) -> object:
        """The value as a parameter of an estimator."""
        return value

    def to_json(self, name: str, value: object) -> object:  # noqa: ARG002
        """The value as JSON for the file."""
        return value

    def from_json(self, name: str, written: object) -> object:  # noqa: ARG002
        """The value from the JSON of a file; ValueError if it is not valid."""
        return written


class AnyText(Takes):
    """Any text, or None if allowed; `said` describes the texts if `parse` is stricter."""

    def __init__(self, said: str = "str", *, none: bool = False, metavar: str = "TEXT") -> None:
        self.said, self.metavar = said, metavar
        self.types = (str, None) if none else (str,)

    @property
    def words(self) -> str:
        return f"{self.said} or None" if None in self.types else self.said


class OneOf(Takes):
    """One of several texts, or None if allowed; True means the only text, False means None."""

    def __init__(self, *choices: str, none: bool = False) -> None:
        self.choices, self.none = choices, none
        self.types = (str, None) if none else (str,)

    @property
    def words(self) -> str:
        return _listed([*(f'"{each}"' for each in self.choices), *(["None"] if self.none else [])])

    def parse(self, name: str, given: object) -> object:
        if (given is None and self.none) or (isinstance(given, str) and given in self.choices):
            return given
        is_switch = self.none and len(self.choices) == 1
        if is_switch and isinstance(given, bool):
            return self.choices[0] if given else None
        one = "" if is_switch else "one of "
        quoted = ", ".join(f'"{each}"' for each in self.choices)
        raise BadOption(f"{name} must be {'None or ' if self.none else ''}{one}{quoted}", found=given)


class OnOff(Takes):
    """A boolean."""

    types = (bool,)

    @property
    def words(self) -> str:
        return "bool"

    def to_json(self, name: str, value: object) -> bool:  # noqa: ARG002
        return bool(value)


class WholeNumber(Takes):
    """An integer from `least` to `most`; or one of the texts `others`; or None if allowed."""

    metavar = "N"

    def __init__(
        self, least: int, most: int | None = None, *, others: tuple[str, ...] = (), none: bool = False
    ) -> None:
        self.least, self.most, self.others, self.none = least, most, others, none
        self.types = (int, *([str] if others else []), *([None] if none else []))

    @property
    def words(self) -> str:
        return _listed(["int", *(f'"{each}"' for each in self.others), *(["None"] if self.none else [])])

    def parse(self, name: str, given: Any) -> object:
        if (given is None and self.none) or (isinstance(given, str) and given in self.others):
            return given
        if not isinstance(given, bool):
            try:
                whole = operator.index(given)
            except TypeError:
                whole = self.least - 1
            if self.least <= whole and (self.most is None or whole <= self.most):
                return given
        wanted = integer_of(self.least) if self.most is None else f"an integer from {self.least} to {self.most}"
        others = "".join(f", or {each}" for each in (*(f'"{each}"' for each in self.others), *["None"] * self.none))
        raise BadOption(f"{name} must be {wanted}{others}", found=given)

    def from_text(self, name: str, text: str) -> object:
        return self.parse(name, int(text) if text.isdecimal() else text)

    def to_json(self, name: str, value: Any) -> object:  # noqa: ARG002
        return value if value is None or isinstance(value, str) else int(value)


class RealNumber(Takes):
    """A finite number from `least` to `most`, or strictly `above` the least; or one of the texts `others`; or None.

    `said` replaces the usual message where another is clearer.
    """

    metavar = "NUMBER"

    def __init__(
        self,
        least: float,
        most: float | None = None,
        *,
        above: bool = False,
        said: str = "",
        others: tuple[str, ...] = (),
        none: bool = False,
    ) -> None:
        self.least, self.most, self.above, self.others, self.said = least, most, above, others, said
        self.none = none
        self.types = (*([str] if others else []), float, *([None] if none else []))

    @property
    def words(self) -> str:
        return _listed([*(f'"{each}"' for each in self.others), "float", *(["None"] if self.none else [])])

    def parse(self, name: str, given: object) -> object:
        if (given is None and self.none) or (isinstance(given, str) and given in self.others):
            return given
        if isinstance(given, numbers.Real) and not isinstance(given, bool):
            value = float(given)
            enough = self.least < value if self.above else self.least <= value
            if enough and value < float("inf") and (self.most is None or value <= self.most):
                return given
        low = f" above {self.least:g}" if self.above else f" of at least {self.least:g}"
        bounds = low if self.most is None else f" from {self.least:g} to {self.most:g}"
        others = "".join(f"{each!r} or " for each in self.others)
        raise BadOption(self.said or f"{name} must be {others}a finite number{bounds}", found=given)

    def from_text(self, name: str, text: str) -> object:
        try:
            return text if text in self.others else float(text)
        except ValueError:
            return self.parse(name, text)

    def to_json(self, name: str, value: object) -> object:
        return value if value is None or isinstance(value, str) else exact_double(value, name)


class Span(Takes):
    """A pair of a minimum and a maximum, or None if allowed."""

    longest = 64

    def __init__(self, of: str, *, none: bool = False, metavar: str = "1-2") -> None:
        self.of, self.metavar = of, metavar
        self.types = (list, None) if none else (list,)

    @property
    def words(self) -> str:
        return "(int, int) or None" if None in self.types else "(int, int)"

    def parse(self, name: str, given: object) -> object:
        if given is None and None in self.types:
            return None
        if not (
            isinstance(given, (tuple, list))
            and len(given) == 2
            and all(isinstance(each, int) and not isinstance(each, bool) for each in given)
            and 1 <= given[0] <= given[1] <= self.longest
        ):
            raise BadOption(
                f"{name} must be a pair (fewest, most) of {self.of}, from 1 to {self.longest}",
                found=given,
                remedy=f"Write (1, 2) for one and for two {self.of}",
            )
        return tuple(given)

    def from_text(self, name: str, text: str) -> tuple[int, int]:
        """Two integers, or one for both.

        >>> Span("words").from_text("phrases", "1-2"), Span("words").from_text("phrases", "3")
        ((1, 2), (3, 3))
        """
        low, _, high = text.partition("-")
        try:
            return int(low), int(high or low)
        except ValueError:
            raise BadOption(f"{name} must be written {self.metavar}", found=text) from None

    def to_json(self, name: str, value: Any) -> object:  # noqa: ARG002
        return None if value is None else list(value)

    def from_json(self, name: str, written: Any) -> object:  # noqa: ARG002
        return None if written is None else tuple(written)


class TextList(Takes):
    """A list of texts, or None if allowed; with `ordered` they are saved sorted and without duplicates."""

    metavar = "TEXT,..."
    in_groups = False  # whether several lists are kept separate

    def __init__(self, said: str = "list of str", *, none: bool = False, ordered: bool = False) -> None:
        self.said, self.ordered = said, ordered
        self.types = (list, None) if none else (list,)

    @property
    def words(self) -> str:
        return f"{self.said} or None" if None in self.types else self.said

    def to_json(self, name: str, value: Any) -> object:  # noqa: ARG002
        return None if value is None else list(value)

    def from_json(self, name: str, written: Any) -> object:
        if written is None:
            return None
        if not all(type(each) is str for each in written):
            raise ValueError(f"{name} must be a list of texts")
        if self.ordered and written != sorted(set(written)):
            raise ValueError(f"{name} must be sorted")
        return tuple(written)


class NumbersByName(Takes):
    """Numbers by name, or None if allowed."""

    def __init__(self, *, none: bool = False) -> None:
        self.types = (dict, None) if none else (dict,)

    @property
    def words(self) -> str:
        return "mapping of name to number"

    def to_json(self, name: str, value: Any) -> object:
        return None if value is None else {key: exact_double(value[key], name) for key in sorted(value)}

    def from_json(self, name: str, written: Any) -> object:
        if written is not None and not all(type(each) is float for each in written.values()):
            raise ValueError(f"{name} has a value that is not a number")
        return written


class TakesRule(Takes):
    """A smoothing rule, its name, or None for that of the model; rules are in a higher layer, imported on demand."""

    types = (dict, None)
    metavar = "RULE"

    @property
    def words(self) -> str:
        return "rule of `bayesbox.rules`, its name, or None"

    def parse(self, name: str, given: object) -> object:
        return None if given is None else _rules().parse(name, given)

    def to_json(self, name: str, value: object) -> object:
        return None if value is None else _rules().to_json(name, value)

    def from_json(self, name: str, written: object) -> object:
        return None if written is None else _rules().from_json(name, written)


def _rules() -> Any:
    return import_module("bayesbox.rule.options").TakesSmoothing(none=True)


def _listed(words: Iterable[str]) -> str:
    """a, b or c.

    >>> _listed(["int", '"auto"', "None"])
    'int, "auto" or None'
    """
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def exact_double(value: object, what: str) -> float:
    """A parameter as a double; an error if it is not exactly one, since it cannot be saved."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            double = float(value)
        except OverflowError:
            double = float("nan")
        if double == value:
            return double
    raise BadData(f"{what} is not a double, so it cannot be saved exactly", found=value, remedy="Pass a float")
