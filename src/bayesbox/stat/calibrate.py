"""Calibration: a map from the probabilities a model gives to those that come true, learned on rows it has not seen.

    temperature   P(c)^t, normalised: one number, the same order of classes in every row (Guo et al. 2017)
    isotonic      for each class the best rising function of its log-odds, then normalised (Zadrozny and Elkan 2002)
    dirichlet     softmax of a linear function of log P (Kull et al. 2019); of two classes this is beta calibration

Each is learned on the log loss, with weights where rows have some. A probability of 0 cannot be mended by a map that is
read off other rows: it counts as `SMALLEST` in learning, stays 0 under `temperature`, and is `SMALLEST` for the others.

`auto` takes the kind that does best, by log loss, on folds of the answers it was not learned on; none, where the best
does not do better than the answers as they are by twice its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import UnknownChoice
from bayesbox.stat.descent import minimum
from bayesbox.stat.folds import stratified_folds

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALLEST = 1e-12  # the least probability that takes part
COLDEST, HOTTEST = 1e-3, 1e3  # the powers that `temperature` may raise to
PULL = 1.0  # rows' worth of pull of `dirichlet` towards leaving all as it is, for each number it learns


class Calibration(Protocol):
    """log P(class | x) as a model gives them to log P that come true; rows x classes both."""

    kind: ClassVar[str]

    def applied(self, log_p: Doubles) -> Doubles:
        """The calibrated log-probabilities."""

    def to_json(self) -> Json:
        """The numbers of it, for the model file."""


@dataclass(frozen=True)
class Temperature:
    """Log-probabilities times `power`, normalised: below 1 it makes a model less sure.

    >>> np.exp(Temperature(0.5).applied(np.log([[0.9, 0.1]]))).round(2)
    array([[0.75, 0.25]])
    """

    power: float
    kind: ClassVar[str] = "temperature"

    def applied(self, log_p: Doubles) -> Doubles:
        return normalised(self.power * log_p)

    def to_json(self) -> Json:
        return {"power": self.power}

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles) -> Temperature:
        log_p = floored(log_p)
        true = log_p[np.arange(len(codes)), codes]

        def slope(power: float) -> float:
            """Of the log loss: it rises with the power, so that its zero is found by halving."""
            p = np.exp(normalised(power * log_p))
            return float(weights @ ((p * log_p).sum(axis=1) - true))

        low, high = np.log(COLDEST), np.log(HOTTEST)
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if slope(float(np.exp(middle))) > 0 else (middle, high)
        return cls(float(np.exp((low + high) / 2)))


@dataclass(frozen=True)
class Isotonic:
    """A rising curve for each class: its probability at some log-odds, straight lines between them."""

    log_odds: tuple[tuple[float, ...], ...]
    probability: tuple[tuple[float, ...], ...]
    kind: ClassVar[str] = "isotonic"

    def applied(self, log_p: Doubles) -> Doubles:
        odds = log_odds(log_p)
        columns = [
            np.interp(odds[:, place], np.array(at), np.array(share))
            for place, (at, share) in enumerate(zip(self.log_odds, self.probability, strict=True))
        ]
        return normalised(np.log(np.maximum(np.stack(columns, axis=1), SMALLEST)))

    def to_json(self) -> Json:
        return {"log_odds": [list(at) for at in self.log_odds], "probability": [list(p) for p in self.probability]}

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles) -> Isotonic:
        odds = log_odds(log_p)
        curves = [_curve(odds[:, place], codes == place, weights) for place in range(log_p.shape[1])]
        if len(curves) == 2:  # what one class gains the other loses
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
        return normalised(floored(log_p) @ np.array(self.slopes) + np.array(self.offsets))

    def to_json(self) -> Json:
        return {"slopes": [list(row) for row in self.slopes], "offsets": list(self.offsets)}

    @classmethod
    def learned(cls, log_p: Doubles, codes: Codes, weights: Doubles) -> Dirichlet:
        width = log_p.shape[1]
        log_p = floored(log_p)
        given = np.concatenate([log_p, np.ones((len(codes), 1))], axis=1)
        power = Temperature.learned(log_p, codes, weights).power
        start = np.concatenate([power * np.eye(width), np.zeros((1, width))])
        pull = np.full((width + 1, width), PULL)
        rows = np.arange(len(codes))

        def loss(flat: Doubles) -> tuple[float, Doubles]:
            change = flat.reshape(width + 1, width)
            log_q = normalised(given @ (start + change))
            wrong = np.exp(log_q)
            wrong[rows, codes] -= 1
            value = -float(weights @ log_q[rows, codes]) + 0.5 * float((pull * change * change).sum())
            return value, (given.T @ (weights[:, None] * wrong) + pull * change).ravel()

        found = start + minimum(loss, np.zeros(start.size)).reshape(start.shape)
        return cls(tuple(tuple(row) for row in found[:-1].tolist()), tuple(found[-1].tolist()))


KINDS: dict[str, Any] = {each.kind: each for each in (Temperature, Isotonic, Dirichlet)}
"""By the name that the command and the estimators take."""


AUTO = "auto"
NAMES = (*KINDS, AUTO)
CHOICE_FOLDS = 3
CLEAR = 2.0  # standard errors by which `auto` must do better than nothing


def require_kind(kind: str | None) -> None:
    """Refuse a name that no calibration has."""
    if kind is not None and kind not in NAMES:
        raise UnknownChoice("calibration", kind, NAMES)


def calibration(kind: str, log_p: Doubles, codes: Codes, weights: Doubles | None = None) -> Calibration | None:
    """The calibration of this kind for predictions `log_p` of rows whose classes turned out to be `codes`.

    None where the kind is `auto` and the predictions are best as they are.

    >>> sure, right = np.log([[0.99, 0.01]] * 4), np.array([0, 0, 0, 1])
    >>> np.exp(calibration("temperature", sure, right).applied(sure))[0].round(2)
    array([0.75, 0.25])
    """
    require_kind(kind)
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    chosen = best_kind(log_p, codes, given) if kind == AUTO else kind
    if chosen is None:
        return None
    learned: Calibration = KINDS[chosen].learned(log_p, codes, given)
    return learned


def best_kind(log_p: Doubles, codes: Codes, weights: Doubles) -> str | None:
    """The kind whose answers, learned on other folds, have the least log loss; None if that is not clearly less."""
    folds = min(CHOICE_FOLDS, len(codes))
    if folds < 2:
        return None
    fold_of_row = stratified_folds(codes, folds)
    before = floored(normalised(floored(log_p)))[np.arange(len(codes)), codes]
    gains = {}
    for kind, calibrated in KINDS.items():
        after = np.empty(len(codes))
        for number in range(folds):
            inside, outside = fold_of_row != number, np.flatnonzero(fold_of_row == number)
            found = calibrated.learned(log_p[inside], codes[inside], weights[inside])
            after[outside] = floored(found.applied(log_p[outside]))[np.arange(len(outside)), codes[outside]]
        gains[kind] = weights * (after - before)
    best = max(gains, key=lambda kind: float(gains[kind].sum()))
    gain = gains[best]
    spread = float(np.sqrt(len(gain) * gain.var()))
    return best if gain.sum() > CLEAR * spread else None


def normalised(log_p: Doubles) -> Doubles:
    """The same rows with probabilities that add up to 1."""
    highest = log_p.max(axis=1, keepdims=True)
    rest: Doubles = log_p - highest
    rest -= np.log(np.exp(rest).sum(axis=1, keepdims=True))
    return rest


def floored(log_p: Doubles) -> Doubles:
    """No probability below `SMALLEST`."""
    return np.maximum(log_p, np.log(SMALLEST))


def log_odds(log_p: Doubles) -> Doubles:
    """log of P(c) to 1 - P(c), each side at least `SMALLEST`; of the others, where P(c) is close to 1."""
    p = np.exp(log_p)
    others = np.empty_like(p)
    for place in range(p.shape[1]):  # not 1 - P, which loses what is small
        others[:, place] = np.delete(p, place, axis=1).sum(axis=1)
    return floored(log_p) - np.log(np.maximum(others, SMALLEST))


def _curve(scores: Doubles, true: NDArray[np.bool_], weights: Doubles) -> tuple[list[float], list[float]]:
    """Points of the rising curve through the share of `true` by score.

    A block of rows takes their share with one row added that is spread like all rows, so that none is 0 or 1. Where
    that row turns the order of two blocks, as it may where one has few rows, they become one.
    """
    order = np.argsort(scores, kind="stable")
    scores, true, weights = scores[order], true[order], weights[order]
    first = np.flatnonzero(np.r_[True, np.diff(scores) > 0])
    total = np.add.reduceat(weights, first)
    hits = np.add.reduceat(weights * true, first)
    last = np.r_[first[1:], len(scores)] - 1
    base = float(hits.sum() / total.sum())
    joined: list[tuple[int, float, float, float]] = []  # where a block ends, its sums, its share
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
    """The blocks of the rising fit to hits / total: where each ends, with its sums.

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
