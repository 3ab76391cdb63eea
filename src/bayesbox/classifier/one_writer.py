"""One writer at a time for each model in memory.

Training reads the counts, adds to them and stores the sum. If two threads did so at the same time, one of the two
batches would be lost. Readers take no lock: a writer changes a copy and then replaces the old one, so that readers see
the model before or after.

The lock is not part of the model: it is not pickled or copied with it, and a forked process starts with all locks free.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from weakref import WeakKeyDictionary


class _Locks:
    """The lock of each model that was written to, for the lifetime of the model."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.by_model: WeakKeyDictionary[object, threading.RLock] = WeakKeyDictionary()

    def of(self, model: object) -> threading.RLock:
        with self.guard:
            return self.by_model.setdefault(model, threading.RLock())


_locks = _Locks()


def writing(model: object) -> AbstractContextManager[bool]:
    """A context that holds the write lock of this model; it waits for other writers.

    >>> class Model: pass
    >>> model = Model()
    >>> with writing(model), writing(model):  # a thread does not wait for itself
    ...     pass
    """
    return _locks.of(model)


if hasattr(os, "register_at_fork"):  # a lock that another thread of the parent held would never be released
    os.register_at_fork(after_in_child=_locks.__init__)  # type: ignore[misc]
