"""The log of the service: one line of JSON per request and event, without bodies, tokens or personal ids."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

import msgspec

MOST_WAITING = 1000  # buffered lines before they are written
LEVELS = ("requests", "problems", "none")


class ServiceLog:
    """Writes buffered lines; `level` selects all requests, failed ones only, or none."""

    def __init__(
        self, level: str = "requests", stream: TextIO | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.level = level
        self.stream = stream
        self.clock = clock
        self._waiting: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self.all_requests = level == "requests"
        self.problems = level != "none"

    def event(self, event: str, **facts: Any) -> None:
        """Log something that is not a request, immediately."""
        if self.problems:
            self._waiting.append({"time": self.clock(), "event": event, **facts})
            self.flush()

    def request(self, facts: dict[str, Any]) -> None:
        """Log a request."""
        self._waiting.append({"time": self.clock(), "event": "request", **facts})
        if len(self._waiting) >= MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write the buffered lines. If that fails, they are dropped: a full disk does not stop the service."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        encode = msgspec.json.encode
        for line in waiting:
            line["time"] = _iso(line["time"])
        text = b"\n".join(map(encode, waiting)).decode() + "\n"
        stream = sys.stderr if self.stream is None else self.stream
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            return


def _iso(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
