"""The registry of kinds of sources: the data they accept, and the code that opens them.

A source is selected by the type of the data, the scheme of an address or the extension of a file, in Python and in the
command. The module of a kind is imported on demand.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bayesbox.errors import BadOption
from bayesbox.source.base import Source
from bayesbox.source.shapes import PathLike, is_dask_frame, is_path, is_ray_dataset, is_spark_frame
from bayesbox.source.wrapped import Chained

Opener = Callable[..., Source]
F = TypeVar("F", bound=Opener)

FRAME = "frame"
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True)
class SourceKind:
    """A kind of source, and the data it accepts."""

    name: str
    open: Opener | str  # or `module:name`, imported when it is needed
    accepts: Callable[[object], bool] | None = None
    schemes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()

    def opener(self) -> Opener:
        """The function or class that makes a source from such data."""
        if not isinstance(self.open, str):
            return self.open
        module, _, name = self.open.partition(":")
        found: Opener = getattr(importlib.import_module(module), name)
        return found

    def has_address(self, address: str) -> bool:
        """Whether an address or the name of a file belongs to this kind."""
        scheme = SCHEME.match(address)
        if scheme is not None:
            return scheme[1].lower() in self.schemes
        return bool(self.extensions) and address.lower().endswith(self.extensions)


KINDS: dict[str, SourceKind] = {
    kind.name: kind
    for kind in (
        SourceKind("source", lambda source: source, accepts=lambda data: isinstance(data, Source)),
        SourceKind("spark", "bayesbox.source.spark:SparkSource", accepts=is_spark_frame),
        SourceKind("dask", "bayesbox.source.dask:DaskSource", accepts=is_dask_frame),
        SourceKind("ray", "bayesbox.source.ray:RaySource", accepts=is_ray_dataset),
        SourceKind("spark-table", "bayesbox.source.spark:spark_table"),
        SourceKind("sql", "bayesbox.source.sql:SqlSource"),
        SourceKind("files", "bayesbox.source.files.open:open_source", accepts=is_path),
        SourceKind(FRAME, "bayesbox.source.frames:frame_source"),
    )
}
"""The kinds by name. Kinds registered later take precedence; a DataFrame is the default."""


def register_source(
    name: str,
    *,
    accepts: Callable[[object], bool] | None = None,
    schemes: Iterable[str] = (),
    extensions: Iterable[str] = (),
) -> Callable[[F], F]:
    """A decorator that registers a function or class as a kind of source.

    It is called with data for which `accepts` is true, with an address such as `dice://two` whose scheme is one of
    `schemes`, or with the path of a file whose name ends in one of `extensions`.

    >>> from bayesbox.source.base import Batch
    >>> @register_source("dice", schemes=["dice"])
    ... class Dice(Source):
    ...     def __init__(self, address):
    ...         self.name = address
    ...
    ...     def batches(self):
    ...         yield Batch(("eyes", "side"), ([1, 6], ["low", "high"]), 2)
    >>> from bayesbox.source.files.open import open_source
    >>> open_source("dice://two").name
    'dice://two'
    >>> unregister_source("dice")
    """
    kind_options = (
        accepts,
        tuple(scheme.lower() for scheme in schemes),
        tuple(f".{ending.lower().lstrip('.')}" for ending in extensions),
    )
    if not any(kind_options):
        raise BadOption("a kind of source needs `accepts`, `schemes` or `extensions`", found=name)
    if name in KINDS:
        raise BadOption(f"a kind of source `{name}` is already registered")

    def register(opener: F) -> F:
        KINDS[name] = SourceKind(name, opener, *kind_options)
        return opener

    return register


def unregister_source(name: str) -> None:
    """Remove a kind of source."""
    KINDS.pop(name, None)


def source_kind(name: str) -> Opener:
    """The function that opens the kind of source of this name.

    >>> source_kind("sql")("select 1 as one").name
    'the query'
    """
    return KINDS[name].opener()


def kind_of_data(data: object) -> SourceKind:
    """The kind of source for data; data that no kind accepts are read as a DataFrame."""
    for kind in reversed(KINDS.values()):
        if kind.accepts is not None and kind.accepts(data):
            return kind
    return KINDS[FRAME]


def source_from(data: object) -> Source:
    """The data themselves if they are a source, else a source made from them.

    >>> source_from({"age": [25, 40]}).names
    ('age',)
    """
    return kind_of_data(data).opener()(data)


def registered_source(
    paths: PathLike | Sequence[PathLike], others: Callable[[list[PathLike]], Source]
) -> Source | None:
    """The source of addresses or files, at least one of a registered kind; None if there is none.

    Each is opened by its own kind, the remaining ones by `others`; several are read in sequence.
    """
    named = [kind for kind in KINDS.values() if kind.schemes or kind.extensions]
    if not named:
        return None
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    kinds = [next((kind for kind in named if kind.has_address(os.fspath(path))), None) for path in given]
    if not any(kinds):
        return None
    sources = [
        others([path]) if kind is None else kind.opener()(os.fspath(path))
        for kind, path in zip(kinds, given, strict=True)
    ]
    return sources[0] if len(sources) == 1 else Chained(sources)
