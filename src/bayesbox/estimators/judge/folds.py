"""Held-out predictions: by subtraction of counts for bayesbox estimators, by refitting for any other."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.evaluate import judged_by
from bayesbox.classifier.predictions import Predictions
from bayesbox.classifier.report.learned_rows import TrainingRowCheck
from bayesbox.classifier.rows import LabelledRows
from bayesbox.errors import BadOption
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.inputs import labels_from
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch
from bayesbox.source.shapes import is_dask
from bayesbox.stat.metrics import Scored, scored

Doubles = NDArray[np.float64]
Places = NDArray[np.int64]


class Split(NamedTuple):
    """The training rows and the test rows of one fold."""

    train: Places
    test: Places


class Judge(NamedTuple):
    """What all estimators are evaluated on: the rows, their classes and weights, and the number of calibration bins."""

    X: Any
    y: Any
    labels: Encoded
    weights: Doubles | None
    bins: int
    groups: Encoded | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.labels.codes)


def is_fitted(estimator: object) -> bool:
    """Whether an estimator is fitted."""
    from sklearn.exceptions import NotFittedError

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def require_classifier(estimator: object) -> None:
    """Raise an error for anything that is not a classifier with `predict_proba`."""
    if isinstance(estimator, type):
        remedy = f"Write {estimator.__name__}()"
        raise BadOption("pass an estimator, not its class", found=estimator.__name__, remedy=remedy)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
        raise BadOption(
            "a model must be a classifier with fit and predict_proba",
            found=type(estimator).__name__,
            remedy="To add probabilities: sklearn.calibration.CalibratedClassifierCV(estimator)",
        )


# -- bayesbox estimators: counts of rows are subtracted --------------------------------------------------------------


def counted_folds(estimator: CountedEstimator[Any], judge: Judge, splits: list[Split]) -> Iterator[Predictions]:
    """The predictions for each split. All rows are counted once; the counts of the test rows are subtracted."""
    fitted = clone(estimator).fit(*_local(judge))
    classifier: AnyClassifier = fitted.classifier_
    rows = counted_rows(fitted, judge)
    classes = classifier.model.classes
    for split in splits:
        removed = np.ones(judge.rows, dtype=bool)
        removed[split.train] = False

        def others(train: Places = split.train) -> list[LabelledRows]:
            return [rows.take(train)]

        other = classifier.without([rows.take(np.flatnonzero(removed))], others)
        yield judged_by(other, other.uncalibrated(), rows.take(split.test), classes=classes, bins=judge.bins)


def counted_loo(estimator: CountedEstimator[Any], judge: Judge) -> Predictions:
    """The leave-one-out predictions: each row by the model of all other rows."""
    if judge.weights is not None:
        raise BadOption("leave-one-out does not support weights", remedy="Write cv=10")
    fitted = clone(estimator).fit(*_local(judge))
    classifier: AnyClassifier = fitted.classifier_
    learned = [name for name in ("select", "column_weights") if getattr(classifier.rules, name, None) is not None]
    if classifier.calibrate is not None or learned:
        name = learned[0] if learned else "calibration"
        raise BadOption(
            f"{name} must be refitted in every fold: use cv instead of loo", found="leave-one-out", remedy="Write cv=10"
        )
    rows = counted_rows(fitted, judge)
    with np.errstate(divide="ignore"):
        log_p = np.log(classifier.leave_one_out(rows.batch, rows.labels))
    found = scored(
        log_p, rows.labels, classifier.model.classes, bins=judge.bins, rows=rows.numbers, groups=judge.groups
    )
    return Predictions(found)


def counted_rows(fitted: CountedEstimator[Any], judge: Judge) -> LabelledRows:
    """The rows as a training batch, with texts encoded."""
    batch: Batch = fitted._learned(judge.X)
    columns = fitted.classifier_.kept_columns(dict(zip(batch.names, batch.columns, strict=True)))
    kept = Batch(tuple(columns), tuple(columns.values()), batch.rows)
    return LabelledRows(kept, judge.labels, judge.weights, np.arange(batch.rows), judge.groups)


def counted_held_out(fitted: CountedEstimator[Any], judge: Judge) -> tuple[Predictions, str]:
    """The predictions for rows, and whether these are the training rows."""
    batch, classifier = fitted._asked(judge.X), fitted.classifier_
    rows = LabelledRows(batch, judge.labels, judge.weights, np.arange(batch.rows), judge.groups)
    check = TrainingRowCheck(classifier)
    check.count(LabelledRows(fitted._learned(judge.X), judge.labels, judge.weights))
    plain = classifier.uncalibrated()
    found = judged_by(classifier, plain, rows, classes=classifier.model.classes, bins=judge.bins)
    return found, check.how()


def _local(judge: Judge) -> tuple[Any, Any, Any]:
    return judge.X, judge.y, judge.weights


# -- other estimators: refitted for each fold ------------------------------------------------------------------------


def refitted_folds(estimator: object, judge: Judge, splits: list[Split]) -> Iterator[Predictions]:
    """The predictions for each split by a clone fitted on its training rows."""
    classes = tuple(sorted({judge.labels.levels[code] for code in np.unique(judge.labels.codes)}))
    X, y = _indexable(judge.X), _indexable(judge.y)
    check_consistent_length(X, y)
    for split in splits:
        fitted = clone(estimator)
        given = {} if judge.weights is None else _weight_parameter(estimator, judge.weights[split.train])
        fitted.fit(_safe_indexing(X, split.train), _safe_indexing(y, split.train), **given)
        yield answered(fitted, _safe_indexing(X, split.test), judge, split.test, classes)


def refitted_held_out(fitted: Any, judge: Judge) -> Predictions:
    """The predictions of a fitted estimator for rows."""
    check_consistent_length(judge.X, judge.y)
    classes = tuple(level_text(label) for label in np.asarray(fitted.classes_).tolist())
    return answered(fitted, judge.X, judge, np.arange(judge.rows), classes)


def answered(fitted: Any, X: Any, judge: Judge, rows: Places, classes: tuple[str, ...]) -> Predictions:
    """The predictions of a fitted estimator for some rows."""
    known = [level_text(label) for label in np.asarray(fitted.classes_).tolist()]
    with np.errstate(divide="ignore"):
        log_p = np.log(np.asarray(fitted.predict_proba(X), dtype=np.float64))
    labels = judge.labels._replace(codes=judge.labels.codes[rows])
    weights = None if judge.weights is None else judge.weights[rows]
    everything = (*classes, *sorted(set(known) - set(classes)))
    groups = None if judge.groups is None else judge.groups._replace(codes=judge.groups.codes[rows])
    found: Scored = scored(
        log_p, labels, known, classes=everything, weights=weights, bins=judge.bins, rows=rows, groups=groups
    )
    return Predictions(found)


def _weight_parameter(estimator: Any, weights: Doubles) -> dict[str, Doubles]:
    """The fit parameter for weights; in a pipeline it is routed to the last step."""
    steps = getattr(estimator, "steps", None)
    last, prefix = (steps[-1][1], f"{steps[-1][0]}__") if steps else (estimator, "")
    if "sample_weight" not in inspect.signature(last.fit).parameters:
        raise BadOption("this model does not support sample_weight", found=type(last).__name__)
    return {f"{prefix}sample_weight": weights}


def _indexable(data: Any) -> Any:
    return data.compute() if is_dask(data) else data


def labels_of_rows(estimator: Any, X: Any, y: object, *, fitted: bool) -> tuple[Any, Encoded]:
    """The labels as codes; if the model was trained on bins of its target, numbers are binned."""
    if is_dask(X) or is_dask(y):
        X, y = _indexable(X), _indexable(y)
    cuts = estimator.classifier_.target_cuts if fitted and isinstance(estimator, CountedEstimator) else None
    column = y if hasattr(y, "__len__") else list(y)  # type: ignore[call-overload]
    return column, labels_from(column, len(column), cuts)
