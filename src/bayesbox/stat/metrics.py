"""Metrics of predictions, counted batch by batch.

Scored rows are kept as tallies like those of a model: the confusion matrix, exact sums of the losses by true class, and
the number of right predictions in each bin of confidence. They can be added, so memory is constant, and neither batches
nor the order of the rows change a bit of the result. Only the area under the ROC curve needs every score: see
`row_scores`.

    accuracy      share of rows whose most probable class is the true one (the first in case of a tie)
    log loss      mean of -log P(true class); infinite if a true class had probability 0, which is reported with the
                  number of such rows; `clipped` limits P to [eps, 1 - eps] like scikit-learn's log_loss
    Brier score   mean of the sum over classes of (P(class) - [class is true])^2; for two classes half of that,
                  (P - [true])^2 of either: the value of scikit-learn's brier_score_loss
    calibration   sum over bins of n_bin / n * |accuracy - mean confidence| (Guo et al. 2017)
    baseline      the scores of the best constant prediction: the most frequent class, and the class frequencies as P

A label unknown to the model has probability 0: it counts as wrong, gives an infinite log loss, and adds a class to the
Brier score. A ratio 0 / 0, such as the precision of a class that was never predicted, is NaN, and ignored in a macro
mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadData
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import MISSING, Encoded
from bayesbox.schema.kinds import Category, Flag, Real
from bayesbox.schema.schema import Schema
from bayesbox.stat.row_scores import RowBlocks, ScoreBlock
from bayesbox.tally.base import Weights, dyadic
from bayesbox.tally.book import Book
from bayesbox.tally.count import checked_weights, count
from bayesbox.tally.exact import ZERO, Dyadic

Doubles = NDArray[np.float64]

BINS = 15
Z95 = 1.959963984540054  # the two-sided 95 % quantile of the standard normal
EPSILON = float(np.finfo(np.float64).eps)

_BY_CLASS = Schema({"prediction": Category(), "log_loss": Real(), "clipped": Real(), "brier": Real()})
_BY_BIN = Schema({"right": Flag(), "confidence": Real()})


class Bin(NamedTuple):
    """The rows with a confidence above `start` and up to `stop`.

    `n` is their number (or sum of weights), `confidence` the mean of P(predicted class), `accuracy` the share of right
    predictions, `low` and `high` its 95 % interval. Without rows these four are NaN.
    """

    start: float
    stop: float
    n: float
    confidence: float
    accuracy: float
    low: float
    high: float


class MetricValue(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class; `support` is the number of its rows."""

    name: str
    precision: MetricValue
    recall: MetricValue
    f1: float
    support: float


@dataclass(frozen=True)
class Scored:
    """The counts of some predictions; `+` adds others. `classes` are those of the model, in its order."""

    classes: tuple[str, ...]
    bins: int = BINS
    by_class: Book = field(default_factory=Book.empty)
    by_bin: Book = field(default_factory=Book.empty)
    by_row: RowBlocks = field(default_factory=RowBlocks)
    rows: int = 0  # with a label
    unlabelled: int = 0
    impossible: int = 0  # rows whose true class had probability 0
    unseen: Counter[str] = field(default_factory=Counter)  # rows of each label unknown to the model

    def __add__(self, other: Scored) -> Scored:
        if (self.classes, self.bins) != (other.classes, other.bins):
            raise ValueError("the predictions have other classes or other bins")
        return Scored(
            self.classes,
            self.bins,
            self.by_class + other.by_class,
            self.by_bin + other.by_bin,
            self.by_row + other.by_row,
            self.rows + other.rows,
            self.unlabelled + other.unlabelled,
            self.impossible + other.impossible,
            self.unseen + other.unseen,
        )


def scored(
    log_p: Doubles,
    labels: Encoded,
    known: Sequence[str],
    *,
    classes: Sequence[str] | None = None,
    weights: object = None,
    bins: int = BINS,
    rows: NDArray[np.int64] | None = None,
    first: int = 0,
    groups: Encoded | None = None,
) -> Scored:
    """Count the predictions of some rows.

    `log_p` are log-probabilities, rows x the classes `known` to the model: so a loss stays finite if the probability
    underflows. `classes` are all classes, if there are more; `rows` are the row numbers, or `first` is that of the
    first row; `groups` are their groups. Rows without a label are dropped and counted.

    >>> labels = Encoded(np.array([0, 1, 1], dtype=np.int32), ["no", "yes"], ["no", "yes"])
    >>> found = scored(np.log([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]]), labels, ["no", "yes"])
    >>> measure(found).accuracy.value, measure(found + found).confusion.tolist()
    (0.6666666666666666, [[2, 0], [2, 2]])
    """
    everything = tuple(known if classes is None else classes)
    weights = checked_weights(weights, len(labels.codes))
    place = {name: index for index, name in enumerate(known)}
    true = np.array([*(place.get(text, MISSING) for text in labels.levels), MISSING])[labels.codes]
    labelled = labels.codes != MISSING
    there, found = np.flatnonzero(true >= 0), true[true >= 0]

    p = np.minimum(np.exp(log_p), 1.0)
    log_true, p_true = np.full(len(true), -np.inf), np.zeros(len(true))
    log_true[there], p_true[there] = log_p[there, found], p[there, found]
    squares = p**2
    squares[there, found] = (1 - p_true[there]) ** 2
    predicted = log_p.argmax(axis=1).astype(np.int32)
    confidence = p[np.arange(len(p)), predicted]
    columns = {
        "prediction": pa.DictionaryArray.from_arrays(predicted, pa.array(list(known), pa.string())),
        "log_loss": np.where(np.isneginf(log_true), np.nan, np.maximum(-log_true, 0.0)),
        "clipped": -np.log(np.clip(p_true, EPSILON, 1 - EPSILON)),
        "brier": squares.sum(axis=1) + (true < 0),
    }
    edges = np.arange(1, bins) / bins
    of_bin = np.where(labelled, np.searchsorted(edges, confidence), MISSING).astype(np.int32)
    names = [str(index) for index in range(bins)]
    by_bin = {"right": predicted == true, "confidence": confidence}
    unknown = np.flatnonzero(labelled & (true < 0))
    return Scored(
        everything,
        bins,
        count(columns, labels, _BY_CLASS, weights=weights, label_type="text"),
        count(by_bin, Encoded(of_bin, names, names), _BY_BIN, weights=weights, label_type="text"),
        RowBlocks.of(_block(log_p, labels, known, everything, weights, rows, groups, first)),
        int(labelled.sum()),
        int((~labelled).sum()),
        int((labelled & np.isneginf(log_true)).sum()),
        Counter(labels.levels[code] for code in labels.codes[unknown]),
    )


def _block(
    log_p: Doubles,
    labels: Encoded,
    known: Sequence[str],
    classes: tuple[str, ...],
    weights: Weights,
    rows: NDArray[np.int64] | None,
    groups: Encoded | None,
    first: int,
) -> ScoreBlock:
    """The rows with a label, with a probability of each class: 0 for classes unknown to the model."""
    kept = np.flatnonzero(labels.codes != MISSING)
    if tuple(known) == classes:
        full = log_p[kept]
    else:
        full = np.full((len(kept), len(classes)), -np.inf)
        full[:, [classes.index(name) for name in known]] = log_p[kept]
    return ScoreBlock(
        None if rows is None else rows[kept],
        full,
        labels.codes[kept],
        tuple(labels.levels),
        None if weights is None else np.asarray(weights[kept], dtype=np.float64),
        first,
        None if groups is None else groups._replace(codes=groups.codes[kept]),
    )


@dataclass(frozen=True)
class Metrics:
    """The metrics. `labels` are the classes of the model and, after them, the unknown ones.

    `confusion` is true x predicted, both in the order of `labels`; `brier_sum` is the sum over all classes, from 0 to
    2, of which `brier` is half for two classes.
    """

    labels: tuple[str, ...]
    rows: int
    weight: float
    accuracy: MetricValue
    log_loss: MetricValue
    clipped_log_loss: float
    brier: MetricValue
    brier_sum: float
    calibration_error: float
    area: float
    baseline: str
    baseline_accuracy: float
    baseline_log_loss: float
    confusion: AnyArray
    per_class: tuple[ClassScore, ...]
    bins: tuple[Bin, ...]

    @property
    def brier_worst(self) -> int:
        """The largest value that `brier` can take."""
        return 1 if len(self.labels) <= 2 else 2

    @property
    def macro(self) -> Mapping[str, float]:
        """The unweighted mean over the classes of precision, recall and F1, where defined."""
        each = {
            "precision": [score.precision.value for score in self.per_class],
            "recall": [score.recall.value for score in self.per_class],
            "f1": [score.f1 for score in self.per_class],
        }
        return {name: _mean([value for value in values if not math.isnan(value)]) for name, values in each.items()}


def measure(found: Scored, *, repeats: int = 1) -> Metrics:
    """The metrics from the counts.

    With repeats every row was predicted several times: the intervals are for rows, not for predictions.
    A row of weight w counts as w rows in the intervals too.
    """
    book = found.by_class
    weight = _total(book)
    if not weight.m:
        raise BadData("no row has a label and a positive weight, so there is nothing to measure")
    labels = (*found.classes, *sorted(set(book.classes) - set(found.classes)))
    n, per = float(weight.fraction), 1 / repeats
    confusion = _confusion(book, labels)
    support, correct = confusion.sum(axis=1), np.diagonal(confusion)
    right = float(correct.sum())
    shares = support[support > 0] / n
    brier = _mean_estimate(book, "brier", n * per)
    half = 0.5 if len(labels) <= 2 else 1.0
    bins = _bins(found, per)
    rows = found.by_row.joined(found.classes)
    return Metrics(
        labels,
        found.rows,
        int(n) if n.is_integer() else n,
        wilson(right * per, n * per),
        _mean_estimate(book, "log_loss", n * per),
        book["clipped"].pooled().mean,
        MetricValue(*(half * value for value in brier)),
        brier.value,
        sum(each.n / n * abs(each.accuracy - each.confidence) for each in bins if each.n),
        math.nan if rows is None else rows.area(),
        labels[int(np.argmax(support))],
        float(support.max()) / n,
        float(0.0 - (shares * np.log(shares)).sum()),
        confusion,
        tuple(_class_score(labels[code], code, confusion, per) for code in range(len(labels))),
        bins,
    )


def wilson(successes: float, n: float) -> MetricValue:
    """A proportion and its 95 % score interval (Wilson 1927); NaN without rows.

    >>> [round(value, 4) for value in wilson(8, 10)]
    [0.8, 0.4902, 0.9433]
    """
    if not n:
        return MetricValue(math.nan, math.nan, math.nan)
    share, z2 = successes / n, Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = Z95 / (1 + z2 / n) * math.sqrt(max(share * (1 - share), 0.0) / n + z2 / (4 * n * n))
    return MetricValue(share, min(max(middle - reach, 0.0), share), max(min(middle + reach, 1.0), share))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _total(book: Book) -> Dyadic:
    """The weight of all rows, exactly."""
    total = ZERO
    for cell in range(len(book.classes)):
        total = total + dyadic(book.class_counts, cell)
    return total


def _mean_estimate(book: Book, column: str, n: float) -> MetricValue:
    """The mean of a loss and its normal 95 % interval; infinite if the loss of some row is."""
    if column not in book or book[column].sums.n != book.class_counts:
        return MetricValue(math.inf, math.nan, math.nan)
    spread = book[column].pooled()
    reach = Z95 * math.sqrt(spread.variance / (n - 1)) if n > 1 else math.nan  # the sample variance
    return MetricValue(spread.mean, max(spread.mean - reach, 0.0), spread.mean + reach)


def _confusion(book: Book, labels: tuple[str, ...]) -> AnyArray:
    tally = book["prediction"].with_classes(labels)
    counts = tally.counts
    full = np.zeros((len(labels), len(labels)), dtype=counts.dtype)
    full[:, [labels.index(level) for level in tally.levels]] = counts
    return full


def _class_score(name: str, code: int, confusion: AnyArray, per: float) -> ClassScore:
    hits, support, predicted = confusion[code, code], confusion[code].sum(), confusion[:, code].sum()
    both = float(support + predicted)
    return ClassScore(
        name,
        wilson(float(hits) * per, float(predicted) * per),
        wilson(float(hits) * per, float(support) * per),
        2 * float(hits) / both if both else math.nan,
        support.item(),
    )


def _bins(found: Scored, per: float) -> tuple[Bin, ...]:
    book, edges = found.by_bin, [index / found.bins for index in range(found.bins + 1)]
    position = {name: index for index, name in enumerate(book.classes)}
    means, flags = book["confidence"].mean, book["right"]
    hits = flags.counts[:, flags.levels.index("true")] if "true" in flags.levels else np.zeros(len(book.classes), int)
    bins = []
    for index in range(found.bins):
        place = position.get(str(index))
        if place is None:
            bins.append(Bin(edges[index], edges[index + 1], 0, *[math.nan] * 4))
            continue
        n = book.n[place].item()
        bins.append(
            Bin(edges[index], edges[index + 1], n, float(means[place]), *wilson(hits[place].item() * per, n * per))
        )
    return tuple(bins)
