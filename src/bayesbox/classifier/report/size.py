"""How large a model is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ModelSize:
    """How many numbers a model is made of, how many the full joint would need (None where a density takes part), and
    how many naive Bayes has for the same columns (None where the model is one)."""

    parameters: int
    joint: int | None
    by_column: Mapping[str, int] = field(default_factory=dict)
    naive: int | None = None
