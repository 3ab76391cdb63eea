"""Minimisation of a smooth convex function: limited-memory BFGS (Nocedal and Wright, algorithm 7.4), in numpy.

The problems have few parameters and many rows, so evaluating the function dominates the cost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.functions import dot

Doubles = NDArray[np.float64]
Function = Callable[[Doubles], tuple[float, Doubles]]

MEMORY = 10  # past steps used for the curvature
SUFFICIENT = 1e-4  # the fraction of the predicted decrease that a step must achieve (Armijo)
SHORTEST = 1e-10  # the shortest step tried


def minimum(
    function: Function, start: Doubles, *, steps: int = 100, gradient: float = 1e-6, decrease: float = 1e-9
) -> Doubles:
    """The minimum of `function`, which returns its value and gradient, from `start`.

    It stops after `steps` steps, when no partial derivative exceeds `gradient`, or when a step's relative decrease is
    below `decrease`.

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
        if promised >= 0:  # the curvature is lost to rounding: restart with steepest descent
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
    """The gradient times the approximate inverse Hessian of the past steps (two-loop recursion)."""
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
