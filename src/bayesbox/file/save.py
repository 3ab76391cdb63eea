"""Save a model of any kind: `model.json` and the members that its codec makes of it, packed into one file.

The same model gives the same bytes: neither a time nor a path nor the order of learning is in them.
"""

from __future__ import annotations

import os
from typing import Protocol

import bayesbox
from bayesbox.errors import BadData, BayesboxError
from bayesbox.file import container
from bayesbox.file.atomic import replacing
from bayesbox.file.container import MODEL
from bayesbox.file.registry import codec_of, extension_of
from bayesbox.file.strict_json import document

FORMAT = 1
"""The format that is written; all up to it are read."""


class HasKind(Protocol):
    """A model that can be saved."""

    @property
    def kind(self) -> str:
        """The name of its kind in the file."""


def save(model: HasKind, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, whole or not at all."""
    data = to_bytes(model)
    with replacing(path) as file:
        file.write(data)


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
            raise ValueError(f"it has {size} bytes, and a model file at most {container.LIMIT}")
        return container.pack(whole)
    except UnicodeEncodeError as error:
        raise BadData("a name is not Unicode text, so the model cannot be saved", found=error.object) from None
    except ValueError as error:
        if isinstance(error, BayesboxError):
            raise
        raise BadData(f"this model cannot be saved: {error}") from error
