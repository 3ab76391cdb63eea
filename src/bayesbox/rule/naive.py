"""The naive Bayes model: a class prior and one conditional a column, all of them independent given the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist.base import Distribution, Doubles, log
from bayesbox.dist.naive import NaiveModel
from bayesbox.rule.choose import choose
from bayesbox.rule.counts import multinomial, poisson
from bayesbox.rule.densities import DensityOptions, of_moments, of_values
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import given_prior, log_prior
from bayesbox.rule.table import LevelCounts, bernoulli, grouped_table, log_table, spread, table
from bayesbox.rule.words import text
from bayesbox.schema.flags import FLAG_LEVELS
from bayesbox.schema.kinds import (
    DEFAULT_FLOOR,
    OF_MOMENTS,
    Category,
    Count,
    CountGroup,
    Flag,
    Kind,
    Number,
    Real,
    Unknown,
    Words,
)
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.tally.base import added
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments
from bayesbox.tally.values import Values

NOT_SELECTED = "it was not selected"


def naive_model(
    schema: Schema, book: Book, rules: NaiveOptions, weights: Mapping[str, float] | None = None
) -> NaiveModel:
    """Apply the rules to the tallies. A column whose weight is 0 takes no part; one without a weight has 1."""
    weights = weights or {}
    classes = tuple(label_order(list({*book.classes, *schema.classes}), book.label_type))
    counted = book.with_classes(classes)
    builder = _Builder(schema, counted, rules)
    for name in schema.used:
        if weights.get(name) == 0:
            builder.left_out[name] = NOT_SELECTED
        else:
            builder.add(name, schema.kinds[name])
    builder.finish_group()
    if rules.prior is None:
        prior = log_prior(counted.class_counts, classes, rules.prior_smoothing)
    else:
        prior = log(given_prior(rules.prior, classes))
    labels = label_values(classes, book.label_type)
    return NaiveModel(classes, labels, prior, tuple(builder.conditionals), builder.left_out, weights)


class _Builder:
    """Turns one column after another into its conditional; count columns of a group are gathered first."""

    def __init__(self, schema: Schema, book: Book, rules: NaiveOptions) -> None:
        self.schema = schema
        self.book = book
        self.rules = rules
        self.classes = len(book.classes)
        self.conditionals: list[Distribution] = []
        self.left_out: dict[str, str] = {}
        self.group: dict[str, ExactArray] = {}

    def add(self, name: str, kind: Kind) -> None:
        if name not in self.book:
            self.left_out[name] = "it has no value"
            return
        if isinstance(kind, Unknown):
            kind = Category() if self.book[name].form == "counts" else Number()
        if isinstance(kind, Count) and kind.density == "multinomial":
            self.group[name] = self.book[name].sums.total
            return
        conditional, reason = self._conditional(name, kind)
        if conditional is None:
            self.left_out[name] = reason
        else:
            self.conditionals.append(conditional)

    def _conditional(self, name: str, kind: Kind) -> tuple[Distribution | None, str]:
        tally, rules = self.book[name], self.rules
        if isinstance(kind, CountGroup):
            words = tuple(str(index) for index in range(kind.width))
            cells = spread(tally.cells, self.classes, tally.levels, words)
            return multinomial(words, cells, self.classes, rules.smoothing, group=name), ""
        if isinstance(kind, Words):
            return text(name, tally, kind, self.classes, rules.smoothing), ""
        if isinstance(kind, (Category, Flag)) or (isinstance(kind, Number) and tally.holds_only_flags):
            counts = level_counts(self.book, name, kind, rules)
            make: Any = table if isinstance(kind, Category) else bernoulli
            if isinstance(kind, Category) and kind.group is not None:
                make = grouped_table
            return make(name, counts, rules.smoothing, unseen=rules.unseen), ""
        seen, gone = self._presence(kind, tally)
        if isinstance(kind, Count):
            return poisson(name, tally, rules.smoothing, log_observed=seen, log_missing=gone), "all its counts are 0"
        return self._density(name, kind, tally, seen, gone)

    def _density(
        self, name: str, kind: Kind, tally: Moments, seen: Doubles, gone: Doubles
    ) -> tuple[Distribution | None, str]:
        """The density of a number: from its moments, or from its distinct values."""
        options = density_options(kind, self.rules, seen, gone)
        method = self.schema.density(name)
        if not isinstance(tally, Values):
            return of_moments(method, name, tally, options), "all its values are equal"
        values, counts = tally.table
        if method == "auto":
            method = choose(values, counts, options).density if len(values) > 1 else "gaussian"
        if method in OF_MOMENTS:
            return of_moments(method, name, tally, options), "all its values are equal"
        reason = "all its values are equal" if len(values) < 2 else "it has fewer than two values above 0"
        return of_values(method, name, values, counts, options), reason

    def _presence(self, kind: Kind, tally: Moments) -> tuple[Doubles, Doubles]:
        """log P(observed | class) and log P(missing | class); zeros where missing values are left out."""
        if not missing_is_level(kind, self.rules):
            return np.zeros(self.classes), np.zeros(self.classes)
        missing = added(self.book.class_counts, tally.sums.n, sign=-1)
        counts = LevelCounts(("observed",), tally.sums.n, self.classes, missing)
        log_p, _, log_missing = log_table(counts, self.rules.smoothing)
        return log_p[0], log_missing

    def finish_group(self) -> None:
        """Make one multinomial of the count columns."""
        if not self.group:
            return
        cells = group_cells(list(self.group.values()), self.classes)
        self.conditionals.append(multinomial(tuple(self.group), cells, self.classes, self.rules.smoothing))


def group_cells(totals: Sequence[ExactArray], classes: int) -> ExactArray:
    """The sums of several count columns side by side, class-major."""
    cells = ExactArray(classes * len(totals))
    for index, total in enumerate(totals):
        cells.add(total, np.arange(classes, dtype=np.int64) * len(totals) + index)
    return cells


def density_options(kind: Kind, rules: NaiveOptions, log_observed: Doubles, log_missing: Doubles) -> DensityOptions:
    """What the density of a number takes besides its counts."""
    floor = kind.floor if isinstance(kind, Real) else DEFAULT_FLOOR
    return DensityOptions(floor, rules.smoothing, log_observed, log_missing)


def missing_is_level(kind: Kind, rules: Any) -> bool:
    """Whether a missing value counts as a level in a column of this kind; `rules` are those of any model."""
    found: bool = (kind.missing or rules.missing) == "level"
    return found


def level_counts(book: Book, name: str, kind: Kind, rules: NaiveOptions) -> LevelCounts:
    """The counts of a category or a flag as the smoothing rule takes them."""
    tally = book[name]
    if isinstance(tally, Moments):
        levels, cells, observed = ("0", "1"), tally.flag_cells(), tally.sums.n
    else:
        levels, cells, observed = tally.levels, tally.cells, tally.totals()
    domain = rules.smoothing.listed if isinstance(kind, Category) else ()
    if isinstance(kind, Category) and kind.levels:
        domain = (*domain, *kind.levels)
    elif isinstance(kind, Flag):
        domain = FLAG_LEVELS
    missing = added(book.class_counts, observed, sign=-1) if missing_is_level(kind, rules) else None
    return LevelCounts.of(levels, cells, len(book.classes), domain=domain, missing=missing)
