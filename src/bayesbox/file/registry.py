"""The registry of codecs by kind of model, imported on demand.

A subject registers its kinds when its module of `SUBJECTS` is imported, an extension when it is imported itself:

    register_codec("mypackage-forest", "mypackage.codec")

A codec is a module, or an object in one (`mypackage.codec:Forests`), that implements `Codec`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from bayesbox.described import Advice
from bayesbox.extensions import load_extensions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayesbox.file.reader import Json, Reader

SUBJECTS = ("bayesbox.classifier.registry", "bayesbox.sequence")
"""The modules that register the kinds of this package: imported one by one until a kind is found."""

CODECS: dict[str, str] = {}
"""The dotted path of the codec of each kind, by the kind's name in the file."""


class Codec(Protocol):
    """Writes the models of some kinds as members of a file, and reads them back."""

    HOLDS: str
    """The sort of model, as in `load`: "classifier"."""
    LOADED_BY: Advice
    """What loads such a file, after "Use"."""

    def write(self, model: object) -> tuple[Json, dict[str, bytes]]:
        """The content of `model.json` besides format, kind and version, and the other members."""

    def read(self, kind: str, reader: Reader, members: dict[str, bytes]) -> Any:
        """The model from such a document, which is fully consumed, and such members.

        ValueError for an error in the document, MemberFault for one in another member.
        """

    def parts(self, model: Any) -> Iterable[type]:
        """The classes of a model's parts that extensions may have registered: kinds, rules, tallies."""


def register_codec(kind: str, codec: str) -> None:
    """Register the codec of a kind by its dotted path; a later registration replaces an earlier one."""
    CODECS[kind] = codec


def codec_of(kind: str) -> Codec | None:
    """The codec of a kind; None if neither this package nor an installed extension has registered one."""
    for subject in SUBJECTS:
        if kind in CODECS:
            break
        importlib.import_module(subject)
    if kind not in CODECS:
        load_extensions()
    if kind not in CODECS:
        return None
    module, _, name = CODECS[kind].partition(":")
    found = importlib.import_module(module)
    return cast(Codec, getattr(found, name) if name else found)


def extension_of(part: type) -> str | None:
    """The top-level module of a class that is not part of bayesbox.

    >>> from fractions import Fraction
    >>> extension_of(Fraction), extension_of(Codec)
    ('fractions', None)
    """
    module = part.__module__.partition(".")[0]
    return None if module == "bayesbox" else module
