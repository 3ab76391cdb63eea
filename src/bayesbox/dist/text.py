"""A column of free text among other columns: the words of each text, independent given the class."""

from __future__ import annotations

from dataclasses import dataclass

from bayesbox.dist.base import Columns, Plan
from bayesbox.dist.word_weights import WordWeights
from bayesbox.schema.tokens import Documents, Tokens


@dataclass(frozen=True)
class Text:
    """log P(text | class) is the sum of the weights of its known words; a missing text has none."""

    column: str
    weights: WordWeights
    tokens: Tokens

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def add_to(self, plan: Plan, columns: Columns) -> None:
        texts = columns.get(self.column)
        if texts is not None:
            plan.add_terms(self.weights.terms(Documents.of(texts, where=f"column `{self.column}`"), self.tokens))
