"""From the counts of a family to P(node | parents), by a smoothing rule.

For a smoothing rule the combinations of the parents' states replace a classifier's classes. Networks have two
more rules: `bdeu:ess`, with ess pseudo-counts spread evenly over the cells of each family, and `k2`, one pseudo-count
in each cell. A combination that never occurred, and for which a rule is undefined, gets the distribution over all
combinations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.cells import Cells, Smoothing, ratio
from bayesbox.errors import BadOption
from bayesbox.rule.smoothing import AsWritten, Laplace, Lidstone, ReplaceZero, as_smoothing

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Bdeu:
    """The BDeu prior: ess / (q r) pseudo-counts in each of the q x r cells."""

    ess: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.ess < float("inf"):
            raise BadOption("the equivalent sample size of bdeu must be a finite non-negative number", found=self.ess)

    def rule(self, cells: int) -> Lidstone:
        """The rule of a family with this many cells."""
        return Lidstone(self.ess / cells)


Rule = Smoothing | Bdeu


def as_rule(given: object) -> Rule:
    """A rule from a user's argument.

    >>> as_rule("bdeu:10"), as_rule("k2"), as_rule("lidstone:0.5")
    (Bdeu(ess=10.0), Laplace(), Lidstone(a=0.5))
    """
    if isinstance(given, Bdeu):
        return given
    if given == "k2":
        return Laplace()
    if isinstance(given, str) and given.partition(":")[0] == "bdeu":
        text = given.partition(":")[2]
        try:
            return Bdeu(float(text)) if text else Bdeu()
        except ValueError as error:
            if isinstance(error, BadOption):
                raise
            raise BadOption("bdeu must be written bdeu:10", found=given) from None
    return as_smoothing(given)


@dataclass(frozen=True)
class TableRules:
    """The rule of each node: one for all, or by name with `laplace` for those that are not named."""

    default: Rule
    by_node: Mapping[str, Rule]

    @classmethod
    def of(cls, given: object) -> TableRules:
        """The rules from an option."""
        if isinstance(given, TableRules):
            return given
        if isinstance(given, Mapping):
            return cls(Laplace(), {str(name): as_rule(rule) for name, rule in given.items()})
        return cls(as_rule(given), {})

    def of_node(self, name: str, cells: int) -> Smoothing:
        """The rule of a node whose family has this many cells."""
        rule = self.by_node.get(name, self.default)
        return rule.rule(cells) if isinstance(rule, Bdeu) else rule


def table_of(counts: Doubles, states: Sequence[str], rule: Smoothing) -> Doubles:
    """P(node | parents) from counts of combinations x states; rows sum to 1 whatever the rule."""
    cells = Cells(counts, counts.sum(axis=1), counts.shape[1], list(states))
    over, under = ratio(rule, cells)
    table: Doubles = np.asarray(over, dtype=np.float64) / np.asarray(under, dtype=np.float64)
    sums = table.sum(axis=1)
    if (sums == 0).any():  # nothing was counted
        table[sums == 0] = 1.0
        sums = table.sum(axis=1)
    off = np.abs(sums - 1) > 1e-12
    if off.any():
        table[off] /= sums[off, None]
    return table


def prior_counts(shape: tuple[int, int], states: Sequence[str], rule: Smoothing) -> Doubles | None:
    """The pseudo-counts of a rule, combinations x states; None if it has none."""
    if isinstance(rule, (AsWritten, ReplaceZero)):
        return None
    empty = Cells(np.zeros(shape), np.zeros(shape[0]), shape[1], list(states))
    return np.array(np.broadcast_to(rule.ratio(empty).numerator, shape), dtype=np.float64)
