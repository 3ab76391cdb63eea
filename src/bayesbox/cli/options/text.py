"""The options that say how documents are learned, and the classifier they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.options.shared import Read
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

F = TypeVar("F", bound=Callable[..., Any])

OCCURRENCES = ["count", "binary", "complement", "normalised", "poisson", "table", "position", "auto"]
TEXT_ONLY = (
    *("text", "occurrence", "once", "top", "min_documents", "limit"),
    *("phrases", "shortest", "stop_words", "punctuation", "characters"),
)
"""The options that only documents have."""

ROWS_ONLY = ("types", "ignore", "fold", "missing", "unseen", "tables", "numeric", "select", "column_weights")
"""The options that only rows have."""


def span(text: str) -> tuple[int, int]:
    """Two whole numbers, or one for both.

    >>> span("1-2"), span("3")
    ((1, 2), (3, 3))
    """
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise BadOption("this is written 1-2", found=text) from None


SPAN = Read("span", span)


def text_options(verb: F) -> F:
    """The options of `--model text`."""
    for option in reversed(
        (
            click.option("--text", metavar="COLUMN", help="The column of the texts, for --model text."),
            click.option(
                "--occurrence",
                type=click.Choice(OCCURRENCES),
                help="How words speak, for --model text: by their counts (the default), by presence and absence, by "
                "the other classes, n words like the root of n, by a rate for each word, by a table of 0, 1, 2, 3+ "
                "times, by a table for each place (for teaching), or auto: by counts or by the other classes, each "
                "word as often as it is there or once, whichever judges documents best that it has not seen.",
            ),
            click.option("--once", is_flag=True, help="Count a word once a document, however often it is there."),
            click.option("--top", type=click.IntRange(min=1), metavar="K", help="Keep the K most common words."),
            click.option(
                "--min-documents", type=click.IntRange(min=1), metavar="N", help="Keep words that N documents hold."
            ),
            click.option(
                "--limit",
                type=click.IntRange(min=1),
                metavar="N",
                help="Count no more than N words: the rarest are dropped, and nothing can be forgotten then.",
            ),
            click.option("--phrases", type=SPAN, metavar="1-2", help="Take so many neighbouring words together."),
            click.option(
                "--shortest",
                type=click.IntRange(min=1),
                metavar="N",
                help="Take words of N characters or more; 2 if not said.",
            ),
            click.option("--stop-words", metavar="FILE", help="Words to leave out, one a line."),
            click.option("--punctuation", is_flag=True, help="Take punctuation marks as words."),
            click.option(
                "--characters", type=SPAN, metavar="3-5", help="Take runs of so many characters in place of words."
            ),
        )
    ):
        verb = option(verb)
    return verb


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
