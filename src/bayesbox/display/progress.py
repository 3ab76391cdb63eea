"""Progress reports of long operations: a function of the share done, the seconds left, and a description.

    def show(share, seconds_left, what): ...

`share` is from 0 to 1, None if unknown; `seconds_left` is None if unknown. The last call has a share of 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bayesbox.errors import BadOption

Progress = Callable[[float | None, float | None, str], object]

SURE = 0.02  # the share from which the remaining time is estimated
NEARLY = 0.99  # the largest share reported before the end


def require_progress(given: object) -> None:
    """Raise an error if progress is not callable."""
    if given is not None and not callable(given):
        raise BadOption("progress must be a function of share, seconds left and text, or None", found=given)


class Reporter:
    """Reports to a function, or None, with the remaining time at the pace so far."""

    def __init__(self, report: Progress | None) -> None:
        require_progress(report)
        self._report = report
        self._begun = time.monotonic()

    def __call__(self, share: float | None, what: str) -> None:
        """Report the share done."""
        if self._report is None:
            return
        if share is None:
            self._report(None, None, what)
            return
        share = min(max(share, 0.0), NEARLY)
        gone = time.monotonic() - self._begun
        self._report(share, gone * (1 - share) / share if share >= SURE else None, what)

    def rounds(self, most: int) -> Callable[[int, float], None] | None:
        """A callback for iterations, up to a maximum: it takes the number of an iteration and its objective."""
        if self._report is None:
            return None
        calls = 0

        def on_step(number: int, objective: float) -> None:
            nonlocal calls
            calls += 1
            self(calls / max(most, 1), f"round {number}, log-likelihood {objective:,.1f}")

        return on_step

    def rows(self, share: Callable[[], float | None]) -> Callable[[int], None] | None:
        """A callback for reading rows: it takes the number of rows just read; `share` is that of the source."""
        if self._report is None:
            return None
        rows = 0

        def on_step(more: int) -> None:
            nonlocal rows
            rows += more
            self(share(), f"{rows:,} rows")

        return on_step

    def done(self) -> None:
        """Report the end."""
        if self._report is not None:
            self._report(1.0, 0.0, "done")
