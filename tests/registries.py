"""What tests and pages register, apart from what the package itself does."""

from __future__ import annotations

from typing import Any

from bayesbox.classifier.registry import KINDS
from bayesbox.file.registry import CODECS
from bayesbox.network.approximate.algorithm import METHODS
from bayesbox.rule.smoothing import RULES
from bayesbox.schema.families import FAMILIES
from bayesbox.schema.kinds import BY_NAME
from bayesbox.source.registry import KINDS as SOURCES
from bayesbox.tally.base import TALLIES

REGISTRIES: tuple[dict[str, Any], ...] = (KINDS, CODECS, METHODS, RULES, FAMILIES, SOURCES, TALLIES, BY_NAME)

Entries = list[dict[str, Any]]


def _home(entry: Any) -> str:
    """The module of an entry: of a class or function, of a dotted path, or of what an entry is about."""
    for part in ("classifier", "path", "open"):
        if not isinstance(entry, type):
            entry = getattr(entry, part, entry)
    return entry if isinstance(entry, str) else str(entry.__module__)


def foreign() -> Entries:
    """What is registered now and is not part of the package."""
    own = [
        {name: entry for name, entry in each.items() if not _home(entry).startswith("bayesbox")} for each in REGISTRIES
    ]
    own[1] |= {name: CODECS[name] for name in own[0]}  # a kind from outside may be saved by the codec of the package
    return own


def remove(entries: Entries) -> None:
    """Take these out again."""
    for registry, own in zip(REGISTRIES, entries, strict=True):
        for name in own:
            registry.pop(name, None)


def enter(entries: Entries) -> None:
    """Register these once more."""
    for registry, own in zip(REGISTRIES, entries, strict=True):
        registry.update(own)
