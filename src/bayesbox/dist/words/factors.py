"""The factor of a word in a calculation: its share of all words of a class, to the power of its count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist.cells import Cells, LevelCounts, Smoothing, ratio
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, divided, formula, log_of
from bayesbox.dist.words.estimates import taken


def share_factor(name: str, cells: Cells, rule: Smoothing, power: float = 1.0) -> Factor | NoFactor:
    """The ratio of a rule for one column of exact cells, to a power; None if it is impossible in every class."""
    over, under = ratio(rule, cells)
    shares = [divided(over[c, 0], under[c, 0]) for c in range(len(over))]
    if not any(shares):
        return NoFactor(name, "it has probability 0 in every class")
    formulas = []
    for c, share in enumerate(shares):
        base = formula(cells.counts[c, 0], cells.by_column[c, 0], over[c, 0], under[c, 0], rule)
        if power != 1:
            shorter = f" = ({share})^{power:.4g}" if str(share) != base else ""
            base = f"[{base}]^{power:.4g}{shorter}"
        formulas.append(base)
    shown = name if power == 1 else f"{name}^{power:.4g}"
    return Factor(shown, tuple(formulas), tuple(_power(share, power) for share in shares))


def _power(share: Fraction, power: float) -> Number:
    if not share:
        return Fraction(0) if power > 0 else Fraction(1)  # the inverse of a share of 0 in all other classes is ignored
    return share ** int(power) if float(power).is_integer() else Logged(power * log_of(share))


def exact_counts(cells: ExactArray, classes: int, width: int, places: list[int]) -> Any:
    """The counts of some words as fractions, classes x words, from a table of this width."""
    return exact(taken(cells, classes, width, np.array(places, dtype=np.int64)), classes, len(places))


def exact(cells: ExactArray, classes: int, width: int) -> Any:
    """The counts as fractions, classes x columns."""
    names = tuple(str(place) for place in range(width))
    return LevelCounts(names, cells, classes).as_cells(exact=True).counts[:, :width]
