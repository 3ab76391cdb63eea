"""The calculation of models with dependent columns: each factor with its parents and back-off steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Smoothing, added_counts
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, formula, log_of
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.explain.box import BayesBox
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step
from bayesbox.explain.work import prior_factor
from bayesbox.rule.backoff import Trust, expanded, step, uniform
from bayesbox.source.base import Batch
from bayesbox.table.augmented.model import by_rule, with_unseen
from bayesbox.table.augmented.one_dependence import PairCounts, level_counts, pairs_of

if TYPE_CHECKING:
    from bayesbox.table.augmented.aode import OneDependenceClassifier
    from bayesbox.table.augmented.arcs import ArcsClassifier
    from bayesbox.table.augmented.classifier import AugmentedClassifier

MOST_PARENTS = 6  # parents of AODE whose factors are shown


def arcs_work(classifier: ArcsClassifier[Any, Any], batch: Batch, against: str | None) -> ClassWork:
    """The calculation of TAN or KDB for a batch of one row."""
    model = classifier.model
    counts = classifier.steps_of(classifier.book.with_classes(model.classes), model)
    row = _CodedRow.of(classifier, batch)
    factors, before = [prior_factor(model, classifier.book, classifier.rules)], []
    ignored = [NoFactor(name, reason) for name, reason in model.ignored.items()]
    for table in model.conditionals:
        found, lower = _family(row, table, counts[table.column], classifier.rules.smoothing)
        if isinstance(found, NoFactor):
            ignored.append(found)
        else:
            factors.append(found)
            before.extend(lower)
    steps = [Step("back-off", tuple(before), model.classes)] if before else []
    box = BayesBox(model.classes, tuple(factors), tuple(ignored), against=against)
    return box.work(classifier.case_title(batch), steps)


@dataclass(frozen=True)
class _CodedRow:
    """One row as codes: -1 if missing, the number of levels where unseen."""

    codes: dict[str, int]
    values: dict[str, str]

    @classmethod
    def of(cls, classifier: AugmentedClassifier[Any, Any, Any], batch: Batch) -> _CodedRow:
        from bayesbox.classifier.case import value_text

        codes = {name: int(each[0]) for name, each in classifier.codes_of(batch).items()}
        texts = {name: value_text(column) for name, column in classifier.columns_of(batch).items()}
        coding = classifier.model.coding
        shown = {}
        for name, code in codes.items():
            level = coding.levels[name][code] if 0 <= code < len(coding.levels[name]) else None
            text = texts.get(name) or "missing"
            shown[name] = f"{name}={text}" if level in (None, text) else f"{name}={text}, {level}"
        return cls(codes, shown)

    def code(self, name: str) -> int:
        return self.codes.get(name, -1)


def _family(
    row: _CodedRow, table: FamilyTable, counts: Sequence[Doubles], rule: Smoothing | None
) -> tuple[Factor | NoFactor, list[Row]]:
    """The factor of one column given the class and its parents, with its back-off steps."""
    own, levels = row.code(table.column), len(table.levels)
    if own < 0:
        return NoFactor(table.column, "" if table.column not in row.values else "its value is missing or unseen"), []
    known = 0
    while known < len(table.parents) and 0 <= row.code(table.parents[known]) < table.sizes[known]:
        known += 1
    parents = table.parents[:known]
    chain = _chain(counts[: known + 2], levels, rule)
    place = tuple(row.code(parent) for parent in parents)
    logs = table.terms({name: np.array([code]) for name, code in row.codes.items()}, 1)[0]
    event, rows = row.values[table.column], []
    for depth, (cells, lower, trust, values) in enumerate(chain):
        given = ["", "class", *(row.values[parent] for parent in parents)][: depth + 1]
        name = f"P({event}{' | ' if depth else ''}{', '.join(each for each in given if each)})"
        at = () if depth == 0 else place[: depth - 1]
        classes = range(table.classes)
        index = [((),) if depth == 0 else ((c, *at),) for c in classes]
        shown = [
            _written(cells[i[0]], own, float(lower[i[0]][own]), trust, rule if depth else None, levels) for i in index
        ]
        found = [_exact_or(values[i[0]][own], text[1]) for i, text in zip(index, shown, strict=True)]
        rows.append(Row(name, tuple(Cell(text[0], value) for text, value in zip(shown, found, strict=True))))
    last = rows.pop()
    if not any(_number(cell) for cell in last.cells):
        return NoFactor(table.column, "it has probability 0 in every class"), []
    kept = [_same(_number(cell), log) for cell, log in zip(last.cells, logs.tolist(), strict=True)]
    lower_rows = rows if rule is None else []
    return Factor(last.name, tuple(cell.formula for cell in last.cells), tuple(kept)), lower_rows


def _chain(
    counts: Sequence[Doubles], levels: int, rule: Smoothing | None
) -> list[tuple[Doubles, Doubles, Trust, Doubles]]:
    """For each back-off step: counts, the previous step in the same shape, back-off weight, probabilities."""
    padded = [with_unseen(each) for each in counts]
    lowest = uniform(padded[0].shape, levels)
    below = step(padded[0], lowest)
    found = [(padded[0], lowest.probability, below.trust, below.probability)]
    for each in padded[1:]:
        lower = expanded(below)
        below = step(each, lower)
        if rule is not None:
            below = below._replace(probability=by_rule(each, lower.probability, rule, levels))
        found.append((each, np.broadcast_to(lower.probability, each.shape), below.trust, below.probability))
    return found


def _written(
    counts: Doubles, own: int, lower: float, trust: Trust, rule: Smoothing | None, levels: int
) -> tuple[str, Fraction | None]:
    """A ratio of counts with its pseudo-counts, from a rule (also as a fraction) or from the previous step."""
    n, total = float(counts[own]), float(counts.sum())
    if rule is None:
        m = float(trust.rows(total))
        return f"({n:g} + {m:.5g} x {lower:.5g})/({total:g} + {m:.5g})", None
    a, b = (Fraction(str(each)) for each in added_counts(rule, levels))
    over, under = Fraction(n) + a, Fraction(total) + b
    if not under:
        return "as without the last parent, since no row has this combination", None
    return formula(Fraction(n), Fraction(total), over, under, rule), over / under


def _exact_or(value: float, exact: Fraction | None) -> Number:
    return exact if exact is not None else Logged(float(functions.log(value)) if value > 0 else -np.inf)


# -- averaged one-dependence estimators ------------------------------------------------------------------------------


def aode_work(classifier: OneDependenceClassifier, batch: Batch, against: str | None) -> ClassWork:
    """The calculation of AODE for a batch of one row: a product for each parent, and their mean."""
    model, rule = classifier.model, classifier.rules.smoothing
    book = classifier.book.with_classes(model.classes)
    row, counted = _CodedRow.of(classifier, batch), PairCounts(pairs_of(book), model.coding)
    factors = [prior_factor(model, classifier.book, classifier.rules)]
    ignored = [NoFactor(name, reason) for name, reason in model.ignored.items()]
    there = [name for name in model.names if row.code(name) >= 0]
    ignored += [NoFactor(name, "it is missing or unseen") for name in model.names if name not in there]
    slot = {name: int(model.first_slot[model.names.index(name)]) + row.code(name) for name in there}
    parents = [name for name in there if model.is_parent[slot[name]]]
    steps, products = [], []
    for number, parent in enumerate(parents):
        rows = [_pair_row(row, counted, (parent, parent), model.naive[slot[parent]], rule)]
        rows += [
            _pair_row(row, counted, (parent, name), model.table[slot[parent], slot[name]], rule)
            for name in there
            if name != parent
        ]
        logs = [float(sum(log_of(_number(each.cells[c])) for each in rows)) for c in range(len(model.classes))]
        products.append(logs)
        product = Row(f"product with parent {parent}", tuple(Cell(value=Logged(log)) for log in logs))
        shown = (*rows, product) if number < MOST_PARENTS else (product,)
        steps.append(Step(f"parent {parent}", shown, model.classes))
    if parents:
        mean = functions.log_sum_along(products) - functions.log(len(parents))
        text = "sum of the products / " + str(len(parents))
        factors.append(Factor(f"mean of {len(parents)} products", (text,) * len(mean), _logged(mean)))
    else:
        for name in there:
            found = _pair_row(row, counted, (name, name), model.naive[slot[name]], rule)
            factors.append(
                Factor(found.name, tuple(each.formula for each in found.cells), _logged(model.naive[slot[name]]))
            )
    for table in model.alone:
        single = level_counts(book, model.coding, table.column)
        alone, _ = _family(row, table, [single.sum(axis=0), single], rule)
        if isinstance(alone, NoFactor):
            ignored.append(alone)
        else:
            factors.append(alone)
    box = BayesBox(model.classes, tuple(factors), tuple(ignored), against=against)
    return box.work(classifier.case_title(batch), steps)


def _pair_row(row: _CodedRow, counted: PairCounts, pair: tuple[str, str], logs: Doubles, rule: Smoothing | None) -> Row:
    """P(x_j | class, x_i), or P(x_i | class) for the parent itself, for each class."""
    parent, name = pair
    single = counted.single(name)
    counts = [single.sum(axis=0), single, *([] if parent == name else [counted.pair(parent, name)])]
    levels, own = single.shape[1], row.code(name)
    cells, lower, trust, _ = _chain(counts, levels, rule)[-1]
    shown = []
    for c, log in enumerate(logs.tolist()):
        at = (c,) if parent == name else (c, row.code(parent))
        text, exact = _written(cells[at], own, float(lower[at][own]), trust, rule, levels)
        shown.append(Cell(text, Logged(log) if exact is None else _same(exact, log)))
    if not any(logs.tolist()) and any(cell.formula.startswith("0/") for cell in shown):
        shown = [Cell("1, since it is impossible in every class", Fraction(1))] * len(shown)
    given = "class" if parent == name else f"class, {row.values[parent]}"
    return Row(f"P({row.values[name]} | {given})", tuple(shown))


def _same(value: Number, log: float) -> Number:
    """The computed fraction if it equals the model's value; else the model's value."""
    if not isinstance(value, Fraction):
        return Logged(log)
    same = log == -np.inf if not value else abs(log_of(value) - log) < 1e-12
    return value if same else Logged(log)


def _number(cell: Cell) -> Number:
    assert isinstance(cell.value, (Fraction, Logged))
    return cell.value


def _logged(logs: Doubles) -> tuple[Number, ...]:
    return tuple(Logged(each) for each in logs.tolist())
