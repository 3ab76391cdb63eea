"""Load a model of any kind: the registered codec of the kind reads the members of the file.

Loading does not execute anything in the file; a damaged, newer or crafted file is an error that names the position.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from bayesbox.collector import collector_paused
from bayesbox.described import as_remedy
from bayesbox.errors import BadModelFile, ModelTooLarge, TooCostly, file_name
from bayesbox.extensions import load_extensions
from bayesbox.file import container
from bayesbox.file.container import MODEL
from bayesbox.file.faults import MemberFault
from bayesbox.file.reader import Reader
from bayesbox.file.registry import Codec, codec_of
from bayesbox.file.save import FORMAT
from bayesbox.file.strict_json import parse
from bayesbox.file.version import FileVersion, sha256_of

CLASSIFIER = "classifier"
MOST_INSIDE = 2  # levels of nested models


def load(path: str | os.PathLike[str], *, holds: str | None = None) -> Any:
    """The model in a file, which must be of this sort: "classifier", for example."""
    return load_version(path, holds=holds)[0]


def load_version(path: str | os.PathLike[str], *, holds: str | None = None) -> tuple[Any, FileVersion]:
    """The model in a file, and the version of the file."""
    data = container.read(path)
    with collector_paused():
        model = from_bytes(data, name=file_name(path), holds=holds)
    return model, FileVersion.of(path, data)


def load_newest(
    path: str | os.PathLike[str], model: Any, version: FileVersion, *, holds: str | None = None
) -> tuple[Any, FileVersion]:
    """The previously loaded model and its version, or the new ones if the file has changed."""
    if sha256_of(file_name(path)) == version.sha256:
        return model, version
    return load_version(path, holds=holds)


def load_classifier(path: str | os.PathLike[str]) -> Any:
    """The classifier in a file, of rows or of documents."""
    return load(path, holds=CLASSIFIER)


def from_bytes(data: bytes, *, name: str = "model", holds: str | None = None, inside: int = MOST_INSIDE) -> Any:
    """The model in the bytes of a file; `name` is that of the file, for messages.

    Models may be nested this many levels deep: an average of models, and their pools.
    """
    members = container.unpack(data, name=name)
    if inside == 0 and any(member.endswith(".bayes") for member in members):
        raise BadModelFile("a model inside a model contains models itself", where=name, remedy=container.DAMAGED)
    extensions = ""
    try:
        if MODEL not in members:
            raise ValueError(f"the archive is complete, but it has no {MODEL}")
        reader = Reader(parse(members.pop(MODEL)), "the document")
        version, kind = reader.take("format", int), reader.take("kind", str)
        _require_format(version, reader, name)
        reader.take("bayesbox", str)
        extensions = reader.take_if_present("extension", str) or ""
        if _absent(extensions):
            load_extensions()  # installed ones only, whatever the file names
        return _codec(kind, extensions, name, holds).read(kind, reader, members)
    except RecursionError:
        raise BadModelFile("its models are nested too deeply", where=name, remedy=container.DAMAGED) from None
    except TooCostly as error:
        if isinstance(error, ModelTooLarge):  # of a nested model
            raise
        raise ModelTooLarge(error, where=name) from None
    except ValueError as error:
        if isinstance(error, BadModelFile):
            raise
        section = error.member if isinstance(error, MemberFault) else MODEL
        remedy = _install(extensions) or container.DAMAGED
        raise BadModelFile(str(error), where=f"{name}, {section}", remedy=remedy) from error


def _require_format(version: int, reader: Reader, name: str) -> None:
    if version > FORMAT:
        raise BadModelFile(
            f"the file has format {version}, but this version of bayesbox reads formats up to {FORMAT}",
            where=f"{name}, {MODEL}",
            found=f"format {version}, written by bayesbox {reader.rest.get('bayesbox')}",
            remedy="Upgrade bayesbox: pip install --upgrade bayesbox",
        )
    if version < 1:
        raise ValueError(f"there is no format {version}")


def _codec(kind: str, extensions: str, name: str, holds: str | None) -> Codec:
    codec = codec_of(kind)
    if codec is None:
        raise BadModelFile(
            "the file contains an unknown kind of model",
            where=f"{name}, {MODEL}",
            found=kind,
            remedy=_install(extensions) or "Upgrade bayesbox, or import the package that provides this kind of model",
        )
    if holds not in (None, codec.HOLDS):
        raise BadModelFile(
            f"the file contains a {codec.HOLDS}, not a {holds}",
            where=f"{name}, {MODEL}",
            found=kind,
            remedy="Use " + as_remedy(codec.LOADED_BY),
        )
    return codec


def _absent(extensions: str) -> list[str]:
    """The packages that a model was saved with and that are not imported; a file never causes an import."""
    return [extension for extension in extensions.split(", ") if extension and extension not in sys.modules]


def _install(extensions: str) -> str:
    absent = ", ".join(_absent(extensions))
    return f"Install and import {absent}, with which the model was saved" if absent else ""
