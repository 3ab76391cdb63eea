"""Predictions for any source, one batch at a time, as Arrow tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.opened import EVERY
from bayesbox.classifier.report.asked import unseen_counter
from bayesbox.decide.costs import Costs, cheapest, cost_matrix
from bayesbox.decide.thresholds import answers_at
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.schema.arrays import AnyArray, numbers_array, repeated_texts
from bayesbox.schema.levels import class_position, level_text
from bayesbox.source.base import Batch, Source
from bayesbox.source.pool import worker_threads
from bayesbox.source.reduce import pieces

CELLS_A_PIECE = 1 << 23  # rows x classes predicted together
ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class PredictOptions:
    """What to output for each row besides the class: all posteriors, the strongest columns, columns to keep."""

    proba: bool = False
    explain: int = 0
    keep: tuple[str, ...] = ()
    unsure: float | None = None  # the lowest probability of a predicted class
    costs: Costs | None = None  # costs by (true class, decision); the cheapest decision is output
    threshold: tuple[str, float] | None = None  # the probability from which a class is output


UNSURE = "unsure"


def unsure_where_low(labels: AnyArray, best: AnyArray, posterior: Doubles, least: float | None) -> pa.Array:
    """The label of the best class of each row; with `least`, "unsure" if no class has that probability.

    >>> shares = np.array([[0.8, 0.2], [0.01, 0.99]])
    >>> unsure_where_low(np.array(["ham", "spam"]), np.array([0, 1]), shares, 0.9).to_pylist()
    ['unsure', 'spam']
    """
    if least is None and labels.dtype.kind != "U":
        return pa.array(labels[best])
    texts = [level_text(label) for label in labels.tolist()]
    if least is not None:
        best = np.where(posterior.max(axis=1) >= least, best, len(texts)) if len(posterior) else best
        texts.append(UNSURE)
    return repeated_texts(texts, np.asarray(best, dtype=np.int64))


class PredictionWriter:
    """The predictions of a classifier as tables: the kept columns, `prediction`, P(class), `explanation`."""

    def __init__(self, classifier: AnyClassifier, asked: PredictOptions, names: Sequence[str], *, where: str) -> None:
        self.classifier = classifier
        self.asked = asked
        self.keep = _kept(asked.keep, names, where)
        self.classes = classifier.model.classes  # makes the model before threads ask for it
        added = ["prediction", *self._posterior_names(), *(["explanation"] if asked.explain else [])]
        twice = [name for name in self.keep if name in added]
        if twice:
            raise BadOption(f"the output would have two columns `{twice[0]}`", remedy="Remove it from the kept columns")
        if asked.unsure is not None and UNSURE in self.classes:
            raise BadOption(f"a class is named {UNSURE}, so the answer would be ambiguous", remedy="Rename the class")
        self.costs = None if asked.costs is None else cost_matrix(asked.costs, self.classes)
        if asked.threshold is not None:
            class_position(asked.threshold[0], self.classes)  # which is there
        self.names = (*self.keep, *added)
        self.unseen = unseen_counter(classifier)
        self._types: dict[str, pa.DataType] = {}

    def decided(self, posterior: Doubles) -> AnyArray:
        """The class of each row: the most probable, the cheapest, or that of the threshold."""
        if not len(posterior):
            return np.zeros(0, dtype=np.int64)
        if self.costs is not None:
            return cheapest(posterior, self.costs)
        if self.asked.threshold is not None:
            name, least = self.asked.threshold
            return answers_at(posterior, self.classes.index(name), least)
        best: AnyArray = posterior.argmax(axis=1)
        return best

    def added_fields(self) -> pa.Schema:
        """The columns added to the kept ones, with their types."""
        label = pa.string() if self.asked.unsure is not None else pa.array(self.classifier.model.labels).type
        fields = [("prediction", label), *((name, pa.float64()) for name in self._posterior_names())]
        return pa.schema([*fields, *([("explanation", pa.string())] if self.asked.explain else [])])

    def no_rows(self) -> pa.Table:
        """The empty table of predictions; kept columns are text."""
        return pa.schema([*((name, pa.string()) for name in self.keep), *self.added_fields()]).empty_table()

    def _posterior_names(self) -> list[str]:
        return [f"P({name})" for name in self.classes] if self.asked.proba else []

    def of(self, batch: Batch) -> pa.Table:
        """The predictions for one batch; with many classes, some rows at a time."""
        batch = self.unseen(batch)
        step = max(CELLS_A_PIECE // len(self.classes), 1)
        pieces = [self._of(batch.slice(first, first + step)) for first in range(0, max(batch.rows, 1), step)]
        return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)

    def _of(self, batch: Batch) -> pa.Table:
        columns = [_arrow(batch[name]) for name in self.keep]
        asked = self.asked
        if asked.explain or asked.proba or asked.unsure is not None or asked.costs or asked.threshold:
            posterior = self.classifier.posterior(batch)
            best = self.decided(posterior)
            columns.append(unsure_where_low(self.classifier.model.labels, best, posterior, self.asked.unsure))
            if self.asked.proba:
                columns.extend(
                    numbers_array(np.ascontiguousarray(posterior[:, index])) for index in range(len(self.classes))
                )
            if self.asked.explain:
                columns.append(self._explanations(batch, posterior, best))
        else:
            columns.append(pa.array(self.classifier.predict(batch)))
        return self._settled(pa.table(columns, names=list(self.names)))

    def _explanations(self, batch: Batch, posterior: Doubles, best: AnyArray) -> pa.ChunkedArray:
        """The strongest evidence for the class of each row against the runner-up, as text."""
        if len(self.classes) < 2:
            return pa.array([""] * batch.rows)
        others = posterior.copy()
        others[np.arange(batch.rows), best] = -1
        return self.classifier.explained_texts(batch, best, others.argmax(axis=1), self.asked.explain)

    def _settled(self, table: pa.Table) -> pa.Table:
        """The table with the types of the first table; a kept column without any value so far is text."""
        if not self._types:
            types = {field.name: pa.string() if pa.types.is_null(field.type) else field.type for field in table.schema}
            self._types = types
        wanted = pa.schema(list(self._types.items()))
        return table if table.schema.equals(wanted) else table.cast(wanted)


def _kept(keep: Sequence[str], names: Sequence[str], where: str) -> tuple[str, ...]:
    if EVERY in keep:
        return tuple(names)
    for name in keep:
        if name not in names:
            raise UnknownColumn(name, available=names, where=where)
    return tuple(dict.fromkeys(keep))


def _arrow(column: Any) -> Any:
    """A column as an Arrow array without dictionary encoding."""
    array = pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def answer_tables(answers: PredictionWriter, source: Source, *, threads: int = 1) -> Iterator[pa.Table]:
    """The tables of all batches in order; with threads, a few batches are processed concurrently."""
    if threads <= 1:
        for piece in pieces(source, rows=ROWS_AT_ONCE):
            yield answers.of(piece)
        return
    waiting: deque[Future[pa.Table]] = deque()
    with worker_threads(threads) as pool:
        for piece in pieces(source, rows=ROWS_AT_ONCE):
            waiting.append(pool.submit(answers.of, piece))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def find_row(source: Source, number: int) -> Batch:
    """The row with this number, counted from 1."""
    rows = 0
    for batch in source.batches():
        rows = batch.first_row + batch.rows
        if number <= rows:
            place = number - 1 - batch.first_row
            return batch.slice(place, place + 1)
    raise BadOption(f"no row {number}: the data have {rows} rows", where=source.name)
