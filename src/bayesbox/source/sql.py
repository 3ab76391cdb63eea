"""Rows of an SQL query: DuckDB runs it over its own files, Parquet, SQLite and PostgreSQL, and streams the rows.

The engine adds nothing: the rows come as Arrow batches and are counted here, so that the tallies are bit for bit those
of the same rows in a DataFrame. Databases are opened read-only.
"""

from __future__ import annotations

import importlib.util
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from bayesbox.errors import BadData, BadOption, BayesboxError, MissingExtra, SourceUnavailable, translate_errors
from bayesbox.source.base import Batch, Source
from bayesbox.source.cells import plain
from bayesbox.source.files.reading import check_names
from bayesbox.source.shapes import is_duckdb_connection

ROWS = 65_536  # in one batch
ATTACHED = "attached"  # the name of another database inside DuckDB
EXTENSIONS = {"sqlite": "sqlite_scanner", "postgres": "postgres_scanner"}
SQLITE_HEAD = b"SQLite format 3\0"
DUCKDB_MARK = b"DUCK"  # at byte offset 8
POSTGRES_ADDRESS = re.compile(r"postgres(ql)?://|\s*\w+\s*=")


def sql(query: str, database: object = None) -> SqlSource:
    """A source of the rows of an SQL query, for `train` and `predict`.

    `database` is the file of a DuckDB or SQLite database, the address of a PostgreSQL server
    (`postgresql://user@host/name`), or an open DuckDB connection. Without one, the query may read Parquet and CSV
    files. It is always written in DuckDB's SQL.

    Parameters
    ----------
    query : str, in DuckDB's SQL
    database : file, address, open DuckDB connection, or None (default)

    Returns
    -------
    a source of rows, for `train` and `predict`

    Examples
    --------
    >>> import bayesbox as bb
    >>> rows = bb.sql("select * from (values (25, 'L'), (20, 'H'), (45, 'H')) as people(age, risk)")
    >>> bb.train(rows, target="risk").book_["age"].mean
    array([32.5, 25. ])
    """
    return SqlSource(query, database)


class SqlSource(Source):
    """The rows of a query; each pass runs it again."""

    def __init__(self, query: str, database: object = None) -> None:
        if not isinstance(query, str) or not query.strip():
            raise BadOption("a query must be a text such as 'select * from people'", found=query)
        self.query = query
        self.database = database
        self.name = "the query" if database is None else f"the query on {_database_name(database)}"

    def __repr__(self) -> str:
        return f"SqlSource({self.query!r}, database={_database_name(self.database)})"

    def batches(self) -> Iterator[Batch]:
        """The rows in batches."""
        connection = _connected(self.database, self.name)
        try:
            with _translated(self.name):
                queries = [each for each in connection.extract_statements(self.query) if each.type.name == "SELECT"]
            if len(queries) > 1:
                what = f"only one query can be read, not {len(queries)}"
                raise BadOption(what, where=self.name, remedy="Combine them with UNION ALL")
            with _translated(self.name):
                result = connection.execute(self.query)
                if result.description is None:
                    raise BadOption("the query returns no rows", where=self.name, found=self.query)
                stream = getattr(result, "to_arrow_reader", None) or result.fetch_record_batch
                with warnings.catch_warnings():  # warned by DuckDB 2
                    warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
                    reader = stream(ROWS)
            names = tuple(reader.schema.names)
            check_names(names, self.name)
            first_row = 0
            while True:
                with _translated(self.name):
                    found = next(reader, None)
                if found is None:
                    return
                columns = tuple(
                    plain(column, name, where=self.name) for name, column in zip(names, found.columns, strict=True)
                )
                yield Batch(names, columns, found.num_rows, first_row)
                first_row += found.num_rows
        finally:
            connection.close()


def _connected(database: Any, where: str) -> Any:
    """A DuckDB connection with the tables of the database under their own names."""
    duckdb = _duckdb()
    if is_duckdb_connection(database):
        return database.cursor()
    kind, place = _kind_of(database)
    with _translated(where):
        if kind == "duckdb":
            return duckdb.connect(place, read_only=True)
        connection = duckdb.connect(config={"python_enable_replacements": "false"})
        if kind in EXTENSIONS:
            _load(connection, EXTENSIONS[kind], where)
            quoted = place.replace("'", "''")
            connection.execute(f"ATTACH '{quoted}' AS {ATTACHED} (TYPE {kind}, READ_ONLY)")
            connection.execute(f"USE {ATTACHED}")
        return connection


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "sql") from None
    return duckdb


def _kind_of(database: object) -> tuple[str, str]:
    """The kind of a database, from its first bytes or its address, and its location."""
    if database is None:
        return "memory", ""
    if not isinstance(database, (str, os.PathLike)):
        raise BadOption(
            "a database must be a file, the address of a PostgreSQL server or a DuckDB connection",
            found=type(database).__name__,
        )
    place = os.fspath(database)
    if not os.path.exists(place) and POSTGRES_ADDRESS.match(place):
        return "postgres", place
    try:
        with open(place, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise SourceUnavailable(f"the database cannot be opened ({error.strerror})", where=place) from None
    if head == SQLITE_HEAD:
        return "sqlite", place
    if head[8:12] == DUCKDB_MARK:
        return "duckdb", place
    raise BadData(
        "is not a DuckDB or SQLite database",
        where=place,
        remedy="To read Parquet and CSV files, name them in the query: select * from 'people.parquet'",
    )


def _load(connection: Any, extension: str, where: str) -> None:
    """Load DuckDB's extension for another database: from a Python package, from DuckDB's folder, or downloaded."""
    duckdb = _duckdb()
    packaged = importlib.util.find_spec(f"duckdb_extension_{extension}")
    for folder in (packaged.submodule_search_locations or ()) if packaged else ():
        file = Path(folder, "extensions", f"v{duckdb.__version__}", f"{extension}.duckdb_extension")
        if file.exists():
            connection.load_extension(str(file))
            return
    try:
        connection.load_extension(extension)
    except duckdb.Error:
        try:
            connection.install_extension(extension)
            connection.load_extension(extension)
        except duckdb.Error as error:
            package = f"duckdb-extension-{extension.replace('_', '-')}"
            raise SourceUnavailable(
                f"DuckDB's extension for this database is not available ({_first_line(error)})",
                where=where,
                remedy=f"DuckDB downloads it once; without a network: pip install {package}=={duckdb.__version__}",
            ) from None


def _translated(where: str) -> AbstractContextManager[None]:
    """A context that translates errors of DuckDB and Arrow, without the original, which may contain a password."""

    def translate(error: Exception) -> BayesboxError | None:
        duckdb = _duckdb()
        text = without_password(_first_line(error))
        if isinstance(error, (duckdb.IOException, duckdb.HTTPException, duckdb.ConnectionException)):
            return SourceUnavailable(text, where=where)
        if isinstance(error, (duckdb.ProgrammingError, duckdb.NotSupportedError)):
            return BadOption(f"the query cannot be run: {text}", where=where)
        if isinstance(error, (duckdb.Error, pa.ArrowException, OSError)):
            return BadData(f"the rows cannot be read: {text}", where=where, remedy="Cast or filter them in the query")
        return None

    return translate_errors(translate)


def _first_line(error: Exception) -> str:
    """DuckDB's message without the part of the query that it points at."""
    lines = [line.strip() for line in str(error).split("\n\nLINE ")[0].splitlines()]
    return " ".join(line for line in lines if line) or type(error).__name__


def _database_name(database: object) -> str:
    if isinstance(database, (str, os.PathLike)):
        text = os.fspath(database)
        return without_password(text) if POSTGRES_ADDRESS.match(text) else os.path.basename(text)
    return "a DuckDB connection" if database is not None else "None"


def without_password(text: str) -> str:
    """A message or an address without its password.

    >>> without_password("postgresql://ann:secret@db/people"), without_password("host=db password='a b' user=ann")
    ('postgresql://ann:***@db/people', 'host=db password=*** user=ann')
    """
    text = re.sub(r"(postgres(?:ql)?://[^:@/\s]*):[^@\s]*@", r"\1:***@", text)
    return re.sub(r"(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s'&]+)", r"\1***", text)
