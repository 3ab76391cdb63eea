"""One writer at a time for each model in memory.

Learning reads what was counted, adds to it and puts the sum back. Two threads that do so at once would each add to the
same counts, and one of the two batches would be lost. Readers take no lock: a writer changes a copy and puts it in the
place of the old one, so that they see the model before or after.

The lock is no part of the model: it is not pickled or copied with it, and a process made by fork starts with locks that
nobody holds.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from weakref import WeakKeyDictionary


class _Locks:
    """The lock of each model that was ever written to, as long as the model lives."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.by_model: WeakKeyDictionary[object, threading.RLock] = WeakKeyDictionary()

    def of(self, model: object) -> threading.RLock:
        with self.guard:
            return self.by_model.setdefault(model, threading.RLock())


_locks = _Locks()


def writing(model: object) -> AbstractContextManager[bool]:
    """Wait until no other thread writes to this model, and keep others out for as long as the block lasts.

    >>> class Model: pass
    >>> model = Model()
    >>> with writing(model), writing(model):  # a thread does not wait for itself
    ...     pass
    """
    return _locks.of(model)


if hasattr(os, "register_at_fork"):  # a lock that another thread of the parent held would never be released
    os.register_at_fork(after_in_child=_locks.__init__)  # type: ignore[misc]
