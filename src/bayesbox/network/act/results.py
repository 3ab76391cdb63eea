"""Results about an effect: adjustment sets, and the formula or the reason why there is none."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbox.display.blocks import Block, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption
from bayesbox.network.act.adjustment import FoundSets
from bayesbox.network.act.estimand import Estimand, effect_table
from bayesbox.network.act.identify import Hedge
from bayesbox.network.query.probability_table import ProbabilityTable

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.network.query.notation import Query


@dataclass(frozen=True, repr=False)
class AdjustmentSets(Result):
    """The minimal adjustment sets for P(effect | do(cause)).

    `back_door` and `front_door` are lists of tuples of nodes, smallest first; an empty tuple means that no adjustment
    is needed, an empty list that no such set exists. `complete` is False if there may be more.
    """

    cause: str
    effect: str
    latent: tuple[str, ...]
    back_door: list[tuple[str, ...]]
    front_door: list[tuple[str, ...]]
    complete: bool

    @classmethod
    def of(cls, cause: str, effect: str, latent: tuple[str, ...], back: FoundSets, front: FoundSets) -> AdjustmentSets:
        """The result from the sets found."""
        return cls(cause, effect, latent, back.sets, front.sets, back.complete and front.complete)

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON."""
        return {
            "cause": self.cause,
            "effect": self.effect,
            "latent": list(self.latent),
            "back_door": [list(some) for some in self.back_door],
            "front_door": [list(some) for some in self.front_door],
            "complete": self.complete,
        }

    def _headline(self) -> str:
        return f"AdjustmentSets({len(self.back_door)} back-door, {len(self.front_door)} front-door)"

    def _title(self) -> str:
        return f"P({self.effect} | do({self.cause}))"

    def _blocks(self) -> Sequence[Block]:
        lines = [*_described("back door", self.back_door), *_described("front door", self.front_door)]
        if not self.complete:
            lines.append("there may be more: not every set was tried")
        return [TextBlock("\n".join(lines))]

    def _frame(self) -> Mapping[str, Sequence[Any]]:
        rows = [("back door", each) for each in self.back_door] + [("front door", each) for each in self.front_door]
        return {"criterion": [kind for kind, _ in rows], "adjust_for": [", ".join(some) for _, some in rows]}


def _described(kind: str, sets: Sequence[tuple[str, ...]]) -> list[str]:
    if not sets:
        return [f"{kind}: none"]
    return [f"{kind}: adjust for {', '.join(some) if some else 'nothing'}" for some in sets]


@dataclass(frozen=True, repr=False)
class Identification(Result):
    """Whether P(y | do(x)) is identifiable from the observed nodes, and the formula.

    `estimand` is the formula, None if there is none; then `hedge` says why. `answer()` evaluates the formula on the
    observed nodes of the network.
    """

    query: Query
    latent: tuple[str, ...]
    estimand: Estimand | None
    hedge: Hedge | None
    network: BayesianNetwork

    @property
    def identifiable(self) -> bool:
        """Whether there is a formula."""
        return self.estimand is not None

    @property
    def formula(self) -> str | None:
        """The formula as text, None if there is none."""
        return None if self.estimand is None else str(self.estimand)

    def answer(self) -> float | ProbabilityTable:
        """The effect by the formula: a number if every target has a value, else a table.

        It uses the probabilities of the observed nodes only, as rows could provide them; `query` intervenes in the
        network itself, including latent nodes.
        """
        if self.estimand is None:
            raise BadOption(f"{self.query} is not identifiable", found=str(self.hedge))
        network, query = self.network, self.query
        graph = network.graph
        fixed: dict[str, int] = {}
        for term in (*query.actions, *query.evidence):
            value = getattr(term, "value", None)
            if value is None:
                raise BadOption(f"the state of `{term.name}` is needed", remedy=f"do({term.name}=...)")
            fixed[graph.node(term.name).name] = graph.node(term.name).code(value)
        names = [graph.node(target.name).name for target in query.targets]
        table = effect_table(network, self.estimand, names, fixed)
        valued = {graph.node(t.name).name: graph.node(t.name).code(t.value) for t in query.targets if t.value}
        picked = table[tuple(valued.get(name, slice(None)) for name in names)]
        free = [name for name in names if name not in valued]
        if not free:
            return float(picked)
        levels = [graph.nodes[name].states for name in free]
        cells = dict(zip(itertools.product(*levels), picked.reshape(-1).tolist(), strict=True))
        return ProbabilityTable(str(query), free, cells, levels=levels)

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON."""
        hedge = None if self.hedge is None else {"outer": list(self.hedge.outer), "inner": list(self.hedge.inner)}
        return {
            "question": str(self.query),
            "latent": list(self.latent),
            "identifiable": self.identifiable,
            "formula": self.formula,
            "hedge": hedge,
        }

    def _headline(self) -> str:
        return f"Identification({self.query}{'' if self.identifiable else ' is not identifiable'})"

    def _blocks(self) -> Sequence[Block]:
        if self.estimand is not None:
            return [TextBlock(f"{self.query} = {self.formula}")]
        text = f"{self.query} is not identifiable from what is observed; the hedge is {self.hedge}"
        return [TextBlock(text)]

    def _frame(self) -> Mapping[str, Sequence[Any]]:
        return {"question": [str(self.query)], "identifiable": [self.identifiable], "formula": [self.formula or ""]}
