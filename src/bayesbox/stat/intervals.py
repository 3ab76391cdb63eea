"""95 % intervals of metrics and of their differences.

    auto        accuracy by Wilson's score interval (1927); log loss and Brier score by the normal interval of a mean;
                the area under the ROC curve by its placements (DeLong 1988) on the scale of log-odds
    exact       the same, except accuracy by the exact binomial interval (Clopper and Pearson 1934)
    bootstrap   all by the percentiles of bootstrap samples of rows

The calibration error has no closed form: its interval is always that of a posterior (calibration_interval.py).

A row of weight w counts as w rows in the closed forms; the bootstrap draws rows with their weights. Differences are
paired: on the same rows, by the normal interval or by the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption, UnknownChoice
from bayesbox.stat.calibration_interval import HIGH, LOW, calibration_interval
from bayesbox.stat.metric import Metric
from bayesbox.stat.metrics import BINS, Z95, wilson
from bayesbox.stat.roc import drawn_areas
from bayesbox.stat.row_scores import MEANS, METRICS, RowScores, require_same_rows

Doubles = NDArray[np.float64]

CLOSED, EXACT, BOOTSTRAP = "auto", "exact", "bootstrap"
WAYS = (CLOSED, EXACT, BOOTSTRAP)
DRAWS = 1000
MOST_UNITS = 20_000  # resampled; more rows are resampled in random groups, whose sums have the same variance
CELLS = 1 << 22  # of the counts processed at once


class IntervalOptions(NamedTuple):
    """How intervals are computed."""

    how: str = CLOSED
    draws: int = DRAWS
    seed: int = 0
    bins: int = BINS

    def checked(self) -> IntervalOptions:
        """The validated options."""
        if self.how not in WAYS:
            raise UnknownChoice("intervals", self.how, WAYS)
        if isinstance(self.draws, bool) or not isinstance(self.draws, (int, np.integer)) or self.draws < 100:
            raise BadOption("draws must be an integer of at least 100", found=self.draws)
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or self.seed < 0:
            raise BadOption("seed must be a non-negative integer", found=self.seed)
        return self


DEFAULT_INTERVALS = IntervalOptions()


def metric_of(scores: RowScores, metric: str, options: IntervalOptions) -> Metric:
    """A metric of predictions and its interval."""
    return metrics_of(scores, [metric], options)[metric]


def metrics_of(scores: RowScores, metrics: Sequence[str], options: IntervalOptions) -> dict[str, Metric]:
    """Several metrics of predictions and their intervals; rows are resampled once for all."""
    values = {metric: _value(scores, metric, options.bins) for metric in metrics}
    finite = [metric for metric, value in values.items() if math.isfinite(value)]
    by_draws = [metric for metric in finite if options.how == BOOTSTRAP and metric != "calibration_error"]
    drawn = draws([scores], by_draws, options) if by_draws else {}
    found = {}
    for metric, value in values.items():
        if metric in drawn:
            found[metric] = _drawn(value, drawn[metric][0])
        else:
            found[metric] = _closed(scores, metric, value, options) if metric in finite else Metric(value)
    return found


def _closed(scores: RowScores, metric: str, value: float, options: IntervalOptions) -> Metric:
    if metric == "accuracy":
        n = float(scores.unit_weights.sum())
        found = (wilson if options.how == CLOSED else clopper_pearson)(value * n, n)
        return Metric(value, found[1], found[2], "score" if options.how == CLOSED else "exact")
    if metric == "calibration_error":
        low, high = calibration_interval(scores, options.bins, options.draws, options.seed)
        return Metric(value, min(low, value), max(high, value), "posterior of the bins")
    reach = Z95 * standard_error(scores.influence(metric), scores.unit_weights)
    if metric == "auc":
        return _area_interval(value, reach, scores)
    return Metric(value, max(value - reach, 0.0), value + reach, "normal")


def difference(one: RowScores, other: RowScores, metric: str, options: IntervalOptions) -> Metric:
    """The paired difference of a metric between `one` and `other`, on the same rows."""
    require_same_rows([one, other])
    value = _value(one, metric, options.bins) - _value(other, metric, options.bins)
    if math.isnan(value) or math.isinf(value):
        return Metric(value)
    if options.how == BOOTSTRAP or metric == "calibration_error":
        drawn = draws([one, other], [metric], options)[metric]
        apart = drawn[0] - drawn[1]
        if metric == "calibration_error":  # the bias of the draws is subtracted
            apart = 2 * value - apart
        return _drawn(value, apart)
    reach = Z95 * standard_error(one.influence(metric) - other.influence(metric), one.unit_weights)
    return Metric(value, value - reach, value + reach, "normal, paired")


def standard_error(influence: Doubles, weights: Doubles) -> float:
    """The standard error of a statistic, from the influence of each row."""
    n = float(weights.sum())
    return math.sqrt(float(weights @ influence**2) * n / (n - 1)) if n > 1 else math.nan


def _value(scores: RowScores, metric: str, bins: int) -> float:
    if metric in MEANS:
        return scores.mean(metric)
    return scores.area() if metric == "auc" else scores.calibration_error(bins)


def _drawn(value: float, drawn: Doubles) -> Metric:
    known = drawn[~np.isnan(drawn)]
    if len(known) < len(drawn) / 2:
        return Metric(value)
    low, high = np.quantile(known, (LOW, HIGH)).tolist()
    return Metric(value, min(low, value), max(high, value), "bootstrap")


def _area_interval(value: float, reach: float, scores: RowScores) -> Metric:
    """The interval on the log-odds scale; for a perfect ranking, that of a proportion of the rarer class."""
    if not 0 < value < 1 or not reach:
        known = scores.true[scores.true < len(scores.classes)]
        rarest = min(int(np.count_nonzero(known == code)) for code in np.unique(known))
        found = wilson(value * rarest, rarest)
        return Metric(value, found.low, found.high, "score")
    odds, scaled = math.log(value / (1 - value)), reach / (value * (1 - value))
    return Metric(value, _share(odds - scaled), _share(odds + scaled), "DeLong")


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


# -- the bootstrap ---------------------------------------------------------------------------------------------------


def draws(scores: Sequence[RowScores], metrics: Sequence[str], options: IntervalOptions) -> dict[str, Doubles]:
    """Metrics of rows resampled with replacement, the same rows for all models: models x draws, by metric."""
    require_same_rows(scores)
    wanted = [metric for metric in METRICS if metric in metrics]
    units = len(scores[0].units[0])
    rng = np.random.default_rng(options.seed)
    group = np.arange(units) if units <= MOST_UNITS else rng.permutation(units) % MOST_UNITS
    drawn_units = min(units, MOST_UNITS)
    sums = [_sums(each, group, drawn_units, options.bins, wanted) for each in scores]
    found = {metric: np.empty((len(scores), options.draws)) for metric in wanted}
    size = max(CELLS // max(drawn_units, len(scores[0]) if "auc" in wanted else 1), 1)
    for start in range(0, options.draws, size):
        stop = min(start + size, options.draws)
        counts = np.stack(
            [np.bincount(rng.integers(0, drawn_units, drawn_units), minlength=drawn_units) for _ in range(start, stop)]
        ).astype(np.float64)
        for place, each in enumerate(scores):
            totals = counts @ sums[place]
            for metric in wanted:
                if metric == "auc":
                    values = _areas(each, counts[:, group[each.units[1]]])
                elif metric == "calibration_error":
                    values = np.abs(totals[:, 1 + len(MEANS) :]).sum(axis=1) / totals[:, 0]
                else:
                    values = totals[:, 1 + MEANS.index(metric)] / totals[:, 0]
                found[metric][place, start:stop] = values
    return found


def _sums(scores: RowScores, group: NDArray[np.int64], groups: int, bins: int, wanted: Sequence[str]) -> Doubles:
    """The sums of each group of rows: weights, metrics, and accuracy minus confidence by bin."""
    to, weights = group[scores.units[1]], scores.weights
    means = [scores.values(metric) if metric in wanted else np.zeros(len(scores)) for metric in MEANS]
    columns = [weights, *(weights * values for values in means)]
    sums = [np.bincount(to, weights=column, minlength=groups) for column in columns]
    place = to * bins + scores.bin_of(bins)
    gaps = np.bincount(place, weights=weights * (scores.right - scores.confidence), minlength=groups * bins)
    return np.column_stack([*sums, gaps.reshape(groups, bins)])


def _areas(scores: RowScores, counts: Doubles) -> Doubles:
    known, codes = scores.true < len(scores.classes), scores.curves()
    areas = np.zeros(len(counts))
    for code in codes:
        p, own, weights = scores.of_class(code)
        areas += drawn_areas(p, own, counts[:, known] * weights)
    return areas / len(codes)


# -- the binomial interval ---------------------------------------------------------------------------------------------


def clopper_pearson(successes: float, n: float) -> tuple[float, float, float]:
    """A proportion and its exact 95 % interval (Clopper and Pearson 1934), which is never too narrow.

    >>> [round(value, 4) for value in clopper_pearson(8, 10)]
    [0.8, 0.4439, 0.9748]
    """
    failures = n - successes
    low = 0.0 if successes <= 0 else _beta_quantile(LOW, successes, failures + 1)
    high = 1.0 if failures <= 0 else _beta_quantile(HIGH, successes + 1, failures)
    return (successes / n, low, high)


def _beta_quantile(share: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """P(X < x) of a beta distribution, by its continued fraction (Abramowitz and Stegun 26.5.8, by Lentz).

    >>> round(beta_share(0.25, 2, 3), 10)
    0.26171875
    """
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny, c = 1e-300, 1.0
    d = 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _away(1 + term * d, tiny), _away(1 + term / c, tiny)
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return math.exp(log_front) * fraction / a


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
