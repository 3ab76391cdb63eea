"""What every kind of classifier asks of its rules and of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.rule.options import Prior
from bayesbox.schema.arrays import AnyArray


class PriorRules(Protocol):
    """Rules as a frozen dataclass: those of every kind can give the class prior."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def prior(self) -> Prior | None: ...


class ClassModel(Protocol):
    """What every model says of the classes."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> AnyArray: ...
    @property
    def log_prior(self) -> Doubles: ...


class Evidence(Protocol):
    """What an explanation says, be it of columns or of words."""

    @property
    def labels(self) -> AnyArray: ...
    @property
    def prior(self) -> Doubles: ...
    def log_odds(self, label: object, against: object) -> Doubles: ...
    def joint(self) -> Doubles: ...


class TableModel(ClassModel, Protocol):
    """What every model of a table says of its columns too."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def left_out(self) -> Mapping[str, str]: ...
    def conditional(self, column: str) -> Distribution | None: ...
