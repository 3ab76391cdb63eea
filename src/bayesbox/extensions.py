"""Extensions of bayesbox: found through an entry point group, loaded on demand.

A package that provides a distribution, a kind of column, a rule, a kind of classifier, a source or an inference
algorithm names its module in its metadata,

    [project.entry-points."bayesbox.extensions"]
    mypackage = "mypackage.bayes"

and registers what it provides when that module is imported. The modules are imported once, when an unknown name is
first looked up, so a process that does not use them has no cost.
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
    """Import all installed extensions, once; warn about each that fails."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import importlib.metadata  # this import takes half as long as importing bayesbox

    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # third-party code may raise anything
            FAILED.append(ExtensionFailed(entry.name, entry.value, error))
            warnings.warn(FAILED[-1], stacklevel=3)


def _place(thing: object) -> tuple[str, str]:
    """The module and name of a class or function."""
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return kind.__module__, kind.__qualname__


class Registry(dict[str, T]):
    """Objects by name. An unknown name is looked up in the installed extensions.

    >>> known = Registry({"laplace": 1})
    >>> known["laplace"], known.get("unheard-of"), "unheard-of" in known
    (1, None, False)
    """

    def enter(self, name: str, thing: T, what: str) -> None:
        """Register an object. A second object with the same name is an error, except after a reload of its module."""
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
