"""The model of a classifier that combines several models: the classes and their prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayesbox.classifier.table import TableClassifier
from bayesbox.dist.base import Doubles
from bayesbox.file.faults import MemberFault
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.schema import Schema


def require_member(member: object, schema: Schema, name: str) -> None:
    """Raise MemberFault if a model inside another has different columns."""
    if not isinstance(member, TableClassifier) or member.schema is None:
        raise MemberFault(name, "it is not a classifier of tables")
    for column, kind in member.schema.kinds.items():
        outer = schema.kinds.get(column)
        if outer is None or (outer.is_known and kind.is_known and outer.has_levels != kind.has_levels):
            raise MemberFault(name, f"column `{column}` differs from that of the enclosing model")


@dataclass(frozen=True)
class PooledModel:
    """The classes and their prior; everything else is in the pooled models."""

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    columns: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)

    def conditional(self, column: str) -> None:  # noqa: ARG002  the same question as to naive Bayes
        """None: a column has a distribution in each of the pooled models."""
        return
