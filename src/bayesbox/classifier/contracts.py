"""The protocols of the rules and the model of every kind of classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.rule.options import Prior
from bayesbox.schema.arrays import AnyArray


class PriorRules(Protocol):
    """Rules as a frozen dataclass that can estimate the class prior."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def prior(self) -> Prior | None: ...


class ClassModel(Protocol):
    """What every model knows about the classes."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> AnyArray: ...
    @property
    def log_prior(self) -> Doubles: ...


class Evidence(Protocol):
    """An explanation, of columns or of words."""

    @property
    def labels(self) -> AnyArray: ...
    @property
    def prior(self) -> Doubles: ...
    def log_odds(self, label: object, against: object) -> Doubles: ...
    def joint(self) -> Doubles: ...


class TableModel(ClassModel, Protocol):
    """What every table model also knows about its columns."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def ignored(self) -> Mapping[str, str]: ...
    def conditional(self, column: str) -> Distribution | None: ...
