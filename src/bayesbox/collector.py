"""A pause of Python's collector of cycles, for making many objects that all stay.

The collector runs after so many new objects and goes through all that are young; where thousands of columns become
tallies or distributions, none of which is in a cycle, it goes through them again and again.
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
    """No collection within the block, in any thread; afterwards it is as it was before the first of several blocks.

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
