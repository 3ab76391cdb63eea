"""The minimum of a smooth convex function: limited-memory BFGS (Nocedal and Wright, algorithm 7.4), with numpy alone.

What is learned here has few parameters and many rows, so that the cost is that of the function, not of the steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.functions import dot

Doubles = NDArray[np.float64]
Function = Callable[[Doubles], tuple[float, Doubles]]

MEMORY = 10  # steps that the curvature is read off
SUFFICIENT = 1e-4  # share of the decrease promised by the slope that a step must bring (Armijo)
SHORTEST = 1e-10  # a step below it brings nothing more


def minimum(
    function: Function, start: Doubles, *, steps: int = 100, gradient: float = 1e-6, decrease: float = 1e-9
) -> Doubles:
    """Where `function`, which gives its value and gradient, is least, seen from `start`.

    It ends after `steps`, when no slope is above `gradient`, or when a step lowers the value by less than the share
    `decrease`.

    >>> minimum(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2)).round(6)
    array([3., 3.])
    """
    x = np.array(start, dtype=np.float64)
    value, slope = function(x)
    past: deque[tuple[Doubles, Doubles, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        if np.abs(slope).max(initial=0.0) <= gradient:
            break
        direction = -_scaled(slope, past)
        promised = dot(direction, slope)
        if promised >= 0:  # rounding spoiled the curvature: start again downhill
            past.clear()
            direction, promised = -slope, -dot(slope, slope)
        step = 1.0 if past else min(1.0, 1.0 / float(np.abs(slope).sum()))
        while True:
            there = x + step * direction
            new_value, new_slope = function(there)
            if new_value <= value + SUFFICIENT * step * promised:
                break
            step *= 0.5
            if step < SHORTEST:
                return x
        moved, turned = there - x, new_slope - slope
        curvature = dot(moved, turned)
        if curvature > 0:
            past.append((moved, turned, curvature))
        fell = value - new_value
        x, value, slope = there, new_value, new_slope
        if fell <= decrease * max(abs(value), 1e-12):
            break
    return x


def _scaled(slope: Doubles, past: deque[tuple[Doubles, Doubles, float]]) -> Doubles:
    """The slope times the inverse curvature, as far as the past steps tell it (two-loop recursion)."""
    q = slope.copy()
    shares = []
    for moved, turned, curvature in reversed(past):
        share = dot(moved, q) / curvature
        q -= share * turned
        shares.append(share)
    if past:
        _, turned, curvature = past[-1]
        q *= curvature / dot(turned, turned)
    for (moved, turned, curvature), share in zip(past, reversed(shares), strict=True):
        q += (share - dot(turned, q) / curvature) * moved
    return q
