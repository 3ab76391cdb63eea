"""Save a model of any kind: `model.json` and the members from its codec, packed into one file.

The same model gives the same bytes: they contain neither times nor paths nor the order of training.
"""

from __future__ import annotations

import contextlib
import os
from typing import Protocol

import bayesbox
from bayesbox.errors import BadData, BayesboxError, file_name
from bayesbox.file import container
from bayesbox.file.atomic import replacing
from bayesbox.file.container import MODEL
from bayesbox.file.lock import WAIT, FileLock
from bayesbox.file.names import require_name
from bayesbox.file.registry import codec_of, extension_of
from bayesbox.file.strict_json import document
from bayesbox.file.version import FileVersion

FORMAT = 1
"""The format version written; all versions up to it can be read."""


class HasKind(Protocol):
    """A model that can be saved."""

    @property
    def kind(self) -> str:
        """The name of its kind in the file."""


def save(
    model: HasKind,
    path: str | os.PathLike[str],
    *,
    expected: FileVersion | None = None,
    lock: FileLock | None = None,
    keep_old: bool = False,
    wait: float = WAIT,
) -> FileVersion:
    """Write a model to a file atomically, and return the new version of the file.

    One writer at a time: `lock` is the caller's lock, if it has one. `expected` is the version that may be replaced; if
    the file has another one, `ModelChanged` is raised. `keep_old` keeps the replaced file under the name from
    `old_name`. `wait` is the number of seconds to wait for another writer.
    """
    name = file_name(path)
    require_name(name)
    data = to_bytes(model)

    def check() -> None:
        if expected is not None:
            expected.require_unchanged(name)

    with contextlib.nullcontext() if lock is not None else FileLock(path, wait=wait):
        with replacing(path, check=check, keep_as=old_name(os.path.realpath(name)) if keep_old else None) as file:
            file.write(data)
        return FileVersion.of(path, data)


def old_name(path: str) -> str:
    """The name under which the previous version of a model is kept.

    >>> old_name("people.bayes"), old_name("model")
    ('people.old.bayes', 'model.old')
    """
    stem, extension = os.path.splitext(path)
    return f"{stem}.old{extension}"


def to_bytes(model: HasKind) -> bytes:
    """A model as the bytes of a file."""
    codec = codec_of(model.kind)
    if codec is None:
        raise BadData(
            "a model of this kind cannot be saved: it has no codec",
            found=model.kind,
            remedy="Register one: bayesbox.file.registry.register_codec",
        )
    try:
        written, members = codec.write(model)
        head = {"format": FORMAT, "kind": model.kind, "bayesbox": bayesbox.__version__}
        extensions = sorted({name for part in codec.parts(model) if (name := extension_of(part)) is not None})
        if extensions:
            head["extension"] = ", ".join(extensions)
        whole = {MODEL: document(head | written), **members}
        size = sum(len(content) for content in whole.values())
        if size > container.LIMIT - (1 << 16):
            raise ValueError(f"it has {size} bytes, but a model file may have at most {container.LIMIT}")
        return container.pack(whole)
    except UnicodeEncodeError as error:
        raise BadData("a name is not Unicode text, so the model cannot be saved", found=error.object) from None
    except ValueError as error:
        if isinstance(error, BayesboxError):
            raise
        raise BadData(f"this model cannot be saved: {error}") from error
