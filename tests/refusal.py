"""What a test expects of an error or a warning: its class and its fields, not its sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from bayesbox.errors import BayesboxError, DataWarning

E = TypeVar("E", bound=BayesboxError)


def _differs(described: BaseException, name: str, expected: object) -> bool:
    actual = getattr(described, name)
    if name in ("what", "where", "remedy"):  # where there are files, their folders are not what matters
        return not isinstance(actual, str) or not isinstance(expected, str) or expected not in actual
    return bool(actual != expected)


@contextmanager
def refusal(kind: type[E] | tuple[type[E], ...], /, **fields: object) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error of a class with these fields; of `what`, `where` and `remedy` a part is enough."""
    with pytest.raises(kind) as caught:
        yield caught
    for name, expected in fields.items():
        if _differs(caught.value, name, expected):
            raise AssertionError(f"{name} is {getattr(caught.value, name)!r}, not {expected!r}: {caught.value}")


@contextmanager
def warning(kind: type[DataWarning], /, **fields: object) -> Iterator[Any]:
    """Expect a warning of a class with these fields; of `what`, `where` and `remedy` a part is enough."""
    with pytest.warns(kind) as caught:
        yield caught
    found = [each.message for each in caught if isinstance(each.message, kind)]
    if not any(not any(_differs(each, name, expected) for name, expected in fields.items()) for each in found):
        raise AssertionError(f"no warning has {fields}, but there is: {[str(each) for each in found]}")
