"""The limits of the service, each an option of `bayes serve`."""

from __future__ import annotations

from dataclasses import dataclass, fields

from bayesbox.errors import BadOption

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class ServiceLimits:
    """The limits of a request. `rate` is in requests per second for each token; 0 means no limit."""

    body: int = MEBIBYTE  # bytes, before and after decompression: 413
    rows: int = 1000  # rows, events, ids, steps: 422
    depth: int = 32  # of nested lists and objects: 422
    seconds: float = 10.0  # for a request to arrive and to be answered: 408
    in_flight: int = 64  # requests at a time: 429
    rate: float = 0.0  # 429
    header: int = 32 * 1024  # bytes of the request line and the headers: 431
    keep_alive: float = 75.0  # seconds until an idle connection is closed

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (value == 0 and field.name != "rate"):
                raise BadOption(f"{field.name} must be above 0, got {value}")
