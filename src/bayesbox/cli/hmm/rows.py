"""The rows of files as sequences of steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bayesbox.cli.options import shared as options
from bayesbox.errors import BadData, BayesboxError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesbox.file.reader import Json
    from bayesbox.sequence.steps import Sequences
    from bayesbox.source.base import Source


def read_rows(
    files: Sequence[str],
    given: Json,
    *,
    text: set[str],
    number: set[str],
    unread: frozenset[str] = frozenset(),
) -> tuple[pa.Table, Sequences, Source]:
    """(all rows, the steps in order, their source)."""
    import pyarrow as pa

    from bayesbox.cli.options.sources import skipped_rows
    from bayesbox.sequence.steps import arrow_column, sequences_of
    from bayesbox.source.files.dialect import TextDialect
    from bayesbox.source.files.open import open_source

    # by its detected type, or 10 would come before 9 if the model ignores the column
    text = (text - {given["order"]}) | {name for name in (given["sequence"], given.get("labels")) if name}
    source = open_source(
        list(files),
        text=frozenset(text),
        number=frozenset(number),
        unread=unread,
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
        dialect=TextDialect.of(given),
    )
    tables = [
        pa.table({name: arrow_column(column) for name, column in zip(batch.names, batch.columns, strict=True)})
        for batch in source.batches()
    ]
    skipped_rows(source)
    if not tables:
        raise BadData("the data have no rows", where=source.name)
    rows = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    with placed(source):
        return rows, sequences_of(rows, sequence=given["sequence"], order=given["order"]), source


@contextlib.contextmanager
def placed(source: Source) -> Iterator[None]:
    """A context that adds the file names to errors about combined rows."""
    try:
        yield
    except BayesboxError as error:
        error.where = f"{source.name}, {error.where}" if error.where else source.name
        raise
