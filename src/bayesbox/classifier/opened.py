"""Rows opened for a classifier: their source, and the target column."""

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
    """How files are read: texts that mean missing, the handling of malformed rows, the format, the threads, the text
    format; and the number of bins of a numeric target.

    `follow_links` says whether links in folders of documents are followed.
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
        """The arguments of `open_source` that apply to files of tables."""
        if self.follow_links:
            raise BadOption(
                "follow_links applies to folders of documents, but this is a table",
                remedy="Omit " + Remedy("follow_links=True", "--follow"),
            )
        return {"na": self.na, "bad_rows": self.bad_rows, "format": self.format, "dialect": self.dialect}

    @property
    def is_plain(self) -> bool:
        """Whether all options have their defaults."""
        given = self.na or self.follow_links or self.dialect.given or self.format is not None
        return not given and self.bad_rows == "error"

    @property
    def command_words(self) -> list[str]:
        """The options of the command that read a table the same way.

        >>> ReadingOptions(["?", "NA"], dialect=TextDialect(decimal=",", skip_rows=2)).command_words
        ['--na', '?,NA', '--decimal', ',', '--skip-rows', '2']
        """
        given = {name: getattr(self.dialect, name) for name in self.dialect.given}
        words = {"na": ",".join(self.na), "format": self.format, **given}
        return [
            word
            for name, value in words.items()
            if value
            for word in ("--" + name.replace("_", "-"), "tab" if value == "\t" else str(value))
        ]


AS_IT_IS = ReadingOptions()


@dataclass(frozen=True)
class Opened(Generic[C]):
    """Opened rows; `classifier` is the classifier they were opened for."""

    classifier: C
    source: Source
    target: str = ""  # the target column, if there is one
    in_files: bool = False  # whether each row is a file, or a message in a file
