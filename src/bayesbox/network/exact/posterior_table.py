"""The posteriors of all variables: a mapping that builds the dict of a variable on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.display.blocks import Bar, Block, table_of
from bayesbox.display.result import Result
from bayesbox.errors import UnknownNode
from bayesbox.network.factor_graph import FactorModel
from bayesbox.schema.levels import level_text


class PosteriorTable(Result, Mapping[str, dict[str, Any]]):
    """A mapping from variable to state to probability: a number, or an array with one value per row.

    >>> import numpy as np
    >>> coin = FactorModel(("side",), (("heads", "tails"),), ())
    >>> found = PosteriorTable(coin, [0.25, 0.75])
    >>> found["side"]["tails"], dict(found)
    (0.75, {'side': {'heads': 0.25, 'tails': 0.75}})
    """

    def __init__(self, model: FactorModel, cells: Sequence[Any]) -> None:
        self._model = model
        self._cells = cells

    def __getitem__(self, name: object) -> dict[str, Any]:
        place = self._model.place.get(level_text(name))
        if place is None:
            raise UnknownNode("node", name, self._model.names)
        start = int(self._model.offsets[place])
        states = self._model.states[place]
        return dict(zip(states, self._cells[start : start + len(states)], strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self._model.names[: self._model.visible])

    def __len__(self) -> int:
        return self._model.visible

    def _headline(self) -> str:
        return f"PosteriorTable({len(self):,} nodes{'' if self._of_one else f', {self._rows:,} rows'})"

    @property
    def _of_one(self) -> bool:
        """Whether these are the posteriors of one case."""
        return not len(self._cells) or np.ndim(self._cells[0]) == 0

    @property
    def _rows(self) -> int:
        return 1 if self._of_one else len(self._cells[0])

    def _blocks(self) -> Sequence[Block]:
        frame = self._frame()
        if not self._of_one:
            return [table_of(frame)]
        shares = [Bar(float(share)) for share in self._cells]
        names = [
            node if not place or frame["node"][place - 1] != node else "" for place, node in enumerate(frame["node"])
        ]
        return [table_of({**frame, "node": names, "": shares})]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        """One row per state; for several cases one row per case and one column per state."""
        places = [(name, state) for name, states in zip(self, self._model.states, strict=False) for state in states]
        if not self._of_one:
            return {
                f"{name}={state}": np.asarray(cells).tolist()
                for (name, state), cells in zip(places, self._cells, strict=False)
            }
        return {
            "node": [name for name, _ in places],
            "state": [state for _, state in places],
            "probability": [float(share) for share in self._cells[: len(places)]],
        }
