"""The posteriors of all variables: a mapping that makes the dict of a variable when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bayesbox.errors import UnknownNode
from bayesbox.network.factor_graph import FactorModel
from bayesbox.schema.levels import level_text


class PosteriorTable(Mapping[str, dict[str, Any]]):
    """From a variable to its states to their probabilities, numbers or arrays with one a row.

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
        return iter(self._model.names)

    def __len__(self) -> int:
        return len(self._model.names)

    def __repr__(self) -> str:
        return repr(dict(self))
