"""`evaluate` and `compare` for bayesbox and scikit-learn classifiers."""

from __future__ import annotations

import functools
import operator
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbox.classifier.evaluation import ROWS, Evaluation
from bayesbox.classifier.predictions import Predictions, require_options
from bayesbox.classifier.results.comparison import ModelComparison
from bayesbox.display.progress import Progress, Reporter
from bayesbox.errors import BadData, BadOption, BayesboxError, UnknownColumn
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.inputs import batch_from
from bayesbox.estimators.judge.folds import (
    Judge,
    Split,
    counted_folds,
    counted_held_out,
    counted_loo,
    is_fitted,
    labels_of_rows,
    refitted_folds,
    refitted_held_out,
    require_classifier,
)
from bayesbox.schema.encode import Encoded, encode
from bayesbox.source.base import Batch
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import is_dask
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.intervals import CLOSED, DRAWS, IntervalOptions
from bayesbox.stat.metrics import BINS, measure
from bayesbox.tally.count import checked_weights

FOLDS = 10
LOO = "loo"
LONGEST_NAME = 40


def evaluate(
    estimator: object,
    X: object,
    y: object,
    *,
    cv: object = None,
    loo: bool = False,
    repeats: int = 1,
    sample_weight: object = None,
    by: object = None,
    bins: int = BINS,
    intervals: str = CLOSED,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a classifier: accuracy, log loss, Brier score, AUC and calibration error, each with its interval.

    A fitted estimator is evaluated on the given rows, unless `cv` is given; the result says if these are its training
    rows. With `cv`, or if it is not fitted, a copy is cross-validated: `cv` is a number of stratified folds (10 by
    default), "loo" (the same as `loo=True`), or a scikit-learn splitter such as GroupKFold. bayesbox models subtract
    the counts of each fold; any other classifier or pipeline is refitted.

    Parameters
    ----------
    cv : int, "loo", a scikit-learn splitter, or None (default)
    loo : bool, default False; predict every row with the model of all the others
    draws : int, default 1000; draws of the bootstrap
    estimator : classifier
        A bayesbox classifier, or any scikit-learn classifier with `predict_proba`.
    X, y : rows and their classes
        As for `fit`: pandas, polars, Arrow, arrays, dicts; documents for a `TextClassifier`.
    repeats : int
        How often the rows are shuffled into folds; more repeats do not narrow the intervals.
    sample_weight : array
        Weights for training and for the metrics; a row of weight 2 counts as two rows.
    by : str or array
        A column of X, or a value for each row: adds the metrics of each group, in `.by`. Groups under 20 rows are
        marked.
    bins : int
        The number of bins of the calibration error.
    intervals : {"auto", "exact", "bootstrap"}
        "auto" uses the closed form if there is one, "exact" the binomial interval for the accuracy; "bootstrap"
        resamples the rows `draws` times for all metrics.
    seed : int
        The seed of the folds and of the bootstrap.
    progress : function
        Called with the share done, the seconds left (None if unknown) and a description of the step.

    Returns
    -------
    Evaluation
        `.accuracy`, `.log_loss`, `.brier`, `.auc`, `.calibration_error`, floats with `.interval`; `.confusion`,
        `.rows(true=, predicted=)`, `.thresholds(label)`, `.cost(costs)`, `.by`, `.svg()`, `.to_frame()`.

    Examples
    --------
    >>> import bayesbox as bb
    >>> rows = {"outlook": ["sunny", "rain", "rain"] * 20, "windy": [True, False] * 30}
    >>> found = bb.evaluate(bb.NaiveBayes(), rows, ["no", "yes", "yes"] * 18 + ["yes"] * 6, cv=5)
    >>> found.accuracy
    0.9667 (0.8864 to 0.9908)
    >>> found
    Evaluation(cross-validation, 5 folds, seed 0: 60 rows, accuracy 0.9667, log loss 0.1501)
    """
    require_classifier(estimator)
    options = IntervalOptions(intervals, draws, seed, bins).checked()
    fitted = is_fitted(estimator)
    judge = _judge(estimator, X, y, sample_weight, bins, fitted=fitted)
    name, groups = (None, None) if by is None else _groups(by, judge)
    judge = judge._replace(groups=groups)
    reporter = Reporter(progress)
    found = _evaluated(estimator, judge, _way(cv, loo, fitted), repeats, options, reporter).by_groups(name)
    reporter.done()
    return found


def compare(
    estimators: object,
    X: object,
    y: object,
    *,
    cv: object = None,
    loo: bool = False,
    repeats: int = 1,
    sample_weight: object = None,
    bins: int = BINS,
    intervals: str = CLOSED,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> ModelComparison:
    """Compare classifiers on the same rows and folds, the best log loss first, with paired differences.

    `estimators` is a list, or a dict by name, of bayesbox or scikit-learn classifiers and pipelines. All are
    cross-validated with 10 folds by default; if all are fitted and `cv` is not given, they are evaluated on the given
    rows. A model that cannot use the data is listed with the reason. The other parameters are those of `evaluate`.

    Parameters
    ----------
    estimators : list of classifiers, or dict by name
    X : rows or documents, as for `evaluate`
    y : the class of each row, a list, an array or a column
    cv : int, "loo", a scikit-learn splitter, or None (default, 10 folds unless all are fitted)
    loo : bool, default False; predict every row with the model of all the others
    repeats : int, default 1; how often the rows are shuffled into folds
    sample_weight : array of a weight for each row, or None (each counts once); a row of weight 2 counts as two
    bins : int, default 15; the bins of the calibration error
    intervals : "auto" (default), "exact" or "bootstrap"
    draws : int, default 1000; draws of the bootstrap
    seed : int, default 0; the same seed gives the same result
    progress : function of share, seconds left and text, or None (default)

    Returns
    -------
    ModelComparison
        A mapping from name to Evaluation; `.best`, `.difference(one, other, metric)` with `.interval`, `.to_frame()`.

    Examples
    --------
    >>> import bayesbox as bb
    >>> rows = {"outlook": ["sunny", "rain"] * 20, "windy": [True, True, False, False] * 10}
    >>> found = bb.compare([bb.NaiveBayes(), bb.TAN()], rows, ["no", "yes", "no", "no"] * 10, cv=5)
    >>> found.best
    'TAN()'
    >>> found.difference("NaiveBayes()").interval[0] > 0
    True
    """
    named = _named(estimators)
    for estimator in named.values():
        require_classifier(estimator)
    options = IntervalOptions(intervals, draws, seed, bins).checked()
    all_fitted = all(is_fitted(estimator) for estimator in named.values())
    way = _way(cv, loo, all_fitted)
    found: dict[str, Evaluation] = {}
    seconds, refused = {}, {}
    reporter = Reporter(progress)
    for place, (name, estimator) in enumerate(named.items()):
        judge = _judge(estimator, X, y, sample_weight, bins, fitted=all_fitted)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # problems of the rows are reported when a model is trained
                evaluation = _evaluated(estimator, judge, way, repeats, options, Reporter(None))
        except BayesboxError as error:
            if len(named) == 1:
                raise
            refused[name] = error.without_remedy()
            continue
        found[name] = replace(evaluation, model=name)
        seconds[name] = time.process_time() - start
        reporter((place + 1) / len(named), name)
    reporter.done()
    if not found:
        raise BadData("none of the models could be evaluated", found="; ".join(refused.values()))
    first = next(iter(found.values()))
    return ModelComparison.of(f"{first._how_in_words()}, {first.scored.rows:,} rows", found, seconds, refused)


# -- the parameters --------------------------------------------------------------------------------------------------


def _judge(estimator: Any, X: Any, y: Any, weights: Any, bins: int, *, fitted: bool) -> Judge:
    require_options(bins=bins)
    column, labels = labels_of_rows(estimator, X, y, fitted=fitted)
    if weights is not None and is_dask(weights):
        weights = weights.compute()
    checked = checked_weights(weights, len(labels.codes))
    return Judge(X.compute() if is_dask(X) else X, column, labels, checked, bins)


def _way(cv: Any, loo: bool, fitted: bool) -> Any:
    """How to evaluate: None (on the given rows), "loo", a number of folds, or a splitter."""
    if loo and cv not in (None, LOO):
        raise BadOption("choose one of cv and loo", found=cv)
    if loo or (isinstance(cv, str) and cv == LOO):
        return LOO
    if cv is None:
        return None if fitted else FOLDS
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
    if isinstance(cv, bool) or not (isinstance(cv, (int, np.integer)) or is_splitter):
        raise BadOption("cv must be a number of folds, 'loo', or a scikit-learn splitter", found=cv)
    return cv if is_splitter else int(cv)


def _evaluated(
    estimator: Any, judge: Judge, way: Any, repeats: int, options: IntervalOptions, reporter: Reporter
) -> Evaluation:
    counted = isinstance(estimator, CountedEstimator)
    require_options(bins=judge.bins, folds=way if isinstance(way, int) else 2, repeats=repeats)
    how, extra = ROWS, {}
    if way is None:
        if counted:
            total, how = counted_held_out(estimator, judge)
        else:
            total = refitted_held_out(estimator, judge)
    elif way == LOO and counted:
        total, how = counted_loo(estimator, judge), "leave-one-out"
    else:
        splits = _splits(way, judge, repeats, options.seed)
        answers = (counted_folds if counted else refitted_folds)(estimator, judge, [s for each in splits for s in each])
        by_repeat: list[Predictions] = []
        for each in splits:
            parts = []
            for _ in each:
                parts.append(next(answers))
                done = (len(by_repeat) * len(each) + len(parts)) / (len(splits) * len(each))
                reporter(done, _name(estimator))
            by_repeat.append(functools.reduce(operator.add, parts))
        total = functools.reduce(operator.add, by_repeat)
        how = "leave-one-out" if way == LOO else "cross-validation"
        if way != LOO:
            accuracy = tuple(measure(each.found).accuracy.value for each in by_repeat)
            extra = {"folds": len(splits[0]), "repeats": len(splits), "accuracy_by_repeat": accuracy}
            extra["seed"] = None if hasattr(way, "split") else options.seed
    return _evaluation(total, how, estimator, judge, options, extra)


def _evaluation(
    total: Predictions, how: str, estimator: object, judge: Judge, options: IntervalOptions, extra: Mapping[str, Any]
) -> Evaluation:
    repeats = extra.get("repeats") or 1
    found = replace(total.found, rows=total.found.rows // repeats)
    target = str(getattr(judge.y, "name", None) or "y")
    return Evaluation(
        how,
        type(judge.X).__name__,
        target,
        measure(found, repeats=repeats),
        found,
        before=None if total.plain is None else measure(total.plain, repeats=repeats),
        model=_name(estimator),
        options=options,
        batch=_batch(judge.X),
        **extra,
    )


def _splits(way: Any, judge: Judge, repeats: int, seed: int) -> list[list[Split]]:
    rows = np.arange(judge.rows)
    if way == LOO:
        return [[Split(np.delete(rows, place), rows[place : place + 1]) for place in range(judge.rows)]]
    if isinstance(way, int):
        order = sorted(judge.labels.levels)
        codes = np.array([order.index(text) for text in judge.labels.levels], np.int64)[judge.labels.codes]
        by_repeat = (stratified_folds(codes, way, seed=seed, repeat=repeat) for repeat in range(repeats))
        return [
            [Split(np.flatnonzero(fold != place), np.flatnonzero(fold == place)) for place in range(way)]
            for fold in by_repeat
        ]
    if repeats != 1:
        raise BadOption("repeats does not apply to a splitter", found=repeats, remedy="Leave repeats=1")
    texts = np.array(judge.labels.levels, dtype=object)[judge.labels.codes]
    found = [Split(np.asarray(train), np.asarray(test)) for train, test in way.split(rows.reshape(-1, 1), texts)]
    if len(np.unique(np.concatenate([split.test for split in found]))) < sum(len(split.test) for split in found):
        raise BadOption(
            "the splitter tests some rows several times", found=way, remedy="Pass a number of folds and repeats instead"
        )
    return [found]


def _groups(by: object, judge: Judge) -> tuple[str, Encoded]:
    """The name and the values of the groups."""
    if isinstance(by, str):
        batch = _batch(judge.X)
        if batch is None or by not in batch.names:
            raise UnknownColumn(by, available=() if batch is None else batch.names)
        return by, encode(batch[by])
    column = labels_of(by)
    if len(column) != judge.rows:
        raise BadData("there must be one group per row", found=f"{judge.rows:,} rows, {len(column):,} groups")
    return str(getattr(by, "name", None) or "group"), encode(column)


def _batch(X: object) -> Batch | None:
    """The columns of X as a batch, or None if X has no columns to show."""
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], str):
        return Batch(("text",), (np.asarray(X, dtype=object),), len(X))
    try:
        return batch_from(X)
    except BayesboxError:
        return None


# -- names -----------------------------------------------------------------------------------------------------------


def _named(estimators: object) -> dict[str, Any]:
    """The estimators by name: their repr if it is short, numbered if two are alike."""
    if isinstance(estimators, Mapping):
        return {str(name): estimator for name, estimator in estimators.items()}
    if hasattr(estimators, "fit") or not isinstance(estimators, Sequence):
        raise BadOption(
            "compare needs a list of models, or a dict from names to models", found=type(estimators).__name__
        )
    found: dict[str, Any] = {}
    for each in estimators:
        name, estimator = each if isinstance(each, tuple) and len(each) == 2 else (_name(each), each)
        number, unique = 2, str(name)
        while unique in found:
            number, unique = number + 1, f"{name} {number}"
        found[unique] = estimator
    if not found:
        raise BadOption("compare needs at least one model", found=estimators)
    return found


def _name(estimator: object) -> str:
    text = " ".join(repr(estimator).split())
    if len(text) <= LONGEST_NAME:
        return text
    steps = getattr(estimator, "steps", None)
    if steps:
        return f"Pipeline(..., {type(steps[-1][1]).__name__})"
    return type(estimator).__name__
