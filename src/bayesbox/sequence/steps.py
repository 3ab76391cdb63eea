"""One or several sequences, in any form that a user may pass, as concatenated steps.

"GATTACA", ["walk", "shop"], np.array([0.1, 0.4])     one sequence of one column
np.zeros((100, 3)), [{"noise": 3, "light": "on"}]     one sequence of several columns; a frame too
[["walk", "shop"], ["walk"]], [frame, frame]          several sequences
frame with sequence="patient", order="day"            several, identified and ordered by columns
array with lengths=[100, 50]                          several, end to end
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.errors import BadData, UnknownColumn
from bayesbox.schema.arrays import AnyArray, plain_texts, text_array, wide_texts
from bayesbox.schema.encode import encode
from bayesbox.schema.kinds import Category, Kind
from bayesbox.schema.schema import Schema
from bayesbox.sequence.model import Steps
from bayesbox.source.base import Batch
from bayesbox.source.cells import values_column
from bayesbox.source.frames import batch_of
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import holds_values

DIRECT_RANGE = 4096  # integers within a range up to this are used as codes
SINGLE = {str, int, float, bool, type(None), np.str_, np.int64, np.float64}  # scalar types
HOLDERS = {list, tuple, np.ndarray}  # container types
MOST_COMBINATIONS = 1 << 20  # of levels; with more, steps are not deduplicated


@dataclass(frozen=True)
class Sequences:
    """Columns of equal length, where each sequence begins, and the shape of the answers.

    `single`: one sequence was given, so one answer is returned. `place`: the row of the DataFrame that each step came
    from, if rows were reordered. `bare`: values without column names, so integers are symbols.
    """

    columns: Mapping[str, Any]
    offsets: NDArray[np.int64]
    single: bool
    bare: bool = False
    place: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    def split(self, rows: AnyArray) -> Any:
        """One answer per step, in the shape of the sequences."""
        if self.place is not None:
            answer = np.empty_like(rows)
            answer[self.place] = rows
            return answer
        if self.single:
            return rows
        return [rows[start:stop] for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def each(self, answers: Sequence[Any]) -> Any:
        """One answer per sequence."""
        return answers[0] if self.single else list(answers)


def sequences_of(
    data: Any,
    *,
    sequence: str | None = None,
    order: str | None = None,
    lengths: Sequence[int] | None = None,
    ignore: Sequence[str] = (),
    raw: bool = False,
) -> Sequences:
    """The steps of the given data; columns in `ignore` are not part of a step.

    With `raw` an array of texts is kept, for `steps_of`, which codes it in place.

    >>> found = sequences_of([["walk", "shop"], ["walk"]])
    >>> found.columns["0"].to_pylist(), found.offsets.tolist(), found.single
    (['walk', 'shop', 'walk'], [0, 2, 3], False)
    """
    if sequence is None and order is None and lengths is None and _is_many(data):
        return _many(data, ignore, raw=raw)
    columns, rows, bare = ({"0": data}, len(data), True) if raw and _is_wide(data) else _one(data)
    if lengths is not None:
        offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)
        if offsets[-1] != rows or (np.diff(offsets) < 0).any():
            raise BadData(f"the lengths do not add up to the {rows} steps there are", found=int(offsets[-1]))
        return Sequences(_without(columns, ignore), offsets, single=False, bare=bare)
    if sequence is None and order is None:
        return Sequences(_without(columns, ignore), np.array([0, rows], dtype=np.int64), single=True, bare=bare)
    return _by_columns(columns, rows, sequence, order, ignore)


def _is_many(data: object) -> bool:
    """Whether this is a list of sequences: each item is itself a list, an array, a DataFrame or a text."""
    if not isinstance(data, list | tuple) or not data:
        return False
    if type(data[0]) in HOLDERS and set(map(type, data)) <= HOLDERS:
        return True
    return all(map(holds_values, data))


def _many(data: Sequence[Any], ignore: Sequence[str], *, raw: bool) -> Sequences:
    offsets = np.zeros(len(data) + 1, dtype=np.int64)
    together = _joined(data, raw=raw)
    if together is not None:
        np.cumsum([len(item) for item in data], out=offsets[1:])
        return Sequences({"0": together}, offsets, single=False, bare=True)
    parts = [_one(item) for item in data]
    np.cumsum([rows for _, rows, _ in parts], out=offsets[1:])
    filled = [part for part in parts if part[1] > 0] or parts[:1]
    tables = [pa.table({name: arrow_column(column) for name, column in columns.items()}) for columns, _, _ in filled]
    joined = Batch.from_arrow(pa.concat_tables(tables, promote_options="permissive").combine_chunks())
    columns = dict(zip(joined.names, joined.columns, strict=True))
    return Sequences(_without(columns, ignore), offsets, single=False, bare=all(part[2] for part in parts))


def _joined(data: Sequence[Any], *, raw: bool) -> Any:
    """Sequences of one column concatenated: arrays of numbers, arrays of texts, or lists; None for others."""
    kinds = {item.dtype.kind if _is_plain_array(item) else "" for item in data}
    if kinds <= set("iufb"):
        return np.concatenate(data)
    if kinds == {"U"}:
        texts = np.concatenate(data)
        return texts if raw and _is_wide(texts) else labels_of(texts)
    if kinds == {"O"}:
        return plain_texts(list(chain.from_iterable(item.tolist() for item in data)))
    if not all(isinstance(item, list | tuple) for item in data):
        return None
    values = list(chain.from_iterable(data))
    return values_column(values, "0") if _is_flat(values) else None


def _is_plain_array(item: object) -> TypeGuard[AnyArray]:
    """Whether this is a plain one-dimensional array, not a subclass such as a masked array."""
    return type(item) is np.ndarray and item.ndim == 1


def _is_wide(column: object) -> TypeGuard[NDArray[np.str_]]:
    """Whether this is an array of texts that the core reads without conversion."""
    return _is_plain_array(column) and column.dtype.kind == "U" and column.dtype.isnative


def arrow_column(column: object) -> Any:
    """A column as an Arrow array."""
    return pa.array(np.ascontiguousarray(column), from_pandas=True) if isinstance(column, np.ndarray) else column


def _is_flat(item: object) -> bool:
    if not isinstance(item, list | tuple):
        return False
    if set(map(type, item)) <= SINGLE:
        return True
    return not any(isinstance(value, Mapping) or holds_values(value) for value in item)


def _one(data: Any) -> tuple[dict[str, Any], int, bool]:
    """The columns of one sequence, the number of steps, and whether the columns have no names."""
    if isinstance(data, str):
        data = list(data)
    if isinstance(data, list | tuple) and data:
        texts = plain_texts(data)
        if texts is not None:
            return {"0": texts}, len(data), True
    if _is_flat(data):
        return {"0": values_column(data, "0")}, len(data), True
    if isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.names is None:
        return {"0": labels_of(data)}, len(data), True
    if isinstance(data, pa.Array | pa.ChunkedArray) or type(data).__name__ == "Series":
        return {"0": labels_of(data)}, len(data), True
    batch = batch_of(data)
    bare = isinstance(data, np.ndarray) and data.dtype.names is None
    return dict(zip(batch.names, batch.columns, strict=True)), batch.rows, bare


def _without(columns: Mapping[str, Any], ignore: Sequence[str]) -> dict[str, Any]:
    return {name: column for name, column in columns.items() if name not in ignore}


def _by_columns(
    columns: dict[str, Any], rows: int, sequence: str | None, order: str | None, ignore: Sequence[str]
) -> Sequences:
    for name in (sequence, order):
        if name is not None and name not in columns:
            raise UnknownColumn(name, available=columns)
    group = np.zeros(rows, dtype=np.int64)
    if sequence is not None:
        group = encode(columns[sequence]).codes.astype(np.int64)
        if (group < 0).any():
            raise BadData(
                f"column `{sequence}` identifies the sequence of a step, but has a missing value",
                where=f"row {int(np.argmax(group < 0)) + 1}",
                remedy="Fill it in, or drop the row",
                column=sequence,
            )
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(first))[group]  # sequences in order of first appearance
    rank = np.arange(rows) if order is None else _rank(columns[order], order)
    place = np.lexsort((rank, group)).astype(np.int64)
    taken = {
        name: _take(column, place) for name, column in _without(columns, [*ignore, *_names(sequence, order)]).items()
    }
    counts = np.bincount(group) if rows else np.zeros(0, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Sequences(taken, offsets, single=sequence is None, place=place)


def _names(*names: str | None) -> list[str]:
    return [name for name in names if name is not None]


def _rank(column: object, name: str) -> AnyArray:
    """The rank of each value of a column; an error for missing values."""
    values = arrow_column(column)
    if values.null_count:
        raise BadData(f"column `{name}` orders the steps, but has a missing value", remedy="Fill it in", column=name)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    ranks: AnyArray = np.unique(np.asarray(values.to_pylist()), return_inverse=True)[1]
    return ranks


def _take(column: Any, place: NDArray[np.int64]) -> Any:
    return column[place] if isinstance(column, np.ndarray) else column.take(pa.array(place))


def kinds_for(found: Sequences, declared: Mapping[Any, object] | None, emissions: str) -> dict[Any, object]:
    """The declared kinds of columns: by the user, by `emissions`, and integers without column names as symbols."""
    given: dict[Any, object] = dict(declared or {})
    for name, column in found.columns.items():
        if name in given or (name.isdecimal() and int(name) in given):
            continue
        if emissions == "category" or (emissions == "auto" and found.bare and _is_integer(column)):
            given[name] = Category()
        elif emissions == "gaussian":
            given[name] = "real"
    return given


def _is_integer(column: Any) -> bool:
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iub"
    return bool(pa.types.is_integer(column.type) or pa.types.is_boolean(column.type))


def steps_of(found: Sequences, schema: Schema, known: NDArray[np.int32] | None = None) -> Steps:
    """The steps for the recursion: one row per distinct step if all columns are categories."""
    if found.bare and found.size and len(found.columns) not in (len(schema.kinds), len(schema.used)):
        raise BadData(
            f"a step of this model has {len(schema.used)} values",
            found=len(found.columns),
            remedy="Use None for a missing value",
        )
    columns = {name: found.columns[name] for name in schema.used if name in found.columns}
    if not columns and len(schema.used) == len(found.columns) and (found.bare or schema.used == ("0",)):
        columns = dict(zip(schema.used, found.columns.values(), strict=True))  # without column names, by position
    if not columns and schema.used and found.size:
        raise UnknownColumn(schema.used[0], available=found.columns)
    coded = all(_has_levels(schema.kinds[name]) for name in columns)
    if not coded or len(columns) > 1 or known is not None:
        columns = {name: labels_of(column) if _is_wide(column) else column for name, column in columns.items()}
    if not coded:
        return Steps(columns, found.size, None, found.offsets, known)
    if len(columns) == 1 and known is None:
        [(name, column)] = columns.items()
        return _steps_of_one(name, column, found.offsets)
    codes = np.zeros(found.size, dtype=np.int64)
    combinations = 1
    parts: list[tuple[str, int, int, list[str]]] = []  # name, stride of its codes, number of codes, levels
    for name, column in columns.items():
        encoded = encode(column)
        own = encoded.codes
        if (own < 0).any():
            own = np.where(own < 0, len(encoded.levels), own)
        parts.append((name, combinations, len(encoded.levels) + 1, encoded.levels))
        codes += own.astype(np.int64) * combinations
        combinations *= len(encoded.levels) + 1
        if combinations > MOST_COMBINATIONS:
            return Steps(columns, found.size, None, found.offsets, known)
    states = 0
    if known is not None:
        states = int(known.max(initial=-1)) + 2
        codes += (known.astype(np.int64) + 1) * combinations
    distinct = np.arange(combinations * max(states, 1))
    if len(distinct) > 64 or len(columns) > 1:
        distinct, codes = np.unique(codes, return_inverse=True)
    tables: dict[str, Any] = {}
    for name, apart, size, levels in parts:
        texts = [*levels, None]
        tables[name] = text_array([texts[code] for code in (distinct // apart % size).tolist()])
    own_known = None if known is None else (distinct // combinations - 1).astype(np.int32)
    return Steps(tables, len(distinct), codes.astype(np.int32), found.offsets, own_known)


def _steps_of_one(name: str, column: object, offsets: NDArray[np.int64]) -> Steps:
    """The steps of one column of levels: one row per level, and one for missing."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and len(column):
        lowest, highest = int(column.min()), int(column.max())
        if highest - lowest < DIRECT_RANGE and highest < 1 << 62:
            codes = np.empty(len(column), dtype=np.int32)
            np.subtract(column, lowest, out=codes, dtype=np.int64, casting="unsafe")
            if np.bincount(codes).all():  # every integer in the range occurs, so no dictionary is needed
                texts = [str(value) for value in range(lowest, highest + 1)]
                return Steps({name: text_array(texts)}, len(texts), codes, offsets)
    if _is_wide(column):
        found = _coded_texts(column)
        if found is not None:
            return Steps({name: text_array([*found[1], None])}, len(found[1]) + 1, found[0], offsets)
        column = labels_of(column)
    codes, levels, _ = encode(column)
    if codes.min(initial=0) < 0:
        codes = np.where(codes < 0, np.int32(len(levels)), codes)
    return Steps({name: text_array([*levels, None])}, len(levels) + 1, codes, offsets)


def _coded_texts(column: NDArray[np.str_]) -> tuple[NDArray[np.int32], list[str]] | None:
    """The codes and the distinct texts, in order of appearance, of an array; None if a text is not valid Unicode."""
    codes, first = _core.factorize_wide_texts(column)
    texts = column[first]
    return None if wide_texts(texts) is None else (codes, texts.tolist())


def _has_levels(kind: Kind) -> bool:
    return kind.has_levels
