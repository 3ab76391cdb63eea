"""Progress of what goes on in rounds or moves."""

from __future__ import annotations

import sys
import time

import click

from bayesbox.cli.options.sources import PATIENCE, PAUSE


class SearchProgress:
    """The score, the moves and the time so far, on a terminal, for what takes longer than a second."""

    def __init__(self) -> None:
        self._begin = self._next = time.monotonic()
        self._next += PATIENCE
        self._shown = False
        self._alive = sys.stderr.isatty()

    def __call__(self, _share: float | None, _seconds_left: float | None, what: str) -> None:
        """A step of a search, or a round of EM."""
        self._show(what)

    def model(self, name: str, number: int, of: int) -> None:
        """A model that is evaluated from now on."""
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
