"""Write a file whole or not at all: to a temporary neighbour first, which then takes the name.

A reader of the name sees the old bytes or the new ones, never a part of them; whatever goes wrong while writing
(a full disk, an error, an interrupt), the old file stays as it was and the temporary one is removed.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO, cast

from bayesbox.errors import SourceUnavailable, file_name

REMEDY = "Nothing was changed; check the free space and the permissions of the folder, or write elsewhere"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to; it becomes `path` when the block ends without an error.

    A link is followed, so that it stays a link. The new file has the permissions of the old one, or those the umask
    leaves. What is no file, such as a pipe or `/dev/stdout`, is written to as it is. What the system refuses raises
    `SourceUnavailable`; an error of the block itself passes as it is.

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
        with _writer(name, name, os.O_WRONLY) as file:  # by this name: a link to an open pipe leads to none
            yield file
        return
    if mode is not None and not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise SourceUnavailable("this file is read-only", where=name, remedy=REMEDY)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".bayesbox-{secrets.token_hex(8)}.tmp")
    try:
        with _writer(temporary, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
            yield file
            file.flush()
            with _refused(name):
                if mode is not None:
                    os.chmod(file.fileno(), stat.S_IMODE(mode))
                os.fsync(file.fileno())
        with _refused(name):
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _mode(name: str) -> int | None:
    """The type and the permissions of what has the name, or of what it is a link to; None where nothing has."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "this is a folder")
    return mode


class _Descriptor(io.RawIOBase):
    """An open descriptor that says which file could not be written, and why."""

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
            os.close(self.descriptor)


@contextlib.contextmanager
def _writer(path: str, name: str, flags: int) -> Iterator[BinaryIO]:
    with _refused(name):
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)
    raw = _Descriptor(descriptor, name)
    file = io.BufferedWriter(raw)
    try:
        yield cast("BinaryIO", file)
        file.flush()
    finally:
        raw.close()  # not the buffer, which would try to write its rest once more


@contextlib.contextmanager
def _refused(name: str) -> Iterator[None]:
    """What the system refuses, as the error of this file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, (SourceUnavailable, BrokenPipeError)):
            raise
        reason = (error.strerror or str(error)).lower()
        raise SourceUnavailable(f"this file cannot be written: {reason}", where=name, remedy=REMEDY) from error


def _sync_folder(folder: str) -> None:
    """Make the new name last; where folders cannot be synced, the system sees to it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
