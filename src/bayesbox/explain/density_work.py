"""The densities of a number as the work shows them: the density's name, the value, and the parameters of each class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesbox.dist.kernel import Kernel
from bayesbox.dist.lognormal import LogNormal
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.rounded import Rounded
from bayesbox.dist.student import Student


def density_formulas(density: NumberDensity, value: float, decimal: Callable[[float], str]) -> list[str]:
    """One formula a class."""
    x = decimal(value)
    if isinstance(density, Student):
        each = zip(density.loc, density.scale, density.df, strict=True)
        return [f"t({x} | {decimal(m)}, {decimal(s)}, {decimal(v)} degrees)" for m, s, v in each]
    if isinstance(density, Kernel):
        return [f"kernel({x} | {len(each.values)} values, width {decimal(each.width)})" for each in density.curves]
    if isinstance(density, Rounded):
        return _rounded_formulas(density, value, decimal)
    assert isinstance(density, LogNormal)
    if value <= 0:
        return ["P(0 or below)" for _ in density.mean]
    pairs = zip(density.mean, density.std, strict=True)
    return [f"lognormal({x} | {decimal(m)}, {decimal(s)})" for m, s in pairs]


def _rounded_formulas(density: Rounded, value: float, decimal: Callable[[float], str]) -> list[str]:
    """The normal number between the edges of the cell."""
    rounding = density.rounding
    number = float(rounding.numbers(np.array([value]))[0])
    low, high, *means = rounding.place(
        np.array([number - 0.5, number + 0.5, *(density.mean + density.mean_low)])
    ).tolist()
    deviations = [rounding.width * each for each in density.std.tolist()]
    edges = f"{decimal(low)} to {decimal(high)}"
    return [f"N({edges} | {decimal(m)}, {decimal(s)})" for m, s in zip(means, deviations, strict=True)]
