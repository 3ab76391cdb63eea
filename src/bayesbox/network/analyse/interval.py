"""Credible intervals of a network's answers: draw tables from their Dirichlet posteriors and answer with each.

All draws of a chunk are answered at once: the index of the draw is an additional variable that every table depends on
and that is kept while the others are summed out.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.dirichlet import SharePosterior, share_posteriors
from bayesbox.errors import BadOption, ImpossibleEvidence, TooCostly
from bayesbox.explain.credible import (
    CredibleInterval,
    IntervalTable,
    intervals_of,
    prior_notes,
    require_draws,
    require_level,
)
from bayesbox.network.exact.eliminate import ObservedStates, eliminate
from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.network.graph import Node
from bayesbox.network.work.asked import QuestionSum
from bayesbox.network.work.question import asked_sum

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.network.query.notation import Query

Doubles = NDArray[np.float64]

DRAW = "\0draw"  # the name of the additional variable
CHUNKS = (250, 50, 10, 1)  # draws answered at once, fewer if tables are large


def answer_interval(
    network: BayesianNetwork, query: Query, *, level: float, draws: int, seed: int
) -> CredibleInterval | IntervalTable:
    """The credible interval of P(...): of a number, or of each entry of a table."""
    level = require_level(level)
    require_draws(draws, seed)
    counts = require_counts(network)
    counted, network = network, network.acted(query)
    asked = asked_sum(network, query)
    free = [place for place in asked.targets if place not in asked.wanted]
    value = network.ask(query)
    if not asked.targets:
        return CredibleInterval(1.0, 1.0, estimate=float(value), level=level)
    names = network.model.names
    posteriors = {}
    for place in asked.places:
        node = network.graph.nodes[names[network.model.factors[place].scope[-1]]]
        if node.name not in {term.name for term in query.actions}:
            posteriors[place] = cell_posteriors(counted, node, counts[node.name])
    drawn = _answers(network, asked, posteriors, draws, np.random.default_rng(seed))
    if not free:
        return intervals_of([""], [float(value)], drawn.reshape(draws, 1), level)[""]
    cases = list(itertools.product(*(network.model.states[place] for place in free)))
    keys: list[Any] = [case[0] for case in cases] if len(free) == 1 else list(cases)
    found = intervals_of(keys, [value[key] for key in keys], drawn.reshape(draws, -1), level)
    notes = prior_notes([cell for rows in posteriors.values() for row in rows for cell in row])
    return IntervalTable(str(query), tuple(names[place] for place in free), found, draws, tuple(notes))


def require_counts(network: BayesianNetwork) -> dict[str, Doubles]:
    """The counts behind the tables; an error if the tables were given, or estimated from rows with missing values."""
    from bayesbox.network.printed_tables import counts_by_node

    counts = counts_by_node(network)
    if counts:
        return counts
    if network._experts is not None:
        why = "the tables combine counts and expert tables"
    elif network.fit_ is not None:
        why = "the tables were estimated by EM from rows with missing values, so there are no counts"
    else:
        why = "the tables of this network were given, not counted"
    raise BadOption(
        f"a credible interval needs the counts behind the tables: {why}",
        remedy=Remedy(
            "Count them from complete rows: net.fit(rows)",
            "Count them from rows: bayes network learn DATA -o net.json keeps the counts",
        ),
    )


def cell_posteriors(network: BayesianNetwork, node: Node, counts: Doubles) -> list[list[SharePosterior]]:
    """The posterior of every cell of a table, one row per combination of the parents' states."""
    assert network._rules is not None
    rule = network._rules.of_node(node.name, counts.size)
    cells = Cells(np.asarray(counts, dtype=np.float64), counts.sum(axis=1), len(node.states), list(node.states))
    return share_posteriors(cells, ratio(rule, cells), rule)


def _answers(
    network: BayesianNetwork,
    asked: QuestionSum,
    posteriors: dict[int, list[list[SharePosterior]]],
    draws: int,
    random: np.random.Generator,
) -> Doubles:
    """The answers, draws x targets: states in the query are selected, other targets are axes."""
    chunk = next(iter(CHUNKS))
    found: list[Doubles] = []
    done = 0
    while done < draws:
        number = min(chunk, draws - done)
        state = random.bit_generator.state
        tables = {place: _drawn(rows, number, random) for place, rows in posteriors.items()}
        try:
            found.append(_answered(network, asked, tables, number))
        except TooCostly:
            smaller = [each for each in CHUNKS if each < chunk]
            if not smaller:
                raise
            chunk, random.bit_generator.state = smaller[0], state
            continue
        done += number
    return np.concatenate(found)


def _drawn(rows: list[list[SharePosterior]], number: int, random: np.random.Generator) -> Doubles:
    """Sampled tables, rows x states x draws: each row from its Dirichlet posterior."""
    alpha = np.array([[cell.alpha for cell in row] for row in rows])
    gammas = random.gamma(alpha[None], size=(number, *alpha.shape))
    sums = gammas.sum(axis=2, keepdims=True)
    return np.moveaxis(gammas / np.where(sums > 0, sums, 1.0), 0, 2)


def _answered(network: BayesianNetwork, asked: QuestionSum, tables: dict[int, Doubles], number: int) -> Doubles:
    model = network.model
    place = len(model.names)
    factors = tuple(
        FactorTable((*each.scope, place), tables[at].reshape(*each.table.shape, number)) if at in tables else each
        for at, each in enumerate(model.factors)
    )
    states = (*model.states, tuple(map(str, range(number))))
    with_draws = FactorModel((*model.names, DRAW), states, factors)
    findings = ObservedStates(asked.known, asked.likelihoods)
    joint = eliminate(
        with_draws, findings, (*asked.targets, place), factors=asked.places, max_bytes=network.max_bytes
    ).table
    total = joint.reshape(-1, number).sum(axis=0)
    if not (total > 0).all():
        raise ImpossibleEvidence("the evidence has probability 0 in some of the draws")
    index = tuple(asked.wanted.get(target, slice(None)) for target in asked.targets)
    picked = np.asarray(joint[index], dtype=np.float64) / total
    found: Doubles = np.moveaxis(picked, -1, 0).reshape(number, math.prod(picked.shape[:-1]))
    return found
