"""The options of the tokeniser: what a word of a text is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayesbox.errors import BadOption
from bayesbox.schema.options import Options, option, options
from bayesbox.schema.takes import OnOff, Span, TextList, WholeNumber

LONGEST = 1_000_000  # the largest minimum length of a word


class TakesStopWords(TextList):
    """Words to ignore, in lower case and sorted."""

    metavar = "FILE"

    def __init__(self) -> None:
        super().__init__("list of words, or None")

    def parse(self, name: str, given: object) -> tuple[str, ...]:  # noqa: ARG002
        words = () if given is None or not isinstance(given, Iterable) or isinstance(given, str) else tuple(given)
        if isinstance(given, str) or not all(isinstance(word, str) for word in words):
            raise BadOption(
                "stop words must be a list of words",
                found=given,
                remedy='Write them out: ["and", "the"]; there is no built-in list',
            )
        return tuple(sorted({word.lower() for word in words}))

    def parameter(self, value: object) -> object:
        return value or None


SINGLE = (1, 1)  # phrases of one word
PAIRS = (1, 2)  # and of two
AUTO = "auto"  # chooses between words, and words and pairs


class TakesPhrases(Span):
    """The minimum and maximum number of words in a phrase, or `auto`."""

    def __init__(self) -> None:
        super().__init__("words")
        self.types = (list, str)

    @property
    def words(self) -> str:
        return '(int, int) or "auto"'

    def parse(self, name: str, given: object) -> object:
        return AUTO if isinstance(given, str) and given == AUTO else super().parse(name, given)

    def from_text(self, name: str, text: str) -> Any:
        return AUTO if text == AUTO else super().from_text(name, text)

    def to_json(self, name: str, value: Any) -> object:
        return AUTO if value == AUTO else super().to_json(name, value)

    def from_json(self, name: str, written: Any) -> object:
        if isinstance(written, str):
            raise ValueError(f'{name} must be a pair of numbers or "auto"')
        return super().from_json(name, written)


@options
class TokenOptions(Options):
    """The options of the tokeniser."""

    shortest: int = option(WholeNumber(1), default=2, help="The minimum number of characters of a word.")
    phrases: Any = option(
        TakesPhrases(),
        default=(1, 1),
        command_default="auto with --occurrence auto, else 1-1",
        help="The minimum and maximum number of neighbouring words counted as one: 1-2 for words and pairs. auto "
        "chooses between words, and words and pairs, on held-out documents.",
    )
    stop_words: Any = option(TakesStopWords(), default=None, help="Words to ignore; a file with one word per line.")
    punctuation: bool = option(
        OnOff(), default=False, help="Count every character that is neither a space nor part of a word as a word."
    )
    characters: tuple[int, int] | None = option(
        Span("characters", none=True, metavar="3-5"),
        default=None,
        help="Count character n-grams of these lengths instead of words.",
    )

    def _check(self) -> None:
        if self.shortest > LONGEST:
            raise BadOption(f"shortest must be at most {LONGEST}", found=self.shortest)
        if self.characters is not None and (self.phrases != (1, 1) or self.stop_words or self.punctuation):
            raise BadOption(
                "characters counts n-grams instead of words: phrases, stop words and punctuation do not apply",
                found=self.characters,
            )
