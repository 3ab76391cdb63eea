"""Calibration: a map from the probabilities a model gives to those that come true, learned on held-out rows.

    temperature   P(c)^t, normalised: one number, the same order of classes in every row (Guo et al. 2017)
    isotonic      for each class the best increasing function of its log-odds, then normalised (Zadrozny and Elkan 2002)
    dirichlet     softmax of a linear function of log P (Kull et al. 2019); for two classes this is beta calibration
    shares        (1 - e) P(c) + e times the share of the class: one number, for a few very wrong predictions

Each minimises the log loss, weighted if rows have weights. A probability of 0 cannot be corrected by a map learned on
other rows: it counts as `SMALLEST` in training, stays 0 under `temperature`, and becomes `SMALLEST` under `isotonic`
and `dirichlet`.

`auto` chooses among them on held-out predictions: see `choose_calibration`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.errors import UnknownChoice
from bayesbox.stat.descent import minimum

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALLEST = 1e-12  # the smallest probability used
COLDEST, HOTTEST = 1e-3, 1e3  # the range of the exponent of `temperature`
STEPS, CLOSE = 100, 1e-10  # of Newton's method for `temperature`: the maximum number, and the tolerance
HALVINGS = 40  # of the bisection for `shares`
PULL = 1.0  # the weight, in rows per parameter, of the prior of `dirichlet` towards the identity


class Calibration(Protocol):
    """A map from the log P(class | x) of a model to calibrated ones, both rows x classes."""

    kind: ClassVar[str]

    def applied(self, log_p: Doubles) -> Doubles:
        """The calibrated log-probabilities."""

    def to_json(self) -> Json:
        """Its parameters, for the model file."""

    def compiled(self) -> tuple[str, object, object]:
        """Its kind and parameters for `_core.RowScorer`."""


@dataclass(frozen=True)
class Temperature:
    """Log-probabilities times `power`, normalised: below 1 the model becomes less confident.

    >>> np.exp(Temperature(0.5).applied(np.log([[0.9, 0.1]]))).round(2)
    array([[0.75, 0.25]])
    """

    power: float
    kind: ClassVar[str] = "temperature"

    def applied(self, log_p: Doubles) -> Doubles:
        return normalised(self.power * log_p)

    def to_json(self) -> Json:
        return {"power": self.power}

    def compiled(self) -> tuple[str, object, object]:
        return self.kind, self.power, None

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles, *, pull: float = 0.0) -> Temperature:
        """The exponent with the lowest log loss; `pull` is the weight of pseudo-rows that are already calibrated.

        Without them the exponent is unbounded if all predictions are right, and the first wrong one would be very
        costly.
        """
        log_p = floored(log_p)
        true = log_p[np.arange(len(codes)), codes]
        if pull:
            share = pull / weights.sum()
            stated = (functions.exp(normalised(log_p)) * log_p).sum(axis=1)
            true, weights = (true + share * stated) / (1 + share), weights * (1 + share)

        def slopes(power: float) -> tuple[float, float]:
            """The first and the second derivative of the log loss; the first increases with the exponent."""
            p = functions.exp(normalised(power * log_p))
            mean = (p * log_p).sum(axis=1)
            curvature = (p * log_p * log_p).sum(axis=1) - mean * mean
            return functions.dot(weights, mean - true), functions.dot(weights, curvature)

        low, high, power = COLDEST, HOTTEST, 1.0
        for _ in range(STEPS):
            first, second = slopes(power)
            low, high = (low, power) if first > 0 else (power, high)
            newton = power - first / second if second > 0 else low
            if not low < newton < high:  # out of range: bisect on the log scale
                newton = float(np.sqrt(low * high))
            if abs(newton - power) <= CLOSE * power:
                return cls(newton)
            power = newton
        return cls(power)


@dataclass(frozen=True)
class Isotonic:
    """An increasing curve for each class: its probability at some log-odds, linearly interpolated."""

    log_odds: tuple[tuple[float, ...], ...]
    probability: tuple[tuple[float, ...], ...]
    kind: ClassVar[str] = "isotonic"

    def applied(self, log_p: Doubles) -> Doubles:
        odds = log_odds(log_p)
        columns = [
            np.interp(odds[:, place], np.array(at), np.array(share))
            for place, (at, share) in enumerate(zip(self.log_odds, self.probability, strict=True))
        ]
        return normalised(functions.log(np.maximum(np.stack(columns, axis=1), SMALLEST)))

    def to_json(self) -> Json:
        return {"log_odds": [list(at) for at in self.log_odds], "probability": [list(p) for p in self.probability]}

    def compiled(self) -> tuple[str, object, object]:
        return self.kind, tuple(map(np.array, self.log_odds)), tuple(map(np.array, self.probability))

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles) -> Isotonic:
        odds = log_odds(log_p)
        curves = [_curve(odds[:, place], codes == place, weights) for place in range(log_p.shape[1])]
        if len(curves) == 2:  # the two probabilities sum to 1
            at, share = curves[1]
            curves[0] = [-edge for edge in reversed(at)], [1 - p for p in reversed(share)]
        return cls(tuple(tuple(at) for at, _ in curves), tuple(tuple(share) for _, share in curves))


@dataclass(frozen=True)
class Dirichlet:
    """softmax(log P @ slopes + offsets)."""

    slopes: tuple[tuple[float, ...], ...]
    offsets: tuple[float, ...]
    kind: ClassVar[str] = "dirichlet"

    def applied(self, log_p: Doubles) -> Doubles:
        return normalised(functions.product(floored(log_p), np.array(self.slopes)) + np.array(self.offsets))

    def to_json(self) -> Json:
        return {"slopes": [list(row) for row in self.slopes], "offsets": list(self.offsets)}

    def compiled(self) -> tuple[str, object, object]:
        return self.kind, np.array(self.slopes), np.array(self.offsets)

    @classmethod
    def learned(
        cls,
        log_p: Doubles,
        codes: Codes,
        weights: Doubles,
        *,
        steps: int = 100,
        decrease: float = 1e-9,
        pull: float = 0.0,
    ) -> Dirichlet:
        """`pull` applies to the temperature that it starts from."""
        width = log_p.shape[1]
        log_p = floored(log_p)
        given = np.concatenate([log_p, np.ones((len(codes), 1))], axis=1)
        power = Temperature.learned(log_p, codes, weights, pull=pull).power
        start = np.concatenate([power * np.eye(width), np.zeros((1, width))])
        worth = np.full((width + 1, width), PULL)
        rows = np.arange(len(codes))

        def loss(flat: Doubles) -> tuple[float, Doubles]:
            change = flat.reshape(width + 1, width)
            log_q = normalised(functions.product(given, start + change))
            wrong = functions.exp(log_q)
            wrong[rows, codes] -= 1
            value = -functions.dot(weights, log_q[rows, codes]) + 0.5 * float((worth * change * change).sum())
            return value, (functions.product(given.T, weights[:, None] * wrong) + worth * change).ravel()

        found = start + minimum(loss, np.zeros(start.size), steps=steps, decrease=decrease).reshape(start.shape)
        return cls(tuple(tuple(row) for row in found[:-1].tolist()), tuple(found[-1].tolist()))


@dataclass(frozen=True)
class ClassShares:
    """(1 - share) P(c) + share times the frequency of the class in all rows, whose logs are `log_shares`.

    >>> np.exp(ClassShares(0.2, (math.log(0.5), math.log(0.5))).applied(np.log([[0.9, 0.1]]))).round(2)
    array([[0.82, 0.18]])
    """

    share: float
    log_shares: tuple[float, ...]
    kind: ClassVar[str] = "shares"

    def applied(self, log_p: Doubles) -> Doubles:
        mixed: Doubles = functions.log_sum(
            math.log1p(-self.share) + log_p, math.log(self.share) + np.array(self.log_shares)
        )
        return mixed

    def to_json(self) -> Json:
        return {"share": self.share, "log_shares": list(self.log_shares)}

    def compiled(self) -> tuple[str, object, object]:
        return self.kind, self.share, np.array(self.log_shares)

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles) -> ClassShares:
        counts = np.bincount(codes, weights, minlength=log_p.shape[1]) + 1.0  # so that no class has frequency 0
        shares = counts / counts.sum()
        own, other = functions.exp(log_p[np.arange(len(codes)), codes]), shares[codes]
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):  # bisection on the slope of the log loss, with a prior worth one row
            e = (low + high) / 2
            slope = functions.dot(weights, (other - own) / ((1 - e) * own + e * other)) + 0.5 / e - 0.5 / (1 - e)
            low, high = (e, high) if slope > 0 else (low, e)
        return cls((low + high) / 2, tuple(functions.log(shares).tolist()))


KINDS: dict[str, Any] = {each.kind: each for each in (Temperature, Isotonic, Dirichlet, ClassShares)}
"""The calibrations by name, for the command and the estimators."""


AUTO = "auto"
NAMES = (*KINDS, AUTO)


def require_kind(kind: str | None) -> None:
    """Raise an error for an unknown name."""
    if kind is not None and kind not in NAMES:
        raise UnknownChoice("calibration", kind, NAMES)


def calibration(kind: str, log_p: Doubles, codes: Codes, weights: Doubles | None = None) -> Calibration:
    """The calibration of this kind, fitted to predictions `log_p` of rows with true classes `codes`.

    >>> sure, right = np.log([[0.99, 0.01]] * 4), np.array([0, 0, 0, 1])
    >>> np.exp(calibration("temperature", sure, right).applied(sure))[0].round(2)
    array([0.75, 0.25])
    """
    if kind not in KINDS:
        raise UnknownChoice("calibration", kind, tuple(KINDS))
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    learned: Calibration = KINDS[kind].learned(log_p, codes, given)
    return learned


def normalised(log_p: Doubles) -> Doubles:
    """The rows normalised to probabilities that sum to 1."""
    highest = log_p.max(axis=1, keepdims=True)
    rest: Doubles = log_p - highest
    rest -= functions.log(functions.exp(rest).sum(axis=1, keepdims=True))
    return rest


def floored(log_p: Doubles) -> Doubles:
    """The log-probabilities, at least `SMALLEST`."""
    return np.maximum(log_p, functions.log(SMALLEST))


def log_odds(log_p: Doubles) -> Doubles:
    """log P(c) / (1 - P(c)), each at least `SMALLEST`; 1 - P(c) is the sum of the others, for accuracy near 1."""
    p = functions.exp(log_p)
    others = np.empty_like(p)
    for place in range(p.shape[1]):  # not 1 - P, which loses digits
        others[:, place] = np.delete(p, place, axis=1).sum(axis=1)
    return floored(log_p) - functions.log(np.maximum(others, SMALLEST))


def _curve(scores: Doubles, true: NDArray[np.bool_], weights: Doubles) -> tuple[list[float], list[float]]:
    """The points of the increasing curve of the frequency of `true` by score.

    The frequency of a block includes one pseudo-row distributed like all rows, so that none is 0 or 1. If that reverses
    the order of two blocks, as it may if one has few rows, they are merged.
    """
    order = np.argsort(scores, kind="stable")
    scores, true, weights = scores[order], true[order], weights[order]
    first = np.flatnonzero(np.r_[True, np.diff(scores) > 0])
    total = np.add.reduceat(weights, first)
    hits = np.add.reduceat(weights * true, first)
    last = np.r_[first[1:], len(scores)] - 1
    base = float(hits.sum() / total.sum())
    joined: list[tuple[int, float, float, float]] = []  # where a block ends, its sums, its frequency
    for end, (block_hits, block_total) in pooled_adjacent_violators(hits, total):
        share = (block_hits + base) / (block_total + 1)
        while joined and joined[-1][3] >= share:
            _, more_hits, more_total, _ = joined.pop()
            block_hits, block_total = block_hits + more_hits, block_total + more_total
            share = (block_hits + base) / (block_total + 1)
        joined.append((end, block_hits, block_total, share))
    points: list[tuple[float, float]] = []
    begin = 0
    for end, _, _, share in joined:
        edges = dict.fromkeys((float(scores[first[begin]]), float(scores[last[end - 1]])))
        points += [(edge, share) for edge in edges]
        begin = end
    return [edge for edge, _ in points], [share for _, share in points]


def pooled_adjacent_violators(hits: Doubles, total: Doubles) -> list[tuple[int, tuple[float, float]]]:
    """The blocks of the isotonic fit to hits / total: where each ends, with its sums.

    >>> pooled_adjacent_violators(np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    [(1, (0.0, 1.0)), (3, (1.0, 2.0)), (4, (1.0, 1.0))]
    """
    blocks: list[tuple[int, tuple[float, float]]] = []
    for place, (hit, weight) in enumerate(zip(hits.tolist(), total.tolist(), strict=True)):
        if weight <= 0:
            hit, weight = 0.0, 0.0
        while blocks and blocks[-1][1][0] * weight >= hit * blocks[-1][1][1]:
            _, (before, rows) = blocks.pop()
            hit, weight = hit + before, weight + rows
        blocks.append((place + 1, (hit, weight)))
    return blocks
