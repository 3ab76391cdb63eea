"""Training from any source: DataFrames, files, streams. One pass, one batch at a time, on several threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.opened import ReadingOptions
from bayesbox.classifier.options import AUTO_CALIBRATION, FEWEST_CALIBRATED
from bayesbox.classifier.row_sample import KeyedRows, Sampled, keyed
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.target.check import TargetCheck, require_few_classes
from bayesbox.classifier.training import PendingRows, Progress, Training, split_columns
from bayesbox.errors import BadData, BadOption
from bayesbox.limits import current_limits
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import kinds_by_key
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch, Source
from bayesbox.source.registry import FRAME, kind_of_data
from bayesbox.source.shapes import is_path
from bayesbox.source.wrapped import Recorded
from bayesbox.tally.book import Book
from bayesbox.tally.ledger import count_ledger

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier

MOST_SAMPLED = 3_000  # the minimum sample of rows kept to choose a calibration
SAMPLED_CELLS = 2_000_000  # rows times columns, so that fewer wide rows are kept


@dataclass(frozen=True)
class CountedBook:
    """The counts of some rows, which can be added."""

    schema: Schema
    book: Book
    rows: int = 0
    unlabelled: int = 0
    dropped: int = 0  # words dropped because of a limit
    most_classes: int = 0  # 0 if that does not matter

    def __add__(self, other: CountedBook) -> CountedBook:
        if self.most_classes and len(self.book.classes) + len(other.book.classes) > self.most_classes:
            require_few_classes(len({*self.book.classes, *other.book.classes}), most=self.most_classes)
        return CountedBook(
            self.schema.merged(other.schema),
            self.book + other.book,
            self.rows + other.rows,
            self.unlabelled + other.unlabelled,
            self.dropped + other.dropped,
            self.most_classes,
        )


def source_of(
    data: object,
    target: str | None = None,
    declared: Mapping[Any, object] | None = None,
    *,
    weight: str | None = None,
    threads: int = 1,
    finite: bool | None = None,
    **options: Any,
) -> Source:
    """Rows from a source, a frame, or the name of a file, a glob or a folder.

    The target and declared categories are read as unchanged text, declared numbers and the weight as numbers; ignored
    columns are not read. Rows with an infinite number count as malformed if there is a target, or with `finite`.
    """
    if not is_path(data):
        kind = kind_of_data(data)
        if kind.name == FRAME and not ReadingOptions(**options).is_plain:
            raise BadOption(
                "na, bad_rows, format and similar parameters apply to files, but these data are not a file",
                found=type(data).__name__,
            )
        return kind.opener()(data)
    from bayesbox.source.files.open import open_source

    kinds = {str(name): kind for name, kind in kinds_by_key(declared).items()}
    text = {name for name, kind in kinds.items() if kind.has_levels or kind.is_text or kind.translates}
    number = {name for name, kind in kinds.items() if kind.is_number and not kind.translates}
    unread = {name for name, kind in kinds.items() if not kind.is_used}
    if target is not None:
        text.add(target)
    if weight is not None:
        number.add(weight)
    return open_source(
        data,
        text=frozenset(text),
        number=frozenset(number),
        unread=frozenset(unread) - {target, weight},
        threads=threads,
        refuse_mixed=target is not None,
        finite=target is not None if finite is None else finite,
        weight=weight,
        **options,
    )


class TrainingRows(ABC):
    """Labelled rows, in memory or streamed, that a classifier can count, if necessary more than once."""

    name: str | None = None
    """The name of the source, for messages."""
    streams: bool = True
    """Whether there may be many batches."""
    remote: bool = False
    """Whether rows are counted on other machines."""
    check: TargetCheck | None = None
    """The check for labels that are measurements."""

    @property
    def untyped(self) -> bool:
        """Whether labels such as 1 and 2 came as text."""
        return False

    @property
    def labelled_by(self) -> str | None:
        """The name of the target column, if there is one."""
        return None

    def expect_classes(self) -> None:  # noqa: B027  labels in memory are what their owner made of them
        """Enable the check for labels that are measurements."""

    @abstractmethod
    def reduce(self, count: Callable[[LabelledRows], CountedBook], *, threads: int = 1) -> CountedBook | None:
        """The sum of the counts of all batches; None if there are no batches."""

    @abstractmethod
    def again(self) -> list[LabelledRows]:
        """The counted rows, in memory."""

    def sample(self) -> KeyedRows:
        """The counted rows, or a sample if there are many, in memory with the keys of their row numbers."""
        return keyed(self.again())

    @abstractmethod
    def require_again(self) -> None:
        """Raise an error if the rows cannot be read again."""

    def skipped(self) -> int:
        """The malformed rows that were skipped."""
        return 0


class RowsInMemory(TrainingRows):
    """Some batches of rows."""

    streams = False

    def __init__(self, parts: Sequence[LabelledRows], name: str | None = None) -> None:
        self.parts = parts
        self.name = name

    def reduce(self, count: Callable[[LabelledRows], CountedBook], *, threads: int = 1) -> CountedBook | None:  # noqa: ARG002
        total: CountedBook | None = None
        for part in self.parts:
            counted = count(part)
            total = counted if total is None else total + counted
        return total

    def again(self) -> list[LabelledRows]:
        return list(self.parts)

    def require_again(self) -> None:
        pass


class StreamedRows(TrainingRows):
    """The rows of a source with a target column and, optionally, a weight column."""

    def __init__(
        self,
        source: Source,
        target: str,
        weight: str | None = None,
        *,
        progress: Progress | None = None,
        sample: int | None = None,
    ) -> None:
        self.source = Sampled(source, sample, cells=SAMPLED_CELLS) if sample else source
        self.name: str = source.name
        self.target = target
        self.weight = weight
        self.progress = progress
        self.remote = self.source.remote

    @property
    def labelled_by(self) -> str | None:
        return self.target

    @property
    def untyped(self) -> bool:
        return self.source.untyped

    def expect_classes(self) -> None:
        self.check = TargetCheck.of(self.target, self.source)

    def reduce(self, count: Callable[[LabelledRows], CountedBook], *, threads: int = 1) -> CountedBook | None:
        counting = CountBatch(count, self.target, self.weight, self.name, self.check)
        progress = self.progress
        if progress is None or self.remote:  # rows counted on other machines are not seen here
            return self.source.reduce(counting, threads=threads)

        def tally_of(batch: Batch) -> CountedBook:
            counted = counting(batch)
            progress(batch.rows)
            return counted

        return self.source.reduce(tally_of, threads=threads)

    def again(self) -> list[LabelledRows]:
        if isinstance(self.source, Recorded):
            return [labelled_rows(batch, self.target, self.weight, where=self.name) for batch in self.source.given]
        if isinstance(self.source, Sampled):
            kept = sorted(self.source.kept, key=lambda batch: batch.first_row)
            return [labelled_rows(batch, self.target, self.weight, where=self.name) for batch in kept]
        self.require_again()
        return [labelled_rows(batch, self.target, self.weight, where=self.name) for batch in self.source.batches()]

    def sample(self) -> KeyedRows:
        if not isinstance(self.source, Sampled):
            return super().sample()
        kept = self.source.in_order()
        return [(labelled_rows(batch, self.target, self.weight, where=self.name), keys) for batch, keys in kept]

    def require_again(self) -> None:
        require_rereadable(self.source)

    def skipped(self) -> int:
        return self.source.skipped.count


def require_rereadable(source: Source) -> None:
    """Raise an error if a source cannot be read again."""
    if not source.rereadable:
        raise BadOption(
            "this kind of model reads the rows more than once, but they come from a pipe",
            where=source.name,
            remedy="Write them to a file first",
        )


@dataclass
class CountBatch:
    """Counts a batch of a source. It does not refer to the source, so that it can be sent to other machines."""

    count: Callable[[LabelledRows], CountedBook]
    target: str
    weight: str | None
    where: str
    check: TargetCheck | None = None

    def __call__(self, batch: Batch) -> CountedBook:
        rows = labelled_rows(batch, self.target, self.weight, where=self.where)
        if self.check is not None:
            self.check.batch(rows.labels)
        return self.count(rows)


def labelled_rows(batch: Batch, target: str, weight: str | None = None, *, where: str | None = None) -> LabelledRows:
    """The rows of a batch with the target and the weight separated."""
    columns, labels, weights = split_columns(batch, target, weight, where=where)
    return LabelledRows(Batch(tuple(columns), tuple(columns.values()), batch.rows, batch.first_row), labels, weights)


@dataclass
class RowCounter:
    """Counts batches of rows independently."""

    classifier: AnyClassifier
    where: str | None
    first: Schema | None = None  # the schema of the first batch counted here
    in_order: bool = False  # whether one thread must count all batches
    most_classes: int = 0  # the limit of this process, since it may be sent to other machines

    def __post_init__(self) -> None:
        self.most_classes = max(current_limits().classes, len(self.classifier.book.classes))

    def __call__(self, rows: LabelledRows) -> CountedBook:
        """The counts of one batch."""
        classifier, batch, labels = self.classifier, rows.batch, rows.labels
        if len(labels.levels) > self.most_classes:
            require_few_classes(len(labels.occurring()), most=self.most_classes, where=self.where)
        if len(labels.codes) != batch.rows:
            raise BadData(f"{batch.rows} {classifier.unit}s, but {len(labels.codes)} labels", where=self.where)
        columns = classifier.named(batch, where=self.where)
        schema = self._schema(columns)
        columns = schema.expanded(columns, where=self.where, first_row=batch.first_row)
        options = {"weights": rows.weights, "where": self.where, "first_row": batch.first_row}
        book = self.tallies(columns, labels, schema, **options)
        if classifier.ledger:
            book = book.with_ledger(count_ledger(columns, labels, schema, **options))
        return CountedBook(schema, book, batch.rows, int((labels.codes < 0).sum()), most_classes=self.most_classes)

    def tallies(self, columns: Mapping[str, Any], labels: Encoded, schema: Schema, **options: Any) -> Book:
        """The tallies of these rows."""
        return self.classifier.count(columns, labels, schema, **options)

    def total(self, counted: CountedBook) -> CountedBook:
        """The sum of all batches, including what is counted for all batches together."""
        return counted

    def _schema(self, columns: Mapping[str, Any]) -> Schema:
        if self.classifier.schema is None and self.first is not None:
            found = self.first.extended(columns, where=self.where)
            if len(found.kinds) > len(self.first.kinds):
                self.first = found  # a column without values so far turned out to have dates
            return found
        self.first = self.classifier.schema_of(columns, where=self.where)
        return self.first


def count_rows(
    classifier: AnyClassifier, rows: TrainingRows, *, threads: int = 1, forget: bool = False
) -> PendingRows | None:
    """Count rows for a classifier without changing it; None if there are no batches.

    In the first training, derived parts are learned here, and the rows are then counted again.
    """
    classifier.require_counts("forget" if forget else "learn")
    first, derived = classifier.schema is None, classifier.derived
    if first and not forget:
        rows.expect_classes()
    try:
        while True:
            counter = classifier.counter(rows.name, streams=rows.streams, remote=rows.remote, forget=forget)
            found = rows.reduce(counter, threads=1 if counter.in_order else threads)
            if found is None or (rows.streams and found.rows == found.unlabelled):
                classifier.derived = derived
                return None
            counted = counter.total(found)
            require_few_classes(len(counted.book.classes), known=len(classifier.book.classes), where=rows.name)
            if rows.check is not None:
                labelled = counted.rows - counted.unlabelled
                rows.check.total(counted.book.classes, counted.book.label_type, labelled)
            if not first or not classifier.derive(counted.schema, counted.book):
                break
            rows.require_again()
    except BaseException:
        classifier.derived = derived
        raise
    return PendingRows(counted, classifier, rows.untyped, rows.labelled_by, forget, rows.skipped())


def count_into(
    classifier: AnyClassifier, rows: TrainingRows, *, threads: int = 1, forget: bool = False
) -> CountedBook | None:
    """Add rows to a classifier, or subtract them; it changes only after all are counted. None if there are no batches.

    This is the only training loop: the rows are counted, again if something was derived from the counts, and in the
    first training a second pass may learn from the rows themselves.
    """
    unfinished = not forget and classifier.unfinished()
    pending = count_rows(classifier, rows, threads=threads, forget=forget)
    if pending is None:
        return None
    pending.apply(classifier)
    if unfinished:
        _finish(classifier, rows, pending.counted.rows)
    return pending.counted


def _finish(classifier: AnyClassifier, rows: TrainingRows, counted: int) -> None:
    """Learn what the rows give beyond counts."""
    if classifier.has_second_pass():
        classifier.refine(rows.again())
    too_few = classifier.calibrate == AUTO_CALIBRATION and counted < FEWEST_CALIBRATED
    if classifier.calibrate is not None and not too_few:
        from bayesbox.classifier.calibration.learn import learn_calibration

        learn_calibration(classifier, rows)


def _sampled_rows(classifier: AnyClassifier) -> int | None:
    """The minimum number of rows to keep for learning after counting; None for all."""
    if classifier.calibrate not in (None, AUTO_CALIBRATION):
        return None
    sampled = MOST_SAMPLED if classifier.calibrate == AUTO_CALIBRATION else 0
    if not classifier.has_second_pass():
        return sampled or None
    return None if classifier.second_pass_rows is None else max(classifier.second_pass_rows, sampled)


def train(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    forget: bool = False,
) -> Training:
    """Learn (or forget) all rows of a source; the number of dropped rows without a label is reported.

    The classifier changes only after all rows are counted.
    """
    unfinished = not forget and classifier.unfinished()
    rows = StreamedRows(
        classifier.recorded(source, target) if unfinished else source,
        target,
        weight,
        progress=progress,
        sample=_sampled_rows(classifier) if unfinished and not source.remote else None,
    )
    counted = count_into(classifier, rows, threads=threads, forget=forget)
    if counted is None:
        raise nothing_labelled(classifier, source)
    return Training(counted.rows, counted.unlabelled, rows.skipped())


def nothing_labelled(classifier: AnyClassifier, source: Source) -> BadData:
    """The error if no row has a label."""
    remedy = "The data have no rows, or the target column is empty: check the file and the name of the column"
    return BadData(f"no {classifier.unit} has a label", where=source.name, remedy=remedy)
