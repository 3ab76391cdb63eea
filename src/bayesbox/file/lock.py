"""File locks: one writer at a time, by a lock file next to a model, released when its process ends.

    .people.bayes.lock      next to people.bayes: the holder as JSON; it exists only while the lock is held

The system's own locks are used (`flock`, on Windows `LockFile`), so that a killed process leaves nothing locked. A lock
is held by one block of one thread: another thread waits like another process, and a process forked while its parent
held a lock does not hold it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
import warnings
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from bayesbox.errors import LocksUnsupported, ModelLocked, SourceUnavailable, file_name

WAIT = 10.0
"""Seconds to wait for another writer."""

PAUSES = (0.005, 0.1)  # seconds between two attempts: the first, and the longest
LONGEST_NAME = 255  # bytes of a name that file systems allow
MOST_BYTES = 4096  # of the holder's JSON
UNSUPPORTED = frozenset(
    getattr(errno, name) for name in ("ENOLCK", "ENOSYS", "EOPNOTSUPP", "ENOTSUP", "EINVAL") if hasattr(errno, name)
)


class Locking(Protocol):
    """The locking interface of a system."""

    removes_held: bool
    """Whether a file can be removed while it is locked."""

    def take(self, descriptor: int) -> bool:
        """Lock the file of a descriptor, without waiting; False if another has locked it."""

    def release(self, descriptor: int) -> None:
        """Unlock it."""


class WholeFile:
    """`flock`: a lock of the open file, so that two threads that opened it separately exclude each other too."""

    removes_held = True

    def take(self, descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
        return True

    def release(self, descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


class ByteLocks(Protocol):
    """The part of the module `msvcrt` that locks bytes of a file."""

    LK_NBLCK: int
    LK_UNLCK: int

    def locking(self, fd: int, mode: int, nbytes: int, /) -> None:
        """Lock or unlock bytes from the position of the descriptor."""


class OneByte:
    """Windows: one byte far beyond the end of the file, since a locked byte cannot be read."""

    removes_held = False
    place = 1 << 30

    def __init__(self, system: ByteLocks) -> None:
        self.system = system

    def take(self, descriptor: int) -> bool:
        os.lseek(descriptor, self.place, os.SEEK_SET)
        try:
            self.system.locking(descriptor, self.system.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK, errno.EAGAIN):
                return False
            raise
        return True

    def release(self, descriptor: int) -> None:
        os.lseek(descriptor, self.place, os.SEEK_SET)
        self.system.locking(descriptor, self.system.LK_UNLCK, 1)


def system_locking() -> Locking:
    """The locking of this system."""
    if sys.platform == "win32":
        import msvcrt

        return OneByte(msvcrt)
    return WholeFile()


class Holder(NamedTuple):
    """The holder of a lock: the process, its machine, and its command; None if not yet known."""

    pid: int | None = None
    host: str | None = None
    verb: str | None = None

    @classmethod
    def of_this_process(cls, verb: str) -> Holder:
        import socket  # imported here, as json below, since every start of the command imports this module

        return cls(os.getpid(), socket.gethostname(), verb)

    @classmethod
    def from_bytes(cls, data: bytes) -> Holder:
        """The holder in a lock file; only the types of its values are trusted.

        >>> Holder.from_bytes(b'{"pid": 7, "host": "north", "verb": "update"}')
        Holder(pid=7, host='north', verb='update')
        >>> Holder.from_bytes(b'{"pid": ')
        Holder(pid=None, host=None, verb=None)
        """
        import json

        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            return cls()
        if not isinstance(said, dict):
            return cls()
        pid, host, verb = said.get("pid"), said.get("host"), said.get("verb")
        return cls(
            pid if type(pid) is int else None,
            host if isinstance(host, str) else None,
            verb if isinstance(verb, str) else None,
        )


def lock_name(path: str) -> str:
    """The lock file of a file, next to it.

    >>> lock_name("models/people.bayes")
    'models/.people.bayes.lock'
    """
    folder, name = os.path.split(path)
    own = f".{name}.lock"
    if len(os.fsencode(own)) > LONGEST_NAME:
        import hashlib

        own = f".bayesbox-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}.lock"
    return os.path.join(folder, own)


class FileLock:
    """A lock for replacing a file, as a context manager.

    Waits up to `wait` seconds for another writer, then raises `ModelLocked`, which names it. If the file system does
    not support locks, the block runs without one, with a warning `LocksUnsupported`. Something that is not a file, such
    as a pipe, needs no lock. A link is followed: the lock is next to its target.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FileLock(os.path.join(folder, "people.bayes"), verb="update") as lock:
    ...         lock.held, os.listdir(folder)
    ...     os.listdir(folder)
    (True, ['.people.bayes.lock'])
    []
    """

    def __init__(self, path: str | os.PathLike[str], *, wait: float = WAIT, verb: str = "save") -> None:
        self.path = file_name(path)
        self.wait = wait
        self.verb = verb
        self._locking = system_locking()
        self._descriptor: int | None = None
        self._lock_file = ""

    @property
    def held(self) -> bool:
        """Whether this block of this process has the lock."""
        return self._descriptor is not None

    def __enter__(self) -> Self:
        assert not self.held, "a lock can be entered only once at a time"
        if _is_special(self.path):
            return self
        self._lock_file = lock_name(os.path.realpath(self.path))
        deadline, pause = time.monotonic() + self.wait, PAUSES[0]
        while True:
            holder = self._try()
            if holder is None:
                return self
            left = deadline - time.monotonic()
            if left <= 0:
                raise ModelLocked(self.path, waited=self.wait, **holder._asdict())
            time.sleep(min(pause, left))
            pause = min(2 * pause, PAUSES[1])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:  # never locked, or by the parent of this process
            return
        _HELD.discard(self)
        try:
            if self._locking.removes_held:
                # While it is locked: a waiting process finds that it is gone, and makes another.
                _remove(self._lock_file)
            with contextlib.suppress(OSError):
                self._locking.release(descriptor)  # closing is not enough if a forked child has it open
        finally:
            os.close(descriptor)
        if not self._locking.removes_held:
            _remove(self._lock_file)  # fails while another process has it open

    def _try(self) -> Holder | None:
        """Take the lock; returns the holder if another has it."""
        try:
            descriptor = _open_lock(self._lock_file)
        except OSError as error:
            if sys.platform == "win32" and isinstance(error, PermissionError):
                return Holder()  # it is just being removed
            reason = (error.strerror or str(error)).lower()
            raise SourceUnavailable(
                f"this file cannot be locked: {reason}",
                where=self.path,
                remedy="Nothing was changed. Check that the folder exists and is writable, or write elsewhere",
            ) from error
        try:
            if not self._locking.take(descriptor):
                return Holder.from_bytes(_content(descriptor))
            if not _is_still(descriptor, self._lock_file):
                return Holder()  # the previous holder has removed it: try a new one
            _write_holder(descriptor, Holder.of_this_process(self.verb))
            self._descriptor, descriptor = descriptor, -1
            _HELD.add(self)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            _remove(self._lock_file)
            reason = (error.strerror or str(error)).lower()
            warnings.warn(LocksUnsupported(self.path, reason), stacklevel=4)
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return None

    def _forked(self) -> None:
        """Drop the locks inherited from the parent process, which keeps them."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)


_HELD: set[FileLock] = set()


def _after_fork() -> None:
    for lock in list(_HELD):
        lock._forked()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _is_special(path: str) -> bool:
    """Whether a name is that of something that is not a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _open_lock(name: str) -> int:
    flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except PermissionError:
        if sys.platform == "win32":
            raise
        return os.open(name, os.O_RDONLY | flags)  # left by another user: it can still be locked


def _is_still(descriptor: int, name: str) -> bool:
    """Whether the opened file still has this name."""
    try:
        there = os.stat(name, follow_symlinks=False)
    except FileNotFoundError:
        return False
    own = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)


def _content(descriptor: int) -> bytes:
    with contextlib.suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, MOST_BYTES)
    return b""


def _write_holder(descriptor: int, holder: Holder) -> None:
    import json

    with contextlib.suppress(OSError):  # a full disk, or a lock file of another user: it is locked anyway
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(holder._asdict()).encode())


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name)
