"""Pausing Python's garbage collector while many long-lived objects are created.

The collector runs after a number of new objects and traverses the young ones; when thousands of columns become tallies
or distributions, none of which is in a cycle, it traverses them again and again.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0  # of all threads
_was_on = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Disable the garbage collector within the block, in all threads; nested blocks restore the first state.

    >>> with collector_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    global _pauses, _was_on
    with _lock:
        if _pauses == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_on:
                gc.enable()
