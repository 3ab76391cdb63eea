"""Columns that depend on each other given the class: naive Bayes counts their evidence twice and is overconfident.

Pairs are found by conditional mutual information. The harm is measured: the held-out predictions of naive Bayes with
both columns and without the second, and those of the best model that handles dependence.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.calibrated import answers_by_folds, labelled
from bayesbox.classifier.row_sample import FEWEST, MOST, Sampled
from bayesbox.classifier.rows import LabelledRows, sample_of
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.classifier.training import split_columns
from bayesbox.described import Remedy
from bayesbox.display.blocks import Block, TableBlock, TextBlock, table_of
from bayesbox.display.result import Result
from bayesbox.dist.base import Doubles
from bayesbox.dist.number.cuts import equal_frequency
from bayesbox.errors import BayesboxError, DataWarning
from bayesbox.schema.coded import CodedRows
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Batch
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.metrics import measure, scored
from bayesbox.stat.mutual_information import conditional_mutual_information, entropy
from bayesbox.table.columns import class_codes
from bayesbox.table.naive import select
from bayesbox.table.naive.choice import coded_columns, unseen_terms

MOST_COLUMNS = 40  # columns whose pairs are all examined; of more, the most informative ones
STRONG = 0.3  # the share of the entropy of a column, given the class, that the other explains
HARM = 0.02  # the share by which another model must reduce the log loss
FOLDS = 3
BINS = 8
BETTER: tuple[tuple[str, dict[str, Any], str, Remedy], ...] = (
    (
        "naive",
        {"column_weights": "learned"},
        "with learned column weights",
        Remedy("column_weights='learned'", "--column-weights"),
    ),
    ("tan", {}, "as a tree over the columns", Remedy("TAN()", "--model tan")),
    ("aode", {}, "as AODE", Remedy("AODE()", "--model aode")),
)
"""The alternative models: name, options, description, and how to use them."""


class Pair(NamedTuple):
    """Two columns; `information` is I(first; second | class) in nats, `share` its share of the smaller entropy."""

    first: str
    second: str
    information: float
    share: float


class HeldOutScore(NamedTuple):
    """The metrics of held-out predictions."""

    log_loss: float
    calibration_error: float

    def __str__(self) -> str:
        return f"log loss {self.log_loss:.3f}, calibration error {self.calibration_error:.3f}"


@dataclass(frozen=True, repr=False)
class Dependence(Result):
    """The strongest pairs of dependent columns, their effect on naive Bayes, and a better model."""

    pairs: tuple[Pair, ...]
    naive: HeldOutScore
    without: HeldOutScore
    better: HeldOutScore
    called: str
    advice: Remedy
    rows: int

    @property
    def remedy(self) -> str:
        """How to use the better model, in Python or in the command."""
        return str(self.advice)

    def _headline(self) -> str:
        pair = self.pairs[0]
        return f"Dependence(`{pair.first}` and `{pair.second}`, {len(self.pairs)} pairs; try {self.remedy})"

    def _blocks(self) -> Sequence[Block]:
        scores = [
            ["naive Bayes", self.naive.log_loss, self.naive.calibration_error],
            [f"without `{self.pairs[0].second}`", self.without.log_loss, self.without.calibration_error],
            [self.called, self.better.log_loss, self.better.calibration_error],
        ]
        caption = "columns that depend on each other given the class make naive Bayes overconfident"
        held_out = f"on {self.rows:,} rows, each predicted by a model trained without it"
        return [
            table_of(self._frame(), caption),
            TableBlock(["model", "log loss", "calibration error"], scores, caption=held_out),
            TextBlock(f"Try {self.remedy}"),
        ]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "first": [pair.first for pair in self.pairs],
            "second": [pair.second for pair in self.pairs],
            "information": [pair.information for pair in self.pairs],
            "share": [pair.share for pair in self.pairs],
        }

    def __str__(self) -> str:
        listed = "; ".join(
            (
                f"`{pair.first}` and `{pair.second}` (mutual information {pair.information:.2f} nats, "
                f"{pair.share:.0%} of the possible)"
            )
            for pair in self.pairs
        )
        return (
            f"columns that depend on each other given the class make naive Bayes too sure: {listed}. "
            f"On held-out rows: {self.naive}; without `{self.pairs[0].second}`: {self.without}; "
            f"{self.called}: {self.better}. Try {self.remedy}"
        )


def dependence_in(sampled: Sampled, classifier: AnyClassifier, target: str, weight: str | None) -> Dependence | None:
    """`dependence` for the sampled rows of a source."""
    assert isinstance(classifier, TableClassifier)  # only table classifiers look for dependence
    parts = []
    for batch in sorted(sampled.kept, key=lambda batch: batch.first_row):
        columns, labels, _ = split_columns(batch, target, weight, where=sampled.name)
        parts.append(LabelledRows(Batch(tuple(columns), tuple(columns.values()), batch.rows), labels))
    return dependence(parts, classifier)


def dependence(parts: Sequence[LabelledRows], classifier: AnyTableClassifier) -> Dependence | None:
    """The effect of the strongest dependences between columns on naive Bayes with the rules of a classifier.

    None if they are harmless. At most a few thousand rows are used.
    """
    kept = sample_of([LabelledRows(rows.batch, rows.labels) for rows in labelled(parts)], MOST)
    if sum(rows.batch.rows for rows in kept) < FEWEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            naive: Any = classifier.unfitted_clone()
            naive.learn_all(kept)
            pairs = strong_pairs(kept, naive)
            if not pairs or len(naive.classes) < 2:
                return None
            offered = BETTER if len(naive.model.columns) <= MOST_COLUMNS else BETTER[:1]
            answers = [(_score(kept, classifier, *each[:2]), *each[2:]) for each in offered]
            better, called, remedy = min(answers, key=lambda each: each[0])
            terms = unseen_terms(naive, kept)
        except BayesboxError:
            return None  # a model that cannot use these rows is skipped without a warning
    joint = terms.prior + terms.columns.sum(axis=0)
    plain = _scored(normalised(joint), terms.codes)
    if better.log_loss > (1 - HARM) * plain.log_loss:
        return None
    groups = [conditional.columns for conditional in naive.model.conditionals]
    second = next(place for place, group in enumerate(groups) if pairs[0].second in group)
    without = _scored(normalised(joint - terms.columns[second]), terms.codes)
    return Dependence(tuple(pairs[:3]), plain, without, better, called, remedy, len(terms.codes))


def strong_pairs(kept: list[LabelledRows], classifier: Any) -> list[Pair]:
    """The pairs of strongly dependent columns given the class, the strongest first.

    The second column of a pair is less informative about the class. Both must be informative, else there is no harm.
    """
    coded = coded_columns(kept, classifier.schema, classifier.classes, _equal_bins)
    names = coded.names
    taking_part = set(classifier.model.columns)
    telling = [column for column in select.most_informative(coded, None) if names[column] in taking_part]
    order = [column for column, _ in select.ranked(coded) if column in telling][:MOST_COLUMNS]
    pairs = []
    for place, first in enumerate(order):
        for second in order[place + 1 :]:
            information, share = _dependence(coded, first, second)
            if share >= STRONG:
                pairs.append(Pair(names[first], names[second], information, share))
    return sorted(pairs, key=lambda pair: -pair.information)


def _dependence(coded: CodedRows, first: int, second: int) -> tuple[float, float]:
    """(I(first; second | class), its share of the smaller entropy given the class), corrected for chance."""
    counts = coded.counts(len(coded.columns) - 1, first, second)
    total = counts.sum()
    if not total:
        return 0.0, 0.0
    by_one, by_two = counts.sum(axis=2), counts.sum(axis=1)
    free = sum(
        max(int((a > 0).sum()) - 1, 0) * max(int((b > 0).sum()) - 1, 0) for a, b in zip(by_one, by_two, strict=True)
    )
    information = max(conditional_mutual_information(counts) - float(free / (2 * total)), 0.0)
    held = float(min(sum(entropy(part) * part.sum() for part in side) / total for side in (by_one, by_two)))
    return information, information / held if held > 0 else 0.0


def _equal_bins(values: Doubles, counts: Any) -> Doubles:
    return equal_frequency(values, counts, BINS)


def _score(
    kept: list[LabelledRows], classifier: AnyTableClassifier, model: str, options: dict[str, Any]
) -> HeldOutScore:
    from bayesbox.classifier.registry import new_classifier

    other = new_classifier(model, options, classifier.declared, classifier.one_hot)
    other.learn_all(kept)
    log_p = np.concatenate(answers_by_folds(other, kept, folds=FOLDS))
    return _scored(log_p, np.concatenate([class_codes(rows, other.classes) for rows in kept]))


def _scored(log_p: Doubles, codes: object) -> HeldOutScore:
    classes = tuple(str(place) for place in range(log_p.shape[1]))
    labels = Encoded(np.asarray(codes, dtype=np.int32), list(classes), list(classes))
    found = measure(scored(log_p, labels, classes))
    return HeldOutScore(found.log_loss.value, found.calibration_error)
