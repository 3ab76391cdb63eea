"""What a document classifier derives besides its tallies: the chosen model and its calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from bayesbox.classifier.base import Classifier
from bayesbox.classifier.options import calibration_of_command
from bayesbox.classifier.rows import LabelledRows, minus_rows, refit_on
from bayesbox.schema.token_options import PAIRS, SINGLE
from bayesbox.schema.tokens import Tokens
from bayesbox.tally.documents import WORDS
from bayesbox.text.model import Strength, TextModel
from bayesbox.text.options import AUTO, TextOptions


@dataclass(frozen=True)
class Settled:
    """What was derived from documents: the models tried, and the weight of the words in the best.

    `chosen` are the chosen options, `documents` the size of the sample, `losses` its log loss before and after the
    calibration. The models, the sample and the losses are not saved.
    """

    tried: tuple[Any, ...] = ()
    strength: Strength | None = None
    chosen: tuple[str, ...] = ()
    losses: tuple[float, float] | None = None
    documents: int = 0


class ChosenClassifier(Classifier[TextOptions, Settled, TextModel]):
    """A classifier that can choose and calibrate its model after documents are counted.

    `asked` are the options before the choice, `chooses` says whether the model is to be chosen, and `phrases_open`
    whether pairs of words are counted that may be dropped later.
    """

    asked: tuple[TextOptions, Tokens]
    chooses: bool
    phrases_open: bool
    too_many_pairs: bool
    tokens: Tokens
    dropped: int

    @property
    def settled(self) -> Settled:
        """The derived parts so far."""
        return self.derived or Settled()

    @property
    def to_choose(self) -> bool:
        """Whether the model is still to be chosen."""
        return (self.chooses or self.phrases_open) and not self.settled.tried

    @property
    def to_calibrate(self) -> bool:
        """Whether the weight of the words is still to be learned."""
        return self.rules.calibration is not None and self.settled.strength is None

    def has_second_pass(self) -> bool:
        return self.to_choose or self.to_calibrate

    def unfinished(self) -> bool:
        """Whether training needs a second pass; with few documents, the choice of the model is postponed."""
        return self.has_second_pass()

    def with_phrases(self, phrases: tuple[int, int]) -> Self:
        """A copy with only these of the counted phrases."""
        result = self.changed()
        result.keep_phrases(phrases)
        return result

    def keep_phrases(self, phrases: tuple[int, int]) -> None:
        """Keep only these of the counted words and pairs of words."""
        if not self.phrases_open:
            return
        self.phrases_open, self.tokens, self._model = False, replace(self.tokens, phrases=phrases), None
        if phrases == SINGLE and WORDS in self.book:
            from bayesbox.text.held_out import single_places

            tallies = {name: self.book[name].only(single_places(self.book[name].levels)) for name in self.book}
            self.book = self.book.with_tallies({name: tally for name, tally in tallies.items() if tally.levels})

    def names_of_choices(self) -> tuple[str, ...]:
        """The options that are chosen on held-out documents."""
        rules, tokens = self.asked
        given = (("occurrence", rules.occurrence), ("phrases", tokens.phrases))
        return tuple(name for name, value in given if value == AUTO)

    def unfitted_clone(self) -> Self:
        rules, tokens = self.asked
        own = replace(self.rules, occurrence="count", once=rules.once) if self.chooses else self.rules
        is_open = tokens.phrases == AUTO
        words = replace(self.tokens, phrases=PAIRS) if is_open else self.tokens
        return super().unfitted_clone().changed(rules=own, tokens=words, phrases_open=is_open, dropped=0)

    def settle_on(self, rules: TextOptions, settled: Settled) -> None:
        """Set the rules and the derived parts."""
        self.rules, self.derived, self._model = rules, settled, None

    def needs_refit(self) -> bool:
        return self.rules.calibration is not None or self.chooses or self.asked[1].phrases == AUTO

    def without(self, rows: Sequence[LabelledRows], others: Callable[[], list[LabelledRows]]) -> Self:
        """A copy without some documents, by subtraction; derived parts are refitted on the `others`."""
        if self.asked[1].phrases == AUTO:  # dropped pairs of words must be counted again
            return refit_on(self, others())
        other = minus_rows(self, rows)
        if self.needs_refit():
            if self.chooses:
                other.rules = replace(other.rules, occurrence="count", once=self.asked[0].once)
            other.derived = other.calibrated = None
            other.refine([part.labelled() for part in others()])
        return other

    def irreversible_parts(self) -> tuple[str, ...]:
        settled = self.settled
        chosen = tuple(f"the choice of {name} ({self.choice_text(name)})" for name in settled.chosen)
        if self.calibrated is not None:
            return (*chosen, f"the calibration ({self.calibrated.name})")
        return chosen if settled.strength is None else (*chosen, "the calibration (temperature)")

    def notes(self) -> tuple[str, ...]:
        """Notes on why something was not chosen."""
        asked, settled = bool(self.names_of_choices()) or self.rules.calibration == AUTO, self.settled
        if asked and not settled.tried and settled.strength is None:
            why = "words were dropped by the limit" if self.dropped else "fewer than 50 documents have a class"
            return (f"{why}, so nothing was chosen: the model is multinomial naive Bayes",)
        if self.too_many_pairs:
            return ("pairs of words were not tried, since there are too many; --phrases 1-2 counts them",)
        return ()

    def choice_text(self, name: str) -> str:
        """The chosen value of an option, as written for the command."""
        if name == "phrases":
            return "-".join(str(each) for each in self.tokens.phrases)
        return f"{self.rules.occurrence}{', once' if self.rules.once else ''}"

    def uncalibrated(self) -> Self | None:
        """A copy with the uncalibrated weights of the words; None if they are not calibrated."""
        settled = self.settled
        if settled.strength is None and self.calibrated is None:
            return None
        return self.changed(derived=replace(settled, strength=None), calibrated=None)


def defaults_of_command(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the command with its defaults: the model is chosen and calibrated."""
    given = {**options, "calibration": calibration_of_command(options.get("calibrate"), AUTO)}
    if given.get("occurrence") is None:
        given["occurrence"] = AUTO
    words = (given.get(name) for name in ("phrases", "characters"))
    if given["occurrence"] == AUTO and all(each is None for each in words):
        given["phrases"] = AUTO
    return given
