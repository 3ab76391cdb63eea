"""The work shown: the Bayes box of one case, each factor as a count over a count with what its rule added."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bayesbox.dist.base import Columns
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins, codes_of
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.poisson import Poisson
from bayesbox.dist.table import Table
from bayesbox.dist.text import Text
from bayesbox.explain.box import IS_MISSING, Factor, Logged, Number, Work, decimal, log_of
from bayesbox.explain.density_work import density_formulas
from bayesbox.explain.evidence import explanation
from bayesbox.rule.densities import bin_counts
from bayesbox.rule.naive import group_cells, level_counts
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import prior_ratio
from bayesbox.rule.smoothing import MISSING, UNSEEN, MaximumLikelihood, Smoothing
from bayesbox.rule.table import LevelCounts, group_counts
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import encode
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book


def bayes_box(schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns) -> Work:
    """The work for the first row of these columns."""
    counted = book.with_classes(model.classes)
    factors = [_prior_factor(counted, rules, model)]
    left_out = [f"{name}, since {reason}" for name, reason in model.left_out.items()]
    for conditional in model.conditionals:
        for name in conditional.columns:
            column = columns.get(name)
            value = None if column is None else column[0:1]
            maker = _Maker(name, schema.kinds[name], counted, rules, model)
            factor = maker.factor(conditional, value)
            if isinstance(factor, Factor):
                factors.append(factor.power(model.weight_of(conditional)))
            else:
                left_out.append(factor)
    return Work(model.classes, tuple(factors), tuple(left_out))


def _prior_factor(book: Book, rules: NaiveOptions, model: NaiveModel) -> Factor:
    if rules.prior is not None or not len(book.n) or not np.any(book.n):
        given = [math.exp(value) for value in model.log_prior]
        return Factor("P(class)", tuple(decimal(p) for p in given), tuple(Fraction(decimal(p)) for p in given))
    rule = rules.prior_smoothing or MaximumLikelihood()
    over, under = prior_ratio(book.class_counts, model.classes, rule, exact=True)
    counts = LevelCounts(model.classes, book.class_counts, 1).as_cells(exact=True)
    formulas = [
        _formula(counts.counts[0, index], counts.totals[0], over[index], under[index], rule)
        for index in range(len(model.classes))
    ]
    return Factor("P(class)", tuple(formulas), tuple(_divided(a, b) for a, b in zip(over, under, strict=True)))


class _Maker:
    """Makes the factor of one column, or says why it is left out."""

    def __init__(self, name: str, kind: Kind, book: Book, rules: NaiveOptions, model: NaiveModel) -> None:
        self.name = name
        self.kind = kind
        self.book = book
        self.rules = rules
        self.model = model

    def factor(self, conditional: Any, column: Any) -> Factor | str:
        if isinstance(conditional, (Table, Bernoulli)):
            return self._of_level(conditional, column)
        if isinstance(conditional, Gaussian):
            return self._of_density(conditional, column)
        if isinstance(conditional, Poisson):
            return self._of_poisson(conditional, column)
        if isinstance(conditional, Text):
            return self._whole(column)
        if isinstance(conditional, Bins):
            return self._of_bins(conditional, column)
        if isinstance(conditional, NumberDensity):
            return self._of_other_density(conditional, column)
        return self._of_term(conditional, column)

    def _whole(self, column: Any) -> Factor:
        whole = [Logged(term) for term in self._terms(column)]
        return Factor(f"P({self.name} | class)", tuple("product over its words" for _ in whole), tuple(whole))

    def _of_level(self, conditional: Table | Bernoulli, column: Any) -> Factor | str:
        level = _level_of(column)
        if self.name not in self.book:
            row = conditional.row(level)
            if not row.any():
                return f"{self.name}{IS_MISSING}" if level is None else f"{self.name}, since {level} was never seen"
            values = [math.exp(value) for value in row]
            return self._named(level, [decimal(p) for p in values], [Fraction(decimal(p)) for p in values])
        counts = level_counts(self.book, self.name, self.kind, self.rules)
        if level is None and counts.missing is None:
            return f"{self.name}{IS_MISSING}"
        index = _index(counts, level, is_flag=isinstance(conditional, Bernoulli))
        if isinstance(conditional, Table) and conditional.groups and index < len(conditional.groups):
            return self._of_group(conditional, counts, index)
        if counts.names[index] is UNSEEN and self.rules.unseen == "ignore":
            return f"{self.name}, since {level} was never seen"
        cells = counts.as_cells(exact=True)
        over, under = counts.ratio(self.rules.smoothing, exact=True)
        shares = [_divided(over[c, index], under[c, index]) for c in range(counts.classes)]
        if not any(shares):
            return f"{self.name}, since {level} has probability 0 in every class"
        formulas = [
            _formula(cells.counts[c, index], cells.totals[c], over[c, index], under[c, index], self.rules.smoothing)
            for c in range(counts.classes)
        ]
        return self._named(level, formulas, shares)

    def _of_group(self, conditional: Table, counts: LevelCounts, index: int) -> Factor | str:
        """The group of a level, times the share of the level in it."""
        group, level = conditional.groups[index], counts.levels[index]
        if group < 0 and self.rules.unseen == "ignore":
            return f"{self.name}, since {level} was never seen"
        own = counts.as_cells(exact=True).counts[:, index].sum()
        groups = group_counts(counts, conditional.groups)
        cells, (over, under) = groups.as_cells(exact=True), groups.ratio(self.rules.smoothing, exact=True)
        share = Fraction(1) if group < 0 else Fraction(own) / Fraction(cells.counts[:, group].sum())
        shares = [_divided(over[c, group], under[c, group]) * share for c in range(groups.classes)]
        if not any(shares):
            return f"{self.name}, since its group has probability 0 in every class"
        formulas = [
            _formula(cells.counts[c, group], cells.totals[c], over[c, group], under[c, group], self.rules.smoothing)
            + ("" if share == 1 else f" * {share}")
            for c in range(groups.classes)
        ]
        shown = level if group < 0 or groups.levels[group] == level else f"{level}, one of {groups.levels[group]}"
        return self._named(shown, formulas, shares)

    def _named(self, level: str | None, formulas: Sequence[str], values: Sequence[Number]) -> Factor:
        shown = "missing" if level is None else level
        return Factor(f"P({self.name}={shown} | class)", tuple(formulas), tuple(values))

    def _of_density(self, conditional: Gaussian, column: Any) -> Factor | str:
        value = _number_of(column, self.name)
        terms = self._terms(column)
        if math.isnan(value):
            return self._of_missing(terms)
        formulas = [
            f"N({decimal(value)} | {decimal(mean)}, {decimal(deviation)}){_observed(seen)}"
            for mean, deviation, seen in zip(conditional.mean, conditional.std, conditional.log_observed, strict=True)
        ]
        return self._named(decimal(value), formulas, [Logged(term) for term in terms])

    def _of_bins(self, conditional: Bins, column: Any) -> Factor | str:
        value = _number_of(column, self.name)
        terms = self._terms(column)
        if math.isnan(value):
            return self._of_missing(terms)
        if len(conditional.levels) == 1:
            return f"{self.name}, since {conditional.method} puts all its values into one bin"
        tally = bin_counts(self.book[self.name], conditional)
        counts = LevelCounts(tally.levels, tally.cells, len(tally.classes))
        index = int(codes_of(np.array([value]), conditional.cuts)[0])
        cells, (over, under) = counts.as_cells(exact=True), counts.ratio(self.rules.smoothing, exact=True)
        shares: list[Number] = [_divided(over[c, index], under[c, index]) for c in range(counts.classes)]
        if not any(shares):
            return f"{self.name}, since its bin has probability 0 in every class"
        rule, seen = self.rules.smoothing, conditional.log_observed
        formulas = [
            _formula(cells.counts[c, index], cells.totals[c], over[c, index], under[c, index], rule)
            + _observed(seen[c])
            for c in range(counts.classes)
        ]
        values = [Logged(term) for term in terms] if seen.any() else shares
        return self._named(f"{decimal(value)}, {conditional.levels[index]}", formulas, values)

    def _of_other_density(self, conditional: NumberDensity, column: Any) -> Factor | str:
        value = _number_of(column, self.name)
        terms = self._terms(column)
        if math.isnan(value):
            return self._of_missing(terms)
        texts = density_formulas(conditional, value, decimal)
        formulas = [text + _observed(seen) for text, seen in zip(texts, conditional.log_observed, strict=True)]
        return self._named(decimal(value), formulas, [Logged(term) for term in terms])

    def _of_poisson(self, conditional: Poisson, column: Any) -> Factor | str:
        value = _number_of(column, self.name)
        terms = self._terms(column)
        if math.isnan(value):
            return self._of_missing(terms)
        formulas = [
            f"Poisson({decimal(value)} | {decimal(rate)}){_observed(seen)}"
            for rate, seen in zip(conditional.rate, conditional.log_observed, strict=True)
        ]
        return self._named(decimal(value), formulas, [Logged(term) for term in terms])

    def _of_missing(self, terms: Sequence[float]) -> Factor | str:
        if not any(terms):
            return f"{self.name}{IS_MISSING}"
        values = [Logged(term) for term in terms]
        return self._named(None, [decimal(float(value)) for value in values], values)

    def _of_term(self, conditional: Multinomial, column: Any) -> Factor | str:
        if conditional.group is not None:
            return self._whole(column)
        count = _number_of(column, self.name)
        if math.isnan(count) or count == 0:
            return f"{self.name}, since " + ("it is missing" if math.isnan(count) else "its count is 0")
        cells = self._group_cells(conditional)
        index = conditional.words.index(self.name)
        over, under = cells.ratio(self.rules.smoothing, exact=True)
        counts = cells.as_cells(exact=True)
        formulas: list[str] = []
        values: list[Number] = []
        for c in range(cells.classes):
            rule = self.rules.smoothing
            base = _formula(counts.counts[c, index], counts.totals[c], over[c, index], under[c, index], rule)
            formulas.append(base if count == 1 else f"[{base}]^{decimal(count)}")
            share = _divided(over[c, index], under[c, index])
            values.append(share ** int(count) if count.is_integer() else Logged(count * log_of(share)))
        return self._named(decimal(count), formulas, values)

    def _group_cells(self, conditional: Multinomial) -> LevelCounts:
        cells = group_cells([self.book[word].sums.total for word in conditional.words], len(self.book.classes))
        return LevelCounts(conditional.words, cells, len(self.book.classes))

    def _terms(self, column: Any) -> list[float]:
        columns = {} if column is None else {self.name: column}
        terms = explanation(self.model, columns, 1, tuple(self.model.columns)).terms
        return [float(term) for term in terms[0, :, self.model.columns.index(self.name)]]


def _observed(log_p: float) -> str:
    """The factor for having a value at all, where missing is a level."""
    return f" * {decimal(round(math.exp(log_p), 6))}" if log_p else ""


def _level_of(column: Any) -> str | None:
    if column is None:
        return None
    codes, levels, _ = encode(column)
    return None if codes[0] < 0 else levels[codes[0]]


def _number_of(column: Any, name: str) -> float:
    return math.nan if column is None else float(as_numbers(column, name=name)[0])


def _index(counts: LevelCounts, level: str | None, *, is_flag: bool) -> int:
    """Where a level stands among the names; the last is that of unseen ones."""
    names = counts.names
    if level is None:
        return names.index(MISSING)
    if is_flag:
        level = {
            "false": counts.levels[0],
            "0": counts.levels[0],
            "true": counts.levels[1],
            "1": counts.levels[1],
        }.get(level.lower(), level)
    return names.index(level) if level in counts.levels else len(names) - 1


def _formula(count: Any, total: Any, over: Any, under: Any, rule: Smoothing) -> str:
    """A ratio as the rule made it of a count and a total: what was added to each, or what stands instead."""
    count, total, over, under = Fraction(count), Fraction(total), Fraction(over), Fraction(under)
    if (over, under) == (count, total):
        return f"{_plain(count)}/{_plain(total)}"
    if rule.replaces or (total == 0 and not rule.weight):
        return f"{_plain(over)}/{_plain(under)} instead of {_plain(count)}/{_plain(total)}"
    return f"({_plain(count)} + {_plain(over - count)})/({_plain(total)} + {_plain(under - total)})"


def _divided(over: Any, under: Any) -> Fraction:
    return Fraction(over) / Fraction(under)


def _plain(value: Fraction) -> str:
    """A fraction as an integer, a short decimal, or a fraction in brackets."""
    if value.denominator == 1:
        return str(value.numerator)
    short = decimal(float(value))
    return short if Fraction(short) == value else f"({value})"
