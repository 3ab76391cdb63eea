"""Averaged one-dependence estimators on tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox import _core
from bayesbox.dist import functions, posterior
from bayesbox.dist.base import Doubles, Plan, ignored_where_impossible
from bayesbox.dist.functions import log
from bayesbox.explain.evidence import Explanation
from bayesbox.rule.backoff import Trust
from bayesbox.schema.encode import MISSING, Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.augmented.classifier import AugmentedClassifier, CutPoints
from bayesbox.table.augmented.leave_one_out import Column, Removal, family_terms
from bayesbox.table.augmented.one_dependence import (
    OneDependenceModel,
    PairCounts,
    level_counts,
    one_dependence_model,
    pairs_of,
)
from bayesbox.table.augmented.options import OneDependenceOptions
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.one_row.compiling import CodedScorer
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.explain.class_work import ClassWork


class OneDependenceClassifier(AugmentedClassifier[OneDependenceOptions, CutPoints, OneDependenceModel]):
    """AODE: the mean of all models in which one column is a parent of every other."""

    kind = "aode"
    title = "averaged one-dependence estimators"
    options_type = OneDependenceOptions

    def make_model(self, schema: Schema, book: Book) -> OneDependenceModel:
        return one_dependence_model(schema, book, self.rules, self.coding(schema, book))

    def learned_tables(self, most: int | None) -> Iterator[LearnedTable]:
        from bayesbox.table.augmented.tables import learned_pairs

        return learned_pairs(self, most)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        model = self.model
        return model.joint_log_prob(self.codes_of(batch), batch.rows)

    def coded(self) -> CodedScorer | None:
        from bayesbox.table.augmented.coded_scorer import coded_average

        if self.calibrated is None:
            return coded_average(self.model, None)
        plain, calibration = self.calibrated.compiled(self)
        return coded_average(plain.model, calibration)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.table.augmented.work import aode_work

        return aode_work(self, batch, against)

    def explain(self, batch: Batch) -> Explanation:
        """The term of each column: its factor, averaged over the parents by their weights in the row."""
        assert self.schema is not None
        terms = one_dependence_terms(self.model, self.codes_of(batch), batch.rows, self.schema.used)
        found = Explanation(self.model.labels, self.schema.used, self.model.log_prior, terms)
        return found.joined(self.schema.parts)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        model = self.model
        book = self.book.with_classes(model.classes)
        counted = PairCounts(pairs_of(book), model.coding)
        singles = {name: counted.single(name) for name in model.names}
        singles |= {table.column: level_counts(book, model.coding, table.column) for table in model.alone}
        removal, columns = self.removal(batch, labels, singles)
        prior = self.prior_without_row(labels)
        joint = prior + self._mean(removal, columns, counted)
        for table in model.alone:
            own = columns[table.column]
            joint = joint + log(family_terms(removal, own, (), (), table.trusts))
        return functions.exp(posterior.normalised_log(joint, prior))

    def _mean(self, removal: Removal, columns: Mapping[str, Column], counted: PairCounts) -> Doubles:
        """The log of the mean over the parents, rows x classes, with each row subtracted from its own counts."""
        model = self.model
        by_class = {
            name: removal.by_class(
                columns[name], removal.pooled(columns[name], model.trusts["", name]), model.trusts[name, name]
            )
            for name in model.names
        }
        alone = {name: _term(by_class[name], columns[name].seen) for name in model.names}
        rows, classes = removal.own.shape
        sums, parents = np.full((len(model.names), rows, classes), -np.inf), np.zeros(rows)
        for place, parent in enumerate(model.names):
            given = columns[parent]
            left = given.counts.sum(axis=0)[np.where(given.seen, given.codes, 0)] - 1
            usable = given.seen & (left >= self.rules.least)
            total = alone[parent].copy()
            for name in model.names:
                if name != parent:
                    own = columns[name]
                    both = given.seen & own.seen
                    counts = counted.pair(parent, name)
                    index = np.where(both, given.codes, 0), np.where(both, own.codes, 0)
                    found = removal.step(
                        counts[:, index[0], index[1]].T,
                        counts.sum(axis=2)[:, index[0]].T,
                        by_class[name],
                        model.trusts.get((parent, name), Trust()),
                        removal.sizes(own),
                    )
                    total += _term(found, both)
            sums[place, usable] = total[usable]
            parents += usable
        best = sums.max(axis=0, initial=-np.inf)  # also without any column
        with np.errstate(divide="ignore", invalid="ignore"):
            shifted = np.where(np.isneginf(best), 0.0, functions.exp(sums - best)).sum(axis=0)
            mean = best + functions.log(shifted) - functions.log(np.maximum(parents, 1))[:, None]
        naive = sum(alone.values(), start=np.zeros((rows, classes)))
        return np.where(parents[:, None] > 0, np.where(np.isneginf(best), -np.inf, mean), naive)


def _term(probability: Doubles, there: Any) -> Doubles:
    return np.where(there[:, None], ignored_where_impossible(log(probability)), 0.0)


def one_dependence_terms(
    model: OneDependenceModel, codes: Mapping[str, Any], rows: int, names: tuple[str, ...]
) -> Doubles:
    """Rows x classes x columns: terms that sum to the log of P(x | class).

    With r_i the share of the parent i in the mean over the m parents, the term of a column j is the mean of log P(x_j |
    c, x_i) over the parents, weighted by r_i, less r_j log(m r_j), so that the terms sum exactly.
    """
    classes, width = len(model.classes), len(model.names)
    slots = np.full((width, rows), MISSING, dtype=np.int64)
    for place, name in enumerate(model.names):
        if name in codes:
            size = model.first_slot[place + 1] - model.first_slot[place]
            own = np.where(codes[name] >= size, MISSING, codes[name])
            slots[place] = np.where(own < 0, MISSING, own + model.first_slot[place])
    there = slots >= 0
    safe = np.where(there, slots, 0)
    factors = np.zeros((width, width, rows, classes))  # parent, column
    for parent in range(width):
        for column in range(width):
            terms = model.naive[safe[column]] if column == parent else model.table[safe[parent], safe[column]]
            factors[parent, column] = np.where(there[column][:, None], terms, 0.0)
    is_parent = there & (model.is_parent[safe] != 0)
    sums = np.where(is_parent[:, :, None], factors.sum(axis=1), -np.inf)
    count = is_parent.sum(axis=0)
    best = sums.max(axis=0, initial=-np.inf)  # also without any column
    best = np.where(np.isneginf(best), 0.0, best)
    shares = functions.exp(sums - best)
    total = shares.sum(axis=0)
    shares = np.where(
        total > 0, shares / np.where(total > 0, total, 1.0), is_parent[:, :, None] / np.maximum(count, 1)[:, None]
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        weighted = np.where(shares[:, None] > 0, shares[:, None] * factors, 0.0).sum(axis=0)
        cost = np.where(shares > 0, shares * functions.log(shares * count[:, None]), 0.0)
    naive = np.stack([factors[place, place] for place in range(width)]) if width else weighted
    found = np.where((count > 0)[None, :, None], weighted - cost, naive)
    terms = np.zeros((rows, classes, len(names)))
    for place, name in enumerate(model.names):
        terms[:, :, names.index(name)] = found[place]
    for table in model.alone:
        plan = Plan(rows, np.zeros(classes))
        table.add_to(plan, codes)
        terms[:, :, names.index(table.column)] = plan.run(_core.JOINT)
    return terms
