"""Reading the JSON document of a model file key by key.

Every value is checked for its type, and an unknown key is an error: nothing in a file is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesbox.errors import BadOption

Json = dict[str, Any]


class Reader:
    """A JSON mapping that is consumed key by key; `done` raises an error if keys remain.

    >>> reader = Reader({"width": 3}, "kind")
    >>> reader.take("width", int)
    3
    >>> reader.done()
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is not a mapping")
        self.rest = dict(value)
        self.where = where

    def take(self, key: str, *types: type | None) -> Any:
        """Consume a key; its value must be of one of these types, where None means null."""
        if key not in self.rest:
            raise ValueError(f"{self.where} has no `{key}`")
        value = self.rest.pop(key)
        allowed = tuple(type(None) if kind is None else kind for kind in types)
        if type(value) not in allowed:
            raise ValueError(f"`{key}` of {self.where} has the wrong type: {type(value).__name__}")
        return value

    def take_if_present(self, key: str, *types: type | None) -> Any:
        return self.take(key, *types) if key in self.rest else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.take(key, list)
        if not all(type(value) is str for value in values):
            raise ValueError(f"`{key}` of {self.where} must be a list of texts")
        return tuple(values)

    def done(self) -> None:
        if self.rest:
            raise ValueError(f"{self.where} has the unknown key `{next(iter(self.rest))}`")


def made(make: Callable[[], Any], where: str) -> Any:
    """The result of `make`; an invalid option is an error in the document."""
    try:
        return make()
    except BadOption as error:
        raise ValueError(f"{where}: {error}") from error
