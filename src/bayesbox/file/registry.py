"""The kinds of models that a file can hold: the codec of each, found by the kind's name and imported on demand.

A subject registers its kinds when its module of `SUBJECTS` is imported, an extension when it is imported itself:

    register_codec("mypackage-forest", "mypackage.codec")

A codec is a module, or an object in one (`mypackage.codec:Forests`), that does what `Codec` says.
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
"""The modules that register the kinds of this package: imported, one after another, until a kind is found."""

CODECS: dict[str, str] = {}
"""The dotted path of the codec of each kind, by the kind's name in the file."""


class Codec(Protocol):
    """How the models of some kinds become the members of a file, and models again."""

    HOLDS: str
    """The kind of model, as `load` names it: "classifier"."""
    LOADED_BY: Advice
    """What loads such a file, after "Use"."""

    def write(self, model: object) -> tuple[Json, dict[str, bytes]]:
        """What `model.json` says beside the format, the kind and the version; and the other members."""

    def read(self, kind: str, reader: Reader, members: dict[str, bytes]) -> Any:
        """The model of such a document, all of it taken, and such members.

        ValueError says what is wrong in the document, MemberFault what is wrong in another member.
        """

    def parts(self, model: Any) -> Iterable[type]:
        """The classes that the model is made of and that others may have registered: kinds, rules, tallies."""


def register_codec(kind: str, codec: str) -> None:
    """Enter the codec of a kind by its dotted path; what is registered later replaces what was there."""
    CODECS[kind] = codec


def codec_of(kind: str) -> Codec | None:
    """The codec of a kind, None if nobody has registered one: neither this package nor an installed extension."""
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
