"""Rows drawn at random, and the scores of their structures by the formulas as they stand."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from bayesbox.schema.coded import CodedRows, Variable


def random_rows(generator, *, columns, rows, cards=None):
    """Columns that depend on each other: each copies an earlier one now and then."""
    cards = cards or generator.integers(2, 4, size=columns).tolist()
    made = []
    for place, card in enumerate(cards):
        column = generator.integers(0, card, size=rows)
        if place:
            earlier = made[int(generator.integers(place))] % card
            column = np.where(generator.random(rows) < 0.6, earlier, column)
        made.append(column)
    variables = tuple(Variable(f"c{place}", tuple(f"s{s}" for s in range(card))) for place, card in enumerate(cards))
    columns = tuple(column.astype(variable.dtype) for variable, column in zip(variables, made, strict=True))
    return CodedRows(variables, columns, rows)


def frame_of(coded):
    """The rows as columns of texts, None where a cell is missing."""
    return {
        variable.name: [(*variable.levels, None)[code] for code in column.tolist()]
        for variable, column in zip(coded.variables, coded.columns, strict=True)
    }


def family_score(coded, child, parents, name, parameter=1.0):
    """The score of one family by its definition."""
    rows = list(zip(*(column.tolist() for column in coded.columns), strict=True))
    joint = Counter((tuple(row[p] for p in parents), row[child]) for row in rows)
    above = Counter(tuple(row[p] for p in parents) for row in rows)
    r, q = coded.cards[child], math.prod(coded.cards[p] for p in parents)
    if name in ("bic", "aic", "loglik"):
        total = math.fsum(n * math.log(n / above[key]) for (key, _), n in joint.items())
        return total - {"bic": math.log(len(rows)) / 2, "aic": 1, "loglik": 0}[name] * q * (r - 1)
    a = parameter / (q * r) if name == "bdeu" else parameter
    lower = math.fsum(math.lgamma(r * a) - math.lgamma(n + r * a) for n in above.values())
    return lower + math.fsum(math.lgamma(n + a) - math.lgamma(a) for n in joint.values())


def all_structures(count):
    """Every structure without a cycle: the parents of each node."""
    subsets = [
        [
            tuple(p for p in range(count) if p != node and bits >> p & 1)
            for bits in range(1 << count)
            if not bits >> node & 1
        ]
        for node in range(count)
    ]
    for structure in itertools.product(*subsets):
        left = set(range(count))
        while True:
            free = {node for node in left if not left.intersection(structure[node])}
            if not free:
                break
            left -= free
        if not left:
            yield structure
