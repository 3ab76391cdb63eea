"""The calculation for a document: the factor of each occurrence of its words, and of absent words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Cells
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, decimal, log_of
from bayesbox.dist.words.count_table import whole_times
from bayesbox.dist.words.estimates import TIMES, poisson_rate
from bayesbox.dist.words.factors import exact, exact_counts, share_factor
from bayesbox.explain.box import BayesBox
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step
from bayesbox.explain.work import prior_factor
from bayesbox.source.base import Batch
from bayesbox.text.model import kept_words

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

MOST_WORDS = 40  # the most informative words that are shown
MOST_ABSENT = 20  # absent words that are shown
MOST_TABLES = 6  # rows shown of the table of 0, 1, 2 and 3 or more occurrences


def document_work(classifier: DocumentClassifier, batch: Batch, against: str | None) -> ClassWork:
    """The calculation for a batch of one document."""
    asked = WorkedDocument.of(classifier, batch)
    factors, before = _FACTORS[classifier.rules.occurrence](asked)
    ignored = tuple(each for each in factors if isinstance(each, NoFactor))
    model, rules = classifier.model, classifier.rules
    strength = 1.0 if _FACTORS[rules.occurrence] is _by_count else asked.strength  # it is in the exponents
    shares = [each.power(strength) for each in factors if isinstance(each, Factor)]
    if rules.occurrence == "complement" and not model.log_prior.any():
        prior = Factor(
            "no prior: weights of the other classes", ("",) * len(model.classes), (Fraction(1),) * asked.size
        )
    else:
        prior = prior_factor(model, classifier.book, rules)
    whole = rules.occurrence not in ("complement", "poisson") and asked.strength == 1
    box = BayesBox(model.classes, (prior, *shares), ignored, whole, against)
    return box.work(classifier.case_title(batch), before)


@dataclass(frozen=True)
class WorkedDocument:
    """One document, and the counts of the words of the model."""

    classifier: DocumentClassifier
    words: tuple[str, ...]  # the words of the model, with positions if these count
    cells: tuple[ExactArray, ...]  # occurrences, documents, and documents with a word twice and three times
    places: list[int]  # the positions of the document's words among those of the model
    times: Doubles  # the number of occurrences of each
    terms: Doubles  # words x classes
    strength: float

    @classmethod
    def of(cls, classifier: DocumentClassifier, batch: Batch) -> WorkedDocument:
        weights, texts = classifier.model.conditional, classifier.texts_of(batch)
        listed = weights.listed(texts, classifier.tokens)
        strength = weights.factors(weights.sums(texts, classifier.tokens)[1])[0] if weights.scaled else 1.0
        book = classifier.book.with_classes(classifier.model.classes)
        words, *cells = kept_words(book, classifier.rules, classifier.width)
        times = np.asarray(listed.data, dtype=np.float64)
        terms = weights.of_entries(listed.indices, times)
        return cls(classifier, words, tuple(cells), listed.indices.tolist(), times, terms, float(strength))

    @property
    def size(self) -> int:
        return len(self.classifier.model.classes)

    @property
    def documents(self) -> ExactArray:
        return self.classifier.book.with_classes(self.classifier.model.classes).class_counts

    def shown(self) -> list[int]:
        """The words of the document to show: all of them, or those that differ most between the classes."""
        if len(self.places) <= MOST_WORDS:
            return list(range(len(self.places)))
        with np.errstate(invalid="ignore"):
            spread = np.nan_to_num(self.terms.max(axis=1) - self.terms.min(axis=1), nan=0.0, posinf=np.inf)
        return sorted(np.argsort(-spread, kind="stable")[:MOST_WORDS].tolist())

    def others(self) -> list[Factor]:
        """The factor of the words that are not shown."""
        hidden = sorted(set(range(len(self.places))) - set(self.shown()))
        if not hidden:
            return []
        sums = self.terms[hidden].sum(axis=0).tolist()
        return [Factor(f"{len(hidden)} other words", ("product of their factors",) * self.size, _logged(sums))]

    def counts(self, cells: ExactArray, places: Sequence[int]) -> Any:
        """The counts of these words, classes x words, as fractions."""
        return exact_counts(cells, self.size, len(self.words), list(places))


def _logged(logs: Sequence[float]) -> tuple[Number, ...]:
    return tuple(Logged(float(each)) for each in logs)


def _share(name: str, cells: Cells, asked: WorkedDocument) -> Factor | NoFactor:
    return share_factor(name, cells, asked.classifier.rules.smoothing)


def _by_count(asked: WorkedDocument) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The multinomial model: the share of a word among all words of the class, or of all other classes."""
    rules = asked.classifier.rules
    cells = asked.cells[1] if rules.once else asked.cells[0]
    inverse = rules.occurrence == "complement"
    if inverse:
        cells = cells.others(asked.size)
    totals = exact(cells.sum_rows(asked.size), asked.size, 1)[:, 0]
    shown = asked.shown()
    counts = asked.counts(cells, [asked.places[each] for each in shown])
    factors: list[Factor | NoFactor] = []
    for column, each in enumerate(shown):
        word, times = asked.words[asked.places[each]], 1.0 if rules.once else float(asked.times[each])
        own = Cells(counts[:, column : column + 1], totals, len(asked.words), [word])
        name = f"P({word} | {'other classes' if inverse else 'class'})"
        power = (-times if inverse else times) * asked.strength
        factors.append(share_factor(name, own, rules.smoothing, power))
    return [*factors, *(each.power(asked.strength) for each in asked.others())], []


def _by_place(asked: WorkedDocument) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The position model: the share of a word among all words at its position."""
    names, known = asked.classifier.model.conditional.words, {name: place for place, name in enumerate(asked.words)}
    vocabulary = len({name.partition(" ")[2] for name in names})
    factors: list[Factor | NoFactor] = []
    for each in asked.shown():
        place, _, word = names[asked.places[each]].partition(" ")
        same = [index for name, index in known.items() if name.partition(" ")[0] == place]
        totals = asked.counts(asked.cells[0], same).sum(axis=1)
        column = known.get(f"{place} {word}")
        counts = totals[:, None] * 0 if column is None else asked.counts(asked.cells[0], [column])
        factors.append(_share(f"P({word} at place {place} | class)", Cells(counts, totals, vocabulary, [word]), asked))
    return [*factors, *asked.others()], []


def _by_presence(asked: WorkedDocument) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The Bernoulli model: every word is present or absent, and absence counts."""
    totals = exact(asked.documents, asked.size, 1)[:, 0]

    def factor(place: int, present: bool) -> Factor | NoFactor:
        held = asked.counts(asked.cells[1], [place])
        counts = held if present else totals[:, None] - held
        cells = Cells(counts, totals, 2, ["true" if present else "false"])
        return _share(f"P({'' if present else 'no '}{asked.words[place]} | class)", cells, asked)

    present = [factor(asked.places[each], True) for each in asked.shown()]
    return _with_absent(asked, present, [factor(place, False) for place in _absent(asked)], factor)


def _by_times(asked: WorkedDocument) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The table model: one cell (0, 1, 2, or 3 or more occurrences) for each word of the vocabulary."""
    totals = exact(asked.documents, asked.size, 1)[:, 0]

    def cells(place: int, level: int) -> Cells:
        at_least = [totals[:, None], *(asked.counts(each, [place]) for each in asked.cells[1:])]
        counts = at_least[level] - at_least[level + 1] if level + 1 < len(TIMES) else at_least[level]
        return Cells(counts, totals, len(TIMES), [TIMES[level]])

    def factor(place: int, level: int) -> Factor | NoFactor:
        times = "1 time" if level == 1 else f"{TIMES[level]} times"
        return _share(f"P({asked.words[place]} {times} | class)", cells(place, level), asked)

    levels = whole_times(asked.times).tolist()
    tables = []
    for each in asked.shown()[:MOST_TABLES]:
        found = [factor(asked.places[each], level) for level in range(len(TIMES))]
        rows = [Row(one.name, tuple(map(Cell, one.formulas, one.values))) for one in found if isinstance(one, Factor)]
        tables.append(Step("table", tuple(rows), asked.classifier.model.classes))
    present = [factor(asked.places[each], levels[each]) for each in asked.shown()]
    absent = [factor(place, 0) for place in _absent(asked)]
    factors, _ = _with_absent(asked, present, absent, lambda place, _present: factor(place, 0))
    return factors, tables


def _by_rate(asked: WorkedDocument) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The Poisson model: rate^times for each word, and e^-(the sum of all rates); times! is the same in every class."""
    rule, documents = asked.classifier.rules.smoothing, asked.documents.to_doubles()[:, None]
    counts = asked.cells[0].to_doubles().reshape(asked.size, len(asked.words))
    assert rule.weight is not None
    rates = poisson_rate(counts, documents, counts.sum(axis=0) / max(float(documents.sum()), 1.0), rule.weight)
    factors: list[Factor | NoFactor] = []
    for each in asked.shown():
        word, times = asked.words[asked.places[each]], decimal(float(asked.times[each]))
        formulas = tuple(f"{rate:.7g}^{times}" for rate in rates[:, asked.places[each]].tolist())
        factors.append(Factor(f"rate of {word}^{times}", formulas, _logged(asked.terms[each].tolist())))
    offset = asked.classifier.model.conditional.offset.tolist()
    sums = Factor("e^-(sum of all rates)", tuple(f"e^-{-each:.7g}" for each in offset), _logged(offset))
    return [*factors, *asked.others(), sums], []


def _absent(asked: WorkedDocument) -> list[int]:
    """The absent words to show: all of them, or none if there are many."""
    absent = sorted(set(range(len(asked.words))) - set(asked.places))
    return absent if len(absent) <= MOST_ABSENT else []


def _with_absent(
    asked: WorkedDocument, present: list[Factor | NoFactor], absent: list[Factor | NoFactor], factor: Any
) -> tuple[list[Factor | NoFactor], list[Step]]:
    """The factors of the words of a document, and of all others."""
    factors, number = [*present, *absent], len(asked.words) - len(set(asked.places))
    hidden = sorted(set(range(len(asked.places))) - set(asked.shown()))
    if hidden or (number and not absent):  # from the weights: all absent, plus each present word
        weights = asked.classifier.model.conditional
        sums = weights.offset.copy()
        for place in [asked.places[each] for each in asked.shown()] + ([] if number > MOST_ABSENT else _absent(asked)):
            missing = factor(place, False)
            if isinstance(missing, Factor):
                sums -= np.array([log_of(value) if value else 0.0 for value in missing.values])
        sums += asked.terms[hidden].sum(axis=0)
        if weights.certain is not None:
            gone = weights.certain.copy()
            gone[asked.places] = False
            sums[gone.any(axis=0)] = -math.inf
        name = f"{len(hidden) + (number if not absent else 0)} other words, of which {len(hidden)} are there"
        factors.append(Factor(name, ("product of their factors",) * asked.size, _logged(sums.tolist())))
    return factors, []


_FACTORS = {
    "count": _by_count,
    "normalised": _by_count,
    "complement": _by_count,
    "binary": _by_presence,
    "table": _by_times,
    "poisson": _by_rate,
    "position": _by_place,
}
