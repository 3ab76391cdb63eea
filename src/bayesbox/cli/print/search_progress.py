"""Progress of iterative searches."""

from __future__ import annotations

import sys
import time

import click

from bayesbox.cli.options.sources import PATIENCE, PAUSE


class SearchProgress:
    """Progress on a terminal, after a second: the score, the moves and the time so far."""

    def __init__(self) -> None:
        self._begin = self._next = time.monotonic()
        self._next += PATIENCE
        self._shown = False
        self._alive = sys.stderr.isatty()

    def __call__(self, _share: float | None, _seconds_left: float | None, what: str) -> None:
        """Show a step of a search, or a round of EM."""
        self._show(what)

    def model(self, name: str, number: int, of: int) -> None:
        """Show that the evaluation of a model starts."""
        self._show(f"evaluating {name}, {number} of {of}")

    def _show(self, text: str) -> None:
        now = time.monotonic()
        if self._alive and now >= self._next:
            self._next, self._shown = now + PAUSE, True
            click.echo(f"\r{text}, {now - self._begin:.0f} s\x1b[K", err=True, nl=False)

    def close(self) -> None:
        """Leave the line as it was."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
