"""Temporary files: readable only by their owner, locked while written, removed once their writer is gone.

    .bayesbox-PID-RANDOM.tmp

A writer locks its temporary file until it has its final name. So a process that can lock one knows that its writer is
gone, on this machine or another, and removes it; the process id is for information only, since ids are reused.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
import time
from typing import NamedTuple

from bayesbox.file.lock import system_locking

OWN = re.compile(r"\.bayesbox-\d+-[0-9a-f]{16}\.tmp")
UNLOCKED = re.compile(r"\.bayesbox-[0-9a-f]{16}\.tmp")
"""The names used by versions before 0.2, which did not lock their files."""

DAY = 86_400.0
FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Temporary(NamedTuple):
    """A new, empty file in a folder, open for writing; `guard` keeps it locked after the descriptor is closed."""

    path: str
    descriptor: int
    guard: int | None

    def let_go(self) -> None:
        """Unlock it, once it has its final name or is removed."""
        if self.guard is not None:
            with contextlib.suppress(OSError):
                os.close(self.guard)


def temporary_name(folder: str) -> str:
    """An unused name in a folder."""
    return os.path.join(folder, f".bayesbox-{os.getpid()}-{secrets.token_hex(8)}.tmp")


def make_temporary(folder: str) -> Temporary:
    """A temporary file of mode 0600."""
    while True:
        path = temporary_name(folder)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS, 0o600)
        try:
            guard = _guard(descriptor)
        except BlockingIOError:  # another process considered it stale before it was locked
            os.close(descriptor)
            continue
        except BaseException:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        return Temporary(path, descriptor, guard)


def _guard(descriptor: int) -> int | None:
    """A second descriptor of a locked file; None if files are not locked."""
    if sys.platform == "win32":
        return None  # an open file cannot be removed there
    try:
        locked = system_locking().take(descriptor)
    except OSError:
        return None
    if not locked or os.fstat(descriptor).st_nlink == 0:
        raise BlockingIOError
    guard = os.dup(descriptor)
    os.set_inheritable(guard, False)
    return guard


def remove_stale(folder: str) -> None:
    """Remove the stale temporary files in a folder; those that cannot be removed stay."""
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name.startswith(".bayesbox-") and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return
    aged = time.time() - status.st_mtime > DAY
    if not (OWN.fullmatch(entry.name) or (UNLOCKED.fullmatch(entry.name) and aged)):
        return
    if sys.platform == "win32":
        if aged:
            os.unlink(entry.path)
        return
    descriptor = os.open(entry.path, os.O_RDWR | FLAGS)
    try:
        if system_locking().take(descriptor):
            os.unlink(entry.path)
    finally:
        os.close(descriptor)
