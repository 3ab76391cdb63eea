"""Leave-one-out for every model: the classes of the rows, and the prior without one row of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.functions import log
from bayesbox.errors import NeverLearned
from bayesbox.rule.smoothing import MaximumLikelihood
from bayesbox.schema.encode import Encoded
from bayesbox.tally.book import Book

Codes = NDArray[np.int32]


def learned_target(labels: Encoded, classes: tuple[str, ...], book: Book) -> Codes:
    """The labels as positions among the model's classes; an error if one was never learned."""
    place = {text: index for index, text in enumerate(classes)}
    positions = np.array([place.get(text, -1) for text in labels.levels] + [-1], dtype=np.int32)
    target = positions[labels.codes]
    counts = _core.count_labels(target, len(classes))
    if counts.sum() < len(target) or (counts > book.n).any():
        raise never_learned("class")
    return target


def never_learned(column: str) -> NeverLearned:
    return NeverLearned(
        f"some of these rows were never learned: a value has no count in {column}",
        remedy="Leave-one-out needs the rows that the model was trained on",
        column=column,
    )


def prior_table(declared_classes: Sequence[str], book: Book, rules: Any, model: Any) -> Doubles:
    """The log prior of all classes (columns) without one row of a class (rows)."""
    classes = len(model.classes)
    if rules.prior is not None:
        table = np.tile(model.log_prior, (classes, 1))
    else:
        counts = np.tile(book.class_counts.to_doubles(), (classes, 1)) - np.eye(classes)
        declared = np.array([name in declared_classes for name in model.classes])
        size = ((counts > 0) | declared[None, :]).sum(axis=1)
        table = np.empty((classes, classes))
        rule = rules.prior_smoothing or MaximumLikelihood()
        for gone in range(classes):
            cells = Cells(counts[gone : gone + 1], counts[gone].sum()[None], int(size[gone]), model.classes)
            over, under = ratio(rule, cells)
            table[gone] = (log(over) - log(under))[0]
    emptied = book.class_counts.to_doubles() <= 1
    table[emptied, emptied] = -np.inf
    return table
