"""The counts of chains: first states, transitions, and the observations in each state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.errors import NeverLearned
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import Encoded
from bayesbox.tally.base import digest_of, quoted
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts

START = "start"  # the one class of the tally of first states
VERSION = b"bayesbox chain book 1\n"


class ChainBook:
    """Three tallies: of first states, of states by the state before, and of the steps by their state.

    `+` adds and `-` subtracts sequences exactly; `digest()` identifies the counts.
    """

    def __init__(self, start: Counts, transition: Counts, emission: Book) -> None:
        self.start = start
        self.transition = transition
        self.emission = emission

    @classmethod
    def empty(cls) -> ChainBook:
        """An empty book."""
        return cls(Counts((START,), (), ExactArray(0)), Counts((), (), ExactArray(0)), Book.empty())

    @classmethod
    def of(cls, states: tuple[str, ...], start: AnyArray, transition: AnyArray, emission: Book) -> ChainBook:
        """The book of these counts, or expected counts: one per state, and states x states from row to column."""
        exact = ExactArray.from_integers if start.dtype.kind == "i" else ExactArray.from_doubles
        starts = Counts.of((START,), list(states), exact(np.ascontiguousarray(start)))
        follows = Counts.of(states, list(states), exact(np.ascontiguousarray(transition).ravel()))
        return cls(starts, follows, emission)

    @property
    def states(self) -> tuple[str, ...]:
        """Every state that occurred."""
        return self.emission.classes

    @property
    def label_type(self) -> str:
        return self.emission.label_type

    def __add__(self, other: ChainBook) -> ChainBook:
        return ChainBook(self.start + other.start, self.transition + other.transition, self.emission + other.emission)

    def __sub__(self, other: ChainBook) -> ChainBook:
        start, transition = self.start - other.start, self.transition - other.transition
        if not (start.is_possible() and transition.is_possible()):
            raise NeverLearned(
                "some of these sequences were never learned: a transition would have a negative count",
                remedy="Nothing was changed. Forget only sequences that were learned, with their states",
            )
        return ChainBook(start, transition, self.emission - other.emission)

    def canonical(self) -> Iterator[bytes]:
        """The book as lines."""
        yield VERSION
        yield quoted(["start"])
        yield from self.start.canonical()
        yield quoted(["transition"])
        yield from self.transition.canonical()
        yield from self.emission.canonical()

    def digest(self) -> str:
        """SHA-256 of the canonical lines, in hex."""
        return digest_of(self.canonical())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChainBook):
            return NotImplemented
        return self.digest() == other.digest()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ChainBook({self.emission!r})"


def count_states(labels: Encoded, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each state begins a sequence and follows each other state; steps without a state are not counted.

    >>> labels = Encoded(np.array([0, 1, 1, 0], dtype=np.int32), ["dry", "rain"], ["dry", "rain"])
    >>> count_states(labels, np.array([0, 3, 4]))
    (array([2, 0]), array([[0, 1],
           [0, 1]]))
    """
    size, codes = len(labels.levels), labels.codes.astype(np.int64)
    first = offsets[:-1][np.diff(offsets) > 0]
    starts = codes[first]
    follows = np.ones(len(codes), dtype=bool)
    follows[first] = False
    later = np.flatnonzero(follows)
    before, after = codes[later - 1], codes[later]
    known = (before >= 0) & (after >= 0)
    pairs = np.bincount(before[known] * size + after[known], minlength=size * size)
    return np.bincount(starts[starts >= 0], minlength=size), pairs.reshape(size, size)
