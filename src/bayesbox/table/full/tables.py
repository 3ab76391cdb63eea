"""The tables of full Bayes: P(tuple | class) of the categories, mean vector and covariance of the numbers by class."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.joint.gaussian import JointGaussian
from bayesbox.dist.learned import CountedLevels, LearnedRow, LearnedTable, level_rows, most_common_places
from bayesbox.rule.joint_table import joint_table
from bayesbox.tally.comoments import CoMoments

if TYPE_CHECKING:
    from bayesbox.table.full.classifier import FullClassifier


def learned_together(classifier: FullClassifier, most: int | None) -> Iterator[LearnedTable]:
    """The joint table, then the normals of the classes and of the cells that have their own."""
    model = classifier.model
    if model.table is not None:
        yield _joint(classifier, most)
    if model.normals is not None:
        yield from _normals(model.normals, model.classes, classifier.notes())


def _joint(classifier: FullClassifier, most: int | None) -> LearnedTable:
    table = classifier.model.table
    assert table is not None
    book = classifier.book.with_classes(classifier.model.classes)
    tally = book.joint if isinstance(book.joint, CoMoments) else None
    counts = None if tally is None else joint_table(tally, table.axes, classifier.rules.smoothing)[1]
    places = most_common_places(functions.exp(table.log_p).sum(axis=1) if counts is None else counts.sum(axis=0), most)
    levels = [[*axis.levels, *(["missing"] if axis.missing else [])] for axis in table.axes]
    chosen = set(places.tolist())
    cases = [case for place, case in enumerate(itertools.product(*levels)) if place in chosen]
    titles = [
        f"P({', '.join(f'{name}={level}' for name, level in zip(table.columns, case, strict=True))} | class)"
        for case in cases
    ]
    counted = None
    if counts is not None:
        exact = np.array([[Fraction(n) for n in row] for row in counts[:, places].tolist()], dtype=object)
        totals = np.array([Fraction(n) for n in counts.sum(axis=1).tolist()], dtype=object)
        names = [case[0] if len(levels) == 1 else None for case in cases]
        shape = counts.shape[0], len(places)
        counted = CountedLevels(exact.reshape(shape), totals, counts.shape[1], names, classifier.rules.smoothing)
    rows = level_rows(titles, table.log_p[places], counted)
    return LearnedTable(", ".join(table.columns), rows, len(table.log_p) - len(rows))


def _normals(normals: JointGaussian, classes: tuple[str, ...], notes: Sequence[str]) -> Iterator[LearnedTable]:
    """The mean vector and covariance of each class, the shrinkage, and the number of cells with their own normal."""
    mean, names = normals.mean + normals.mean_low, normals.names
    rows = tuple(
        LearnedRow(f"mean of {name}", ("",) * len(classes), tuple(mean[: len(classes), place].tolist()))
        for place, name in enumerate(names)
    )
    own = len(normals.mean) - len(classes)
    cells = (f"{own:,} cells of the table have their own normal distribution",) if own else ()
    yield LearnedTable("mean", rows, about="; ".join((*notes, *cells)))
    for label, text in enumerate(classes):
        covariance = normals.covariance(label)
        lines = tuple(
            LearnedRow(f"covariance of {name} | {text}", ("",) * len(names), tuple(covariance[place].tolist()))
            for place, name in enumerate(names)
        )
        yield LearnedTable(f"covariance of {text}", lines, columns=names)
