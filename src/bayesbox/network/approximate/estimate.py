"""Approximate answers: numbers with their errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import ImpossibleEvidence
from bayesbox.network.exact.posterior_table import PosteriorTable
from bayesbox.network.factor_graph import FactorModel
from bayesbox.network.query.probability_table import ProbabilityTable

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Approximation:
    """The posteriors of all variables, and their errors as far as the method reports them.

    `table` and `errors` are over all states of all variables; `joint` and `joint_errors` over the combinations of the
    target variables. `lower` and `upper` are guaranteed bounds. `log_evidence` is an estimate of log P(evidence), for
    mean field a lower bound. `residual` is the change in the last sweep of an iteration. Fields that a method does not
    provide are None.
    """

    method: str
    table: Doubles
    errors: Doubles | None = None
    joint: Doubles | None = None
    joint_errors: Doubles | None = None
    log_evidence: float | None = None
    log_evidence_error: float | None = None
    samples: int | None = None
    effective_samples: float | None = None
    residual: float | None = None
    notes: tuple[str, ...] = ()
    lower: Doubles | None = None
    upper: Doubles | None = None
    log_evidence_bounds: tuple[float, float] | None = None

    @property
    def widest(self) -> float | None:
        """The largest distance between a lower and an upper bound."""
        if self.lower is None or self.upper is None or not len(self.lower):
            return None
        return float((self.upper - self.lower).max())

    def bounds_of(self, model: FactorModel, places: Sequence[int], index: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """The lower and upper bounds of the states, or of one state, of a variable; None for joints."""
        if self.lower is None or self.upper is None or len(places) != 1:
            return None
        part = slice(int(model.offsets[places[0]]), int(model.offsets[places[0] + 1]))
        return self.lower[part][index], self.upper[part][index]

    def facts(self) -> Json:
        """The diagnostics of the method."""
        named = {
            "method": self.method,
            "samples": self.samples,
            "effective_samples": self.effective_samples,
            "residual": self.residual,
            "log_evidence": self.log_evidence,
            "log_evidence_error": self.log_evidence_error,
            "log_evidence_bounds": None if self.log_evidence_bounds is None else list(self.log_evidence_bounds),
            "widest": self.widest,
        }
        return {name: value for name, value in named.items() if value is not None}

    def summary(self) -> str:
        """The diagnostics in words.

        >>> Approximation("weighting", np.zeros(0), samples=1000, effective_samples=640.3).summary()
        'by weighting: 1,000 samples, worth 640 independent ones'
        >>> Approximation("bounds", np.zeros(0), notes=("one case",)).summary()
        'by bounds: one case'
        """
        parts = []
        if self.samples is not None and self.effective_samples is not None:
            parts.append(f"{self.samples:,} samples, worth {self.effective_samples:,.0f} independent ones")
        if self.residual is not None:
            parts.append(f"residual {self.residual:.2g}")
        return f"by {self.method}: {'; '.join([*parts, *self.notes])}"


class Estimate(float):
    """A float: a probability with its standard error and its bounds, None if the method has none.

    >>> found = Estimate(0.25, 0.01)
    >>> found < 0.3, found.standard_error, found
    (True, 0.01, 0.25 +- 0.01)
    """

    standard_error: float | None
    approximation: Approximation | None
    bounds: tuple[float, float] | None

    def __new__(
        cls,
        value: float,
        standard_error: float | None = None,
        approximation: Approximation | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.bounds = bounds
        made.standard_error = standard_error
        made.approximation = approximation
        return made

    def __repr__(self) -> str:
        return " ".join(part for part in estimate_text(float(self), self.standard_error) if part)

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, (float(self), self.standard_error, self.approximation, self.bounds)


class EstimatedDistribution(ProbabilityTable):
    """A table of probabilities, each with its standard error in `standard_errors`.

    >>> EstimatedDistribution("P(car)", ["car"], {("suv",): 0.31234, ("van",): 0.68766}, errors={("suv",): 0.002})
    P(car)
      suv  0.3123   +- 0.002
      van  0.68766
    """

    figures = ("probability", "standard error")

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        probabilities: Mapping[tuple[str, ...], float],
        *,
        errors: Mapping[tuple[str, ...], float],
        levels: Sequence[Sequence[str]] | None = None,
        approximation: Approximation | None = None,
        bounds: tuple[Any, Any] | None = None,
    ) -> None:
        super().__init__(title, columns, probabilities, levels=levels)
        self._errors = dict(errors)
        self._bounds = bounds
        self.approximation = approximation

    @property
    def standard_errors(self) -> dict[Any, float]:
        """The standard error of each probability; empty if the method has none."""
        return {self._outer(key): value for key, value in self._errors.items()}

    @property
    def bounds(self) -> dict[Any, tuple[float, float]]:
        """The guaranteed bounds of each probability; empty if the method has none."""
        if self._bounds is None:
            return {}
        pairs = zip(self._exact, *(np.asarray(each).tolist() for each in self._bounds), strict=True)
        return {self._outer(key): (low, high) for key, low, high in pairs}

    def rows(self) -> list[list[str]]:
        """The rows of the table as text: levels, probability, standard error."""
        return [[*key, *estimate_text(float(value), self._errors.get(key))] for key, value in self._exact.items()]


class EstimatedPosteriors(PosteriorTable):
    """Posteriors with standard errors in the same form, and the diagnostics of the method in `approximation`.

    `lower` and `upper` are guaranteed bounds in the same form, or None. For a frame of evidence
    `approximation` is a list, one per row.
    """

    def __init__(self, model: FactorModel, found: Sequence[Approximation], *, rows: bool) -> None:
        tables = np.array([each.table for each in found]).reshape(len(found), int(model.offsets[-1]))
        super().__init__(model, [*tables.T] if rows else tables[0].tolist())
        self.approximation: Approximation | list[Approximation] = list(found) if rows else found[0]
        self.standard_errors: PosteriorTable | None = None
        if found and all(each.errors is not None for each in found):
            errors = np.array([each.errors for each in found])
            self.standard_errors = PosteriorTable(model, [*errors.T] if rows else errors[0].tolist())
        self.lower: PosteriorTable | None = None
        self.upper: PosteriorTable | None = None
        if found and all(each.lower is not None for each in found):
            below, above = np.array([each.lower for each in found]), np.array([each.upper for each in found])
            self.lower = PosteriorTable(model, [*below.T] if rows else below[0].tolist())
            self.upper = PosteriorTable(model, [*above.T] if rows else above[0].tolist())


def estimate_text(value: float, error: float | None) -> tuple[str, str]:
    """A number with as many digits as its error justifies, and the error.

    >>> estimate_text(0.284171835, 0.00123), estimate_text(0.5, None), estimate_text(1.0, 0.0)
    (('0.2842', '+- 0.0012'), ('0.5', ''), ('1', '+- 0'))
    """
    if error is None or error == 0:
        return f"{value:.7g}", "" if error is None else "+- 0"
    digits = max(1 - math.floor(math.log10(error)), 0)
    return f"{round(value, digits):.{min(digits, 15)}g}", f"+- {error:.2g}"


def never_drawn(samples: int) -> ImpossibleEvidence:
    """The exception if no sample is consistent with the evidence."""
    return ImpossibleEvidence(
        f"none of {samples:,} samples is consistent with the evidence: it is impossible, or very improbable",
        remedy="Use more samples, or an exact answer",
    )


def proven_impossible() -> ImpossibleEvidence:
    """The exception if the tables make the evidence impossible."""
    return ImpossibleEvidence("the evidence has probability 0")
