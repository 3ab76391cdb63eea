"""Choosing a calibration by the log loss of held-out predictions, of any model.

    answers   log P(class | x) of held-out rows: leave-one-out, or cross-validation
    bases     the plain predictions, and those with additional learning, such as column weights
    maps      none, temperature, isotonic, Dirichlet, mixing with the class frequencies

Every base under every map is a candidate. A map is learned on all folds but one and evaluated on the remaining one, so
that every evaluation is on held-out rows. The best candidate is used if it gains at least one standard error of the
paired differences, and `LEAST_GAIN` over all rows; otherwise, and below `FEWEST` rows, the predictions are not
calibrated.

The work is bounded by rows and classes, not by time: the same predictions give the same choice on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.stat.calibrate import (
    Calibration,
    ClassShares,
    Dirichlet,
    Isotonic,
    Temperature,
    calibration,
    floored,
    normalised,
)
from bayesbox.stat.folds import stratified_folds

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]

FEWEST = 50  # rows; with fewer, nothing is chosen
CLEAR = 1.0  # standard errors that the best must gain
LEAST_GAIN = 3.0  # nats that it must gain over all rows (20 to 1), since standard errors vanish if all is right
FOLDS = 5
MOST_ROWS = 2_500  # evaluated
MOST_ANSWERS = 20_000  # rows times classes evaluated
MOST_CURVES = 15_000  # rows times classes, for `isotonic`
MOST_SLOPES = 40_000  # rows times squared classes that `dirichlet` is learned on
FEWEST_SLOPES = 20  # the minimum number of rows per class for it
STEPS, DECREASE = 40, 1e-6  # of the minimisation for `dirichlet`: a choice needs no more precision
PULL = 1.0  # the weight, in rows, that bounds `temperature` if all predictions are right
PLAIN = ""  # the base of the plain predictions

AFTER_PLAIN = (Temperature.kind, Isotonic.kind, Dirichlet.kind, ClassShares.kind)
AFTER_OTHERS = (None, Temperature.kind, ClassShares.kind)
"""The maps for bases with additional learning: those with few parameters."""


@dataclass(frozen=True)
class Baseline:
    """The scores of a constant prediction: the most frequent class, or the class frequencies."""

    answer: int  # the code of the most frequent class
    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class CalibrationChoice:
    """The choice, and the mean log losses of held-out rows behind it."""

    base: str  # PLAIN, or the name of another base
    kind: str | None  # the map, None for none
    before: float
    after: float
    error: float  # the standard error of the mean difference between the plain predictions and the best
    rows: int
    accuracy: float  # of the chosen candidate
    baseline: Baseline
    losses: Mapping[str, float]  # of every candidate, by its name

    @property
    def name(self) -> str:
        """The chosen candidate in words."""
        return candidate_name(self.base, self.kind)


def candidate_name(base: str, kind: str | None) -> str:
    """A base and a map, in words.

    >>> candidate_name("", None), candidate_name("", "shares"), candidate_name("column weights", "shares")
    ('none', 'shares', 'column weights and shares')
    """
    return " and ".join(part for part in (base, kind) if part) or "none"


def fold_of_rows(codes: Codes) -> NDArray[np.int32]:
    """The fold of each row; bases with additional learning hold out one fold at a time."""
    return stratified_folds(codes, min(FOLDS, len(codes)))


def most_rows(classes: int) -> int:
    """The number of rows to evaluate."""
    return max(FEWEST, min(MOST_ROWS, MOST_ANSWERS // max(classes, 1)))


def choose(bases: Mapping[str, Doubles], codes: Codes, weights: Doubles | None = None) -> CalibrationChoice | None:
    """The best candidate; None if there are too few rows or classes to choose by.

    `bases` are held-out predictions by the name of their base, the plain ones under `PLAIN`.

    >>> sure = normalised(np.random.default_rng(0).normal(size=(400, 2)) * 4)
    >>> codes = (np.arange(400) % 10 < 7).astype(np.int64)  # nothing that the answers know
    >>> found = choose({PLAIN: sure}, codes)
    >>> found.name, found.after < found.before
    ('shares', True)
    """
    answers = bases[PLAIN]
    rows, classes = answers.shape
    if rows < FEWEST or classes < 2:
        return None
    given = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
    fold_of_row = fold_of_rows(codes)
    judged: dict[tuple[str, str | None], Doubles] = {(PLAIN, None): floored(normalised(floored(answers)))}
    for base, log_p in bases.items():
        for kind in _maps(base, rows, classes):
            judged[base, kind] = _cross_fitted(log_p, codes, given, kind, fold_of_row)
    true = {name: floored(log_p)[np.arange(rows), codes] for name, log_p in judged.items()}
    total = float(given.sum())
    losses = {name: -functions.dot(given, own) / total for name, own in true.items()}
    best = min(losses, key=lambda name: losses[name])  # in case of a tie the first, which is the simplest
    gain = given * (true[best] - true[PLAIN, None])
    error = float(np.sqrt(rows * gain.var())) / total
    better = losses[PLAIN, None] - losses[best]
    taken = best if better > CLEAR * error and better * total > LEAST_GAIN else (PLAIN, None)
    hits = np.argmax(judged[taken], axis=1) == codes
    return CalibrationChoice(
        *taken,
        losses[PLAIN, None],
        losses[taken],
        error,
        rows,
        float(given @ hits) / total,
        baseline(codes, classes, given),
        {candidate_name(*name): loss for name, loss in losses.items()},
    )


def judged_as_it_is(log_p: Doubles, codes: Codes, weights: Doubles | None = None) -> CalibrationChoice:
    """The scores of predictions that are not calibrated."""
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    log_p, total = floored(normalised(floored(log_p))), float(given.sum())
    loss = -float(given @ log_p[np.arange(len(codes)), codes]) / total
    accuracy = float(given @ (np.argmax(log_p, axis=1) == codes)) / total
    base = baseline(codes, log_p.shape[1], given)
    return CalibrationChoice(
        PLAIN, None, loss, loss, 0.0, len(codes), accuracy, base, {candidate_name(PLAIN, None): loss}
    )


def learned(
    choice: CalibrationChoice, log_p: Doubles, codes: Codes, weights: Doubles | None = None
) -> Calibration | None:
    """The chosen map, learned on all held-out predictions of its base; None if there is none."""
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    return None if choice.kind is None else _learned(choice.kind, log_p, codes, given)


def _learned(kind: str, log_p: Doubles, codes: Codes, weights: Doubles) -> Calibration:
    """A map of this kind; `dirichlet` is learned on a sample if there are many rows per parameter."""
    if kind == Temperature.kind:
        return Temperature.learned(log_p, codes, weights, pull=PULL)
    if kind != Dirichlet.kind:
        return calibration(kind, log_p, codes, weights)
    most = MOST_SLOPES // log_p.shape[1] ** 2
    if len(codes) > most:  # evenly spaced, so that sorted rows do no harm
        chosen = np.linspace(0, len(codes) - 1, most).astype(np.int64)
        log_p, codes, weights = log_p[chosen], codes[chosen], weights[chosen]
    return Dirichlet.learned(log_p, codes, weights, steps=STEPS, decrease=DECREASE, pull=PULL)


def baseline(codes: Codes, classes: int, weights: Doubles) -> Baseline:
    """The scores of always predicting the most frequent class, or the class frequencies, of these rows."""
    counts = np.bincount(codes, weights, minlength=classes)
    shares = counts / counts.sum()
    there = shares[shares > 0]
    return Baseline(int(np.argmax(counts)), float(shares.max()), -float(there @ np.log(there)))


def _maps(base: str, rows: int, classes: int) -> Sequence[str | None]:
    maps: Sequence[str | None] = AFTER_PLAIN if base == PLAIN else AFTER_OTHERS
    costly = set()
    if rows * classes > MOST_CURVES:
        costly.add(Isotonic.kind)
    if MOST_SLOPES // classes**2 < FEWEST_SLOPES * classes:
        costly.add(Dirichlet.kind)
    return [kind for kind in maps if kind not in costly]


def _cross_fitted(
    log_p: Doubles, codes: Codes, weights: Doubles, kind: str | None, fold_of_row: NDArray[np.int32]
) -> Doubles:
    """The predictions, each after a map learned without its fold."""
    if kind is None:
        return normalised(floored(log_p))
    found = np.empty_like(log_p)
    for number in range(int(fold_of_row.max()) + 1):
        inside, outside = fold_of_row != number, fold_of_row == number
        found[outside] = _learned(kind, log_p[inside], codes[inside], weights[inside]).applied(log_p[outside])
    return found
