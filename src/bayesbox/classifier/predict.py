"""Predict from any source, a batch at a time: what a model reads of a file, and the answers as Arrow tables."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.classifier.base import Classifier
from bayesbox.decide.costs import Costs, cheapest, cost_matrix
from bayesbox.decide.thresholds import answers_at
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.explain.evidence import lead
from bayesbox.schema.arrays import numbers_array, repeated_texts
from bayesbox.schema.compute import pc
from bayesbox.schema.encode import encode
from bayesbox.schema.kinds import Category, Count, Flag, Ignore, Number, Real, Words
from bayesbox.schema.levels import class_position, level_text
from bayesbox.source.base import Batch, Source
from bayesbox.source.reduce import pieces

EVERY = "*"  # keeps all columns
TERMS_AT_ONCE = 4_000_000  # rows x classes x columns that an explanation holds in memory
ROWS_AT_ONCE = 65_536
LONGEST = 60  # characters of a value that an explanation shows


def reading_of(
    classifier: Classifier,
    *,
    keep: Sequence[str] = (),
    target: str | None = None,
    weight: str | None = None,
    learning: bool = False,
) -> dict[str, Any]:
    """How a file is to be read so that its columns are what the model takes them for: `text` and `number`; `only`
    those of the model are looked at, and those that are kept, the `target` and the `weight`.

    A column that is only kept is read as it stands, so that 007 stays 007. A flag is told from its values where rows
    are learned, for then another value is a contradiction; else it is read as text, and another value is unseen.
    """
    assert classifier.schema is not None
    kinds, declared = classifier.schema.kinds, classifier.schema.declared
    number = {name for name, kind in kinds.items() if isinstance(kind, (Real, Count, Number))}
    text = {name for name, kind in kinds.items() if isinstance(kind, (Category, Words))}
    text |= {name for name, kind in kinds.items() if isinstance(kind, Flag) and (name in declared or not learning)}
    used = set(classifier.feature_names) - {name for name, kind in kinds.items() if isinstance(kind, Ignore)}
    text |= {name for name in keep if name not in used}
    text |= {name for name in (target or classifier.target,) if name is not None}
    if weight is not None:
        number.add(weight)
    every = EVERY in keep
    only = None if every else frozenset(used | text | number)
    columns = {"text": frozenset(text), "number": frozenset(number), "only": only, "as_text": every}
    return {**columns, "finite": True, "weight": weight}


def absent_columns(classifier: Classifier, names: Sequence[str], *, where: str) -> list[str]:
    """The model's columns that are not among the names, each with the nearest name; an error if none is there."""
    assert classifier.schema is not None
    used = [flag for name in classifier.schema.used for flag in classifier.fold.get(name, (name,))]
    there = frozenset(names)
    absent = [name for name in used if name not in there]
    if used and len(absent) == len(used):
        near = next((name for name in used if difflib.get_close_matches(name, names, n=1)), used[0])
        error = UnknownColumn(near, available=names, where=where)
        raise BadData("none of the model's columns is there", where=where, remedy=_remedy(near, error))
    return absent


def _remedy(name: str, error: UnknownColumn) -> str:
    return f"It needs `{name}`, for example. {error.remedy}"


@dataclass(frozen=True)
class PredictOptions:
    """What to answer for each row besides the class: all posteriors, the strongest columns, columns to keep."""

    proba: bool = False
    explain: int = 0
    keep: tuple[str, ...] = ()
    unsure: float | None = None  # the least probability of a class that is given
    costs: Costs | None = None  # of answers, by (true class, answer): the cheapest is given
    threshold: tuple[str, float] | None = None  # a class is given where its probability is at least so much


UNSURE = "unsure"


def unsure_where_low(labels: NDArray[Any], best: NDArray[Any], posterior: Any, least: float | None) -> pa.Array:
    """The label of the best class of each row; with `least`, "unsure" where no class reaches that probability.

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
    """The answers of a classifier, table by table: the kept columns, `prediction`, P(class), `explanation`."""

    def __init__(self, classifier: Classifier, asked: PredictOptions, names: Sequence[str], *, where: str) -> None:
        self.classifier = classifier
        self.asked = asked
        self.keep = _kept(asked.keep, names, where)
        self.classes = classifier.model.classes  # makes the model before threads ask for it
        added = ["prediction", *self._posterior_names(), *(["explanation"] if asked.explain else [])]
        twice = [name for name in self.keep if name in added]
        if twice:
            raise BadOption(f"`{twice[0]}` would be there twice", remedy="Do not keep it")
        if asked.unsure is not None and UNSURE in self.classes:
            raise BadOption(f"a class is called {UNSURE}: the answer could mean either", remedy="Rename the class")
        self.costs = None if asked.costs is None else cost_matrix(asked.costs, self.classes)
        if asked.threshold is not None:
            class_position(asked.threshold[0], self.classes)  # which is there
        self.names = (*self.keep, *added)
        self._types: dict[str, pa.DataType] = {}

    def decided(self, posterior: Any) -> Any:
        """The class of each row: the most probable, the cheapest, or what the threshold makes of it."""
        if not len(posterior):
            return np.zeros(0, dtype=np.int64)
        if self.costs is not None:
            return cheapest(posterior, self.costs)
        if self.asked.threshold is not None:
            name, least = self.asked.threshold
            return answers_at(posterior, self.classes.index(name), least)
        return posterior.argmax(axis=1)

    def added_fields(self) -> pa.Schema:
        """The columns that are added to those that are kept, with their types."""
        label = pa.string() if self.asked.unsure is not None else pa.array(self.classifier.model.labels).type
        fields = [("prediction", label), *((name, pa.float64()) for name in self._posterior_names())]
        return pa.schema([*fields, *([("explanation", pa.string())] if self.asked.explain else [])])

    def no_rows(self) -> pa.Table:
        """The answers for no row at all; what was kept is then text."""
        return pa.schema([*((name, pa.string()) for name in self.keep), *self.added_fields()]).empty_table()

    def _posterior_names(self) -> list[str]:
        return [f"P({name})" for name in self.classes] if self.asked.proba else []

    def of(self, batch: Batch) -> pa.Table:
        """The answers for one batch."""
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

    def _settled(self, table: pa.Table) -> pa.Table:
        """The same types in every table: those of the first; a kept column without a value so far is text."""
        if not self._types:
            types = {field.name: pa.string() if pa.types.is_null(field.type) else field.type for field in table.schema}
            self._types = types
        wanted = pa.schema(list(self._types.items()))
        return table if table.schema.equals(wanted) else table.cast(wanted)

    def _explanations(self, batch: Batch, posterior: Any, best: Any) -> pa.ChunkedArray:
        cells = len(self.classes) * max(len(self.classifier.model.columns), 1)
        step = max(TERMS_AT_ONCE // cells, 1)
        texts = [
            self._explained(batch.slice(start, min(start + step, batch.rows)), posterior[start:], best[start:])
            for start in range(0, batch.rows, step)
        ]
        return pa.chunked_array(texts, pa.string())

    def _explained(self, batch: Batch, posterior: Any, best: Any) -> pa.Array:
        if len(self.classes) < 2:
            return pa.array([""] * batch.rows)
        explanation = self.classifier.explain(batch)
        rows, best = np.arange(batch.rows), best[: batch.rows]
        others = posterior[: batch.rows].copy()
        others[rows, best] = -1
        odds = lead(explanation.terms[rows, best], explanation.terms[rows, others.argmax(axis=1)])
        order = np.argsort(-np.abs(odds), axis=1, kind="stable")[:, : self.asked.explain]
        return _strongest(explanation.columns, self.classifier.columns_of(batch), odds, order)


def _strongest(names: Sequence[str], columns: Mapping[str, Any], odds: Any, order: Any) -> pa.Array:
    """For each row the columns of its `order`, as `name=value +1.39; ...`; what moves nothing is left out."""
    rows, ranks = np.nonzero(np.take_along_axis(odds, order, axis=1))
    chosen = order[rows, ranks]
    texts, places = [pa.array([], pa.string())], []
    for index, name in enumerate(names):
        found = np.flatnonzero(chosen == index)
        if len(found):
            places.append(found)
            texts.append(_moved(name, columns.get(name), rows[found], odds[rows[found], index]))
    back = np.argsort(np.concatenate(places), kind="stable") if places else np.zeros(0, dtype=np.int64)
    offsets = np.searchsorted(rows, np.arange(len(odds) + 1)).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(offsets, pa.concat_arrays(texts).take(pa.array(back))), "; ")


def _moved(name: str, column: Any, rows: Any, odds: Any) -> pa.Array:
    """`name=value +1.39` for some rows of a column; distinct values and distinct figures are written once."""
    if column is None:
        values = pa.array(["(missing)"]).take(pa.array(np.zeros(len(rows), dtype=np.int64)))
    else:
        codes, levels, _ = encode(column)
        values = pa.array([*(cut(level) for level in levels), "(missing)"], pa.string()).take(
            pa.array(codes[rows] % (len(levels) + 1))
        )
    figures, inverse = np.unique(np.round(odds, 2), return_inverse=True)
    moves = pa.array([f"{figure:+.2f}" for figure in figures]).take(pa.array(inverse))
    return pc.binary_join_element_wise(pc.binary_join_element_wise(f"{name}=", values, ""), moves, " ")


def cut(text: str) -> str:
    """A value for the eye: a long one is cut."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _kept(keep: Sequence[str], names: Sequence[str], where: str) -> tuple[str, ...]:
    if EVERY in keep:
        return tuple(names)
    for name in keep:
        if name not in names:
            raise UnknownColumn(name, available=names, where=where)
    return tuple(dict.fromkeys(keep))


def _arrow(column: Any) -> Any:
    """A column as Arrow has it, without a dictionary."""
    array = pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def answer_tables(answers: PredictionWriter, source: Source, *, threads: int = 1) -> Iterator[pa.Table]:
    """The tables of all batches in their order; with threads, a few batches are under way at a time."""
    if threads <= 1:
        for piece in pieces(source, rows=ROWS_AT_ONCE):
            yield answers.of(piece)
        return
    waiting: deque[Future[pa.Table]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for piece in pieces(source, rows=ROWS_AT_ONCE):
            waiting.append(pool.submit(answers.of, piece))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def find_row(source: Source, number: int) -> Batch:
    """The row of that number, counted from 1."""
    rows = 0
    for batch in source.batches():
        rows = batch.first_row + batch.rows
        if number <= rows:
            place = number - 1 - batch.first_row
            return batch.slice(place, place + 1)
    raise BadOption(f"there is no row {number}: the data have {rows} rows", where=source.name)
