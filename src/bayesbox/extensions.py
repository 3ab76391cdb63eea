"""Extensions of bayesbox: found by an entry point group, loaded when needed.

A package that provides a distribution, a kind of column, a rule, a kind of classifier, a source or an inference
algorithm names its module in its metadata,

    [project.entry-points."bayesbox.extensions"]
    mypackage = "mypackage.bayes"

and registers what it provides when that module is imported. The modules are imported once, the first time that
an unknown name is looked up: a process that needs none of them pays nothing.
"""

from __future__ import annotations

import warnings
from typing import TypeVar, overload

from bayesbox.errors import BadOption, ExtensionFailed

GROUP = "bayesbox.extensions"

T = TypeVar("T")
D = TypeVar("D")

FAILED: list[ExtensionFailed] = []
"""The extensions that could not be imported."""

_loaded = False


def load_extensions() -> None:
    """Import every installed extension, once; one that fails is named in a warning."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import importlib.metadata  # half of the time that importing bayesbox takes otherwise

    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # whatever the code of others does
            FAILED.append(ExtensionFailed(entry.name, entry.value, error))
            warnings.warn(FAILED[-1], stacklevel=3)


def _place(thing: object) -> tuple[str, str]:
    """Where a class or a function was defined."""
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return kind.__module__, kind.__qualname__


class Registry(dict[str, T]):
    """Objects by name. An unknown name is looked up in the installed extensions.

    >>> known = Registry({"laplace": 1})
    >>> known["laplace"], known.get("unheard-of"), "unheard-of" in known
    (1, None, False)
    """

    def enter(self, name: str, thing: T, what: str) -> None:
        """Register an object; another of the same name is refused, but the same one (a reloaded module) replaces it."""
        known = dict.get(self, name)
        if known is not None and _place(known) != _place(thing):
            raise BadOption(f"a {what} `{name}` already exists", found=".".join(_place(known)))
        self[name] = thing

    def __missing__(self, name: str) -> T:
        load_extensions()
        if super().__contains__(name):
            return super().__getitem__(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name) and isinstance(name, str):
            load_extensions()
        return super().__contains__(name)

    @overload
    def get(self, name: str, default: None = None, /) -> T | None: ...
    @overload
    def get(self, name: str, default: T, /) -> T: ...
    @overload
    def get(self, name: str, default: D, /) -> T | D: ...
    def get(self, name: str, default: object = None, /) -> object:
        return super().__getitem__(name) if name in self else default
