"""The naive Bayes model as data: a class prior and one distribution per column, independent given the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.schema.levels import Labels


class ProductModel(Protocol):
    """P(class) times one factor per conditional: the interface for prediction and explanation."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> Labels: ...
    @property
    def log_prior(self) -> Doubles: ...
    @property
    def conditionals(self) -> tuple[Distribution, ...]: ...
    @property
    def is_weighted(self) -> bool:
        """Whether a factor has an exponent other than 1."""
        ...

    def weight_of(self, conditional: Distribution, /) -> float:
        """The exponent of the factor of a conditional."""
        ...


@dataclass(frozen=True)
class NaiveModel:
    """P(class) and P(column | class) as data.

    `ignored` has the ignored columns, each with the reason. `weights` are the exponents of the columns' factors that
    are not 1.
    """

    classes: tuple[str, ...]
    labels: Labels
    log_prior: Doubles
    conditionals: tuple[Distribution, ...]
    ignored: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_weighted(self) -> bool:
        return bool(self.weights) and any(self.weight_of(each) != 1 for each in self.conditionals)

    def weight_of(self, conditional: Distribution) -> float:
        """The exponent of the factor of a conditional."""
        return self.weights.get(conditional.columns[0], 1.0) if self.weights else 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        return tuple(name for conditional in self.conditionals for name in conditional.columns)

    def conditional(self, column: str) -> Distribution | None:
        """The distribution of one column; None if it is ignored."""
        return next((each for each in self.conditionals if column in each.columns), None)
