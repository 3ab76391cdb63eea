"""Word importance and word drift, from the tallies of words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.answer.drift import ranked as ranked_drifts
from bayesbox.classifier.answer.drifts import ClassDrift, ColumnDrift, Drift
from bayesbox.classifier.answer.importance import ColumnImportance, Importance, ranked
from bayesbox.classifier.rows import LabelledRows
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadData
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Batch
from bayesbox.stat.drift import ShiftTest, shift_test
from bayesbox.stat.information import entropy_bits, shares_of, word_information
from bayesbox.stat.metrics import EPSILON
from bayesbox.tally.documents import WORDS, count_documents

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

COMMON = 200  # words compared one by one; the others are pooled
EXAMPLES = 5
BY_WORD = "the information is that of one word drawn from a document"


class WordLosses:
    """Sums the losses of documents without each of their words: its weight is dropped, the others do not change."""

    def __init__(self, classifier: DocumentClassifier) -> None:
        self.classifier = classifier
        self.words = classifier.model.conditional.words
        self.place = {word: index for index, word in enumerate(self.words)}
        self.losses, self.drops = np.zeros(len(self.words)), np.zeros(len(self.words))
        self.rows, self.unknown, self.loss, self.right = 0, 0, 0.0, 0

    def add(self, rows: LabelledRows) -> None:
        """Add the losses of some documents, before any calibration."""
        place = {name: index for index, name in enumerate(self.classifier.model.classes)}
        true = np.array([*(place.get(name, -1) for name in rows.labels.levels), -1])[rows.labels.codes]
        found = self.classifier.explain(rows.batch)
        joint = found.joint()
        for row, label in enumerate(true.tolist()):
            if label < 0:
                self.unknown += 1
                continue
            whole = shares_of(joint[row][None])[0]
            without = shares_of(joint[row][None] - found.terms[row])[0]
            now, then = (-functions.log(np.maximum(each[:, label], EPSILON)) for each in (whole, without))
            is_right, was_right = (each.argmax(axis=1) == label for each in (whole, without))
            words = [self.place[word] for word in found.words[row]]
            np.add.at(self.losses, words, then - now[0])
            np.add.at(self.drops, words, float(is_right[0]) - was_right)
            self.rows, self.loss, self.right = self.rows + 1, self.loss + float(now[0]), self.right + int(is_right[0])

    def result(self) -> Importance:
        """The words by importance."""
        classifier = self.classifier
        prior = shares_of(np.asarray(classifier.model.log_prior)[None])[0]
        target, entropy = classifier.target or "class", float(entropy_bits(prior)[0])
        bits = self._information(prior[0])
        strangers = f"{self.unknown:,} documents have a class that is unknown to the model"
        notes = (BY_WORD, strangers) if self.unknown else (BY_WORD,)
        if not self.rows:
            found = [ColumnImportance(word, value) for word, value in zip(self.words, bits, strict=True)]
            return Importance(target, ranked(found), entropy, of="word", notes=notes)
        found = [
            ColumnImportance(word, value, float(loss) / self.rows, float(drop) / self.rows)
            for word, value, loss, drop in zip(self.words, bits, self.losses, self.drops, strict=True)
        ]
        loss, right = self.loss / self.rows, self.right / self.rows
        return Importance(target, ranked(found), entropy, self.rows, loss, right, of="word", notes=notes)

    def _information(self, prior: Doubles) -> list[float]:
        book = self.classifier.book.with_classes(self.classifier.model.classes)
        if WORDS not in book:
            return [0.0] * len(self.words)
        tally = book[WORDS]
        by_word = dict(zip(tally.levels, word_information(tally.counts, prior).tolist(), strict=True))
        return [by_word.get(word, 0.0) for word in self.words]


def word_drift(classifier: DocumentClassifier, batches: Iterable[Batch]) -> Drift:
    """The drift of the words of some documents: the most common words one by one, the others pooled."""
    book = classifier.book
    if WORDS not in book:
        raise BadData("the model has learned no words")
    levels, learned = book[WORDS].levels, book[WORDS].by_level().to_doubles()
    place = {word: index for index, word in enumerate(levels)}
    after, unseen, examples, rows = np.zeros(len(levels)), 0, dict[str, None](), 0
    expected, predicted = (np.zeros(len(classifier.model.classes)) for _ in range(2))
    for batch in batches:
        labels = Encoded(np.zeros(batch.rows, dtype=np.int32), [""], [""])
        counted = count_documents(classifier.texts_of(batch), labels, classifier.tokens)
        tally: Any = counted.columns.get(WORDS)
        found = {} if tally is None else dict(zip(tally.levels, tally.by_level().to_doubles().tolist(), strict=True))
        for word, count in found.items():
            if word in place:
                after[place[word]] += count
            else:
                unseen += int(count)
                examples |= {word: None} if len(examples) < EXAMPLES else {}
        posterior = classifier.posterior(batch)
        expected += posterior.sum(axis=0)
        predicted += np.bincount(posterior.argmax(axis=1), minlength=posterior.shape[1])
        rows += batch.rows
    if not rows:
        raise BadData("no documents to compare with the training documents")
    common = np.argsort(-learned, kind="stable")[:COMMON]
    others = np.setdiff1d(np.arange(len(levels)), common)
    before = np.append(learned[common], learned[others].sum())
    now = np.append(after[common], after[others].sum())
    names = [*(levels[k] for k in common), "(other words)", "(never seen)"]
    column = ColumnDrift(
        WORDS,
        "words",
        shift_test(before, now, float(unseen)),
        0.0,
        0.0,
        ShiftTest(0.0, 0.0, 1.0, 0.0),
        unseen,
        tuple(examples),
        _change(names, np.append(before, 0.0), np.append(now, unseen)),
    )
    documents = book.with_classes(classifier.model.classes).class_counts.to_doubles()
    classes = tuple(
        ClassDrift(name, p / max(documents.sum(), 1), q / rows, r / rows)
        for name, p, q, r in zip(
            classifier.model.classes, documents.tolist(), expected.tolist(), predicted.tolist(), strict=True
        )
    )
    psi = shift_test(documents, expected).psi
    return Drift(classifier.target or "class", float(documents.sum()), rows, ranked_drifts([column]), classes, psi)


def _change(names: list[str], before: Doubles, after: Doubles) -> str:
    if not before.sum() or not after.sum():
        return ""
    p, q = before / before.sum(), after / after.sum()
    place = int(np.abs(q - p).argmax())
    return f"{names[place]} {p[place]:.1%} to {q[place]:.1%}"
