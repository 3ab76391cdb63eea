"""What every way of training shares: the parts of a batch, how it went, and what tells of progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbox.classifier.hints import Hint, Reason
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.schema.columns import as_numbers, as_view
from bayesbox.schema.encode import Encoded, encode
from bayesbox.source.base import Batch

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Training:
    """How a training went: the rows that were read, those without a label, and the broken ones that were left out."""

    rows: int
    unlabelled: int
    skipped: int = 0


def one_class(classes: Sequence[str]) -> list[Hint]:
    """What to say of rows that all have the same class.

    >>> [str(hint) for hint in one_class(["yes"])], one_class(["no", "yes"])
    (['every row has the class yes, so every answer will be yes'], [])
    """
    if len(classes) != 1:
        return []
    what = f"every row has the class {classes[0]}, so every answer will be {classes[0]}"
    return [Hint(Reason.ONE_CLASS, (), what)]


def split_columns(
    batch: Batch, target: str, weight: str | None = None, *, where: str | None = None
) -> tuple[dict[str, Any], Encoded, Any]:
    """(columns, labels, weights) of a batch."""
    if weight is not None and weight == target:
        raise BadOption(f"`{weight}` cannot be both the target and the weight")
    columns = {name: as_view(column) for name, column in zip(batch.names, batch.columns, strict=True)}
    for name in (target, weight):
        if name is not None and name not in columns:
            raise UnknownColumn(name, available=columns, where=where)
    labels = encode(columns.pop(target))
    weights = None if weight is None else np.asarray(as_numbers(columns.pop(weight), name=weight), dtype=np.float64)
    return columns, labels, weights
