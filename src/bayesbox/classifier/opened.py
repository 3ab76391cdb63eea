"""Rows that were opened for a classifier: where they come from, and which of their columns holds the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from bayesbox.source.base import Source

EVERY = "*"  # keeps all columns

C = TypeVar("C")


@dataclass(frozen=True)
class Opened(Generic[C]):
    """Rows as a classifier reads them; `classifier` is the one that reads them so."""

    classifier: C
    source: Source
    target: str = ""  # the column of the classes, where there is one
    in_files: bool = False  # whether each row is a file of its own, or a message of one
