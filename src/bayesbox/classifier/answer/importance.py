"""Column importance: the information of each column about the class, and the loss without it.

The information of a column is its mutual information with the class if no other column is known, I(class; column) in
bits. The loss is measured on labelled rows: the mean log loss with the column marginalised, less that with all columns.
Naive Bayes drops the term; other models predict with the column missing in every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.answer.ask_next import BY_COUNTS, UNCALIBRATED, AnswerInformation, answer_information
from bayesbox.classifier.answer.rows import nothing_known
from bayesbox.classifier.rows import LabelledRows
from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.file.reader import Json
from bayesbox.stat.information import entropy_bits, shares_of, word_information
from bayesbox.stat.metrics import EPSILON

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.dist.base import Doubles
    from bayesbox.source.base import Batch

LOG_LEAST = float(np.log(EPSILON))
MOST_CELLS = 20_000  # classes x columns above which information is computed only on request
BY_WORD = "the information of words is that of one word drawn from a text"


@dataclass(frozen=True)
class ColumnImportance:
    """The importance of one column or word: its information in bits, and the loss and accuracy without it.

    `loss` is the increase of the mean log loss, `accuracy_drop` the decrease of the accuracy; both are None without
    labelled rows.
    """

    column: str
    information: float | None
    loss: float | None = None
    accuracy_drop: float | None = None

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "column": self.column,
            "information": self.information,
            "loss": self.loss,
            "accuracy_drop": self.accuracy_drop,
        }


@dataclass(frozen=True, repr=False)
class Importance(Result):
    """The columns, or words, by importance; iterate over them, or look one up by name.

    `entropy` is that of the class prior in bits, the upper bound of the information. `log_loss` and `accuracy` are
    those of the given rows, or None.
    """

    target: str
    columns: tuple[ColumnImportance, ...]
    entropy: float
    rows: int = 0
    log_loss: float | None = None
    accuracy: float | None = None
    of: str = "column"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[ColumnImportance]:
        return iter(self.columns)

    def __getitem__(self, name: str | int) -> ColumnImportance:
        if isinstance(name, int):
            return self.columns[name]
        found = next((each for each in self.columns if each.column == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def _headline(self) -> str:
        first = ", ".join(each.column for each in self.columns[:3])
        return f"Importance({len(self)} {self.of}s for {self.target}: {first}{', ...' if len(self) > 3 else ''})"

    def _title(self) -> str:
        if self.log_loss is None:
            return f"information of each {self.of} about {self.target} (entropy {self.entropy:.4f} bits)"
        return (
            f"information of each {self.of} about {self.target} (entropy {self.entropy:.4f} bits), and the loss "
            f"without it on {self.rows:,} rows (log loss {self.log_loss:.4f}, accuracy {self.accuracy:.4f})"
        )

    def _blocks(self) -> Sequence[Block]:
        judged = self.log_loss is not None
        shown = [each.loss if judged else each.information for each in self.columns]
        longest = max((abs(value) for value in shown if value is not None), default=0.0) or 1.0
        rows = [
            [
                each.column,
                "" if each.information is None else f"{each.information:.4f}",
                *([_signed(each.loss), _signed(each.accuracy_drop, -1)] if judged else []),
                Bar((value or 0.0) / longest),
            ]
            for each, value in zip(self.columns, shown, strict=True)
        ]
        names = [self.of, "bits", *(["log loss without it", "accuracy without it"] if judged else []), ""]
        table = TableBlock(names, rows, right=range(1, len(names) - 1))
        return [table, *([TextBlock("\n".join(self.notes))] if self.notes else [])]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        found: dict[str, Sequence[Any]] = {
            self.of: [each.column for each in self.columns],
            "information": [each.information for each in self.columns],
        }
        if self.log_loss is not None:
            found["loss"] = [each.loss for each in self.columns]
            found["accuracy_drop"] = [each.accuracy_drop for each in self.columns]
        return found

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "target": self.target,
            "of": self.of,
            "entropy": self.entropy,
            "rows": self.rows,
            "log_loss": self.log_loss,
            "accuracy": self.accuracy,
            "columns": [each.to_dict() for each in self.columns],
            "notes": list(self.notes),
        }


def _signed(value: float | None, sign: int = 1) -> str:
    """A difference as text, without a minus sign if it rounds to zero."""
    return f"{round(sign * (value or 0.0), 4) + 0.0:+.4f}"


def ranked(columns: Sequence[ColumnImportance]) -> tuple[ColumnImportance, ...]:
    """The columns by loss if it is known, else by information; the most important first."""

    def key(each: ColumnImportance) -> tuple[float, float]:
        return -(each.loss or 0.0), -(each.information or 0.0)

    return tuple(sorted(columns, key=key))


def column_information(classifier: AnyTableClassifier) -> tuple[dict[str, float], tuple[str, ...]]:
    """I(class; column) in bits if no other column is known, with notes."""
    weighed = answer_information(classifier, nothing_known(classifier))
    found, notes = weighed.bits(), []
    notes += [BY_COUNTS] if weighed.weighed_by_counts else []
    notes += [UNCALIBRATED] if classifier.calibrated is not None else []
    words = _words(classifier, weighed)
    notes += [BY_WORD] if words else []
    return found | words, tuple(notes)


def quick_information(classifier: AnyTableClassifier) -> dict[str, float]:
    """The same if it is cheap to compute, for the summary of a model; else empty."""
    tallies: Iterable[Any] = classifier.book.columns.values()
    most_levels = max((len(tally.levels) for tally in tallies if tally.form == "counts"), default=0)
    cells = len(classifier.model.classes) * max(len(classifier.feature_names), most_levels)
    if cells > MOST_CELLS or classifier.answers_are_slow or len(classifier.model.classes) < 2:
        return {}
    return column_information(classifier)[0]


def _words(classifier: AnyTableClassifier, weighed: AnswerInformation) -> dict[str, float]:
    """The information of columns of words and of groups of counts, from their tallies."""
    schema, book = classifier.model_schema(), classifier.counted().book.with_classes(classifier.model.classes)
    names = [name for name in weighed.given if schema.kinds[name].is_text or schema.kinds[name].is_matrix]
    prior = shares_of(np.asarray(classifier.model.log_prior)[None])[0][0]
    return {name: float(word_information(book[name].counts, prior).sum()) for name in names if name in book}


class LossCounter:
    """Sums the losses of rows with and without each column, one batch at a time."""

    def __init__(self, classifier: AnyTableClassifier) -> None:
        self.classifier = classifier
        self.information, self.notes = column_information(classifier)
        silent = {*classifier.model.ignored, *classifier.ignored}
        assert classifier.schema is not None
        self.names = [name for name in classifier.schema.used_columns if name not in silent]
        self.answers = {name: _answer_without(classifier, name) for name in self.names}
        self.rows = 0
        self.sums = np.zeros((len(self.names) + 1, 2))  # log loss and correct predictions; first with all columns
        self.unknown = 0

    def add(self, rows: LabelledRows) -> None:
        """Add the losses of some rows."""
        place = {name: index for index, name in enumerate(self.classifier.model.classes)}
        of_level = np.array([*(place.get(name, -1) for name in rows.labels.levels), -1], dtype=np.int64)
        true = of_level[rows.labels.codes]
        there = np.flatnonzero(true >= 0)
        self.unknown += int((of_level[rows.labels.codes] < 0).sum())
        if not len(there):
            return
        true = true[there]
        self.rows += len(there)
        batch = rows.batch
        self.sums[0] += _judged(self.classifier.log_posterior(batch)[there], true)
        for index, name in enumerate(self.names):
            self.sums[index + 1] += _judged(self.answers[name](batch)[there], true)

    def result(self) -> Importance:
        """The columns by importance."""
        prior = shares_of(np.asarray(self.classifier.model.log_prior)[None])[0]
        target, entropy = self.classifier.target or "class", float(entropy_bits(prior)[0])
        if not self.rows:
            found = [ColumnImportance(name, self.information.get(name)) for name in self.names]
            return Importance(target, ranked(found), entropy, notes=self.notes)
        loss, accuracy = (self.sums / self.rows).T
        found = [
            ColumnImportance(
                name,
                self.information.get(name),
                float(loss[index + 1] - loss[0]),
                float(accuracy[0] - accuracy[index + 1]),
            )
            for index, name in enumerate(self.names)
        ]
        more = (f"{self.unknown:,} rows have a class that is unknown to the model",) if self.unknown else ()
        notes = (*self.notes, *more)
        return Importance(target, ranked(found), entropy, self.rows, float(loss[0]), float(accuracy[0]), notes=notes)


def _judged(log_p: Doubles, true: Any) -> Doubles:
    """The sum of the log losses and the number of correct predictions."""
    loss = -np.maximum(log_p[np.arange(len(true)), true], LOG_LEAST).sum()
    return np.array([loss, float((log_p.argmax(axis=1) == true).sum())])


def _answer_without(classifier: AnyTableClassifier, name: str) -> Callable[[Batch], Doubles]:
    """A function that returns log P(class | x) without a column."""
    assert classifier.schema is not None
    model: Any = classifier.model
    if classifier.columns_are_independent and not classifier.fixed:
        gone = {name, *classifier.schema.parts.get(name, ())}
        own = [each for each in model.conditionals if gone & set(each.columns)]
        if all(len(each.columns) == 1 for each in own):
            kept = tuple(each for each in model.conditionals if not gone & set(each.columns))
            other = classifier.changed(_model=replace(model, conditionals=kept))
            return other.log_posterior
    return lambda batch: classifier.log_posterior(without_column(classifier, batch, name))


def without_column(classifier: AnyTableClassifier, batch: Batch, name: str) -> Batch:
    """The rows with a column missing in every row."""
    gone = {name, *classifier.one_hot.get(name, ())}
    kept = {each: column for each, column in zip(batch.names, batch.columns, strict=True) if each not in gone}
    known = set(classifier.feature_names) & set(kept)
    if not known:
        first = next(iter(classifier.feature_names))
        kept = {first: pa.nulls(batch.rows)}
    return replace_columns(batch, kept)


def replace_columns(batch: Batch, columns: Mapping[str, Any]) -> Batch:
    """The same rows with some columns replaced."""
    return type(batch)(tuple(columns), tuple(columns.values()), batch.rows, batch.first_row)
