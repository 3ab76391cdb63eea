"""Rows that are not in local files: those of an SQL query or a Spark table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.options import shared as options

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Source

F = TypeVar("F", bound=Callable[..., Any])

OF_FILES = {"na": "--na", "input_format": "--format", **options.DIALECT_OPTIONS}
"""The options for reading files."""


def sql_options(verb: F) -> F:
    """--sql and --database."""
    database = click.option(
        "--database",
        metavar="DATABASE",
        help="The database of --sql: a DuckDB or SQLite file, or a PostgreSQL server, postgresql://user@host/name. "
        "Without it the query itself names Parquet or CSV files.",
    )
    query = click.option("--sql", metavar="QUERY", help="Read the rows of a query, in DuckDB's SQL, instead of DATA.")
    return query(database(verb))


def spark_option(verb: F) -> F:
    """--spark."""
    return click.option(
        "--spark",
        metavar="MASTER",
        help="Count on the Spark cluster at this address, spark://host:7077. DATA is then a table name, or Parquet or "
        "ORC files that all machines can read.",
    )(verb)


def rows_elsewhere(data: tuple[str, ...], given: Json) -> Source | None:
    """The source given instead of files; None if DATA are files."""
    if given["sql"] is None and given["database"] is not None:
        raise click.UsageError("--database requires --sql")
    if given["sql"] is None and given["spark"] is None:
        return None
    if given["sql"] is not None and given["spark"] is not None:
        raise click.UsageError("choose one of --sql and --spark")
    _refuse_options_of_files(given, "--sql" if given["spark"] is None else "--spark")
    return _of_query(data, given) if given["spark"] is None else _of_spark(data, given)


def _of_query(data: tuple[str, ...], given: Json) -> Source:
    if data:
        raise click.UsageError("the rows come from --sql: remove DATA")
    from bayesbox.source.registry import source_kind

    return source_kind("sql")(given["sql"], given["database"])


def _of_spark(data: tuple[str, ...], given: Json) -> Source:
    if len(data) != 1:
        raise click.UsageError("--spark needs one table: its name, or its Parquet or ORC files")
    from bayesbox.cli.main import with_pandas
    from bayesbox.source.registry import source_kind

    with_pandas()
    return source_kind("spark-table")(data[0], given["spark"])


def _refuse_options_of_files(given: Json, instead: str) -> None:
    used = [option for name, option in OF_FILES.items() if given[name]]
    used += ["--bad-rows"] if given["bad_rows"] != "error" else []
    if used:
        raise click.UsageError(f"{used[0]} applies to reading files, but the rows come from {instead}")
