"""Tree-augmented naive Bayes on tables (Friedman, Geiger and Goldszmidt, 1997).

The parents of each column are the class and at most one other column, and these arcs form the tree under which the rows
are most probable. The tree follows from the counts of pairs, so it is recomputed after rows are learned or forgotten,
and training stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.errors import UnknownColumn
from bayesbox.rule.discrete import Coding
from bayesbox.schema.schema import Schema
from bayesbox.stat.spanning_tree import augmenting_forest
from bayesbox.table.augmented.arcs import ArcsClassifier
from bayesbox.table.augmented.classifier import CutPoints
from bayesbox.table.augmented.model import AugmentedModel, ClassPrior, family_table
from bayesbox.table.augmented.one_dependence import PairCounts, columns_alone, level_counts
from bayesbox.table.augmented.options import TreeOptions
from bayesbox.tally.book import Book
from bayesbox.tally.pairs import Pairs


class TreeClassifier(ArcsClassifier[TreeOptions, CutPoints]):
    """TAN: naive Bayes with a tree of arcs between the columns."""

    kind = "tan"
    title = "tree-augmented naive Bayes"
    options_type = TreeOptions

    def accept(self, schema: Schema, book: Book) -> None:
        if self.rules.root is not None and self.rules.root not in schema.used:
            raise UnknownColumn(self.rules.root, available=schema.used, where="root")
        super().accept(schema, book)

    def make_model(self, schema: Schema, book: Book) -> AugmentedModel:
        frame, coding = ClassPrior.of(schema, book, self.rules), self.coding(schema, book)
        pairs = frame.book.joint
        if not isinstance(pairs, Pairs):
            pairs = Pairs.of(frame.classes, {}, np.empty(0, dtype=np.int32))
        parents = tree_parents(pairs, coding, self.rules.score, self.rules.root)
        alone, ignored = columns_alone(schema, frame, pairs, coding, self.rules.smoothing)
        tables = {table.column: table for table in alone}
        counted = PairCounts(pairs, coding)
        for name, parent in parents.items():
            steps = tree_counts(counted, name, parent)
            found = family_table(name, coding.levels[name], parent, steps, self.rules.smoothing)
            tables[name] = found
        ordered = tuple(tables[name] for name in schema.used if name in tables)
        return AugmentedModel(frame.classes, frame.labels, frame.log_prior, ordered, coding, ignored)

    def steps_of(self, book: Book, model: AugmentedModel) -> dict[str, list[Doubles]]:
        assert isinstance(book.joint, Pairs)
        counted = PairCounts(book.joint, model.coding)
        found = {}
        for table in model.conditionals:
            if table.column in book.joint.wide:
                single = level_counts(book, model.coding, table.column)
                found[table.column] = [single.sum(axis=0), single]
            else:
                found[table.column] = tree_counts(counted, table.column, table.parents)
        return found


def tree_counts(counted: PairCounts, name: str, parents: Sequence[str]) -> list[Doubles]:
    """The counts of each back-off step of a column."""
    single = counted.single(name)
    return [single.sum(axis=0), single, *(counted.pair(parent, name) for parent in parents)]


def tree_parents(pairs: Pairs, coding: Coding, score: str, root: str | None) -> dict[str, tuple[str, ...]]:
    """The parent of each column; none for the root of a tree.

    The score of an arc is the number of rows with both values times I(x; y | class), less a penalty per parameter: 0
    ("mi"), 1 ("aic"), or half the log of the number of rows ("bic"). Arcs without a positive score are dropped.

    The tree grows from the first column. Of arcs that are equally good in exact arithmetic, as hundreds are in wide
    tables of rare values, it takes the one to the first column, from the column that joined the tree first.
    """
    counted = PairCounts(pairs, coding)
    names = [name for name in coding.levels if name in pairs.names and len(coding.levels[name]) > 1]
    rows = counted.rows(names)
    free = np.array([len(coding.levels[name]) - 1 for name in names])
    cost = {"mi": np.zeros_like(rows), "aic": np.ones_like(rows), "bic": functions.log(np.maximum(rows, 1.0)) / 2}
    worth = rows * counted.information(names) - cost[score] * (free[:, None] * free) * len(pairs.classes)
    np.fill_diagonal(worth, 0.0)
    forest = augmenting_forest(worth, names.index(root) if root in names else None)
    return {name: (names[parent],) if parent >= 0 else () for name, parent in zip(names, forest, strict=True)}
