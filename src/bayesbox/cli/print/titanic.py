"""The people of the Titanic, as an example of exact forgetting: cross-validation without refitting.

Each fold is subtracted from the counts and predicted by the remaining ones, which equal those of the other folds byte
for byte.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.training import split_columns
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.source.files.open import open_source
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.book import Book
from bayesbox.tally.count import count

TITANIC = Path(__file__).parent.parent.parent / "data" / "titanic.csv"
TARGET, WEIGHT = "survived", "people"
SEED = 1912

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class PredictionScore:
    """The metrics of held-out predictions."""

    rows: int
    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class People:
    """A table of counts: each cell is a row of the batch, whose weight is the number of people."""

    batch: Batch
    labels: Encoded
    weights: Weights

    @classmethod
    def of_titanic(cls) -> People:
        """The 2,201 people aboard, by cabin, sex, age and fate."""
        (batch,) = open_source(TITANIC, text=frozenset({TARGET})).batches()
        columns, labels, weights = split_columns(batch, TARGET, WEIGHT)
        return cls(Batch(tuple(columns), tuple(columns.values()), batch.rows), labels, weights)

    @property
    def number(self) -> int:
        """The number of people."""
        return int(self.weights.sum())

    def shuffled(self, seed: int = SEED) -> list[int]:
        """The cell of every person, shuffled by a seed."""
        people = [cell for cell, weight in enumerate(self.weights) for _ in range(int(weight))]
        random.Random(seed).shuffle(people)
        return people

    def cells(self, people: Sequence[int]) -> Weights:
        """The number of these people in each cell."""
        return np.bincount(np.array(people, dtype=np.int64), minlength=self.batch.rows).astype(np.float64)

    def book(self, weights: Weights) -> Book:
        """The tallies of some of the people."""
        columns = dict(zip(self.batch.names, self.batch.columns, strict=True))
        return count(columns, self.labels, Schema.of(columns), weights=weights)

    def classifier(self) -> NaiveClassifier:
        """A classifier trained on all people."""
        classifier = NaiveClassifier(NaiveOptions(), target=TARGET)
        classifier.learn(self.batch, self.labels, weights=self.weights)
        return classifier


def held_out(people: People, part: Sequence[int]) -> tuple[float, float]:
    """(correct predictions, summed log loss) of one part, by a model that has forgotten it."""
    cells = people.cells(part)
    classifier = people.classifier()
    classifier.forget(people.batch, people.labels, weights=cells)
    posterior = classifier.posterior(people.batch)
    places = np.array([classifier.model.classes.index(level) for level in people.labels.levels])
    truth = places[people.labels.codes]
    right = posterior.argmax(axis=1) == truth
    losses = -np.log(posterior[np.arange(len(truth)), truth])
    return float(cells[right].sum()), float((cells * losses).sum())


def cross_validated(people: People, folds: int = 10, seed: int = SEED) -> PredictionScore:
    """The metrics of every person predicted by a model of the other folds."""
    order = people.shuffled(seed)
    results = [held_out(people, order[fold::folds]) for fold in range(folds)]
    right, loss = (sum(column) for column in zip(*results, strict=True))
    return PredictionScore(len(order), right / len(order), loss / len(order))


def held_out_share(people: People, share: float = 0.3, seed: int = SEED) -> PredictionScore:
    """The metrics of a share of the people predicted by a model of the others."""
    order = people.shuffled(seed)
    part = order[: round(share * len(order))]
    right, loss = held_out(people, part)
    return PredictionScore(len(part), right / len(part), loss / len(part))


def forgets_exactly(people: People, folds: int = 10, seed: int = SEED) -> bool:
    """Whether the counts minus a fold equal those of the other folds, byte for byte."""
    order = people.shuffled(seed)
    whole = people.book(people.weights)
    parts = [people.cells(order[fold::folds]) for fold in range(folds)]
    return all((whole - people.book(part)).digest() == people.book(people.weights - part).digest() for part in parts)
