"""The public names, their methods and their signatures, for the Python reference."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import bayesbox
from bayesbox.schema.kind import Kind

INNER = {
    "BayesianNetwork": {"model", "of", "active_path_of"},
    "NetworkQuestions": {
        "ask", "evidence_of", "findings", "posteriors_of_states", "state_codes", "model", "approximations", "max_bytes",
        "acted",
    },
    "NetworkActing": {"acted"},
    "NoisyTable": {"own_states", "resolved"},
    "NoisyOr": {"resolved"},
    "NoisyAnd": {"resolved"},
    "NoisyMax": {"own_states", "resolved"},
    "NetworkFitting": {"fit_rows", "restore_counts"},
    "FactorGraph": {"model"},
    "HiddenMarkovModel": {"model_", "of_options", "options", "reading", "rules"},
    "ChainAnswers": {"posterior_steps", "predict_steps"},
    "CountedEstimator": {"classifier_"},
    "ChainOptions": {"emission"},
    "Joint": {"of"},
    "TableEstimator": {"fold"},
    "Described": {"remedy", "without_remedy"},
}  # fmt: skip
"""Methods that other parts of the package call, and which the reference leaves out."""


class Member(NamedTuple):
    """A public method or attribute: its name, the class that defines it, and the function behind it."""

    name: str
    owner: type
    function: Any
    is_property: bool


def public_names() -> list[str]:
    """The public names that are not modules."""
    every = bayesbox.__dir__()
    named = [name for name in every if not name.startswith("_")]
    return [name for name in named if not isinstance(getattr(bayesbox, name), types.ModuleType)]


def members(cls: type) -> Iterator[Member]:
    """The public methods and properties of a class that this package defines, in alphabetical order."""
    if issubclass(cls, Kind):  # a kind of column: its methods are for extensions
        return
    for name in sorted(name for name in dir(cls) if not name.startswith("_")):
        owner = next((each for each in cls.__mro__ if name in each.__dict__), cls)
        if not owner.__module__.startswith("bayesbox.") or name in INNER.get(owner.__name__, ()):
            continue
        found = inspect.getattr_static(owner, name)
        is_property = isinstance(found, property) or hasattr(found, "func")  # a property, or a cached one
        function = found.fget if isinstance(found, property) else getattr(found, "func", None)
        function = function or getattr(found, "__func__", found)
        if inspect.isfunction(function):
            yield Member(name, owner, function, is_property)


def signature_of(found: Any, *, method: bool = False) -> str:
    """The parameters with their defaults, one per line if there are many."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return "(...)"
    given = [each for each in signature.parameters.values() if not (method and each.name in ("self", "cls"))]
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in given]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    text = re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "...", text)
    return text if len(text) <= 100 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)
