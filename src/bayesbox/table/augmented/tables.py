"""The tables of models with dependent columns: P(level | class, parents), one row per combination."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Smoothing
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.dist.learned import CountedLevels, LearnedTable, level_rows, most_common_places
from bayesbox.rule.discrete import Coding

if TYPE_CHECKING:
    from bayesbox.table.augmented.aode import OneDependenceClassifier
    from bayesbox.table.augmented.arcs import ArcsClassifier

BACKOFF = "backed off towards fewer parents"


def learned_families(classifier: ArcsClassifier, most: int | None) -> Iterator[LearnedTable]:  # type: ignore[type-arg]
    """The table of each column, given the class and its parents."""
    model, rule = classifier.model, classifier.rules.smoothing
    steps = classifier.steps_of(classifier.book.with_classes(model.classes), model)
    for table in model.conditionals:
        yield _family(table, model.coding, steps[table.column][-1], rule, most)


def learned_pairs(classifier: OneDependenceClassifier, most: int | None) -> Iterator[LearnedTable]:
    """The table of each column by class, and of each pair of columns, one of them the parent."""
    from bayesbox.table.augmented.one_dependence import PairCounts, level_counts, pairs_of

    model, rule = classifier.model, classifier.rules.smoothing
    book = classifier.book.with_classes(model.classes)
    counted = PairCounts(pairs_of(book), model.coding)
    spans = {
        name: slice(int(model.first_slot[place]), int(model.first_slot[place + 1]) - 1)
        for place, name in enumerate(model.names)
    }
    for name in model.names:
        yield _table(name, (), model.coding, model.naive[spans[name]], counted.single(name), rule, most)
    for table in model.alone:
        yield _family(table, model.coding, level_counts(book, model.coding, table.column), rule, most)
    for parent, name in itertools.permutations(model.names, 2):
        log_p = model.table[spans[parent], spans[name]].reshape(-1, len(model.classes))
        yield _table(name, (parent,), model.coding, log_p, counted.pair(parent, name), rule, most)


def _family(
    table: FamilyTable, coding: Coding, counts: Doubles, rule: Smoothing | None, most: int | None
) -> LearnedTable:
    """The rows of a family without those for missing parents and unseen levels."""
    width, classes = len(table.levels), table.classes
    shape = (*(size + 1 for size in table.sizes), width + 1, classes)
    inside = (*(slice(0, size) for size in table.sizes), slice(0, width), slice(None))
    log_p = table.log_p.reshape(shape)[inside].reshape(-1, classes)
    return _table(table.column, table.parents, coding, log_p, counts, rule, most)


def _table(
    column: str,
    parents: Sequence[str],
    coding: Coding,
    log_p: Doubles,
    counts: Doubles,
    rule: Smoothing | None,
    most: int | None,
) -> LearnedTable:
    """A table from `log_p`, (parents' levels x levels) x classes, and `counts`, classes x parents' levels x levels."""
    levels = coding.levels[column]
    flat = counts.reshape(len(counts), -1)
    places = most_common_places(flat.sum(axis=0), most)
    contexts = [coding.levels[parent] for parent in parents]
    sizes = [*map(len, contexts), len(levels)]
    titles = []
    for place in places.tolist():
        *case, level = np.unravel_index(place, sizes)
        given = [f"{parent}={coding.levels[parent][int(code)]}" for parent, code in zip(parents, case, strict=True)]
        titles.append(f"P({column}={levels[int(level)]} | {', '.join(['class', *given])})")
    counted = None
    if rule is not None:
        totals = np.repeat(counts.sum(axis=-1).reshape(len(counts), -1), len(levels), axis=1)
        chosen = [levels[place % len(levels)] for place in places.tolist()]
        counted = CountedLevels(_exact(flat[:, places]), _exact(totals[:, places]), len(levels), chosen, rule)
    name = f"{column} | {', '.join(parents)}" if parents else column
    about = "" if rule is not None else BACKOFF
    return LearnedTable(name, level_rows(titles, log_p[places], counted), prod(sizes) - len(places), about)


def _exact(counts: Doubles) -> np.ndarray:
    found = np.empty(counts.shape, dtype=object)
    for place, number in np.ndenumerate(counts):
        found[place] = Fraction(float(number))
    return found
