"""The sum over a source: each batch becomes a tally, and the tallies are added.

The addition of tallies is commutative and associative, so neither batches nor threads change the result.
"""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Condition, RLock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from bayesbox.source.pool import worker_threads

if TYPE_CHECKING:
    from bayesbox.source.base import Batch, Part, Source


class Addable(Protocol):
    """A value that can be added."""

    def __add__(self, other: Any, /) -> Any: ...


T = TypeVar("T", bound=Addable)

ROWS_A_PIECE = 65_536  # rows of a large batch per thread; each piece costs one small tally


def pieces(source: Source, *, rows: int) -> Iterator[Batch]:
    """The batches of a source, each cut into pieces of at most `rows` rows."""
    for batch in source.batches():
        if batch.rows <= rows:
            yield batch
            continue
        for start in range(0, batch.rows, rows):
            yield batch.slice(start, min(start + rows, batch.rows))


TURN = 2e-4  # the switch interval of the interpreter in seconds


@contextlib.contextmanager
def quick_turns() -> Iterator[None]:
    """A context with a shorter switch interval for threads that mostly run compiled code; the default is 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def reduce_batches(source: Source, tally_of: Callable[[Batch], T], *, threads: int = 1) -> T | None:
    """The sum of `tally_of(batch)` over the batches, used by `Source.reduce`; None if there are no batches.

    With one thread, each batch is counted as a whole. With more, each thread reads and counts parts of the source, if
    it has parts. Otherwise one thread reads, and large batches are split into pieces, with at most two pieces per
    thread in progress, so that memory is bounded.
    """
    total: T | None = None
    if threads <= 1:
        for batch in source.batches():
            tally = tally_of(batch)
            total = tally if total is None else total + tally
            del batch, tally
        return total
    parts = source.parts(threads)
    if parts is not None:
        return _Parts(parts, tally_of).total(threads)
    waiting: deque[Future[T]] = deque()
    cut = pieces(source, rows=ROWS_A_PIECE)
    first = next(cut, None)
    if first is None:
        return None
    total = tally_of(first)  # the first rows may determine how the others are read, so they are read first
    with quick_turns(), worker_threads(threads) as pool:
        for piece in cut:
            waiting.append(pool.submit(tally_of, piece))
            while len(waiting) >= 2 * threads:
                tally = waiting.popleft().result()
                total = tally if total is None else total + tally
        while waiting:
            tally = waiting.popleft().result()
            total = tally if total is None else total + tally
    return total


class _Parts(Generic[T]):
    """The parts of a source, each processed by the next free thread.

    The first rows may determine how others are counted, so the first batch is counted before any other; meanwhile the
    other threads read theirs. An error stops the later parts, but not the earlier ones, so the error is the same for
    any number of threads.
    """

    def __init__(self, parts: Iterator[Part], tally_of: Callable[[Batch], T]) -> None:
        self._parts = parts
        self._tally_of = tally_of
        self._lock = RLock()
        self._turn = _FirstTurn()
        self._taken = 0
        self._wanted = sys.maxsize  # later parts are not processed
        self._error: Exception | None = None  # of that one

    def total(self, threads: int) -> T | None:
        """The sum over all parts."""
        with quick_turns(), worker_threads(threads) as pool:
            running = [pool.submit(self._count) for _ in range(threads)]
            try:
                found = [each.result() for each in running]
            except BaseException:  # the user's interrupt
                self._wanted = -1
                self._turn.end()
                raise
        if self._error is not None:
            raise self._error
        total: T | None = None
        for counted in found:
            if counted is not None:
                total = counted if total is None else total + counted
        return total

    def _count(self) -> T | None:
        """The sum of the parts processed by one thread."""
        total: T | None = None
        while (taken := self._take()) is not None:
            place, part = taken
            try:
                for batch in part.batches():
                    self._turn.wait(place)
                    if place > self._wanted:
                        return None
                    tally = self._tally_of(batch)
                    self._turn.end()
                    total = tally if total is None else total + tally
                    del batch, tally
            except Exception as error:  # raised again after all threads finish
                self._fail(place, error)
                return None
            finally:
                self._turn.pass_on(place)
        return total

    def _take(self) -> tuple[int, Part] | None:
        """The next part and its index; None if there are no more to process."""
        with self._lock:
            if self._error is not None:
                return None
            try:
                part = next(self._parts, None)
            except Exception as error:
                self._fail(self._taken, error)
                return None
            self._taken += 1
            return None if part is None else (self._taken - 1, part)

    def _fail(self, place: int, error: Exception) -> None:
        with self._lock:
            if place < self._wanted:
                self._wanted, self._error = place, error


class _FirstTurn:
    """Makes all parts wait until the first batch is counted: that of the first part that has any."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._ended = False
        self._passed: set[int] = set()
        self._next = 0  # the part whose turn it is

    def wait(self, place: int) -> None:
        """Return when it is the turn of this part, or when the first batch is counted."""
        if self._ended:
            return
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._next == place)

    def pass_on(self, place: int) -> None:
        """A part is over, perhaps without a batch."""
        if self._ended:
            return
        with self._changed:
            self._passed.add(place)
            while self._next in self._passed:
                self._next += 1
            self._changed.notify_all()

    def end(self) -> None:
        """The first batch is counted, or no more are wanted."""
        if self._ended:
            return
        with self._changed:
            self._ended = True
            self._changed.notify_all()
