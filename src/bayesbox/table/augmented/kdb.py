"""k-dependence Bayesian classifiers on tables (Sahami, 1996), with sparse tables smoothed by back-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.calibrated import answers_by_folds, labelled
from bayesbox.classifier.rows import LabelledRows, sample_of
from bayesbox.dist.base import Columns, Doubles
from bayesbox.file.reader import Reader
from bayesbox.rule.discrete import Coding, coded_columns
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.stat.calibrate import floored
from bayesbox.stat.mutual_information import mutual_information, ties_united
from bayesbox.table.augmented.arcs import ArcsClassifier
from bayesbox.table.augmented.classifier import CutPoints
from bayesbox.table.augmented.model import AugmentedModel, ClassPrior, family_table
from bayesbox.table.augmented.one_dependence import PairCounts
from bayesbox.table.augmented.options import AUTO, MOST_PARENTS, DependenceOptions
from bayesbox.table.columns import class_codes
from bayesbox.tally.base import Tally
from bayesbox.tally.book import Book
from bayesbox.tally.dependent import Dependent, dense
from bayesbox.tally.pairs import Pairs

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

MOST_CELLS = 1 << 20  # per table; a parent that would exceed it is skipped
TRIED = (0, 1, 2, 3)  # by `auto`
FOLDS = 3
MOST_ROWS = 10_000  # rows on which the numbers of parents are evaluated


@dataclass(frozen=True)
class Arcs(CutPoints):
    """The cut points, and the parents of each column in order of strength."""

    parents: Mapping[str, tuple[str, ...]] | None = field(default=None)


class DependenceClassifier(ArcsClassifier[DependenceOptions, Arcs]):
    """KDB: columns by their information about the class, each with the k earlier ones it depends on most as parents."""

    kind = "kdb"
    title = "k-dependence Bayes"
    options_type = DependenceOptions
    derives = Arcs
    counts_together = Dependent

    def count_together(
        self, columns: Columns, labels: Encoded, schema: Schema, weights: Any, *, where: str | None = None
    ) -> Tally:
        if self.derived is None or self.derived.parents is None:
            return super().count_together(columns, labels, schema, weights, where=where)
        coded = coded_columns(columns, schema, self.cuts, where=where)
        return Dependent.of(tuple(labels.levels), self.derived.parents, coded, labels.codes, weights)

    def derive(self, schema: Schema, book: Book) -> bool:
        if super().derive(schema, book):
            return True
        if not isinstance(book.joint, Pairs):
            return False
        before, taking_part = self.derived or Arcs(), self.without_identifiers(schema, book)
        self.derived = replace(before, parents=self._parents(book, self.coding(taking_part, book)))
        return True

    def _parents(self, book: Book, coding: Coding) -> dict[str, tuple[str, ...]]:
        assert isinstance(book.joint, Pairs)
        return dependence_parents(book.joint, coding, parents_at_first(self.rules))

    def has_second_pass(self) -> bool:
        return self.rules.k == AUTO

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        """Choose the number of parents with the lowest held-out log loss."""
        kept = sample_of(labelled(parts), MOST_ROWS)
        losses = {k: self._loss(k, kept) for k in TRIED} if kept and len(self.classes) > 1 else {0: 0.0}
        chosen = self._with(min(losses, key=lambda k: losses[k]))
        chosen.learn_all(parts)
        self.derived = chosen.derived
        assert chosen.schema is not None
        self.accept(chosen.schema, chosen.book.with_label_type(self.book.label_type))

    def _with(self, k: int) -> DependenceClassifier:
        """An unfitted copy with this number of parents."""
        return self.unfitted_clone().changed(rules=replace(self.rules, k=k), calibrate=None)

    def _loss(self, k: int, kept: list[LabelledRows]) -> float:
        other = self._with(k)
        other.learn_all(kept)
        log_p = floored(np.concatenate(answers_by_folds(other, kept, folds=FOLDS)))
        codes = np.concatenate([class_codes(rows, other.classes) for rows in kept])
        weights = 1.0 if kept[0].weights is None else np.concatenate([rows.weights for rows in kept])
        return -float((weights * log_p[np.arange(len(codes)), codes]).sum())

    def make_model(self, schema: Schema, book: Book) -> AugmentedModel:
        frame, coding = ClassPrior.of(schema, book, self.rules), self.coding(schema, book)
        families = frame.book.joint
        tables, ignored = [], {}
        for name in schema.used:
            if not isinstance(families, Dependent) or name not in families.parents or name not in coding.levels:
                ignored[name] = "it has no values"
                continue
            if len(coding.levels[name]) < 2:
                ignored[name] = "all its values are in one bin" if coding.is_cut(name) else "it has a single level"
                continue
            parents = families.parents[name]
            members = [frame.classes, *(coding.levels[each] for each in (*parents, name))]
            steps = backoff_counts(dense(families[name], members))
            tables.append(family_table(name, coding.levels[name], parents, steps, self.rules.smoothing))
        return AugmentedModel(frame.classes, frame.labels, frame.log_prior, tuple(tables), coding, ignored)

    def irreversible_parts(self) -> tuple[str, ...]:
        parents = {} if self.derived is None else self.derived.parents or {}
        return (*(("the parents of each column",) if any(parents.values()) else ()), *super().irreversible_parts())

    def derived_to_json(self) -> Json | None:
        written = super().derived_to_json()
        if written is None or self.derived is None:
            return None
        parents = self.derived.parents or {}
        return written | {"parents": {name: list(parents[name]) for name in sorted(parents)}}

    @classmethod
    def more_derived(cls, reader: Reader) -> dict[str, Any]:
        inside = Reader(reader.take("parents", dict), "parents")
        parents = {name: inside.texts(name) for name in sorted(inside.rest)}
        inside.done()
        for name, given in parents.items():
            if len(given) > MOST_PARENTS or len({*given, name}) <= len(given) or not set(given) <= parents.keys():
                raise ValueError(f"the parents of `{name}` are not other columns")
        return {"parents": parents}

    def require_consistent(self) -> None:
        super().require_consistent()
        joint = self.book.joint
        if not isinstance(joint, Dependent):
            return
        parents = {} if self.derived is None else self.derived.parents or {}
        if any(parents.get(name, ()) != given for name, given in joint.parents.items()):
            raise ValueError("the parents of a column differ from those it was counted with")
        assert self.schema is not None
        levels = self.coding(self.schema, self.book).levels
        for name, given in joint.parents.items():
            if len(self.classes) * prod(len(levels[each]) + 1 for each in (*given, name)) > MOST_CELLS:
                raise ValueError(f"the table of `{name}` and its parents has more than {MOST_CELLS} cells")

    def steps_of(self, book: Book, model: AugmentedModel) -> dict[str, list[Doubles]]:
        """The counts of each column, from those of its levels to those with the class and all its parents."""
        assert isinstance(book.joint, Dependent)
        found = {}
        for table in model.conditionals:
            members = [model.classes, *(model.coding.levels[each] for each in (*table.parents, table.column))]
            found[table.column] = backoff_counts(dense(book.joint[table.column], members))
        return found


def parents_at_first(options: DependenceOptions) -> int:
    """The number of parents in the first count; `auto` counts again after choosing."""
    return options.k if isinstance(options.k, int) else 0


def dependence_parents(pairs: Pairs, coding: Coding, k: int) -> dict[str, tuple[str, ...]]:
    """The parents of each column: the k earlier columns it depends on most given the class, the strongest first.

    Columns are ordered by their mutual information with the class; ties, in exact arithmetic, are ordered by name.
    """
    counted = PairCounts(pairs, coding)
    names = [name for name in pairs.names if len(coding.levels.get(name, ())) > 1]
    about_class = ties_united(np.array([mutual_information(counted.single(name)) for name in names]))
    said = dict(zip(names, about_class.tolist(), strict=True))
    order = sorted(names, key=lambda name: (-said[name], name))
    parents: dict[str, tuple[str, ...]] = {}
    together = counted.information(order)
    rank = np.argsort(np.argsort(np.array(order, dtype=object)))  # ties are ordered by name
    for place, name in enumerate(order):
        ranked = [order[each] for each in np.lexsort((rank[:place], -together[:place, place])).tolist()]
        parents[name] = _within_limit(ranked, name, coding, len(pairs.classes), k)
    alone = [name for name in coding.levels if name not in parents]
    return {name: parents.get(name, ()) for name in sorted([*parents, *alone])}


def _within_limit(ranked: list[str], name: str, coding: Coding, classes: int, k: int) -> tuple[str, ...]:
    chosen: list[str] = []
    for parent in ranked:
        if len(chosen) >= k:
            break
        sizes = [len(coding.levels[each]) + 1 for each in (*chosen, parent, name)]
        if classes * prod(sizes) <= MOST_CELLS:
            chosen.append(parent)
    return tuple(chosen)


def backoff_counts(counts: Doubles) -> list[Doubles]:
    """The counts of each back-off step: without the class; by class; by class and the first parent; ... `counts` are by
    class, parents and column, and each parent has an additional level for missing."""
    parents = counts.ndim - 2
    steps = []
    for known in range(parents + 1):
        inside = (slice(None), *(slice(0, -1) for _ in range(known)))
        steps.append(counts[inside].sum(axis=tuple(range(1 + known, 1 + parents))))
    return [steps[0].sum(axis=0), *steps]
