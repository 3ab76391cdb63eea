"""Densities of numbers drawn at random, of scales from 1e-250 to 1e250: every export answers as the package does."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from tests.export.conftest import Scorer
from tests.export.test_families import expected, in_database, in_onnx

from bayesbox.dist.base import Distribution
from bayesbox.dist.functions import log
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.number.bins import Bins
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.dist.number.lognormal import LogNormal
from bayesbox.dist.number.poisson import Poisson
from bayesbox.dist.number.robust import Robust
from bayesbox.dist.number.student import Student

CLASSES = 3
Drawn = tuple[Distribution, np.ndarray]  # a family, and numbers around which it is asked


class Draw:
    """What the families share: an offset and a scale of the numbers, and what a missing one says."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.scale = 10.0 ** self.random.integers(-250, 250) if seed % 2 else 10.0 ** self.random.integers(-3, 4)
        self.offset = self.scale * 10.0 ** self.random.integers(0, 10) if seed % 3 else 0.0
        observed = self.random.random(CLASSES)
        says = seed % 4 == 0
        self.presence = (np.log(observed), np.log1p(-observed)) if says else (np.zeros(CLASSES), np.zeros(CLASSES))
        self.shift = self.scale * self.random.normal(size=CLASSES)
        self.spread = self.scale * np.exp(self.random.normal(size=CLASSES))

    def gaussian(self) -> Drawn:
        mean, low = self.offset + self.shift, 1e-17 * self.shift
        spread = np.where(self.random.random(CLASSES) < 0.2, 0.0, self.spread)  # some are point masses
        return Gaussian("x", mean, low, spread, *self.presence), mean

    def student(self) -> Drawn:
        df = 10.0 ** self.random.uniform(0, 6, size=CLASSES)
        return Student("x", *self.presence, self.offset, self.shift, self.spread, df), self.offset + self.shift

    def lognormal(self) -> Drawn:
        mean, std = self.random.normal(size=(2, CLASSES))
        nonpositive = self.random.choice([0.0, 0.3]) * self.random.random(CLASSES)
        family = LogNormal("x", *self.presence, mean, np.exp(std), np.log1p(-nonpositive), log(nonpositive))
        return family, np.array([1e-300, 5e-324, 1.0])

    def robust(self) -> Drawn:
        df = 3 + 10.0 ** self.random.uniform(0, 6, size=CLASSES)
        is_log, has_zero = self.random.random(2) < 0.5
        zero = has_zero * self.random.random(CLASSES + 1)
        base, shift, scale = (1.5, *self.random.normal(size=(2, CLASSES))) if is_log else (self.offset, self.shift, 0)
        scale = np.exp(scale) if is_log else self.spread
        shift, df = np.append(shift, shift.mean()), np.append(df, 3.0)
        scale = np.append(scale, scale.max() + np.ptp(shift))
        starts = np.append(-16377, np.unique(self.random.integers(-9000, 9000, self.random.integers(0, 6))))
        ratios = self.random.normal(size=(len(starts), CLASSES + 1))
        shares = log(zero), np.log1p(-zero)
        family = Robust("x", *self.presence, *shares, bool(is_log), base, shift, scale, df, 1.0, starts, ratios)
        return family, np.array([1e-300, 5e-324, 1.0]) if is_log else self.offset + self.shift

    def poisson(self) -> Drawn:
        rate = np.exp(3 * self.random.normal(size=CLASSES))
        rate[0] *= self.random.random() < 0.5
        return Poisson("x", rate, *self.presence), np.arange(5.0)

    def bins(self) -> Drawn:
        cuts = np.sort(self.offset + self.scale * self.random.normal(size=self.random.integers(0, 4)))
        levels = tuple(str(level) for level in range(len(cuts) + 1))
        log_p = np.log(self.random.dirichlet(np.ones(len(levels)), size=CLASSES).T)
        return Bins("x", *self.presence, cuts, levels, log_p, "width", -1e308, 1e308), cuts


FAMILIES: list[Callable[[Draw], Drawn]] = [
    Draw.gaussian,
    Draw.student,
    Draw.robust,
    Draw.lognormal,
    Draw.poisson,
    Draw.bins,
]


def models(family: Callable[[Draw], Drawn]) -> list[tuple[NaiveModel, list[float | None]]]:
    """Models of one column, some of them with a weight, and numbers to ask."""
    found = []
    for seed in range(12):
        draw = Draw(seed)
        distribution, places = family(draw)
        classes = tuple("abc")
        weights = {"x": 0.3} if seed % 5 == 0 else {}
        prior = np.log(draw.random.dirichlet(np.ones(CLASSES)))
        near = draw.offset + 3 * draw.scale * draw.random.normal(size=4)
        far = [0.0, draw.scale * 1e5, -draw.scale * 1e5, min(draw.scale, 1e130) * 1e160, 1e300, -1e300]
        model = NaiveModel(classes, np.array(classes), prior, (distribution,), weights=weights)
        found.append((model, [None, *near.tolist(), *places.tolist(), *far]))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_in_databases(family: Callable[[Draw], Drawn], engine: tuple[str, Scorer]) -> None:
    for model, numbers in models(family):
        found = in_database(model, numbers, *engine)
        np.testing.assert_allclose(found, expected(model, numbers), rtol=0, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_in_onnx(family: Callable[[Draw], Drawn]) -> None:
    for model, numbers in models(family):
        np.testing.assert_allclose(in_onnx(model, numbers), expected(model, numbers), rtol=0, atol=1e-12)


def test_the_draws_reach_what_they_are_for() -> None:
    """Point masses, empty rates, scales of both ends and values that no class allows are among them."""
    normals = [model.conditionals[0] for model, _ in models(Draw.gaussian)]
    assert any(normal.point_mass.any() for normal in normals)
    scales = [draw.scale for draw in map(Draw, range(12))]
    assert min(scales) < 1e-100
    assert max(scales) > 1e100
    robust = [model.conditionals[0] for model, _ in models(Draw.robust)]
    assert {(each.is_log, each.zero_apart) for each in robust} == {(a, b) for a in (False, True) for b in (False, True)}
    assert any((model.conditionals[0].rate == 0).any() for model, _ in models(Draw.poisson))
    assert any(math.isinf(model.conditionals[0].log_nonpositive.min()) for model, _ in models(Draw.lognormal))
