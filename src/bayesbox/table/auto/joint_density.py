"""Joint densities of all columns: a normal with shrunk covariances, and a kernel density.

Categories are one-hot encoded, numbers are standardised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.stat.calibrate import normalised
from bayesbox.table.auto.features import Design, View

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

OWN = (True, False)  # a covariance per class, shrunk towards the pooled one; or the pooled one alone
DIAGONAL = (0.01, 0.2)  # how far the covariances are shrunk towards their diagonal
LEAST = 1e-3  # added to every variance
WIDTHS = tuple(float(width) for width in functions.exp(np.linspace(-4.5, 1.5, 13)))
SHARES = 0.01  # the weight of the class shares, in rows


@dataclass(frozen=True)
class JointNormal:
    """Means, and for each class the inverse square root of its covariance; `power` calibrates the log-densities."""

    means: Doubles  # classes x numbers
    roots: Doubles  # classes x numbers x numbers, or one for all classes
    offsets: Doubles  # log P(class) less the log of the normalising constant
    power: float = 1.0

    def log_joint(self, view: View) -> Doubles:
        found = np.empty((view.rows, len(self.means)))
        for place, mean in enumerate(self.means):
            root = self.roots[min(place, len(self.roots) - 1)]
            away = functions.product(view.standard - mean, root)
            found[:, place] = self.offsets[place] - 0.5 * np.square(away).sum(axis=1)
        return found

    def log_p(self, view: View) -> Doubles:
        return normalised(self.power * self.log_joint(view))


def learn_joint_normals(view: View, codes: Labels, classes: int) -> list[JointNormal]:
    """Several normals: with class or pooled covariances, and different shrinkage to the diagonal."""
    x = view.standard
    rows, width = x.shape
    counts = np.bincount(codes, minlength=classes)
    means = np.stack([x[codes == c].mean(axis=0) if counts[c] else x.mean(axis=0) for c in range(classes)])
    rest = x - means[codes]
    own = [functions.product(rest[codes == c].T, rest[codes == c]) for c in range(classes)]
    common = sum(own, np.zeros((width, width))) / rows
    log_prior = functions.log((counts + 1) / (rows + classes))
    found = []
    for apart in OWN:
        for share in DIAGONAL:
            if apart:
                borrowed = width + 1
                each = [(own[c] + borrowed * common) / (counts[c] + borrowed) for c in range(classes)]
            else:
                each = [common]
            roots, scales = [], []
            for covariance in each:
                drawn = (1 - share) * covariance
                drawn[np.diag_indices(width)] = np.diag(covariance) + LEAST
                lower = functions.cholesky(drawn)
                roots.append(functions.lower_inverse(lower).T)
                scales.append(functions.log(np.diag(lower)).sum())
            offsets = log_prior - np.array(scales if apart else scales * classes)
            found.append(JointNormal(means, np.stack(roots), offsets))
    return found


@dataclass(frozen=True)
class JointKernel:
    """The training rows, each the centre of a spherical normal kernel of this bandwidth."""

    points: Doubles
    codes: Labels
    shares: Doubles
    width: float

    def log_p(self, view: View) -> Doubles:
        kernel = self.compiled(view.design)
        near = None if kernel is None else kernel.ask(np.ascontiguousarray(view.standard))
        if near is not None:
            return functions.log(near)
        found = np.empty((view.rows, len(self.shares)))
        for start in range(0, view.rows, 1024):
            part = slice(start, start + 1024)
            weights = functions.exp(-squared_distances(view.standard[part], self.points) / self._scale())
            found[part] = _shares(weights, self.codes, self.shares)
        return functions.log(found)

    def compiled(self, design: Design) -> _core.PointKernel | None:
        """The compiled form; None if the points do not match the design."""
        made: dict[str, Any] = self.__dict__
        if "_compiled" not in made:
            groups = np.array([0 if axis.levels is None else len(axis.levels) for axis in design.axes], dtype=np.int64)
            fits = np.maximum(groups, 1).sum() == self.points.shape[1] and (groups[_has_levels(design)] > 0).all()
            points = np.ascontiguousarray(self.points)
            made["_compiled"] = (
                _core.PointKernel.of(points, self.codes, groups, self.shares, SHARES, self._scale()) if fits else None
            )
        return made["_compiled"]  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def _scale(self) -> float:
        return float(2 * self.width**2 * max(self.points.shape[1], 1))


def _has_levels(design: Design) -> NDArray[np.bool_]:
    return np.array([axis.levels is not None for axis in design.axes], dtype=bool)


def learn_joint_kernel(view: View, codes: Labels, classes: int) -> tuple[JointKernel, Doubles]:
    """The kernel with the best bandwidth, and its leave-one-out predictions."""
    points = view.standard
    shares = (np.bincount(codes, minlength=classes) + 1) / (len(codes) + classes)
    squared = squared_distances(points, points)
    np.fill_diagonal(squared, np.inf)
    best: tuple[float, float, Doubles] | None = None
    for width in WIDTHS:
        scale = 2 * width**2 * max(points.shape[1], 1)
        found = functions.log(_shares(functions.exp(-squared / scale), codes, shares))
        loss = -float(found[np.arange(len(codes)), codes].mean())
        if best is None or loss < best[0]:
            best = (loss, width, found)
    assert best is not None
    return JointKernel(points, codes, shares, best[1]), best[2]


def squared_distances(one: Doubles, other: Doubles) -> Doubles:
    """The squared distances, rows of one x rows of the other."""
    own, others = np.square(one).sum(axis=1), np.square(other).sum(axis=1)
    found: Doubles = np.maximum(own[:, None] + others[None] - 2 * functions.product(one, other.T), 0.0)
    return found


def _shares(near: Doubles, codes: Labels, shares: Doubles) -> Doubles:
    total = np.stack([near[:, codes == c].sum(axis=1) for c in range(len(shares))], axis=1)
    found: Doubles = (total + SHARES * shares) / (total.sum(axis=1, keepdims=True) + SHARES)
    return found
