"""What distributions share that were fitted together, as thousands of columns are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class CompilesTogether(Protocol):
    """What distributions that were fitted together share."""

    def compiled(self, some: Sequence[Any], /) -> tuple[object, ...]:
        """Some of them in the form of `_core.RowScorer`, each with a weight of 1."""
        ...
