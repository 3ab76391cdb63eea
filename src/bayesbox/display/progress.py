"""One way to report progress, for all that takes long: a function of the share, the seconds left, and what is done.

    def show(share, seconds_left, what): ...

`share` is from 0 to 1, and None while it is not known; so is `seconds_left`. The last call has a share of 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bayesbox.errors import BadOption

Progress = Callable[[float | None, float | None, str], object]

SURE = 0.02  # the share from which on the time that is left can be told
NEARLY = 0.99  # the most that is told before the end


def require_progress(given: object) -> None:
    """Refuse what cannot be called."""
    if given is not None and not callable(given):
        raise BadOption("progress must be a function of share, seconds left and text, or None", found=given)


class Reporter:
    """Reports to a function, which may be None, with the time that is left at the pace so far."""

    def __init__(self, report: Progress | None) -> None:
        require_progress(report)
        self._report = report
        self._begun = time.monotonic()

    def __call__(self, share: float | None, what: str) -> None:
        """So much is done."""
        if self._report is None:
            return
        if share is None:
            self._report(None, None, what)
            return
        share = min(max(share, 0.0), NEARLY)
        gone = time.monotonic() - self._begun
        self._report(share, gone * (1 - share) / share if share >= SURE else None, what)

    def rounds(self, most: int) -> Callable[[int, float], None] | None:
        """For what goes on in rounds, of which there are this many at most: the number of one, and its objective."""
        if self._report is None:
            return None
        calls = 0

        def told(number: int, objective: float) -> None:
            nonlocal calls
            calls += 1
            self(calls / max(most, 1), f"round {number}, log-likelihood {objective:,.1f}")

        return told

    def rows(self, share: Callable[[], float | None]) -> Callable[[int], None] | None:
        """For what reads rows: the number of those that were just read; `share` is that of the source."""
        if self._report is None:
            return None
        rows = 0

        def told(more: int) -> None:
            nonlocal rows
            rows += more
            self(share(), f"{rows:,} rows")

        return told

    def done(self) -> None:
        """All is done."""
        if self._report is not None:
            self._report(1.0, 0.0, "done")
