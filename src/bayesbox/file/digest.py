"""The digest of a whole model: the SHA-256 of its file's content, except the version of bayesbox that wrote it.

The digest of the counts identifies the rows; this one also covers rules, derived parts, calibration and the models of a
pool. The same rows, options and seed give the same digest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from bayesbox.file import container
from bayesbox.file.container import MODEL
from bayesbox.file.reader import Json
from bayesbox.file.registry import codec_of
from bayesbox.file.strict_json import document

HEAD = ("format", "bayesbox", "extension")  # the keys of model.json about the file rather than the model


def model_digest(model: Any) -> str:
    """The digest of a model in memory."""
    codec = codec_of(model.kind)
    if codec is None:
        raise TypeError(f"no codec for a model of kind {model.kind!r}")
    written, members = codec.write(model)
    return _digest({"kind": model.kind} | written, members)


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of the model in a file."""
    members = container.unpack(container.read(path), name=os.fspath(path))
    written: Json = json.loads(bytes(members.pop(MODEL)))
    return _digest({name: value for name, value in written.items() if name not in HEAD}, members)


def _digest(written: Json, members: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(document(written))
    for name, content in members.items():
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()
