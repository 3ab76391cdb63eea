"""The options that say how documents are learned, and the classifier they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.options.fields import option_names

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

F = TypeVar("F", bound=Callable[..., Any])

TEXT_ONLY = ("text", *sorted(option_names("documents") - option_names("rows")))
"""The options that only documents have."""

ROWS_ONLY = ("types", "ignore", "one_hot", "fold", "tables", *sorted(option_names("rows") - option_names("documents")))
"""The options that only rows have."""


def refuse(given: dict[str, Any], names: tuple[str, ...], reason: str) -> None:
    """Refuse the options that mean nothing here, rather than pass over them."""
    for name in names:
        if given.get(name) not in (None, (), False):
            raise click.UsageError(f"--{name.replace('_', '-')} {reason}")


def new_classifier(given: dict[str, Any]) -> DocumentClassifier:
    """A classifier of documents with these options that has learned nothing."""
    from bayesbox.classifier.options import options_from_command
    from bayesbox.schema.tokens import Tokens
    from bayesbox.text.classifier import DocumentClassifier
    from bayesbox.text.options import TextOptions

    given = {**given, "calibration": given["calibrate"], "stop_words": _stop_words(given)}
    rules = options_from_command(TextOptions, "text", "", given)
    return DocumentClassifier(rules, options_from_command(Tokens, "text", "", given))


def _stop_words(given: dict[str, Any]) -> tuple[str, ...]:
    if given["stop_words"] is None:
        return ()
    from bayesbox.source.files.mail import plain_text
    from bayesbox.source.files.streams import ByteStream

    with ByteStream(given["stop_words"]) as stream:
        return tuple(plain_text(stream.read(1 << 24)).split())
