"""Naive Bayes in fractions, from the definitions alone and as plainly as they can be written.

n_cv: rows of class c with value v; n_c: rows of class c with any value; n: rows of all classes with any value; K: how
many values there can be. Nothing here is shared with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

Share = Fraction | None
"""A probability, or None for 0/0."""

MISSING = "<missing>"


@dataclass(frozen=True)
class Rule:
    """P(v | c) from (n_cv, n_c, n, K, v), and the values that the rule lists itself."""

    share: Callable[[Fraction, Fraction, Fraction, int, Any], Share]
    listed: tuple[str, ...] = ()


def over(one: Any, other: Any) -> Share:
    """one / other, None where that is 0/0."""
    return None if other == 0 else Fraction(one) / Fraction(other)


def maximum_likelihood() -> Rule:
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv, n_c))


def laplace() -> Rule:
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + 1, n_c + K))


def lidstone(a: Fraction) -> Rule:
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + a, n_c + a * K))


def m_estimate(m: Fraction, prior: Mapping[str, Fraction] | None = None) -> Rule:
    if prior is None:
        return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + m / K, n_c + m))
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + m * prior.get(v, 0), n_c + m), tuple(prior))


def prior_counts(counts: Mapping[str, Fraction]) -> Rule:
    whole = sum(counts.values())
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + counts.get(v, 0), n_c + whole), tuple(counts))


def zero_becomes(what: str) -> Rule:
    def share(n_cv: Fraction, n_c: Fraction, n: Fraction, K: int, v: Any) -> Share:
        if n_cv or not n_c:
            return over(n_cv, n_c)
        return Fraction(1, 2) / n if what == "half" else (n_c / n) / n

    return Rule(share)


def as_written(a: Fraction, b: Fraction) -> Rule:
    return Rule(lambda n_cv, n_c, n, K, v: over(n_cv + a, n_c + b))


@dataclass(frozen=True)
class Table:
    """The counts of one column, and what can be asked of them."""

    counts: Mapping[tuple[str, str], Fraction]  # (class, value) -> n_cv
    classes: Sequence[str]
    size: int  # K
    rule: Rule

    def n_cv(self, c: str, v: str) -> Fraction:
        return self.counts.get((c, v), Fraction(0))

    @cached_property
    def n_c(self) -> dict[str, Fraction]:
        totals = dict.fromkeys(self.classes, Fraction(0))
        for (c, _), count in self.counts.items():
            totals[c] += count
        return totals

    @cached_property
    def n(self) -> Fraction:
        return sum(self.counts.values(), Fraction(0))

    def p(self, v: str) -> dict[str, Fraction] | None:
        """P(v | c) by class; None where the value is to be left out."""
        shares = {}
        for c in self.classes:
            share = self.rule.share(self.n_cv(c, v), self.n_c[c], self.n, self.size, v)
            if share is None:  # 0/0: the share over all classes
                pooled = sum((self.n_cv(each, v) for each in self.classes), Fraction(0))
                share = over(pooled, self.n)
            if share is None:
                return None
            shares[c] = share
        return shares if any(shares.values()) else None


@dataclass(frozen=True)
class Column:
    """A category or a flag: its values (None where missing), the values it is declared to have."""

    values: Sequence[str | None]
    domain: tuple[str, ...] = ()
    fixed: bool = False  # a flag: its domain is all there is
    missing: str = "ignore"
    unseen: str = "smooth"


@dataclass(frozen=True)
class NaiveBayes:
    """A table of categories, flags and a group of counts; labels, weights and the rules."""

    labels: Sequence[str]
    columns: Mapping[str, Column] = field(default_factory=dict)
    words: Mapping[str, Sequence[int | None]] = field(default_factory=dict)
    weights: Sequence[Fraction] | None = None
    rule: Rule = field(default_factory=laplace)
    prior_rule: Rule = field(default_factory=maximum_likelihood)
    prior_given: Mapping[str, Fraction] | None = None
    declared_classes: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> list[tuple[int, str, Fraction]]:
        """Row, label and weight of what counts."""
        weights = self.weights or [Fraction(1)] * len(self.labels)
        return [(i, c, w) for i, (c, w) in enumerate(zip(self.labels, weights, strict=True)) if w]

    @cached_property
    def classes(self) -> list[str]:
        return sorted({*self.declared_classes, *(c for _, c, _ in self.rows)})

    @cached_property
    def prior(self) -> dict[str, Fraction]:
        if self.prior_given is not None:
            return dict(self.prior_given)
        counts: dict[tuple[str, str], Fraction] = {}
        for _, c, w in self.rows:
            counts["all", c] = counts.get(("all", c), Fraction(0)) + w
        table = Table(counts, ["all"], len(self.classes), self.prior_rule)
        return {c: table.rule.share(table.n_cv("all", c), table.n, table.n, table.size, c) for c in self.classes}

    @cached_property
    def tables(self) -> dict[str, Table]:
        return {name: self.table_of(name) for name in self.columns}

    def table_of(self, name: str) -> Table:
        column = self.columns[name]
        counts: dict[tuple[str, str], Fraction] = {}
        for i, c, w in self.rows:
            v = column.values[i]
            if v is None and column.missing == "ignore":
                continue
            key = (c, MISSING if v is None else v)
            counts[key] = counts.get(key, Fraction(0)) + w
        seen = {v for _, v in counts} - {MISSING}
        possible = {*seen, *column.domain} if column.fixed else {*seen, *column.domain, *self.rule.listed}
        return Table(counts, self.classes, len(possible) + (column.missing == "level"), self.rule)

    @cached_property
    def word_table(self) -> Table:
        counts: dict[tuple[str, str], Fraction] = {}
        for word, values in self.words.items():
            for i, c, w in self.rows:
                if values[i]:
                    counts[c, word] = counts.get((c, word), Fraction(0)) + w * values[i]
        return Table(counts, self.classes, len(self.words), self.rule)

    def likelihood(self, row: Mapping[str, Any]) -> dict[str, Fraction]:
        """P(x | c) by class."""
        product = dict.fromkeys(self.classes, Fraction(1))

        def multiply(p: dict[str, Fraction] | None, times: int = 1) -> None:
            for c in product:
                product[c] *= 1 if p is None else p[c] ** times

        for name, column in self.columns.items():
            v, table = row.get(name), self.tables[name]
            if v is None and column.missing == "ignore":
                continue
            seen = {each for _, each in table.counts} | {*column.domain}
            seen |= set() if column.fixed else {*self.rule.listed}
            if v is not None and v not in seen and column.unseen == "ignore":
                continue
            multiply(table.p(MISSING if v is None else v))
        for word in self.words:
            if row.get(word):
                multiply(self.word_table.p(word), row[word])
        return product

    def joint(self, row: Mapping[str, Any]) -> dict[str, Fraction]:
        """P(c, x) by class."""
        prior, likelihood = self.prior, self.likelihood(row)
        return {c: prior[c] * likelihood[c] for c in self.classes}

    def posterior(self, joint: Mapping[str, Fraction]) -> tuple[dict[str, Fraction], bool]:
        """P(c | x) from P(c, x), and whether x was possible at all: if not, it is the prior."""
        possible = any(joint.values())
        weights = joint if possible else self.prior
        total = sum(weights.values())
        return {c: weight / total for c, weight in weights.items()}, possible
