"""Estimands: formulas for an effect in observed quantities, made of sums, products and quotients of P(a | b)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.errors import BadOption
from bayesbox.network.exact.eliminate import ObservedStates, Scoped, multiplied

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork

Names = frozenset[str]


class Estimand:
    """A formula; `free` are the nodes whose states it depends on."""

    @property
    def free(self) -> Names:
        """The nodes on whose states the value depends."""
        raise NotImplementedError

    def text(self, renamed: Mapping[str, str]) -> str:
        """The formula as text; `renamed` has the name that each node has inside a sum."""
        raise NotImplementedError

    def table(self, network: BayesianNetwork) -> Scoped:
        """The values under the observed distribution of a network, one axis per free node."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text({name: name for name in self.free})


@dataclass(frozen=True)
class Conditional(Estimand):
    """P(targets | given)."""

    targets: tuple[str, ...]
    given: tuple[str, ...] = ()

    @property
    def free(self) -> Names:
        """The targets and the conditions."""
        return frozenset({*self.targets, *self.given})

    def text(self, renamed: Mapping[str, str]) -> str:
        """P(y | x)."""
        one, other = (", ".join(renamed.get(name, name) for name in names) for names in (self.targets, self.given))
        return f"P({one} | {other})" if other else f"P({one})"

    def table(self, network: BayesianNetwork) -> Scoped:
        """The conditional table, from one marginal of the network."""
        places = [network.model.place[name] for name in (*self.targets, *self.given)]
        joint = np.asarray(network._marginal(ObservedStates(), places).table)
        below = joint.sum(axis=tuple(range(len(self.targets))), keepdims=True)
        return Scoped(tuple(places), np.divide(joint, below, out=np.zeros_like(joint), where=below > 0))


@dataclass(frozen=True)
class ProductOf(Estimand):
    """A product."""

    parts: tuple[Estimand, ...]

    @property
    def free(self) -> Names:
        """The free nodes of all factors."""
        return frozenset().union(*(part.free for part in self.parts))

    def text(self, renamed: Mapping[str, str]) -> str:
        """The factors side by side; a sum is bracketed unless it is the last."""
        texts = [part.text(renamed) for part in self.parts]
        wrapped = [
            f"[{text}]" if isinstance(part, SumOf) and place + 1 < len(texts) else text
            for place, (part, text) in enumerate(zip(self.parts, texts, strict=True))
        ]
        return " ".join(wrapped) or "1"

    def table(self, network: BayesianNetwork) -> Scoped:
        """The product."""
        product = Scoped((), np.ones(()))
        for part in self.parts:
            product = multiplied(product, part.table(network))
        return product


@dataclass(frozen=True)
class SumOf(Estimand):
    """A sum over the states of some nodes."""

    over: tuple[str, ...]
    inner: Estimand

    @property
    def free(self) -> Names:
        """The free nodes of the inner formula that are not summed over."""
        return self.inner.free - frozenset(self.over)

    def text(self, renamed: Mapping[str, str]) -> str:
        """sum over Z of ...; a node that is also free outside is primed."""
        taken = {*renamed, *renamed.values()}
        inside = {name: shown for name, shown in renamed.items() if name not in self.over}
        for name in self.over:
            shown = name
            while shown in taken:
                shown += "'"
            inside[name] = shown
        listed = ", ".join(inside[name] for name in self.over)
        return f"sum over {listed} of {self.inner.text(inside)}"

    def table(self, network: BayesianNetwork) -> Scoped:
        """The inner values, added up."""
        found = self.inner.table(network)
        axes = tuple(found.scope.index(network.model.place[name]) for name in self.over)
        kept = tuple(place for axis, place in enumerate(found.scope) if axis not in axes)
        return Scoped(kept, np.asarray(found.table.sum(axis=axes)))


@dataclass(frozen=True)
class QuotientOf(Estimand):
    """One formula over another."""

    above: Estimand
    below: Estimand

    @property
    def free(self) -> Names:
        """The free nodes of numerator and denominator."""
        return self.above.free | self.below.free

    def text(self, renamed: Mapping[str, str]) -> str:
        """[...] / [...]."""
        return f"[{self.above.text(renamed)}] / [{self.below.text(renamed)}]"

    def table(self, network: BayesianNetwork) -> Scoped:
        """The quotient; 0 / 0 is 0."""
        above, below = self.above.table(network), self.below.table(network)
        nothing = below.table == 0
        inverse = np.divide(1.0, below.table, out=np.zeros_like(below.table), where=~nothing)
        return multiplied(above, Scoped(below.scope, inverse))


def summed(over: Iterable[str], inner: Estimand, order: Sequence[str]) -> Estimand:
    """The sum over some nodes, simplified: a sum of P(...) becomes a marginal, nested sums become one."""
    names = frozenset(over) & inner.free
    if not names:
        return inner
    if isinstance(inner, SumOf):
        return summed([*names, *inner.over], inner.inner, order)
    if isinstance(inner, Conditional) and names < frozenset(inner.targets):
        return Conditional(tuple(name for name in inner.targets if name not in names), inner.given)
    if isinstance(inner, ProductOf):  # factors that do not depend on them move out of the sum
        outside = tuple(part for part in inner.parts if not part.free & names)
        inside = tuple(part for part in inner.parts if part.free & names)
        if outside and inside:
            return product_of([*outside, summed(names, product_of(inside), order)])
    return SumOf(tuple(name for name in order if name in names), inner)


def product_of(parts: Iterable[Estimand]) -> Estimand:
    """A product; nested products are flattened."""
    flat: list[Estimand] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, ProductOf) else [part])
    return flat[0] if len(flat) == 1 else ProductOf(tuple(flat))


def effect_table(
    network: BayesianNetwork, estimand: Estimand, targets: Sequence[str], fixed: Mapping[str, int]
) -> np.ndarray:
    """P(targets | do(fixed)) by the formula, one axis per target; an error if the formula divides by zero."""
    model = network.model
    found = estimand.table(network)
    index = tuple(fixed.get(model.names[place], slice(None)) for place in found.scope)
    left = [place for place in found.scope if model.names[place] not in fixed]
    table = np.asarray(found.table[index])
    wanted = [model.place[name] for name in targets]
    spare = tuple(axis for axis, place in enumerate(left) if place not in wanted)
    if spare:  # the value is the same for each of their states
        table = table.max(axis=spare)
        left = [place for place in left if place in wanted]
    shape = [model.cards[place] for place in wanted]
    present = [place for place in wanted if place in left]
    table = table.transpose([left.index(place) for place in present])
    sizes = [model.cards[place] if place in left else 1 for place in wanted]
    table = np.broadcast_to(table.reshape(sizes), shape)
    if not math.isclose(float(table.sum()), 1.0, abs_tol=1e-6):
        raise BadOption(
            "the formula divides by a probability of 0: some states that it needs never occur together",
            found=f"the effect sums to {float(table.sum()):.4g}",
            remedy="The effect needs every state to be possible: P > 0",
        )
    return table
