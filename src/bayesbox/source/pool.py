"""Threads that share the work of one caller, and that stop when the caller does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from bayesbox import _core


@contextmanager
def worker_threads(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of this many threads, all of whose work is done when it is left.

    Where it is left by an exception, the user's interrupt above all, work that has not begun is dropped, and what is
    under way ends at its next look for an interrupt (`_core.poll`, and within every long call of the core): whoever
    waits is not kept waiting for results that nobody will see.

    >>> with worker_threads(2) as pool:
    ...     print(list(pool.map(len, ["a", "bc"])))
    [1, 2]
    """
    stop = _core.StopFlag()
    pool = ThreadPoolExecutor(threads, initializer=stop.attach)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        stop.set()
        pool.shutdown(cancel_futures=True)
        raise
