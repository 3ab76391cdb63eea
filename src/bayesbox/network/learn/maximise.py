"""The tables of a network by its rules, and by EM if rows have missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.progress import Reporter
from bayesbox.network.learn.em import Families, LearnedTables, maximise_expectation
from bayesbox.network.learn.options import TableOptions
from bayesbox.network.learn.rows import NetworkRows, book_of, counts_of
from bayesbox.network.learn.tables import TableRules, prior_counts, table_of

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class TableMaximiser:
    """From counts to tables, by the smoothing rules and the cases of experts."""

    families: Families
    rules: TableRules
    experts: Mapping[str, Doubles] | None

    def __call__(self, counts: list[Doubles]) -> list[Doubles]:
        return [
            table_of(
                each if self.experts is None else each + self.experts[name],
                states,
                self.rules.of_node(name, each.size),
            )
            for name, states, each in zip(self.families.names, self.families.states, counts, strict=True)
        ]

    def prior(self) -> list[Doubles | None]:
        """The prior counts of each node, from its rule and from experts."""
        found: list[Doubles | None] = []
        for name, states, shape in zip(self.families.names, self.families.states, self.families.shapes, strict=True):
            cells = int(np.prod(shape))
            prior = prior_counts((cells // shape[-1], shape[-1]), states, self.rules.of_node(name, cells))
            found.append(prior if prior is None or self.experts is None else prior + self.experts[name])
        return found


def expect(
    families: Families,
    rows: NetworkRows,
    maximise: TableMaximiser,
    options: TableOptions,
) -> LearnedTables:
    """The best EM run: one starts from what can be counted, the others from random tables."""
    prior = maximise.prior()
    final = maximise
    if any(each is None for each in prior):  # a rule without a prior is applied once, at the end
        maximise = replace(maximise, rules=TableRules.of("mle"))
        prior = maximise.prior()
    begun = maximise

    report = Reporter(options.progress)
    on_round = report.rounds(options.iterations * options.restarts)

    def rounds(start: list[Doubles]) -> LearnedTables:
        return maximise_expectation(
            families,
            rows,
            begun,
            start,
            prior=prior,
            iterations=options.iterations,
            tolerance=options.tolerance,
            progress=on_round,
        )

    random = np.random.default_rng(options.seed)
    counts = counts_of(book_of(families, rows), families)
    start = [
        table_of(
            _spread(each, random),
            states,
            TableRules.of("laplace").of_node(name, each.size),
        )
        for name, states, each in zip(families.names, families.states, counts, strict=True)
    ]
    best = rounds(start)
    for _ in range(options.restarts - 1):
        begin = [random.dirichlet(np.ones(table.shape[1]), size=len(table)) for table in start]
        found = rounds(begin)
        if found.history[-1] > best.history[-1]:
            best = found
    if final is not maximise:
        best.tables = final(best.counts)
    report.done()
    return best


def _spread(counts: Doubles, random: np.random.Generator) -> Doubles:
    """The initial counts; a node that is never observed starts unevenly, since its states would otherwise stay
    equal."""
    return counts if counts.any() else random.random(counts.shape)
