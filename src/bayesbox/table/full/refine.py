"""The shrinkage of correlations, learned in a second pass over a sample of the counted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.classifier.rows import LabelledRows, sample_of
from bayesbox.dist.base import Doubles
from bayesbox.schema.columns import as_numbers
from bayesbox.stat.leave_one_out import prior_table
from bayesbox.table.full.leave_one_out import table_terms
from bayesbox.table.full.model import FullModel, class_normals, full_model, number_columns
from bayesbox.table.full.shrinkage import (
    LEDOIT_WOLF,
    ROWS,
    Shrinkage,
    StandardRows,
    by_leave_one_out,
    ledoit_wolf,
    most_rows,
)
from bayesbox.tally.book import Book
from bayesbox.tally.comoments import CoMoments

if TYPE_CHECKING:
    from bayesbox.table.full.classifier import FullClassifier


def found_shrinkage(classifier: FullClassifier, parts: Sequence[LabelledRows]) -> Shrinkage | None:
    """The shrinkage by the rule of the classifier; None if there are no correlations to shrink."""
    assert classifier.schema is not None
    schema, flags, rules = classifier.schema, classifier.flags, classifier.rules
    model = full_model(schema, classifier.book, rules, flags)
    counted = classifier.book.with_classes(model.classes)
    columns, _ = number_columns(schema, counted, flags)
    tally = counted.joint
    width = len(columns.names)
    if width < 2 or not isinstance(tally, CoMoments):
        return None
    normals = class_normals(tally.only(tally.frame.categories, columns.names), columns, model.classes)
    kept = [part.labelled() for part in parts]
    if rules.shrink == LEDOIT_WOLF:
        rows = _complete(classifier, model, counted, sample_of(kept, ROWS), columns.names, levels=False)
        found = {}
        for place, (name, normal) in enumerate(zip(model.classes, normals, strict=True)):
            mine = rows.target == place
            found[name] = ledoit_wolf(normal, rows.x[mine], rows.weights[mine])
        return Shrinkage(found)
    rows = _complete(classifier, model, counted, sample_of(kept, most_rows(width)), columns.names, levels=True)
    sizes = np.array([normal.n for normal in normals])
    judged = (rows.weights > 0) & (sizes[rows.target] > rows.weights)  # a class of one row is empty without it
    if not judged.any():
        return None
    rows = rows.take(np.flatnonzero(judged))
    there = np.flatnonzero(sizes > 0)
    rows = rows._replace(target=np.searchsorted(there, rows.target), others=rows.others[:, there])
    m = by_leave_one_out([normals[k] for k in there], rows, pooled=rules.covariance == "pooled")
    return Shrinkage(dict.fromkeys(model.classes, float(m))) if m else None


def _complete(
    classifier: FullClassifier,
    model: FullModel,
    counted: Book,
    parts: Sequence[LabelledRows],
    names: Sequence[str],
    *,
    levels: bool,
) -> StandardRows:
    """The rows without missing numbers and, with `levels`, without missing levels."""
    place = {text: index for index, text in enumerate(model.classes)}
    found: list[StandardRows] = []
    for part in parts:
        columns = classifier.columns_of(part.batch)
        x: Doubles = np.column_stack([np.asarray(as_numbers(columns[name], name=name), float) for name in names])
        target = np.array([*(place.get(text, -1) for text in part.labels.levels), -1])[part.labels.codes]
        weights = np.ones(len(target)) if part.weights is None else np.asarray(part.weights, dtype=np.float64)
        others = np.zeros((len(target), len(model.classes)))
        there = np.isfinite(x).all(axis=1) & (target >= 0)
        if levels:
            assert classifier.schema is not None
            others = prior_table(classifier.schema.classes, counted, classifier.rules, model)[np.maximum(target, 0)]
            if model.table is not None:
                codes = model.table.codes_of(columns, len(target))
                there &= (codes >= 0).all(axis=0)
                rows = np.flatnonzero(there)
                assert isinstance(counted.joint, CoMoments)
                terms = table_terms(
                    model.table,
                    classifier.schema,
                    counted.joint,
                    classifier.rules,
                    codes[:, rows],
                    target[rows],
                    np.zeros(len(rows), dtype=bool),
                )
                others[rows] += terms
        found.append(StandardRows(x, target, weights, others).take(np.flatnonzero(there)))
    return StandardRows(*(np.concatenate(each) for each in zip(*found, strict=True)))
