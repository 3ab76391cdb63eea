"""The file version that a model was loaded from, so that a later one is not overwritten."""

from __future__ import annotations

import hashlib
import os
from typing import Any, NamedTuple, Self

from bayesbox.errors import BadOption, ModelChanged, SourceUnavailable, file_name

CHUNK = 1 << 20


class FileVersion(NamedTuple):
    """A file, with links resolved, and the SHA-256 of its bytes."""

    path: str
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], data: bytes) -> FileVersion:
        """The version of a file with these bytes."""
        return cls(real_path(path), hashlib.sha256(data).hexdigest())

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether this is a version of the file of that name."""
        return self.path == real_path(path)

    def require_unchanged(self, name: str) -> None:
        """Raise an error if the file has changed or is gone; `name` is its name in the message."""
        found = sha256_of(self.path)
        if found != self.sha256:
            raise ModelChanged(name, expected=self.sha256, found=found)


def real_path(path: str | os.PathLike[str]) -> str:
    """The canonical path of a file."""
    return os.path.normcase(os.path.realpath(file_name(path)))


def sha256_of(path: str) -> str | None:
    """The SHA-256 of a file; None if it does not exist."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while data := file.read(CHUNK):
                digest.update(data)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceUnavailable(f"this file cannot be read: {reason}", where=path) from error
    return digest.hexdigest()


class FromFile:
    """Something that can be saved and remembers the file versions it was loaded from.

    These are not part of the model: they are not pickled, and models that differ only in them are equal. A copy keeps
    them.
    """

    _versions: tuple[FileVersion, ...] = ()

    def _loaded_from(self, *versions: FileVersion) -> Self:
        """Remember where it was loaded from; nothing after a refit."""
        self._versions = versions
        return self

    def _save(self, model: Any, path: str | os.PathLike[str], *, overwrite: bool, wait: float) -> None:
        """Save a model, which may be `self`, unless the file has changed since it was loaded."""
        from bayesbox.file.save import save

        if isinstance(wait, bool) or not isinstance(wait, int | float) or not wait >= 0:
            raise BadOption("wait must be a non-negative number of seconds", found=wait)
        known = next((version for version in self._versions if version.is_at(path)), None)
        saved = save(model, path, expected=None if overwrite else known, wait=wait)
        self._versions = (*(version for version in self._versions if not version.is_at(path)), saved)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_versions"} if state else state

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied
