"""What is drawn by a seed, the same on every machine and under every Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Numbers and things by a seed. All come from `Random.random`, the one method whose numbers Python promises.

    >>> draw = Draw("naive", 0)
    >>> draw.one("abc") in "abc", sorted(draw.shuffled([3, 1, 2]))
    (True, [1, 2, 3])
    """

    def __init__(self, *seed: object) -> None:
        self._random = Random("/".join(map(str, seed)))

    def below(self, limit: int) -> int:
        """0, 1, ... or limit - 1."""
        return int(self._random.random() * limit)

    def between(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return least + self.below(most - least + 1)

    def one(self, things: Sequence[T]) -> T:
        """One of these."""
        return things[self.below(len(things))]

    def shuffled(self, things: Iterable[T]) -> list[T]:
        """All of these in another order."""
        left = list(things)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def some(self, things: Sequence[T], number: int) -> list[T]:
        """So many different ones, in the order in which they are given."""
        places = sorted(self.shuffled(range(len(things)))[:number])
        return [things[place] for place in places]

    def tenths(self, least: int = 1, most: int = 9) -> Fraction:
        """A probability of 1/10 to 9/10, or between other tenths."""
        return Fraction(self.between(least, most), 10)

    def shares(self, parts: int) -> list[Fraction]:
        """Probabilities in tenths that sum to 1, none of them 0."""
        cuts = [0, *sorted(self.shuffled(range(1, 10))[: parts - 1]), 10]
        return [Fraction(high - low, 10) for low, high in pairwise(cuts)]
