"""Explanations of documents: the words of each with their evidence and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.answer.explanation import CALIBRATION, PRIOR, odds_text
from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock, count_text
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadData
from bayesbox.file.reader import Json
from bayesbox.source.base import Batch
from bayesbox.text.case import DocumentCase
from bayesbox.text.explanation import TextExplanation

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

ABSENT = "(absent words)"
SHOWN, BARS = 3, 20


@dataclass(frozen=True, repr=False)
class ExplainedDocument(Result):
    """The explanation of one document: the log-odds of the prior, its words and the calibration."""

    target: str
    case: DocumentCase

    def _entries(self) -> list[tuple[str, float]]:
        case = self.case
        entries = [(PRIOR, case.prior_log_odds)]
        entries += [(ABSENT, case.absent_log_odds)] if case.absent_log_odds else []
        entries += [(each.word, each.log_odds) for each in case.words]
        share = case.calibration_log_odds
        return entries if share is None else [*entries, (CALIBRATION, share)]

    def _headline(self) -> str:
        words = ", ".join(f"{each.word} {each.log_odds:+.2f}" for each in self.case.words[:SHOWN])
        return f"ExplainedDocument({self.target}={self.case.prediction} {self._share():.4f}: {words})"

    def _share(self) -> float:
        return self.case.posterior[self.case.prediction]

    def _title(self) -> str:
        return f"{self.target} = {self.case.prediction}, with probability {self._share():.4g}"

    def _blocks(self) -> Sequence[Block]:
        case = self.case
        ranked = sorted(case.posterior.items(), key=lambda item: -item[1])
        rows = [[name, p, case.prior[name], Bar(p)] for name, p in ranked]
        blocks: list[Block] = [TableBlock([self.target, "posterior", "prior", ""], rows, most=12)]
        if case.against is None:
            return blocks
        finite = [abs(odds) for _, odds in self._entries() if math.isfinite(odds)]
        longest = max(finite, default=0.0) or 1.0
        counts = {each.word: each for each in case.words}
        said = [
            [name, f"{odds:+.4f}", Bar(max(min(odds / longest, 1.0), -1.0)), *_counted(counts.get(name))]
            for name, odds in self._entries()
        ]
        said.append(["total", f"{case.log_odds:+.4f}", f"odds {odds_text(case.log_odds)}", "", "", ""])
        names = [f"log-odds of {case.prediction} against {case.against}", "", "", "times"]
        return [*blocks, TableBlock([*names, f"in {case.prediction}", f"in {case.against}"], said, right=[1, 3, 4, 5])]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        entries = self._entries()
        return {"word": [name for name, _ in entries], "log_odds": [odds for _, odds in entries]}

    def svg(self) -> Picture:
        """The log-odds of the most informative words as signed bars."""
        from bayesbox.classifier.answer.evidence_picture import SignedBar, evidence_svg

        title = f"log-odds of {self.target} = {self.case.prediction} against {self.case.against}"
        bars = [SignedBar(name, odds) for name, odds in self._entries()[:BARS]]
        return Picture(evidence_svg(title, [*bars, SignedBar("total", self.case.log_odds, is_sum=True)]), title)

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {"target": self.target, **self.case.as_dict()}


def _counted(word: Any) -> list[str]:
    return ["", "", ""] if word is None else [f"{word.times:g}", *(count_text(count) for count in word.counts)]


@dataclass(frozen=True, repr=False, eq=False)
class DocumentsExplanation(Result, TextExplanation):
    """The explanations of documents; `explanation[i]` is that of document i in full."""

    classifier: DocumentClassifier
    batch: Batch

    @classmethod
    def of(cls, classifier: DocumentClassifier, batch: Batch) -> DocumentsExplanation:
        """The explanation of the documents of a batch."""
        plain = classifier.explain(batch)
        return cls(plain.labels, plain.prior, plain.offset, plain.words, plain.counts, plain.terms, classifier, batch)

    def __getitem__(self, place: int) -> ExplainedDocument:
        if not -len(self) <= place < len(self):
            raise IndexError(f"the explanation has {len(self)} documents")
        place %= len(self)
        case = DocumentCase.of(self.classifier, self.batch.slice(place, place + 1))
        return ExplainedDocument(self.classifier.target or "class", case)

    def __iter__(self) -> Iterator[ExplainedDocument]:
        return (self[place] for place in range(len(self)))

    def log_odds(self, label: object = None, against: object = None) -> Doubles:
        """log of P(label | document) / P(against | document); by default of the two best classes of each document."""
        if label is not None and against is not None:
            return super().log_odds(label, against)
        joint = self.joint()
        rows = np.arange(len(joint))
        one = joint.argmax(axis=1) if label is None else np.full(len(joint), self.position(label))
        rest = joint.copy()
        rest[rows, one] = -np.inf
        other = rest.argmax(axis=1) if against is None else np.full(len(joint), self.position(against))
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        found = [super(DocumentsExplanation, self).log_odds(self.labels[a], self.labels[b]) for a, b in pairs]
        return np.array([each[row] for row, each in enumerate(found)])

    def _headline(self) -> str:
        if len(self) == 1:
            return self[0]._headline().replace("ExplainedDocument", "Explanation", 1)
        return f"Explanation({len(self):,} documents, {len(self.labels)} classes)"

    def _title(self) -> str:
        return self[0]._title() if len(self) == 1 else f"explanations of {len(self):,} documents"

    def _blocks(self) -> Sequence[Block]:
        if len(self) == 1:
            return self[0]._blocks()
        most = TableBlock([], []).most
        rows = [self._summary(place) if place < most else [place, "", None, ""] for place in range(len(self))]
        names = ["document", "prediction", "probability", "largest contributions"]
        return [TableBlock(names, rows), TextBlock("explanation[i] explains document i in full")]

    def _summary(self, place: int) -> list[object]:
        one = self[place]
        words = "; ".join(f"{each.word} {each.log_odds:+.2f}" for each in one.case.words[:SHOWN])
        return [place, one.case.prediction, one._share(), words]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        if len(self) == 1:
            return self[0]._frame()
        entries = [(place, name, odds) for place, one in enumerate(self) for name, odds in one._entries()]
        return {
            "document": [place for place, _, _ in entries],
            "word": [name for _, name, _ in entries],
            "log_odds": [odds for _, _, odds in entries],
        }

    def svg(self) -> Picture:
        """The log-odds of the words of one document as signed bars."""
        if len(self) != 1:
            raise BadData("a picture shows one document", found=f"{len(self):,}", remedy="Select one: explanation[0]")
        return self[0].svg()

    def to_dict(self) -> Json:
        """As a dict for JSON: every document in full."""
        return {"documents": [one.to_dict() for one in self]}
