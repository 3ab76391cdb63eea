"""Atomic file writing: to a temporary file in the same folder, which is then renamed.

    open temporary (0600), write, set the mode, fsync     the bytes are durable
    rename to the name, fsync the folder                  the name is durable

A reader sees the old bytes or the new ones, never a part of them, even after a power failure. If anything goes wrong
while writing (a full disk, an error, an interrupt), the old file is unchanged, and the new one is removed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from bayesbox.errors import SourceUnavailable, file_name
from bayesbox.file.temporary import FLAGS, make_temporary, remove_stale, temporary_name

REMEDY = "Nothing was changed. Check the free space and the permissions of the folder, or write elsewhere"
SHARING_VIOLATIONS = (5, 32)  # error codes of Windows if another process has the file open, such as a virus scanner
PATIENCE, PAUSE = 5.0, 0.02  # seconds to keep retrying, and between two attempts
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # folders that cannot be synced

_UMASK = threading.Lock()


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str], *, check: Callable[[], None] | None = None, keep_as: str | None = None
) -> Iterator[BinaryIO]:
    """A binary file to write to; it becomes `path` when the block ends without an error.

    A link is followed, so that it stays a link. The new file has the permissions of the old one, or those of the umask;
    until then only its owner can read it. Something that is not a file, such as a pipe or `/dev/stdout`, is written
    directly. An error of the system raises `SourceUnavailable`; an error of the block itself is passed on.

    `check` is called after writing, before the rename: if it raises, the old file stays. `keep_as` is a name in the
    same folder under which the old file is kept.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "answers.csv")
    ...     with replacing(path) as file:
    ...         _ = file.write(b"yes")
    ...     os.listdir(folder)
    ['answers.csv']
    """
    name = file_name(path)
    with _refused(name):
        mode = _mode(name)
        target = os.path.realpath(name)
    if mode is not None and not stat.S_ISREG(mode):
        with _refused(name):
            descriptor = os.open(name, os.O_WRONLY | FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
        with _writer(descriptor, name) as file:  # by this name: a link to an open pipe does not resolve
            yield file
        return
    if mode is not None and not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise SourceUnavailable("this file is read-only", where=name, remedy=REMEDY)
    folder = os.path.dirname(target)
    remove_stale(folder)
    with _refused(name):
        temporary = make_temporary(folder)
    try:
        with _writer(temporary.descriptor, name) as file:
            yield file
            file.flush()
            with _refused(name):
                _set_mode(temporary.descriptor, temporary.path, _umask_mode() if mode is None else mode)
                os.fsync(temporary.descriptor)
        with _refused(name):
            if check is not None:
                check()
            if keep_as is not None and mode is not None:
                _keep(target, keep_as, folder)
            _replace(temporary.path, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary.path)
        raise
    finally:
        temporary.let_go()
    _sync_folder(folder, name)


def _mode(name: str) -> int | None:
    """The type and the permissions of the file, or of the target of a link; None if it does not exist."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "this is a folder")
    return mode


def _umask_mode() -> int:
    """The permissions of a new file."""
    with (
        contextlib.suppress(OSError, ValueError),
        open("/proc/self/status", encoding="ascii", errors="replace") as file,
    ):
        for line in file:
            if line.startswith("Umask:"):
                return 0o666 & ~int(line.split()[1], 8)
    with _UMASK:  # it can only be read by setting it; a strict one does no harm meanwhile
        umask = os.umask(0o077)
        os.umask(umask)
    return 0o666 & ~umask


def _set_mode(descriptor: int, path: str, mode: int) -> None:
    os.chmod(descriptor if os.chmod in os.supports_fd else path, stat.S_IMODE(mode))


def _replace(source: str, target: str) -> None:
    """Rename, retrying for a while if another process has the file open, on Windows."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            os.replace(source, target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in SHARING_VIOLATIONS or time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE)
        else:
            return


def _keep(target: str, kept: str, folder: str) -> None:
    """Give a file a second name, replacing that one; durable before anything else happens."""
    spare = temporary_name(folder)
    try:
        try:
            os.link(target, spare)
        except OSError:  # a file system without hard links
            _copy(target, spare)
        _replace(spare, kept)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(spare)  # still there if both names were the same file: then renaming does nothing
    _sync_folder(folder, kept)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as old:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS, 0o600)
        with _writer(descriptor, target) as new:
            shutil.copyfileobj(old, new)
            new.flush()
            _set_mode(descriptor, target, os.fstat(old.fileno()).st_mode)
            os.fsync(descriptor)


class _Descriptor(io.RawIOBase):
    """An open descriptor whose errors name the file and the reason."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.descriptor = descriptor
        self.name = name

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def write(self, data: object, /) -> int:
        with _refused(self.name):
            return os.write(self.descriptor, cast("bytes", data))

    def close(self) -> None:
        if not self.closed:
            super().close()
            with _refused(self.name):
                os.close(self.descriptor)


@contextlib.contextmanager
def _writer(descriptor: int, name: str) -> Iterator[BinaryIO]:
    raw = _Descriptor(descriptor, name)
    file = io.BufferedWriter(raw)
    try:
        yield cast("BinaryIO", file)
        file.flush()
    finally:
        raw.close()  # not the buffer, which would try to write its rest again


@contextlib.contextmanager
def _refused(name: str) -> Iterator[None]:
    """An error of the system as the error of this file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, (SourceUnavailable, BrokenPipeError)):
            raise
        reason = (error.strerror or str(error)).lower()
        raise SourceUnavailable(f"this file cannot be written: {reason}", where=name, remedy=REMEDY) from error


def _sync_folder(folder: str, name: str) -> None:
    """Make the new name durable. Systems on which folders cannot be opened or synced do this themselves."""
    if sys.platform == "win32":
        return
    try:
        descriptor = os.open(folder or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno in NO_SYNC:
            return
        reason = (error.strerror or str(error)).lower()
        raise SourceUnavailable(
            f"this file was written, but may not last through a power cut: its folder cannot be synced: {reason}",
            where=name,
            remedy="Check the disk, then write it again",
        ) from error
    finally:
        os.close(descriptor)
