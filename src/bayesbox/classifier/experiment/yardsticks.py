"""Baselines from scikit-learn: logistic regression and a decision tree, evaluated on the same folds.

They need numbers, so columns are encoded by their types: missing numbers become the median of the training rows with an
indicator column, and numbers are standardised; levels, including missing, are one-hot encoded; texts become TF-IDF
weights. All of it is fitted on the training rows of a fold.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.predictions import Predictions, cross_validated, require_options
from bayesbox.classifier.rows import common_codes, numbered
from bayesbox.classifier.table import TableClassifier
from bayesbox.classifier.train import labelled_rows
from bayesbox.errors import BadData
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.schema.encode import encode
from bayesbox.source.base import Batch, OneBatch
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import BINS, Scored, scored

LOGISTIC, TREE = "logistic regression (scikit-learn)", "decision tree (scikit-learn)"
LEAST_IN_A_LEAF = 5
ABOUT = (
    "for scikit-learn's models, missing numbers are replaced by the median with an indicator, numbers are "
    f"standardised, and levels are one-hot encoded; the tree has at least {LEAST_IN_A_LEAF} rows per leaf, the "
    "logistic regression its default penalty"
)
MISSING_LEVEL = "\0missing"

Places = tuple[list[int], list[int], list[int]]  # the positions of numbers, levels and texts among the columns


def _logistic(prepared: object, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(prepared, LogisticRegression(max_iter=1_000, random_state=seed))


def _tree(prepared: object, seed: int) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    return make_pipeline(prepared, DecisionTreeClassifier(min_samples_leaf=LEAST_IN_A_LEAF, random_state=seed))


YARDSTICKS: dict[str, Callable[[Any, int], Any]] = {LOGISTIC: _logistic, TREE: _tree}


def load_library() -> None:
    """Import scikit-learn, which takes a second or two."""
    for make in YARDSTICKS.values():
        make(_prepared([0], [], []), 0)


def cross_validate_yardstick(
    name: str,
    reader: AnyClassifier,
    table: pa.Table,
    target: str,
    *,
    weight: str | None = None,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    bins: int = BINS,
    where: str = "data",
) -> Evaluation:
    """Cross-validate a baseline on these rows; `reader` is an unfitted classifier that knows the columns."""
    require_options(bins=bins, folds=folds, repeats=repeats)
    source = OneBatch(Batch.from_arrow(table), where)
    [rows] = numbered([labelled_rows(source.batch, target, weight, where=where)])
    matrix, places = _as_objects(reader, rows.batch, where)
    codes, levels = common_codes([rows.labels]), rows.labels.levels
    classes = tuple(sorted(levels))
    weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    by_repeat = []
    for repeat in range(repeats):
        fold_of_row = stratified_folds(codes, folds, seed=seed, repeat=repeat)
        judged = []
        for fold in range(folds):
            learned, held = (
                np.flatnonzero((fold_of_row >= 0) & (fold_of_row != fold)),
                np.flatnonzero(fold_of_row == fold),
            )
            if weights is not None:
                learned = learned[weights[learned] > 0]
            log_p, known = _log_shares(name, matrix, places, rows.labels.codes, learned, held, weights, seed)
            part = rows.take(held)
            names = [levels[code] for code in known]
            given = {"classes": classes, "weights": part.weights, "bins": bins, "rows": part.numbers}
            judged.append(Predictions(scored(log_p, part.labels, names, **given)))
        by_repeat.append(functools.reduce(operator.add, judged, Predictions(Scored(classes, bins))))
    unlabelled = int((rows.labels.codes < 0).sum())
    return cross_validated(source, target, by_repeat, unlabelled=unlabelled, folds=folds, seed=seed)


def _log_shares(
    name: str,
    matrix: Any,
    places: Places,
    codes: Any,
    learned: Any,
    held: Any,
    weights: Any,
    seed: int,
) -> tuple[Any, list[int]]:
    """The log-probabilities of the held-out rows, and the codes of their classes."""
    known = np.unique(codes[learned]).tolist()
    if len(known) == 1:  # scikit-learn requires at least two classes
        return np.zeros((len(held), 1)), known
    model = YARDSTICKS[name](_prepared(*places), seed)
    given = {} if weights is None else {f"{model.steps[-1][0]}__sample_weight": weights[learned]}
    try:
        model.fit(matrix[learned], codes[learned], **given)
    except ValueError as error:
        raise BadData(f"scikit-learn cannot fit these rows: {error}") from None
    with np.errstate(divide="ignore"):
        return np.log(model.predict_proba(matrix[held])), model.classes_.tolist()


def _prepared(numbers: list[int], levels: list[int], texts: list[int]) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    imputed = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    steps: list[tuple[str, Any, Any]] = []
    if numbers:
        steps.append(("numbers", make_pipeline(imputed, StandardScaler()), numbers))
    if levels:
        steps.append(("levels", OneHotEncoder(handle_unknown="ignore"), levels))
    steps += [(f"text {place}", TfidfVectorizer(token_pattern=r"(?u)\w+"), place) for place in texts]
    return ColumnTransformer(steps)


def _as_objects(reader: AnyClassifier, batch: Batch, where: str) -> tuple[Any, Places]:
    """The columns in use as objects: numbers with NaN, texts of levels and words, dates as their parts."""
    if not isinstance(reader, TableClassifier):
        raise BadData("yardsticks apply to models of tables", found=reader.title)
    columns = reader.named(batch, where=where)
    schema = reader.schema_of(columns, where=where)
    columns = schema.expanded(columns, where=where)
    found: list[Any] = []
    places: Places = ([], [], [])
    for name in schema.used:
        kind = schema.kinds[name]
        if kind.is_number:
            places[0].append(len(found))
            found.append(np.asarray(as_numbers(columns[name], name=name, where=where), dtype=np.float64))
        else:
            places[2 if kind.is_text else 1].append(len(found))
            found.append(_texts(columns[name], "" if kind.is_text else MISSING_LEVEL))
    if not found:
        raise BadData("the data have no column to learn from", where=where)
    matrix = np.empty((batch.rows, len(found)), dtype=object)
    for place, column in enumerate(found):
        matrix[:, place] = column
    return matrix, places


def _texts(column: Column, missing: str) -> Any:
    encoded = encode(column)
    return np.array([*encoded.levels, missing], dtype=object)[encoded.codes]
