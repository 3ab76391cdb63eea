"""The base of all that is answered: it prints as a table, shows as HTML in a notebook, and becomes a frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.display.blocks import Block
from bayesbox.display.frame import frame_of
from bayesbox.display.html import as_html
from bayesbox.display.text import WIDTH, as_text, one_line


class Result:
    """What a user gets as an answer.

    A subclass says three things: `_headline`, one line; `_blocks`, the tables, texts and pictures that are shown;
    `_frame`, the columns of `to_frame()`. One that has a picture has `svg()`, too. A dataclass needs `repr=False`.

    >>> from bayesbox.display.blocks import TableBlock
    >>> class Heights(Result):
    ...     def _headline(self): return "Heights(2 people)"
    ...     def _blocks(self): return [TableBlock(["name", "cm"], [["Ada", 165], ["Alan", 178]])]
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
        """The result in one line: its class, and what matters most."""

    @abstractmethod
    def _blocks(self) -> Sequence[Block]:
        """What is shown, from above."""

    @abstractmethod
    def _frame(self) -> Mapping[str, Sequence[Any]]:
        """The columns of the frame, all of one length."""

    def _title(self) -> str:
        """What stands above the blocks; nothing by default."""
        return ""

    def __repr__(self) -> str:
        line = one_line(self._headline())
        return line if len(line) <= WIDTH else f"{line[: WIDTH - 4]}...)"

    def __str__(self) -> str:
        return as_text(self._title(), self._blocks())

    def _repr_html_(self) -> str:
        return as_html(self._title(), self._blocks())

    def to_frame(self) -> Any:
        """The result as a pandas DataFrame; where pandas is not installed, as a pyarrow Table."""
        return frame_of(self._frame())
