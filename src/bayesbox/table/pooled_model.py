"""The model of a classifier that is several models in one: what it says of the classes by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from bayesbox.dist.base import Doubles


@dataclass(frozen=True)
class PooledModel:
    """The classes and their prior; the rest is in the models that are pooled."""

    classes: tuple[str, ...]
    labels: NDArray[Any]
    log_prior: Doubles
    columns: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def conditional(self, column: str) -> None:  # noqa: ARG002  the same question as to naive Bayes
        """None: a column has a distribution in each of the models."""
        return
