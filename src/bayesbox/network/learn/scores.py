"""Decomposable scores of a structure on rows, in nats: sums over families.

loglik            the maximum log-likelihood of the rows
aic, bic          the same, less 1 or (log n) / 2 for each free parameter
k2                the log marginal likelihood under a uniform prior on tables: dirichlet:1
dirichlet:a       the same, with a pseudo-counts in every cell
bdeu:ess          the same, with ess rows spread evenly over the cells of each family (1 if no number is given)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import FamilyScore
from bayesbox.errors import BadOption
from bayesbox.stat.family_counter import Counter, MemoryCounter

LIKELIHOOD, DIRICHLET, BDEU = 0, 1, 2
NAMES = ("bic", "aic", "loglik", "bdeu", "k2", "dirichlet")

Request = tuple[int, ...]  # a column, then its parents
Key = tuple[int, int]  # a column, and its parents as bits


class Change(NamedTuple):
    """The score of a family, and the gain of adding or removing each parent; -inf if that is not allowed."""

    score: float
    gain: NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """A score by its name; `parameter` is the a of dirichlet or the equivalent sample size of bdeu."""

    name: str
    parameter: float = 1.0

    @classmethod
    def of(cls, given: object) -> Score:
        """
        >>> Score.of("bic"), Score.of("bdeu:10")
        (Score(name='bic', parameter=1.0), Score(name='bdeu', parameter=10.0))
        """
        if isinstance(given, Score):
            return given
        name, colon, text = str(given).partition(":")
        if name not in NAMES or (colon and name not in ("bdeu", "dirichlet")):
            raise BadOption(f"the score must be one of {', '.join(NAMES)}, bdeu:10 or dirichlet:0.5", found=given)
        try:
            parameter = float(text) if colon else 1.0
        except ValueError:
            parameter = math.nan
        if not 0 < parameter < math.inf:
            raise BadOption(f"the number of {name} must be positive", found=given)
        return cls(name, parameter)

    @property
    def kind(self) -> int:
        """The number of the formula in the core."""
        return BDEU if self.name == "bdeu" else DIRICHLET if self.name in ("k2", "dirichlet") else LIKELIHOOD

    @property
    def equivalent(self) -> bool:
        """Whether Markov-equivalent structures have the same score."""
        return self.kind != DIRICHLET

    def of_rows(self, rows: float) -> float:
        """The parameter of the formula for this many rows: the penalty per parameter, a, or ess."""
        if self.kind != LIKELIHOOD:
            return self.parameter
        return {"bic": math.log(max(rows, 1)) / 2, "aic": 1.0, "loglik": 0.0}[self.name]

    def __str__(self) -> str:
        return f"{self.name}:{self.parameter:g}" if self.name in ("bdeu", "dirichlet") else self.name


class Scorer:
    """Cached scores of families. `scale` is the weight of a counted row."""

    def __init__(self, counter: Counter, score: Score, *, scale: float = 1.0) -> None:
        self.counter = counter
        self.score = score
        self._core = FamilyScore(score.kind, score.of_rows(counter.rows * scale), scale, counter.rows)
        self._known: dict[Key, float] = {}
        self._changes: dict[Key, Change] = {}

    def family(self, child: int, parents: Iterable[int]) -> float:
        """The score of one family."""
        return self.families([(child, *parents)])[0]

    def families(self, requests: Sequence[Request]) -> list[float]:
        """The scores of many families."""
        keys = [(request[0], mask_of(request[1:])) for request in requests]
        self._count({key: request for key, request in zip(keys, requests, strict=True) if key not in self._known})
        return [self._known[key] for key in keys]

    def changes(self, families: Sequence[Key], candidates: Sequence[Sequence[int]], most: int) -> list[Change]:
        """The gains of adding or removing each candidate parent of some families.

        A family is a column and its parents as bits, with at most `most` parents.
        """
        unknown = [family for family in families if family not in self._changes]
        if isinstance(self.counter, MemoryCounter):
            unknown = [family for family in unknown if not self._count_changes(self.counter, *family, candidates, most)]
        new: dict[Key, Request] = {}
        for node, mask in unknown:
            above = columns_of(mask)
            full = len(above) >= most
            if (node, mask) not in self._known:
                new[node, mask] = (node, *above)
            for other in candidates[node]:
                key = (node, mask ^ 1 << other)
                if key in self._known:
                    continue
                if mask >> other & 1:
                    new[key] = (node, *(each for each in above if each != other))
                elif not full:
                    new[key] = (node, *above, other)
        self._count(new)
        for node, mask in unknown:
            gain = np.full(len(self.counter.cards), -np.inf)
            own, full = self._known[node, mask], mask.bit_count() >= most
            for other in candidates[node]:
                if not full or mask >> other & 1:
                    gain[other] = self._known[node, mask ^ 1 << other] - own
            self._changes[node, mask] = Change(own, gain)
        return [self._changes[family] for family in families]

    def _count_changes(
        self, counter: MemoryCounter, node: int, mask: int, candidates: Sequence[Sequence[int]], most: int
    ) -> bool:
        """All changes of one family of rows in memory, in one call; False if its tables would be too large."""
        above = columns_of(mask)
        some = candidates[node] if len(above) < most else [each for each in candidates[node] if mask >> each & 1]
        found = counter.changes(node, above, some, self._core)
        if found is None:
            return False
        own, changed = found
        gain = np.full(len(counter.cards), -np.inf)
        gain[some] = changed - own
        self._changes[node, mask] = Change(own, gain)
        return True

    def _count(self, new: Mapping[Key, Request]) -> None:
        """Compute missing scores in one pass over the rows; families with the same set of columns share a table."""
        if not new:
            return
        sets: dict[int, tuple[int, Request]] = {}
        of, child = [], []
        for (node, mask), request in new.items():
            index, members = sets.setdefault(mask | 1 << node, (len(sets), request))
            of.append(index)
            child.append(members.index(node))
        found = self.counter.scores([members for _, members in sets.values()], of, child, self._core)
        self._known.update(zip(new, found.tolist(), strict=True))

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        """The score of a whole structure: the parents of each column."""
        return float(np.sum(self.families([(child, *above) for child, above in enumerate(parents)])))


def mask_of(columns: Iterable[int]) -> int:
    """A set of columns as bits."""
    mask = 0
    for column in columns:
        mask |= 1 << column
    return mask


def columns_of(mask: int) -> list[int]:
    """The columns of a set, ascending.

    >>> columns_of(0b1010)
    [1, 3]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def parameters(cards: Sequence[int], parents: Sequence[Iterable[int]]) -> int:
    """The free parameters of a structure: (states - 1) for each combination of the parents' states."""
    return sum((cards[child] - 1) * math.prod(cards[each] for each in above) for child, above in enumerate(parents))
