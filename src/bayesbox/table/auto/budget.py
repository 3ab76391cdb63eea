"""The budget of AutoBayes: which models it allows, decided before any is learned, and how far the learning is.

Seconds are estimated from the size of the table, never measured, so that the same rows, seed and budget give the same
models on every machine. The clock is asked only for the time that is left, which changes nothing that is learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

ProgressReport = Callable[[float, float | None, str], object]
"""What is called as learning goes on: the share that is done, from 0 to 1, the seconds left, and what is learned."""


@dataclass
class Budget:
    """Seconds of one core, of which `planned` are the models to learn, by name, and `left_out` those without room."""

    seconds: float
    report: ProgressReport | None = None
    planned: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    _done: float = 0.0
    _begin: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The seconds that no model is planned for."""
        return self.seconds - sum(self.planned.values())

    def plan(self, name: str, seconds: float, most: float | None = None) -> bool:
        """Plan a model where `seconds` are within what is left, or within `most` of it; else it is left out.

        >>> budget = Budget(10)
        >>> budget.plan("trees", 6), budget.plan("kernels", 5), budget.left, budget.left_out
        (True, False, 4, ['kernels'])
        """
        fits = seconds <= (self.left if most is None else most)
        if fits:
            self.planned[name] = seconds
        else:
            self.left_out.append(name)
        return fits

    def begin(self, name: str) -> None:
        """Report that a model is learned from now on."""
        self._tell(self._done, name)

    def step(self, name: str, share: float) -> None:
        """Report that a share of a model is learned."""
        self._tell(self._done + share * self.planned.get(name, 0.0), name)

    def finish(self, name: str) -> None:
        """Report that a model is learned."""
        self._done += self.planned.get(name, 0.0)
        self._tell(self._done, name)

    def close(self) -> None:
        """Report that all is learned."""
        if self.report is not None:
            self.report(1.0, 0.0, "done")

    def _tell(self, done: float, name: str) -> None:
        if self.report is None:
            return
        share = min(done / max(sum(self.planned.values()), 1e-9), 1.0)
        passed = time.monotonic() - self._begin
        self.report(share, passed * (1 - share) / share if share > 0 else None, name)
