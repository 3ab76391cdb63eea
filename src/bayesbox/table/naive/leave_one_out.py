"""Leave-one-out from the tallies: each row is judged by the model of all the other rows, without a refit.

A row's own unit is subtracted from every tally and the rules are applied anew, in full: the number of levels, the
variance floor and the class prior may change with it. For levels and counts the result depends only on the row's class
and its value, so it is a table looked up; for numbers the moments are updated downwards in doubles, and exactly where
that would cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Doubles, Plan, left_out_where_impossible, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.poisson import Poisson
from bayesbox.dist.posterior import normalised, posterior, terms_of
from bayesbox.dist.table import Table
from bayesbox.dist.text import Text
from bayesbox.rule.naive import density_options, level_counts, missing_is_level, naive_model
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.smoothing import Cells, Smoothing, ratio
from bayesbox.rule.table import LevelCounts, group_counts
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.schema.kinds import SPACED, Kind
from bayesbox.schema.schema import Schema
from bayesbox.stat.leave_one_out import learned_target, never_learned, prior_table
from bayesbox.stat.leave_one_out_words import add_text, add_words
from bayesbox.table.naive.leave_one_out_densities import add_density
from bayesbox.table.naive.leave_one_out_numbers import LeftOutGaussian, add_gaussians, add_poisson, gaussian
from bayesbox.tally.base import added
from bayesbox.tally.book import Book
from bayesbox.tally.count import count
from bayesbox.tally.moments import Moments

Codes = NDArray[np.int32]


def leave_one_out(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded
) -> Doubles:
    """P(class | x) of each row under the model of all other rows, rows x classes.

    A class that the row alone made up has probability 0.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    plan = Plan(len(target), np.zeros(len(model.classes)))
    plan.target = target
    prior = prior_table(schema.classes, counted, rules, model)
    plan.tables.append((target, np.vstack([prior, np.zeros(len(model.classes))])))
    gaussians = []
    doubtful = np.zeros(len(target), dtype=bool)
    for conditional in model.conditionals:
        weight = model.weight_of(conditional)
        if weight != 1:
            alone, unsure = _alone(conditional, schema, counted, rules, columns, target)
            plan.add(alone, weight)
            doubtful |= unsure
            continue
        number = _add(plan, conditional, schema, counted, rules, columns, target)
        if isinstance(number, LeftOutGaussian):
            gaussians.append(number)
        elif number is not None:
            doubtful |= number
    doubtful |= add_gaussians(plan, gaussians, target)
    answer: Doubles = plan.run(_core.POSTERIOR)
    if plan.impossible:
        if np.isnan(plan.run(_core.JOINT)).any():
            raise never_learned(", ".join(columns))
        answer = normalised(plan, prior[target], _core.POSTERIOR)
    for row in np.flatnonzero(doubtful):
        answer[row] = _refitted(schema, book, rules, model, columns, labels, int(row))
    return answer


def leave_one_out_terms(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded
) -> tuple[Doubles, Doubles]:
    """(log P(class), log P(x_j | class)) of each row under the tallies of all other rows.

    Rows x classes, and conditionals x rows x classes in the order of the model, without its weights.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    terms = np.zeros((len(model.conditionals), len(target), len(model.classes)))
    doubtful = np.zeros(len(target), dtype=bool)
    for place, conditional in enumerate(model.conditionals):
        alone, unsure = _alone(conditional, schema, counted, rules, columns, target)
        terms[place] = alone.run(_core.JOINT)
        doubtful |= unsure
    if np.isnan(terms).any():
        raise never_learned(", ".join(columns))
    for row in np.flatnonzero(doubtful):
        reduced, one = _without_row(schema, book, rules, model, columns, labels, int(row))
        places = [model.classes.index(name) for name in reduced.classes]
        for place, conditional in enumerate(model.conditionals):
            again = reduced.conditional(conditional.columns[0])
            terms[place, row] = 0.0
            if again is not None:
                terms[place, row, places] = terms_of(again, one, 1, len(reduced.classes)).run(_core.JOINT)[0]
    return prior_table(schema.classes, counted, rules, model)[target], terms


def _alone(
    conditional: Any, schema: Schema, book: Book, rules: NaiveOptions, columns: Columns, target: Codes
) -> tuple[Plan, NDArray[np.bool_]]:
    """The terms of one conditional in a plan of their own, and which rows a refit must answer."""
    plan = Plan(len(target), np.zeros(len(book.classes)))
    plan.target = target
    number = _add(plan, conditional, schema, book, rules, columns, target)
    if isinstance(number, LeftOutGaussian):
        return plan, add_gaussians(plan, [number], target)
    return plan, np.zeros(len(target), dtype=bool) if number is None else number


def _refitted(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded, row: int
) -> Doubles:
    """The same for one row, by subtracting its tally and applying all rules: exact, and slower."""
    reduced, one = _without_row(schema, book, rules, model, columns, labels, row)
    answer = np.zeros(len(model.classes))
    answer[[model.classes.index(name) for name in reduced.classes]] = posterior(reduced, one, 1)[0]
    return answer


def _without_row(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded, row: int
) -> tuple[NaiveModel, Columns]:
    """The model of all other rows, and the row."""
    one = {name: column[row : row + 1] for name, column in columns.items()}
    label = Encoded(labels.codes[row : row + 1], labels.levels, labels.values)
    others = book - count(one, label, schema, label_type=book.label_type)
    return naive_model(schema, others, rules, model.weights), one


def _add(
    plan: Plan, conditional: Any, schema: Schema, book: Book, rules: NaiveOptions, columns: Columns, target: Codes
) -> LeftOutGaussian | NDArray[np.bool_] | None:
    """Enter one conditional; a normal density is handed back, to be worked out together with the others, and of other
    densities which rows a refit must answer."""
    if isinstance(conditional, (Table, Bernoulli)):
        _add_levels(plan, conditional, schema, book, rules, columns)
        return _only_value(conditional.column, schema, book, rules, columns)
    if isinstance(conditional, Multinomial):
        add_words(plan, conditional, book, rules.smoothing, columns, target)
        return None
    name, kind = conditional.columns[0], schema.kinds[conditional.columns[0]]
    if isinstance(conditional, Text):
        add_text(plan, conditional, kind, book[name], rules.smoothing, columns.get(name), target)
        return None
    column = columns.get(name)
    if missing_is_level(kind, rules):
        _add_presence(plan, book, name, rules.smoothing, column, target)
    if column is None:
        return None
    values = np.asarray(as_numbers(column, name=name), dtype=np.float64)
    if isinstance(conditional, Poisson):
        return add_poisson(plan, book[name], rules.smoothing, values, target)
    if isinstance(conditional, NumberDensity) or schema.density(name) == SPACED:
        nothing = np.zeros(plan.classes)
        options = density_options(kind, rules, nothing, nothing)
        return add_density(plan, conditional, kind, book[name], options, values, target)
    return gaussian(kind, book[name], values)


def _only_value(
    name: str, schema: Schema, book: Book, rules: NaiveOptions, columns: Columns
) -> NDArray[np.bool_] | None:
    """The row that alone has a value in a column where missing is a level: without it the column takes no part."""
    column = columns.get(name)
    if column is None or not missing_is_level(schema.kinds[name], rules):
        return None
    tally = book[name]
    observed = tally.sums.n if isinstance(tally, Moments) else tally.totals()
    if observed.to_doubles().sum() != 1:
        return None
    found: NDArray[np.bool_] = encode(column).codes >= 0
    return found


def _add_presence(plan: Plan, book: Book, name: str, rule: Smoothing, column: Any, target: Codes) -> None:
    """The terms of a number's being observed or missing, where missing is a level."""
    tally: Moments = book[name]
    counts = LevelCounts(
        ("observed",), tally.sums.n, len(book.classes), added(book.class_counts, tally.sums.n, sign=-1)
    )
    values = None if column is None else as_numbers(column, name=name)
    missing = np.ones(len(target), dtype=bool) if values is None else np.isnan(np.asarray(values, dtype=np.float64))
    _add_table(plan, level_table(counts, rule, domain=("observed",)), missing.astype(np.int32), target, 2)


def _add_levels(
    plan: Plan, conditional: Table | Bernoulli, schema: Schema, book: Book, rules: NaiveOptions, columns: Columns
) -> None:
    name = conditional.column
    kind = schema.kinds[name]
    counts = level_counts(book, name, kind, rules)
    domain = declared_levels(conditional, kind, counts)
    if isinstance(conditional, Table) and conditional.groups:  # they stay, and the share in a group tells no class
        counts = group_counts(counts, conditional.groups)
        domain = counts.levels
    table = level_table(counts, rules.smoothing, domain=(*domain, *rules.smoothing.listed), unseen=rules.unseen)
    table[counts.as_cells().counts[:, : counts.size].ravel() < 1] = np.nan  # a row with this level was never learned
    add_by_class(plan, conditional, counts, table.reshape(counts.classes, counts.size, -1), columns.get(name))


def declared_levels(conditional: Table | Bernoulli, kind: Kind, counts: LevelCounts) -> tuple[str, ...]:
    """The levels that stay though no row has them."""
    return counts.levels if isinstance(conditional, Bernoulli) else (getattr(kind, "levels", None) or ())


def add_by_class(plan: Plan, conditional: Table | Bernoulli, counts: LevelCounts, table: Doubles, column: Any) -> None:
    """Enter a table by class under the codes that the column has, without coding it anew."""
    unknown = np.full((counts.classes, 1, plan.classes), np.nan)
    missing = table[:, len(counts.levels) :] if counts.missing is not None else np.zeros_like(unknown)
    rows = np.concatenate([table[:, : len(counts.levels)], missing, unknown], axis=1)
    codes, lowest, place = _places(conditional, counts, column, plan.rows)
    wanted = rows[:, place].reshape(-1, plan.classes)
    plan.by_class.append((codes, lowest, np.vstack([wanted, unknown[0]])))


def _places(
    conditional: Table | Bernoulli, counts: LevelCounts, column: Any, rows: int
) -> tuple[NDArray[Any], int, list[int]]:
    """(codes, lowest code, for each code where its level stands; the missing behind the levels, the unknown last)."""
    missing = len(counts.levels)
    if column is None:
        return np.zeros(rows, dtype=np.int8), 0, [missing]
    position = {level: index for index, level in enumerate(counts.levels)}
    if isinstance(conditional, Table) and conditional.groups:
        position = dict(zip(conditional.levels, conditional.groups, strict=True))
    if isinstance(conditional, Bernoulli):
        position |= FLAG_CODES
    if isinstance(column, np.ndarray) and column.dtype.kind in "iub":
        lowest, width = (0, 2) if isinstance(conditional, Bernoulli) else conditional.integer_range
        if width:
            return column, lowest, [position.get(str(value), -1) for value in range(lowest, lowest + width)]
    codes, levels, _ = encode(column)
    names = [level.lower() if isinstance(conditional, Bernoulli) else level for level in levels]
    codes = np.where(codes < 0, len(names), codes).astype(np.int32)
    return codes, 0, [*(position.get(name, -1) for name in names), missing]


def level_table(counts: LevelCounts, rule: Smoothing, *, domain: tuple[str, ...], unseen: str = "smooth") -> Doubles:
    """For each class and level of the row that is gone: the log-probabilities of that level in all classes.

    (classes * levels) x classes. A level that occurred once is gone with its row, and K with it, unless it is declared
    or named by the rule.
    """
    cells = counts.as_cells()
    classes, width = counts.classes, counts.size
    table = np.empty((classes, width, classes))
    gone_too = levels_of_one_row(counts, domain)
    size = np.where(gone_too, counts.size - 1, counts.size)
    for gone in range(classes):
        left, totals = cells.counts[:, :width].copy(), np.tile(cells.totals[:, None], (1, width))
        left[gone] = np.maximum(left[gone] - 1, 0)
        totals[gone] = np.maximum(totals[gone] - 1, 0)
        over, under = ratio(rule, Cells(left, totals, size, counts.names[:width]))
        table[gone] = left_out_where_impossible((log(over) - log(under)).T)
        if unseen == "ignore":
            table[gone, gone_too] = 0.0
    return table.reshape(classes * width, classes)


def levels_of_one_row(counts: LevelCounts, domain: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which levels are gone with the row that has them; one of the domain stays, and so does missing."""
    once = counts.as_cells().counts[:, : counts.size].sum(axis=0) == 1
    kept = np.array([name in domain or not isinstance(name, str) for name in counts.names[: counts.size]], dtype=bool)
    found: NDArray[np.bool_] = once & ~kept
    return found


def _add_table(plan: Plan, table: Doubles, codes: Codes, target: Codes, width: int) -> None:
    combined = np.where(codes < 0, -1, target * width + codes).astype(np.int32)
    plan.tables.append((combined, np.vstack([table, np.zeros(plan.classes)])))
