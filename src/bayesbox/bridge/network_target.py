"""One node of a network as the class of rows, compiled once for many rows.

    P(class | row) is proportional to the product of the tables that name the class

if the row has a value for every other node in those tables (the Markov blanket of the class); other columns are not
read. Rows with missing values in the blanket use the junction tree, which marginalises them; an unknown state counts as
missing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.errors import BadData, ImpossibleRows, UnknownNode
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.encode import encode
from bayesbox.source.base import Batch
from bayesbox.source.frames import batch_of, column_names, only_columns

Doubles = NDArray[np.float64]


class ClassFactor(NamedTuple):
    """A table that contains the class: its other nodes, their strides, and log P, combinations x classes."""

    nodes: tuple[int, ...]
    strides: tuple[int, ...]
    logs: Doubles


class NetworkTarget:
    """The posterior of one node for rows of the others; `classes` are its states."""

    def __init__(self, network: BayesianNetwork, target: object) -> None:
        self.network = network
        self.target = network.graph.node(target).name
        model = network.model
        self._place = model.place[self.target]
        self.classes = model.states[self._place]
        self.features = features_of(network, target)
        self._parts = []
        for factor in model.factors:
            if self._place not in factor.scope:
                continue
            table = np.moveaxis(factor.table, factor.scope.index(self._place), -1)
            others = tuple(node for node in factor.scope if node != self._place)
            strides = tuple(math.prod(table.shape[at + 1 : -1]) for at in range(len(others)))
            logs = _log(table.reshape(-1, len(self.classes)))
            self._parts.append(ClassFactor(others, strides, np.vstack([logs, np.zeros(len(self.classes))])))
        self._blanket = sorted({node for part in self._parts for node in part.nodes})

    def posterior(self, rows: object, *, log: bool = False) -> Doubles:
        """P(class | row), rows x classes, or its log.

        Rows that are impossible under the network get P(class) without evidence, with one warning.
        """
        output = _core.LOG_POSTERIOR if log else _core.POSTERIOR
        count, codes = self._columns(rows, [self.network.model.names[place] for place in self._blanket])
        given = len(codes) == len(self._blanket)
        complete = np.full(count, given)
        for column in codes.values():
            complete &= column >= 0
        if given and complete.all():
            found = self._direct(codes, count, output)
        else:
            holes = np.flatnonzero(~complete)
            found = np.empty((count, len(self.classes)))
            if len(holes) < count:
                whole = {place: column[complete] for place, column in codes.items()}
                found[complete] = self._direct(whole, count - len(holes), output)
            found[holes] = self._summed(rows, holes, log=log)
        impossible = np.isnan(found[:, 0])
        if impossible.any():
            warnings.warn(
                ImpossibleRows(
                    int(impossible.sum()), count, f"rows are impossible under the network: they get P({self.target})"
                ),
                stacklevel=3,
            )
            prior = np.array(list(self.network.posteriors({})[self.target].values()))
            found[impossible] = _log(prior) if log else prior
        return found

    def _columns(self, rows: object, wanted: list[str]) -> tuple[int, dict[int, NDArray[np.int32]]]:
        batch = self._batch(rows, wanted)
        place = self.network.model.place
        return batch.rows, {
            place[name]: self.network.state_codes(place[name], encode(column))
            for name, column in zip(batch.names, batch.columns, strict=True)
        }

    def _batch(self, rows: object, wanted: list[str]) -> Batch:
        """The columns of some nodes as a batch."""
        named = column_names(rows) is not None
        if named:
            require_nodes(self.network, column_names(rows) or [])
            rows = only_columns(rows, wanted)
        batch = under_names(batch_of(rows), self.features, self.target, named=named)
        kept = [at for at, name in enumerate(batch.names) if name in wanted]
        return Batch(tuple(batch.names[at] for at in kept), tuple(batch.columns[at] for at in kept), batch.rows)

    def _direct(self, codes: dict[int, NDArray[np.int32]], count: int, output: int) -> Doubles:
        """The posterior from the tables that contain the class."""
        tables = []
        for part in self._parts:
            combined = np.zeros(count, dtype=np.int64)
            for node, stride in zip(part.nodes, part.strides, strict=True):
                combined += codes[node] * np.int64(stride)
            tables.append((combined, part.logs))
        scores, _ = _core.score(count, np.zeros(len(self.classes)), [], tables, [], None, output)
        return scores

    def _summed(self, rows: object, places: NDArray[np.int64], *, log: bool) -> Doubles:
        """The posterior from the junction tree, for rows with missing values; NaN if they are impossible."""
        _, columns = self._columns(rows, list(self.features))
        states = np.full((len(places), len(self.network.model.cards)), -1, dtype=np.int32)
        for place, column in columns.items():
            states[:, place] = column[places]
        start = int(self.network.model.offsets[self._place])
        found = self.network.posteriors_of_states(states)[:, start : start + len(self.classes)]
        return _log(found) if log else found


def features_of(network: BayesianNetwork, target: object) -> tuple[str, ...]:
    """The nodes other than the target, in the order of the network."""
    own = network.graph.node(target).name
    return tuple(name for name in network.graph.nodes if name != own)


def require_nodes(network: BayesianNetwork, names: Iterable[str]) -> None:
    """Raise an error for a column that is not a node."""
    for name in names:
        if name not in network.graph.nodes:
            raise UnknownNode("node", name, network.graph.nodes, where="the columns")


def under_names(batch: Batch, features: Sequence[str], target: str, *, named: bool) -> Batch:
    """The batch with node names; unnamed columns are the nodes other than the target, in the order of the network."""
    if named:
        return batch
    if len(batch.names) != len(features):
        raise BadData(
            f"X has {len(batch.names)} features, but the network has {len(features)} nodes besides `{target}`",
            remedy="Name the columns: pass a data frame",
        )
    return Batch(tuple(features), batch.columns, batch.rows)


def _log(values: Doubles) -> Doubles:
    with np.errstate(divide="ignore"):
        return np.log(values)
