"""The 95 % interval of the calibration error, from the gaps of its bins.

The calibration error is the sum of |w_b d_b| over the bins of confidence: w_b is the share of the rows in bin b and d_b
the difference between their accuracy and mean confidence. Chance alone makes every |d_b| positive, so the estimate is
biased upwards, and a bootstrap adds the bias again. The interval is therefore that of a posterior:

    d_b | gap_b  ~ N(gap_b, v_b)     v_b the variance of a share, smoothed by one row of the mean confidence
    gap_b | m, t ~ N(m, t^2)         m is the overall underconfidence
    m | t        ~ N(0, t^2)
    t            uniform from 0 to 1/2

If perfectly calibrated labels would give as large an error (97.5 % of draws), the interval begins at 0 and all of the 5
% lies above it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox.stat.row_scores import RowScores

Doubles = NDArray[np.float64]

LOW, HIGH = 0.025, 0.975
SPREADS = np.linspace(0.0, 0.5, 101)  # of the true gaps
LEAST_VARIANCE = 1e-12


def calibration_interval(scores: RowScores, bins: int, draws: int, seed: int) -> tuple[float, float]:
    """The limits of the interval of the calibration error."""
    total = float(scores.weights.sum())
    place = scores.bin_of(bins)
    weight = np.bincount(place, weights=scores.weights, minlength=bins)
    used = weight > 0
    weight = weight[used]
    confidence = np.bincount(place, weights=scores.weights * scores.confidence, minlength=bins)[used] / weight
    accuracy = np.bincount(place, weights=scores.weights * scores.right, minlength=bins)[used] / weight
    squares = _squared_weights(scores, bins)[used]
    rows = weight**2 / np.where(squares > 0, squares, 1.0)  # the effective number of rows
    smoothed = (accuracy * rows + confidence) / (rows + 1)
    variance = np.maximum(smoothed * (1 - smoothed) / rows, LEAST_VARIANCE)
    rng = np.random.default_rng(seed)
    error = float(np.abs(weight * (accuracy - confidence)).sum()) / total
    gaps = _drawn_gaps(accuracy - confidence, variance, 2 * draws, rng)
    errors = np.abs(gaps) @ (weight / total)
    by_chance = rng.normal(size=(draws, len(weight))) * np.sqrt(squares * confidence * (1 - confidence))
    if error <= float(np.quantile(np.abs(by_chance).sum(axis=1) / total, HIGH)):
        return 0.0, float(np.quantile(errors, HIGH - LOW))
    return float(np.quantile(errors, LOW)), float(np.quantile(errors, HIGH))


def _squared_weights(scores: RowScores, bins: int) -> Doubles:
    """The squared weights of the rows of each bin; repeats of a row share a label, so they count as one."""
    cells, cell = np.unique(scores.units[1] * bins + scores.bin_of(bins), return_inverse=True)
    squares = np.square(np.bincount(cell, weights=scores.weights).astype(np.float64))
    return np.bincount(cells % bins, weights=squares, minlength=bins).astype(np.float64)


def _drawn_gaps(gaps: Doubles, variance: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """Draws from the posterior of the true gaps: draws x bins."""
    squared = SPREADS**2
    spread = variance + squared[:, None]
    precision = (1 / spread).sum(axis=1)
    gain = squared / (1 + squared * precision)  # the variance of m, given the gaps
    mean = gain * (gaps / spread).sum(axis=1)
    log_weight = -0.5 * (np.log(spread) + gaps**2 / spread).sum(axis=1) - 0.5 * np.log1p(squared * precision)
    log_weight += 0.5 * gain * (gaps / spread).sum(axis=1) ** 2
    weight = np.exp(log_weight - log_weight.max())
    chosen = rng.choice(len(SPREADS), size=draws, p=weight / weight.sum())
    m = (mean[chosen] + np.sqrt(gain[chosen]) * rng.normal(size=draws))[:, None]
    share = squared[chosen, None] / spread[chosen]
    found: Doubles = m + share * (gaps - m) + np.sqrt(share * variance) * rng.normal(size=(draws, len(gaps)))
    return found
