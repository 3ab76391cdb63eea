"""The provably best structure, by dynamic programming over sets of columns, for up to about twenty columns."""

from __future__ import annotations

import math
import time

from bayesbox.errors import BadOption
from bayesbox.network.learn.arcs import ArcRules, packed
from bayesbox.network.learn.scores import LIKELIHOOD, Score, Scorer, columns_of
from bayesbox.network.learn.search import Found
from bayesbox.stat.family_counter import MemoryCounter

MOST_NODES = 22  # with more, the table of all sets does not fit in memory


def exact_search(counter: MemoryCounter, score: Score, rules: ArcRules) -> Found:
    """The structure with the best score among all that satisfy the rules; in case of a tie, one with fewer parents."""
    begun = time.perf_counter()
    count = len(counter.cards)
    if count > MOST_NODES:
        raise BadOption(
            f"exact search supports at most {MOST_NODES} columns",
            found=count,
            remedy="Use method='hill' or 'tabu', or fewer columns",
        )
    forbidden = packed(~rules.allowed)
    required = packed(rules.required)
    most = min(rules.max_parents, _most_parents(counter, score, max(each.bit_count() for each in required)))
    parents = counter.exact(score.kind, score.of_rows(counter.rows), most, required, forbidden).tolist()
    if not parents:
        raise BadOption("no structure satisfies the required and forbidden arcs")
    total = Scorer(counter, score).total([columns_of(mask) for mask in parents])
    return Found(parents, total, 0, time.perf_counter() - begun, [total], bound=total)


def _most_parents(counter: MemoryCounter, score: Score, required: int) -> int:
    """The number of parents above which the penalty always exceeds the possible gain in likelihood.

    A node of r states gains at most n log r over having no parents, and each of k parents at least doubles the
    (r - 1) q parameters: 2^k - 1 <= n log r / (penalty (r - 1)). The bound is largest for r = 2.
    """
    penalty = score.of_rows(counter.rows) if score.kind == LIKELIHOOD else 0.0
    if penalty <= 0:
        return len(counter.cards)
    return required + math.floor(math.log2(1 + counter.rows * math.log(2) / penalty))
