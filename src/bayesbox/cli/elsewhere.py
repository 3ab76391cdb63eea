"""Rows that are in no file: those of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bayesbox.source.base import Source

F = TypeVar("F", bound=Callable[..., Any])

OF_FILES = {"na": "--na", "input_format": "--format"}
"""Options that say how a file is read."""


def sql_options(verb: F) -> F:
    """--sql and --database."""
    database = click.option(
        "--database",
        metavar="DATABASE",
        help="What --sql asks: the file of a DuckDB or SQLite database, or the address of a PostgreSQL server, "
        "postgresql://user@host/name. Without it the query itself names Parquet or CSV files.",
    )
    query = click.option("--sql", metavar="QUERY", help="Take the rows of a query, in DuckDB's SQL, instead of DATA.")
    return query(database(verb))


def rows_elsewhere(data: tuple[str, ...], given: dict[str, Any]) -> Source | None:
    """The source that is asked for instead of files; None where DATA are files."""
    if given["sql"] is None:
        if given["database"] is not None:
            raise click.UsageError("--database goes with --sql")
        return None
    if data:
        raise click.UsageError("the rows come from --sql, so DATA cannot be given as well")
    _refuse_options_of_files(given, "--sql")
    from bayesbox.source.sql import sql

    return sql(given["sql"], given["database"])


def _refuse_options_of_files(given: dict[str, Any], instead: str) -> None:
    used = [option for name, option in OF_FILES.items() if given[name]]
    used += ["--bad-rows"] if given["bad_rows"] != "error" else []
    if used:
        raise click.UsageError(f"{used[0]} says how a file is read, but the rows come from {instead}")
