"""The explanation of one document for `bayes explain`: its posterior and its most informative words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesbox.classifier.case import Case, held_against
from bayesbox.explain.evidence import lead
from bayesbox.rule.priors import prior_shares
from bayesbox.source.base import Batch
from bayesbox.tally.documents import WORDS

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.text.classifier import DocumentClassifier


class WordSaid(NamedTuple):
    """A word of the document: its number of occurrences, its log-odds, and its counts in both classes."""

    word: str
    times: float
    log_odds: float
    counts: tuple[float, float]


@dataclass(frozen=True)
class DocumentCase(Case):
    """The prediction for one document, with its words, the most informative first.

    `calibration_log_odds` is what a calibration adds to the log-odds of the prior and the words.
    """

    absent_log_odds: float
    words: list[WordSaid]
    calibration_log_odds: float | None = None

    @classmethod
    def of(cls, classifier: DocumentClassifier, batch: Batch, *, against: str | None = None) -> DocumentCase:
        """The case of a single document, compared with a class or with the runner-up."""
        model = classifier.model
        classes = model.classes
        shares = classifier.posterior(batch)[0]
        posterior = dict(zip(classes, shares.tolist(), strict=True))
        prior = prior_shares(classifier)
        best = int(np.argmax(shares))
        other = held_against(classes, shares, best, against)
        if other is None:
            return cls(classes[best], None, posterior, prior, 0.0, 0.0, 0.0, [])
        explanation = classifier.explain(batch)
        found = explanation.top(0, model.labels[best], model.labels[other], len(explanation.words[0]))
        counts = _counts(classifier, [each.word for each in found], (classes[best], classes[other]))
        words = [WordSaid(*each, both) for each, both in zip(found, counts, strict=True)]
        prior_odds, absent = (
            float(each[best] - each[other]) for each in (explanation.prior, np.atleast_2d(explanation.offset)[0])
        )
        total = float(explanation.log_odds(model.labels[best], model.labels[other])[0])
        share: float | None = None
        if classifier.calibrated is not None:
            log_p = classifier.log_posterior(batch)[0]
            before, total = total, float(lead(log_p[best], log_p[other]))
            share = total - before if np.isfinite(before) else 0.0
        return cls(classes[best], classes[other], posterior, prior, total, prior_odds, absent, words, share)

    def as_dict(self) -> Json:
        words = [
            {
                "word": each.word,
                "times": each.times,
                "log_odds": each.log_odds,
                "counts": dict(zip((self.prediction, self.against), each.counts, strict=True)),
            }
            for each in self.words
        ]
        share = self.calibration_log_odds
        calibration = {} if share is None else {"calibration_log_odds": share}
        return {**super().as_dict(), "absent_log_odds": self.absent_log_odds, "words": words, **calibration}


def _counts(classifier: DocumentClassifier, words: list[str], classes: tuple[str, str]) -> list[tuple[float, float]]:
    """The training counts of each word in both classes."""
    if WORDS not in classifier.book:
        return [(0.0, 0.0)] * len(words)
    tally = classifier.book[WORDS]
    place = {word: index for index, word in enumerate(tally.levels)}
    rows = [tally.counts[tally.classes.index(name)] if name in tally.classes else None for name in classes]
    one, other = ([0.0 if row is None else float(row[place[word]]) for word in words] for row in rows)
    return list(zip(one, other, strict=True))
