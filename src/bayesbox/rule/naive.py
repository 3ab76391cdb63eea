"""The naive Bayes model: a class prior and one distribution per column, independent given the class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayesbox.collector import collector_paused
from bayesbox.described import Remedy, parameter
from bayesbox.dist.base import Distribution
from bayesbox.dist.cells import Smoothing
from bayesbox.dist.fit import ColumnToFit, FitOptions, fitted_columns
from bayesbox.dist.functions import log
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption
from bayesbox.limits import current_limits, require_memory
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import given_prior, log_prior
from bayesbox.rule.var_smoothing import smoothed
from bayesbox.schema.families import FamilyEntry, family_named
from bayesbox.schema.kinds import Kind, Number
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.tally.base import Tally
from bayesbox.tally.book import Book

NOT_SELECTED = "it was not selected"
PRIOR_COUNTS = "prior-counts"
ONE_VALUE = "all its values are equal"
FEWER_CELLS = (
    "Choose another target, ignore columns, or take a density without cells (" + parameter("numeric", "gaussian") + ")"
)


@collector_paused()
def naive_model(
    schema: Schema, book: Book, rules: NaiveOptions, weights: Mapping[str, float] | None = None
) -> NaiveModel:
    """Apply the rules to the tallies. A column whose weight is 0 is ignored; one without a weight has 1."""
    weights = weights or {}
    classes = tuple(label_order(list({*book.classes, *schema.classes}), book.label_type))
    counted = book.with_classes(classes)
    builder = _Builder(schema, counted, rules)
    if weights:
        builder.ignored.update((name, NOT_SELECTED) for name in schema.used if weights.get(name) == 0)
    builder.add(name for name in schema.used if name not in builder.ignored)
    builder.finish()
    if rules.var_smoothing is not None:
        builder.conditionals = smoothed(schema, counted, rules.var_smoothing, builder.conditionals)
    if rules.prior is None:
        prior = log_prior(counted.class_counts, classes, rules.prior_smoothing)
    else:
        prior = log(given_prior(rules.prior, classes))
    labels = label_values(classes, book.label_type)
    return NaiveModel(classes, labels, prior, tuple(builder.conditionals), builder.ignored, weights)


class _Builder:
    """Makes the distribution of each column; columns with a joint distribution are collected first."""

    def __init__(self, schema: Schema, book: Book, rules: NaiveOptions) -> None:
        self.schema = schema
        self.book = book
        self.rules = rules
        self.conditionals: list[Distribution] = []
        self.ignored: dict[str, str] = {}
        self.bytes = 0  # bytes of tables whose size is not known from the tallies
        self.most_bytes = current_limits().memory
        self.shared: dict[tuple[int, str, tuple[str, ...]], tuple[FitOptions, FamilyEntry]] = {}  # thousands share one
        self.differ, self.beyond_flags, _ = book.clearly_differing
        self.known: dict[tuple[int, bool], FitOptions] = {}  # of columns of numbers, by type and whether they are flags
        self.single: list[ColumnToFit] = []
        self.together: dict[str, dict[str, Tally]] = {}  # by the name of the family

    def add(self, names: Iterable[str]) -> None:
        """Columns in order; those of a type that is known by now are not looked at any closer."""
        kinds, tallies, known = self.schema.kinds, self.book.columns, self.known
        differ, beyond_flags = self.differ, self.beyond_flags
        for name in names:
            options = known.get((id(kinds[name]), name not in beyond_flags))
            if options is not None and name in differ:
                self.single.append((name, tallies[name], options))
            else:
                self._add(name)

    def _add(self, name: str) -> None:
        tally: Any = self.book.columns.get(name)
        kind = self.schema.kinds[name]
        if tally is None:
            self.ignored[name] = "it has no values"
            return
        if kind.part_of is not None and len(tally.levels) < 2:
            self.ignored[name] = ONE_VALUE
            return
        options, entry = self._options(name, kind, tally)
        if entry.together:
            self.together.setdefault(entry.name, {})[name] = tally
            return
        if options.is_constant(tally):
            self.ignored[name] = ONE_VALUE
            return
        self.single.append((name, tally, options))
        if name in self.differ and type(kind) is Number and not self.rules.column_smoothing:
            self.known[id(kind), name not in self.beyond_flags] = options

    def _options(self, name: str, kind: Kind, tally: Any) -> tuple[FitOptions, FamilyEntry]:
        """The options for fitting a column, one object for all columns that share a type and a density."""
        if self.rules.column_smoothing or kind.known(tally) is not kind:
            return self._own_options(name)
        lasting = self.schema.lasting_levels(name) if kind.is_flag else ()
        key = id(kind), kind.family(tally, self.schema.numeric), lasting
        found = self.shared.get(key)
        if found is None:
            found = self.shared[key] = self._own_options(name)
        return found

    def _own_options(self, name: str) -> tuple[FitOptions, FamilyEntry]:
        options = fit_options(self.schema, self.book, self.rules, name)
        return options, family_named(options.density)

    def finish(self) -> None:
        """Make the distributions of single columns, and the joint ones of collected columns."""
        for (name, _, _), made in zip(self.single, fitted_columns(self.single), strict=True):
            if isinstance(made, str):
                self.ignored[name] = made
                continue
            self.conditionals.append(made)
            if needed := made.table_bytes():
                self._take_room(needed)
        for family, tallies in self.together.items():
            options = fit_options(self.schema, self.book, self.rules, next(iter(tallies)))
            self.conditionals.append(family_named(family).load().fit_together(tallies, options))

    def _take_room(self, needed: int) -> None:
        """Raise an error if one more table exceeds the memory limit."""
        self.bytes += needed
        if self.bytes <= self.most_bytes:
            return
        require_memory(
            float(self.bytes),
            f"{len(self.book.classes):,} classes x {len(self.conditionals):,} columns of numbers, by cells",
            remedy=FEWER_CELLS,
        )


def fit_options(schema: Schema, book: Book, rules: NaiveOptions, name: str) -> FitOptions:
    """The options for fitting the family of a column."""
    kind = schema.kinds[name]
    rule = rule_of_column(schema, rules, name)
    if name not in book:
        return FitOptions(rule, kind, unseen=kind.unseen or rules.unseen)
    tally = book[name]
    return FitOptions(
        rule,
        kind.known(tally),
        kind.family(tally, schema.numeric),
        kind.unseen or rules.unseen,
        book.class_counts if missing_is_level(kind, rules) else None,
        schema.lasting_levels(name) if schema.ignores_constants else None,
    )


def rule_of_column(schema: Schema, rules: Any, name: str) -> Smoothing:
    """The smoothing rule of a column: its own, or that of the model."""
    own = schema.kinds[name].smoothing or (getattr(rules, "column_smoothing", None) or {}).get(name)
    found: Smoothing = own or rules.smoothing
    return found


def require_fitting_rule(schema: Schema, book: Book, rules: NaiveOptions) -> None:
    """Raise an error if prior counts for all columns name a value that a column does not have.

    The pseudo-counts of such a value would be added to a column it does not belong to.
    """
    values = rules.smoothing.listed
    columns = [
        name
        for name in schema.used
        if rule_of_column(schema, rules, name) is rules.smoothing and name in book and _has_levels(schema, book, name)
    ]
    if rules.smoothing.name != PRIOR_COUNTS or len(columns) < 2:
        return
    for name in columns:
        known = {*book[name].levels, *schema.kinds[name].domain}
        foreign = next((value for value in values if value not in known), None)
        if foreign is not None:
            raise BadOption(
                f"the rule {rules.smoothing.name} names values of one column, but column `{name}` has no level "
                f"`{foreign}`",
                where="smoothing",
                found=", ".join(values),
                remedy="Use it for its column only: "
                + Remedy("columns={'outlook': Category(smoothing=...)}", "--smoothing outlook=..."),
            )


def _has_levels(schema: Schema, book: Book, name: str) -> bool:
    kind, tally = schema.kinds[name], book[name]
    return kind.has_levels or tally.form == "counts" or kind.shown(tally) == "flag"


def missing_is_level(kind: Kind, rules: Any) -> bool:
    """Whether missing counts as a level in a column of this type."""
    found: bool = (kind.missing or rules.missing) == "level"
    return found
