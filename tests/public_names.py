"""The public names with their parameters, one a line: python -m tests.public_names > docs/reference/public-names.txt

The file holds those of the last release. Names and parameters may be added at any time; what a release had must stay.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bayesbox as bb

LIST = Path(__file__).parents[1] / "docs" / "reference" / "public-names.txt"


def described(name: str, found: Any) -> str:
    """A name with the names of its parameters, where it has any.

    >>> described("len", len)
    'len(obj)'
    """
    try:
        parameters = list(inspect.signature(found).parameters) if callable(found) else []
    except ValueError:
        return name
    shown = [each for each in parameters if each not in ("self", "args", "kwargs") and not each.startswith("_")]
    return f"{name}({', '.join(shown)})" if callable(found) else name


def members(name: str, found: Any) -> Iterator[str]:
    """A class with its public methods, or a module with its public names."""
    if isinstance(found, types.ModuleType):
        for each in getattr(found, "__all__", None) or [n for n in dir(found) if not n.startswith("_")]:
            inner = getattr(found, each)
            if getattr(inner, "__module__", "").startswith("bayesbox"):
                yield described(f"{name}.{each}", inner)
        return
    yield described(name, found)
    if isinstance(found, type) and not issubclass(found, BaseException):
        for each in dir(found):
            inner = inspect.getattr_static(found, each)
            ours = any(each in cls.__dict__ for cls in found.__mro__ if cls.__module__.startswith("bayesbox"))
            if ours and not each.startswith("_") and isinstance(inner, types.FunctionType | classmethod | staticmethod):
                yield described(f"{name}.{each}", getattr(found, each))


def public() -> list[str]:
    return [line for name in sorted(bb.__all__) for line in members(name, getattr(bb, name))]


def missing(promised: list[str], have: list[str]) -> list[str]:
    """What was promised and is not there any more, a parameter included.

    >>> missing(["fit(X, y)", "save(path)"], ["fit(X, y, weight)", "save()"])
    ['save(path)']
    """
    parts = {line.partition("(")[0]: set(_parameters(line)) for line in have}
    return [
        line for line in promised
        if (name := line.partition("(")[0]) not in parts or not set(_parameters(line)) <= parts[name]
    ]  # fmt: skip


def _parameters(line: str) -> list[str]:
    return [each for each in line.partition("(")[2].rstrip(")").split(", ") if each]


if __name__ == "__main__":
    print("\n".join(public()))
