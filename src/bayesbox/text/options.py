"""The options of a classifier of documents."""

from __future__ import annotations

from typing import Any

from bayesbox.classifier.options import CALIBRATIONS
from bayesbox.errors import BadOption
from bayesbox.rule.options import CountOptions
from bayesbox.schema.options import option, options
from bayesbox.schema.takes import OneOf, OnOff, WholeNumber
from bayesbox.schema.token_options import TokenOptions

OCCURRENCES = ("count", "binary", "complement", "normalised", "poisson", "table", "position")
AUTO = "auto"  # instead of an occurrence: the best of the choices on held-out documents
ONE_WAY = ("binary", "poisson", "table", "position")  # models in which `once` does not apply


class TakesOccurrence(OneOf):
    """One of the models, or `auto`."""

    def __init__(self) -> None:
        super().__init__(*OCCURRENCES, AUTO)

    def parse(self, name: str, given: Any) -> str:
        given = "binary" if given == "occurrence" else given
        if not (isinstance(given, str) and given in self.choices):
            raise BadOption(f"{name} must be one of {', '.join(OCCURRENCES)} or {AUTO}", found=given)
        return given

    def from_json(self, name: str, written: object) -> object:
        if written == AUTO:
            raise ValueError(f"{name} must be the options of a document model")
        return written


@options
class TextOptions(CountOptions):
    """The options that define how the tallies of words become weights.

    `limit` is the maximum number of counted words: beyond it the rarest are dropped, which cannot be undone.
    """

    top: int | None = option(
        WholeNumber(1, none=True),
        default=None,
        after="occurrence",
        kw_only=False,
        help="Keep only the N most common words.",
    )
    occurrence: str = option(
        TakesOccurrence(),
        default="count",
        command_default="auto",
        kw_only=False,
        help="count is the multinomial over words; binary the Bernoulli model, in which a word is present or absent; "
        "complement weighs a word by the other classes; normalised is the multinomial with n words that weigh like the "
        "root of n, which tempers the certainty of long documents; poisson has a rate for each word and class; table "
        "has a table of 0, 1, 2 and 3 or more times for each word and class; position, for teaching, a table of all "
        "words for each place of a document. auto takes count or complement, with each word as often as it is there or "
        "once: whichever answers held-out documents best.",
    )
    min_documents: int = option(WholeNumber(1), default=1, help="Keep only words that occur in at least N documents.")
    once: bool = option(
        OnOff(),
        default=False,
        help="Count a word at most once per document (not for binary and poisson).",
    )
    limit: int | None = option(
        WholeNumber(1, none=True),
        default=None,
        help="The maximum number of words to count. Beyond it the rarest are dropped, with a warning, and the model "
        "can no longer forget; top and min_documents choose among words that are all counted.",
    )
    calibration: str | None = option(
        OneOf(*CALIBRATIONS, none=True),
        default=None,
        command=False,
        help="Calibrate the probabilities on held-out documents: temperature scales the weight of the words by the "
        "length of the document; isotonic and dirichlet map the resulting probabilities; auto chooses the best, "
        "or none. Fitted by fit, kept by partial_fit and forget.",
    )

    def _check(self) -> None:
        if self.occurrence == "position" and (self.top, self.min_documents, self.limit) != (None, 1, None):
            raise BadOption(
                "the position model uses every word at every position: top, min_documents and limit do not apply"
            )
        if self.once and self.occurrence in ONE_WAY:
            raise BadOption(f"once does not apply to the {self.occurrence} model", found=self.once)


@options
class DocumentOptions(TokenOptions, TextOptions):
    """All options of a document classifier: those of the tokeniser and those of the model."""

    def _check(self) -> None:
        TokenOptions._check(self)
        TextOptions._check(self)
