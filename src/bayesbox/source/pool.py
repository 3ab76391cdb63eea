"""Worker threads that stop when their caller does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from bayesbox import _core


@contextmanager
def worker_threads(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A context with a pool of this many threads, whose work is done at its end.

    After an exception, in particular an interrupt, pending work is cancelled, and running work stops at its next check
    for an interrupt (`_core.poll`, and within every long call of the core), so that the caller does not wait for unused
    results.

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
