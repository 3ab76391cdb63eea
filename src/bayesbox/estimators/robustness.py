"""`robustness`: the effect of noise, irrelevant columns, repeated columns and missing values on models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.experiment.changes import NoiseLevels
from bayesbox.classifier.experiment.robustness import Robustness, shake, whole_table
from bayesbox.classifier.registry import kind_of
from bayesbox.errors import BadData, BadOption, require_whole
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.inputs import batch_from, group_of
from bayesbox.source.base import Batch
from bayesbox.source.labels import labels_of

TARGET, WEIGHT = "class", "weight"

Shares = float | Sequence[float] | None
Numbers = int | Sequence[int] | None


def robustness(
    model: object,
    X: object,
    y: object,
    *,
    label_noise: Shares = None,
    noise_points: Shares = None,
    irrelevant: Numbers = None,
    copies: Numbers = None,
    missing: Shares = None,
    sample_weight: object = None,
    cv: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    threads: int = 1,
) -> Robustness:
    """Cross-validate one or several models on the given rows and on deliberately corrupted copies of them.

    `label_noise` is the share of training labels that are replaced, `noise_points` the share of isolated points added
    to the training rows; both are evaluated on clean rows. `irrelevant` is the number of random columns added, `copies`
    the number of copies of each column added, `missing` the share of values made missing. Each is a number or a list;
    () skips that test. The given models are not changed.

    Parameters
    ----------
    model : a classifier, a list, or a dict by name
    X : rows in named columns
    y : the class of each row, a list, an array or a column
    label_noise : float, list of floats, or None (default, 0.2)
    noise_points : float, list of floats, or None (default, 0.1)
    irrelevant : int, list of int, or None (default, 10)
    copies : int, list of int, or None (default, 1)
    missing : float, list of floats, or None (default, 0.2)
    sample_weight : array of a weight for each row, or None (each counts once); a row of weight 2 counts as two
    cv : int or None (default, ten folds if there are enough rows)
    repeats : int, default 1; how often the rows are shuffled into folds
    seed : int, default 0; the same seed gives the same result
    threads : int, default 1

    Returns
    -------
    Robustness; it prints as a table and has `.to_frame()`

    Examples
    --------
    >>> import bayesbox as bb
    >>> rows = {"cough": ["yes", "yes", "no", "no"] * 5, "age": list(range(20))}
    >>> found = robustness(bb.NaiveBayes(), rows, ["ill", "ill", "well", "well"] * 5, missing=[0.1, 0.5])
    >>> found
    Robustness(NaiveBayes: 7 kinds of rows)
    >>> list(found.to_frame().columns)
    ['experiment', 'level', 'change', 'model', 'accuracy', 'log_loss', 'accuracy_change']
    """
    levels = NoiseLevels.of(
        label_noise=label_noise, noise_points=noise_points, irrelevant=irrelevant, copies=copies, missing=missing
    )
    require_whole("seed", seed)
    batch = batch_from(X)
    if group_of(batch) is not None:
        raise BadOption("robustness needs a table with named columns, not sparse counts")
    target, weight = _free(TARGET, batch.names), _free(WEIGHT, batch.names)
    labels = labels_of(y)
    if len(labels) != batch.rows:
        raise BadData(f"X has {batch.rows:,} rows, but y has {len(labels):,} labels")
    names, columns = [*batch.names, target], [*batch.columns, labels]
    if sample_weight is not None:
        names, columns = [*names, weight], [*columns, pa.array(np.asarray(sample_weight, dtype=np.float64))]
    table = whole_table([Batch(tuple(names), tuple(columns), batch.rows)], where="X")
    return shake(
        _models(model),
        table,
        target,
        levels=levels,
        weight=None if sample_weight is None else weight,
        folds=cv,
        repeats=repeats,
        seed=seed,
        threads=threads,
        name="X",
    )


def _models(given: object) -> dict[str, AnyClassifier]:
    """The models by name: the given name, or that of their class, numbered if several have the same."""
    if isinstance(given, Mapping):
        named = [(str(name), each) for name, each in given.items()]
    else:
        listed: Sequence[Any] = list(given) if isinstance(given, list | tuple) else [given]
        classes = [type(each).__name__ for each in listed]
        named = [
            (f"{name} {classes[: place + 1].count(name)}" if classes.count(name) > 1 else name, each)
            for place, (name, each) in enumerate(zip(classes, listed, strict=True))
        ]
    if not named:
        raise BadOption("robustness needs at least one model", remedy="Pass bayesbox.NaiveBayes()")
    found: dict[str, AnyClassifier] = {}
    for name, each in named:
        if not isinstance(each, CountedEstimator):
            raise BadOption(
                "robustness needs bayesbox estimators",
                found=each,
                remedy="Pass bayesbox.NaiveBayes(), or a list of such",
            )
        classifier = each._blank_classifier()
        if kind_of(classifier).of != "rows":
            raise BadOption("robustness needs models of tables, but this is a model of documents", found=name)
        found[name] = classifier
    return found


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "'"
    return name
