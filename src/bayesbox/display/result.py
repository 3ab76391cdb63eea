"""The base of all results: it prints as a table, shows as HTML in a notebook, and converts to a DataFrame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbox.display.blocks import Block

LINE = 100  # characters of the summary line


class Result:
    """A result returned to the user.

    A subclass defines `_headline`, one line, and `_frame`, the columns of `to_frame()`. These columns are displayed,
    unless it defines `_blocks`: the tables, texts and drawings. A result with a drawing also has `svg()`. A dataclass
    needs `repr=False`.

    >>> class Heights(Result):
    ...     def _headline(self): return "Heights(2 people)"
    ...     def _frame(self): return {"name": ["Ada", "Alan"], "cm": [165, 178]}
    >>> Heights()
    Heights(2 people)
    >>> print(Heights())
      name   cm
      Ada   165
      Alan  178
    """

    @abstractmethod
    def _headline(self) -> str:
        """The result in one line: its class and the most important facts."""

    @abstractmethod
    def _frame(self) -> Mapping[str, Sequence[object]]:
        """The columns of the DataFrame, all of the same length."""

    def _blocks(self) -> Sequence[Block]:
        """The displayed blocks, from top to bottom; by default the columns of `_frame` as a table."""
        from bayesbox.display.blocks import table_of

        return [table_of(self._frame())]

    def _title(self) -> str:
        """The title above the blocks; empty by default."""
        return ""

    def __repr__(self) -> str:
        from bayesbox.display.text import one_line

        line = one_line(self._headline())
        return line if len(line) <= LINE else f"{line[: LINE - 4]}...)"

    def __str__(self) -> str:
        from bayesbox.display.text import as_text

        return as_text(self._title(), self._blocks())

    def _repr_html_(self) -> str:
        from bayesbox.display.html import as_html

        return as_html(self._title(), self._blocks())

    def to_frame(self) -> Any:
        """The result as a pandas DataFrame; without pandas as a pyarrow Table."""
        from bayesbox.display.frame import frame_of

        return frame_of(self._frame())
