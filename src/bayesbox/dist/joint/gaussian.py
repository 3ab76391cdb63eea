"""Multivariate normal distributions, one or more per class; missing numbers are marginalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.number.special import LOG_ROOT_2_PI
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import as_numbers

Numbers = list[NumberArray]


class Factors(NamedTuple):
    """Some normals in the form of the core."""

    mean: Doubles
    mean_low: Doubles
    factor: Doubles  # normals x columns x columns, lower triangular: factor (x - mean) is standard normal
    constant: Doubles


@dataclass(frozen=True)
class JointGaussian:
    """N(x | mean, covariance) for several normals: those of the classes first, then those of table cells.

    The covariance is std * correlation * std, and the mean is stored in two doubles, so that neither a large offset nor
    a scale of 1e+-300 loses digits. `own` has the normal of each class in a cell of the table.
    """

    names: tuple[str, ...]
    mean: Doubles
    mean_low: Doubles
    std: Doubles
    correlation: Doubles
    rows: Doubles  # behind each normal
    classes: int
    own: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    _made: dict[tuple[bytes, bytes], Factors] = field(default_factory=dict, compare=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def by_class(self) -> NDArray[np.int64]:
        """The normals of the classes."""
        return np.arange(self.classes)

    def covariance(self, normal: int) -> Doubles:
        """The covariance of one normal."""
        covariance: Doubles = self.correlation[normal] * np.outer(self.std[normal], self.std[normal])
        return covariance

    def factors(self, normals: NDArray[np.int64], observed: NDArray[np.bool_]) -> Factors:
        """Some normals restricted to the observed columns; those of the classes are cached."""
        key = normals.tobytes(), observed.tobytes()
        if key in self._made:
            return self._made[key]
        there = np.flatnonzero(observed)
        width = len(there)
        factor, constant = np.zeros((len(normals), width, width)), np.zeros(len(normals))
        for index, normal in enumerate(normals):
            std = self.std[normal, there]
            root = functions.cholesky(self.correlation[normal][np.ix_(there, there)])
            with np.errstate(over="ignore"):
                factor[index] = functions.lower_inverse(root) / std[None, :]
            constant[index] = -functions.log(np.diag(root)).sum() - functions.log(std).sum() - width * LOG_ROOT_2_PI
        made = Factors(self.mean[np.ix_(normals, there)], self.mean_low[np.ix_(normals, there)], factor, constant)
        if observed.all():
            self._made[key] = made
        return made

    def numbers_of(self, columns: Columns, rows: int) -> Numbers:
        """The values of the columns; an absent column is missing in every row."""
        absent = np.full(rows, np.nan)
        return [as_numbers(columns[name], name=name) if name in columns else absent for name in self.names]

    def log_density(self, values: Numbers, rows: int, normals: NDArray[np.int64] | None = None) -> Doubles:
        """The log-density, rows x normals (by default those of the classes); zeros for a row without numbers."""
        chosen = self.by_class if normals is None else normals
        everything = np.ones(len(self.names), dtype=bool)
        found = self._observed(values, rows, chosen, everything)
        return found if found is not None else self._by_pattern(values, rows, chosen)

    def _observed(
        self, values: Numbers, rows: int, normals: NDArray[np.int64], observed: NDArray[np.bool_]
    ) -> Doubles | None:
        mean, mean_low, factor, constant = self.factors(normals, observed)
        return _core.joint_normals(values, rows, mean, mean_low, factor.reshape(-1, factor.shape[-1]), constant)

    def _by_pattern(self, values: Numbers, rows: int, normals: NDArray[np.int64]) -> Doubles:
        """The log-density of rows grouped by their observed columns, under the marginal normal."""
        there = np.array([~np.isnan(column) if column.dtype.kind == "f" else np.ones(rows, bool) for column in values])
        kinds, group = np.unique(there.T, axis=0, return_inverse=True)
        group = group.ravel()
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(kinds) + 1))
        result = np.zeros((rows, len(normals)))
        for kind, observed in enumerate(kinds):
            chosen = order[starts[kind] : starts[kind + 1]]
            if observed.any():
                some = [column[chosen] for column, seen in zip(values, observed, strict=True) if seen]
                found = self._observed(some, len(chosen), normals, observed)
                assert found is not None
                result[chosen] = found
        return result


def stacked(names: tuple[str, ...], normals: Sequence[Any], classes: int) -> JointGaussian:
    """Normals concatenated, those of the classes first."""
    return JointGaussian(
        names,
        np.array([normal.mean for normal in normals]).reshape(len(normals), len(names)),
        np.array([normal.mean_low for normal in normals]).reshape(len(normals), len(names)),
        np.array([normal.std for normal in normals]).reshape(len(normals), len(names)),
        np.array([normal.correlation for normal in normals]).reshape(len(normals), len(names), len(names)),
        np.array([normal.n for normal in normals]),
        classes,
    )
