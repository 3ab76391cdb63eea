"""Rows that were opened for a classifier: where they come from, and which of their columns holds the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bayesbox.described import Remedy
from bayesbox.errors import BadOption
from bayesbox.source.base import Source
from bayesbox.source.files.dialect import AS_WRITTEN, TextDialect

EVERY = "*"  # keeps all columns

C = TypeVar("C")


@dataclass(frozen=True)
class ReadingOptions:
    """How files are read: texts that are missing values, what becomes of malformed rows, the format, the threads, how
    text is written; and into how many bins a target of numbers is cut.

    `follow_links` is about folders of documents: whether links in them are followed.
    """

    na: Sequence[str] = ()
    bad_rows: str = "error"
    format: str | None = None
    threads: int = 1
    target_bins: int | None = None
    follow_links: bool = False
    dialect: TextDialect = AS_WRITTEN

    @property
    def of_file(self) -> dict[str, Any]:
        """What only a file of a table has, as `open_source` takes it."""
        if self.follow_links:
            raise BadOption(
                "follow_links applies to folders of documents, but this is a table",
                remedy="Omit " + Remedy("follow_links=True", "--follow"),
            )
        return {"na": self.na, "bad_rows": self.bad_rows, "format": self.format, "dialect": self.dialect}

    @property
    def is_plain(self) -> bool:
        """Whether nothing is said of a file."""
        given = self.na or self.follow_links or self.dialect.given or self.format is not None
        return not given and self.bad_rows == "error"


AS_IT_IS = ReadingOptions()


@dataclass(frozen=True)
class Opened(Generic[C]):
    """Rows as a classifier reads them; `classifier` is the one that reads them so."""

    classifier: C
    source: Source
    target: str = ""  # the column of the classes, if there is one
    in_files: bool = False  # whether each row is a file of its own, or a message of one
