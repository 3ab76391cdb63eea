"""Random draws from a seed, the same on every machine and Python version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Random numbers and choices. All use `Random.random`, the only method with guaranteed reproducibility.

    >>> draw = Draw("naive", 0)
    >>> draw.one("abc") in "abc", sorted(draw.shuffled([3, 1, 2]))
    (True, [1, 2, 3])
    """

    def __init__(self, *seed: object) -> None:
        self._random = Random("/".join(map(str, seed)))

    def below(self, limit: int) -> int:
        """An integer from 0 to limit - 1."""
        return int(self._random.random() * limit)

    def between(self, least: int, most: int) -> int:
        """An integer, both ends included."""
        return least + self.below(most - least + 1)

    def one(self, things: Sequence[T]) -> T:
        """One of these items."""
        return things[self.below(len(things))]

    def shuffled(self, things: Iterable[T]) -> list[T]:
        """These items, shuffled."""
        left = list(things)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def some(self, things: Sequence[T], number: int) -> list[T]:
        """This many different items, in the given order."""
        places = sorted(self.shuffled(range(len(things)))[:number])
        return [things[place] for place in places]

    def tenths(self, least: int = 1, most: int = 9) -> Fraction:
        """A probability of 1/10 to 9/10, or between other tenths."""
        return Fraction(self.between(least, most), 10)

    def shares(self, parts: int) -> list[Fraction]:
        """Positive probabilities in tenths that sum to 1."""
        cuts = [0, *sorted(self.shuffled(range(1, 10))[: parts - 1]), 10]
        return [Fraction(high - low, 10) for low, high in pairwise(cuts)]
