"""The base of all that is answered: it prints as a table, shows as HTML in a notebook, and becomes a frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbox.display.blocks import Block

LINE = 100  # characters of the one line


class Result:
    """What a user gets as an answer.

    A subclass says two things: `_headline`, one line, and `_frame`, the columns of `to_frame()`. These columns are what
    is shown, unless it gives `_blocks`: the tables, texts and pictures. One that has a picture has `svg()`, too. A
    dataclass needs `repr=False`.

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
        """The result in one line: its class, and what matters most."""

    @abstractmethod
    def _frame(self) -> Mapping[str, Sequence[object]]:
        """The columns of the frame, all of one length."""

    def _blocks(self) -> Sequence[Block]:
        """What is shown, from above: by default the columns of the frame as a table."""
        from bayesbox.display.blocks import table_of

        return [table_of(self._frame())]

    def _title(self) -> str:
        """What stands above the blocks; nothing by default."""
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
        """The result as a pandas DataFrame; where pandas is not installed, as a pyarrow Table."""
        from bayesbox.display.frame import frame_of

        return frame_of(self._frame())
