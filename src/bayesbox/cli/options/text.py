"""The options that apply only to documents or only to rows, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from bayesbox.cli.options.fields import option_names

if TYPE_CHECKING:
    from bayesbox.classifier.registry import ModelKind
    from bayesbox.file.reader import Json


def text_only() -> list[str]:
    """The options that apply only to documents."""
    return ["text", *sorted(option_names("documents") - option_names("rows"))]


def rows_only() -> list[str]:
    """The options that apply only to rows."""
    return ["types", "ignore", "one_hot", "tables", *sorted(option_names("rows") - option_names("documents"))]


def refuse(given: Json, names: Iterable[str], reason: str) -> None:
    """Raise an error for options that do not apply here."""
    for name in names:
        if given.get(name) not in (None, (), False):
            raise click.UsageError(f"--{name.replace('_', '-')} {reason}")


LEARN, JUDGE, CHANGE = "learn", "judge", "change"

FOREIGN: dict[tuple[str, str], tuple[Callable[[], Iterable[str]], str]] = {
    ("rows", LEARN): (text_only, "applies to documents: add --model text"),
    ("rows", JUDGE): (lambda: ["text"], "applies to documents, but this is a model of tables"),
    ("rows", CHANGE): (lambda: ["label"], "applies to documents: the classes of a table are in its target column"),
    ("documents", LEARN): (rows_only, "applies to the columns of a table, not to --model text"),
}
"""The options that mean nothing for models of rows or of documents, by what a verb does with them."""


def refuse_foreign(kind: ModelKind, given: Json, doing: str) -> None:
    """Raise an error for options that do not apply to a kind of model."""
    if (kind.of, doing) in FOREIGN:
        names, reason = FOREIGN[kind.of, doing]
        refuse(given, names(), reason)
