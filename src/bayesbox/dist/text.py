"""A column of free text among other columns: the words of each text, independent given the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.word_weights import WordWeights
from bayesbox.schema.tokens import Documents, Tokens


@dataclass(frozen=True)
class Text(Distribution):
    """log P(text | class) is the sum of the weights of its known words; a missing text has none."""

    column: str
    weights: WordWeights
    tokens: Tokens

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.weights.offset)

    @property
    def free_parameters(self) -> int:
        return max(len(self.weights.words) - 1, 0) * self.classes

    def log_prob(self, values: Any) -> Doubles:
        return self.weights.terms(Documents.of(values, where=f"column `{self.column}`"), self.tokens)
