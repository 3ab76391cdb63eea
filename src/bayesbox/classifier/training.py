"""What all ways of training share: the parts of a batch, pending rows, the summary and the progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.schema.columns import as_numbers, as_view
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.levels import natural_label_type
from bayesbox.source.base import Batch, Source

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.hints import Hint
    from bayesbox.classifier.train import CountedBook

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Training:
    """The summary of a training: the numbers of rows read, dropped without a label, and skipped as malformed."""

    rows: int
    unlabelled: int
    skipped: int = 0


def one_class(classes: Sequence[str]) -> list[Hint]:
    """The warning if all rows have the same class.

    >>> [str(hint) for hint in one_class(["yes"])], one_class(["no", "yes"])
    (['every row has the class yes, so every prediction will be yes'], [])
    """
    if len(classes) != 1:
        return []
    from bayesbox.classifier.hints import Hint, Reason

    what = f"every row has the class {classes[0]}, so every prediction will be {classes[0]}"
    return [Hint(Reason.ONE_CLASS, (), what)]


def split_columns(
    batch: Batch, target: str, weight: str | None = None, *, where: str | None = None
) -> tuple[dict[str, Any], Encoded, Any]:
    """(columns, labels, weights) of a batch."""
    if weight is not None and weight == target:
        raise BadOption(f"`{weight}` cannot be both the target and the weight")
    columns = {name: as_view(column) for name, column in zip(batch.names, batch.columns, strict=True)}
    for name in (target, weight):
        if name is not None and name not in columns:
            raise UnknownColumn(name, available=columns, where=where)
    labels = encode(columns.pop(target))
    weights = None if weight is None else np.asarray(as_numbers(columns.pop(weight), name=weight), dtype=np.float64)
    return columns, labels, weights


# -- rows that are counted before the model is locked that they change -------------------------------------------------


@dataclass(frozen=True)
class PendingRows:
    """Rows counted for a classifier, to be added to or subtracted from it, possibly in a later version.

        pending = count_source(classifier, source, target)      may take long; nothing is locked
        newest = load(...)                                      under the lock
        pending.apply(newest)

    Counting rows needs the types of the columns, the rules and the derived parts, but not the tallies. So other
    processes may change the tallies meanwhile; `fits` is false if they change the rest.
    """

    counted: CountedBook
    classifier: AnyClassifier  # the classifier when the rows were counted
    untyped: bool
    labelled_by: str | None
    forget: bool
    skipped: int = 0

    def fits(self, newer: AnyClassifier) -> bool:
        """Whether a newer version of the classifier would count these rows the same."""
        return counts_alike(self.classifier, newer)

    def apply(self, classifier: AnyClassifier) -> None:
        """Add the rows to a classifier, or subtract them; if they were never learned, nothing changes."""
        classifier.require_counts("forget" if self.forget else "learn")
        learned = self.counted.book
        if self.untyped:  # texts such as 1, 2, 3 may be integers
            learned = learned.with_label_type(
                natural_label_type(learned.classes) if classifier.schema is None else classifier.book.label_type
            )
        if self.forget and classifier.redacted is not None:
            from bayesbox.classifier.privacy.redact import require_not_pooled

            require_not_pooled(classifier.book, learned)
        book = classifier.book - learned if self.forget else classifier.book + learned
        if self.forget:
            classifier.require_possible(book)
        classifier.take_in(classifier.schema_with(self.counted.schema), book, self.counted)
        if self.labelled_by is not None:
            classifier.learned_from(self.labelled_by)

    def training(self) -> Training:
        """The summary of the counting."""
        return Training(self.counted.rows, self.counted.unlabelled, self.skipped)


def count_source(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    forget: bool = False,
) -> PendingRows:
    """Count all rows of a source, to be learned (or forgotten) later; the classifier does not change."""
    from bayesbox.classifier.train import StreamedRows, count_rows, nothing_labelled

    rows = StreamedRows(source, target, weight, progress=progress)
    pending = count_rows(classifier, rows, threads=threads, forget=forget)
    if pending is None:
        raise nothing_labelled(classifier, source)
    return pending


def counts_alike(one: AnyClassifier, other: AnyClassifier) -> bool:
    """Whether two classifiers, such as two versions of one, count rows in the same way."""
    if type(one) is not type(other) or not one.counts_like(other) or one.schema is None or other.schema is None:
        return False
    same = ("derived", "feature_names", "target", "target_cuts", "ledger")
    alike = all(getattr(one, name) == getattr(other, name) for name in same)
    return alike and (one.schema.kinds, one.schema.numeric) == (other.schema.kinds, other.schema.numeric)


def counts_apart(classifier: AnyClassifier) -> bool:
    """Whether rows can be counted now and added to a later version, since nothing is derived from them."""
    return classifier.schema is not None and not classifier.unfinished() and not classifier.needs_refit()
