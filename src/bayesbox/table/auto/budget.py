"""The budget of AutoBayes: the models it allows, chosen before training, and the progress.

Seconds are estimated from the size of the table, not measured, so that the same rows, seed and budget give the same
models on every machine. The clock is used only to report the time left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

ProgressReport = Callable[[float, float | None, str], object]
"""A progress callback: the share done, from 0 to 1, the seconds left, and what is being trained."""


@dataclass
class Budget:
    """Seconds on one core; `planned` are the models to train, by name, and `omitted` those that do not fit."""

    seconds: float
    report: ProgressReport | None = None
    planned: dict[str, float] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)
    _done: float = 0.0
    _begin: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The seconds not yet planned."""
        return self.seconds - sum(self.planned.values())

    def plan(self, name: str, seconds: float, most: float | None = None) -> bool:
        """Plan a model if `seconds` fit into the remaining budget, or into `most` of it; else omit it.

        >>> budget = Budget(10)
        >>> budget.plan("trees", 6), budget.plan("kernels", 5), budget.left, budget.omitted
        (True, False, 4, ['kernels'])
        """
        fits = seconds <= (self.left if most is None else most)
        if fits:
            self.planned[name] = seconds
        else:
            self.omitted.append(name)
        return fits

    def begin(self, name: str) -> None:
        """Report that the training of a model starts."""
        self._tell(self._done, name)

    def step(self, name: str, share: float) -> None:
        """Report the share of a model that is trained."""
        self._tell(self._done + share * self.planned.get(name, 0.0), name)

    def finish(self, name: str) -> None:
        """Report that a model is trained."""
        self._done += self.planned.get(name, 0.0)
        self._tell(self._done, name)

    def close(self) -> None:
        """Report that all models are trained."""
        if self.report is not None:
            self.report(1.0, 0.0, "done")

    def _tell(self, done: float, name: str) -> None:
        if self.report is None:
            return
        share = min(done / max(sum(self.planned.values()), 1e-9), 1.0)
        passed = time.monotonic() - self._begin
        self.report(share, passed * (1 - share) / share if share > 0 else None, name)
