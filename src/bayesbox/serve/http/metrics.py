"""Counters of the service, in the Prometheus text format. They are sums, so those of several processes can be added."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MOST_CLASSES = 200  # of a model with their own line
MEDIA_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class ServiceMetrics:
    """Requests and predictions since the service started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()  # by route, model and status
        self.times: dict[str, list[float]] = {}  # by route: counts of the buckets (the last is open), then the sum
        self.rows: Counter[str] = Counter()
        self.classes: Counter[tuple[str, str]] = Counter()
        self.events: Counter[tuple[str, str]] = Counter()
        self.errors: Counter[str] = Counter()

    def answered(self, route: str, model: str, status: int, seconds: float) -> None:
        """Count one response."""
        self.requests[route, model, status] += 1
        times = self.times.get(route)
        if times is None:
            times = self.times[route] = [0.0] * (len(BUCKETS) + 2)
        times[bisect_left(BUCKETS, seconds)] += 1
        times[-1] += seconds

    def predicted(self, model: str, classes: Iterable[Any] | Mapping[Any, int], rows: int) -> None:
        """Count rows and predicted classes: the class of each row, or the number of rows of each class."""
        self.rows[model] += rows
        counts = self.classes
        for label, count in Counter(classes).items():
            counts[model, label] += count

    def state(self) -> tuple[Any, ...]:
        """The state as plain values, to send to another process."""
        counters = (self.requests, self.rows, self.classes, self.events, self.errors)
        return {route: list(times) for route, times in self.times.items()}, *(dict(each) for each in counters)

    @classmethod
    def sum(cls, states: Iterable[tuple[Any, ...]]) -> ServiceMetrics:
        """The metrics of several processes together."""
        found = cls()
        for times, *counters in states:
            for route, each in times.items():
                before = found.times.get(route, [0.0] * len(each))
                found.times[route] = [one + other for one, other in zip(before, each, strict=True)]
            own: tuple[Counter[Any], ...] = (found.requests, found.rows, found.classes, found.events, found.errors)
            for counter, more in zip(own, counters, strict=True):
                counter.update(more)
        return found

    def text(self, gauges: Mapping[str, Iterable[tuple[Mapping[str, str], float]]], about: Mapping[str, str]) -> bytes:
        """The page of metrics, with gauges given by name, labels and value."""
        lines: list[str] = []
        prefix = "bayesbox_"
        _head(lines, prefix + "requests_total", "counter", "Requests by route, model and status.")
        for (route, model, status), count in sorted(self.requests.items()):
            labels = {"route": route, "model": model, "status": str(status)}
            lines.append(f"{prefix}requests_total{_labels(labels)} {count}")
        name = prefix + "request_seconds"
        _head(lines, name, "histogram", "Seconds from the header of a request to its response.")
        for route, times in sorted(self.times.items()):
            total = 0.0
            for limit, answers in zip((*map(repr, BUCKETS), "+Inf"), times[:-1], strict=True):
                total += answers
                lines.append(f"{name}_bucket{_labels({'route': route, 'le': limit})} {total:.0f}")
            lines.append(f"{name}_sum{_labels({'route': route})} {times[-1]!r}")
            lines.append(f"{name}_count{_labels({'route': route})} {total:.0f}")
        _head(lines, prefix + "rows_total", "counter", "Rows predicted.")
        lines += [
            f"{prefix}rows_total{_labels({'model': model})} {count}" for model, count in sorted(self.rows.items())
        ]
        _head(lines, prefix + "predictions_total", "counter", "Predictions by class.")
        lines += self._class_lines(prefix + "predictions_total")
        _head(lines, prefix + "events_total", "counter", "Events by outcome.")
        for (model, became), count in sorted(self.events.items()):
            lines.append(f"{prefix}events_total{_labels({'model': model, 'status': became})} {count}")
        _head(lines, prefix + "errors_total", "counter", "Errors by kind.")
        lines += [
            f"{prefix}errors_total{_labels({'kind': kind})} {count}" for kind, count in sorted(self.errors.items())
        ]
        for gauge, values in gauges.items():
            _head(lines, prefix + gauge, "gauge", about[gauge])
            lines += [f"{prefix}{gauge}{_labels(labels)} {value!r}" for labels, value in values]
        return ("\n".join(lines) + "\n").encode()

    def _class_lines(self, name: str) -> list[str]:
        """The lines of the most frequent classes of each model; the others together."""
        by_model: dict[str, Counter[str]] = {}
        for (model, label), count in self.classes.items():
            by_model.setdefault(model, Counter())[_label_text(label)] += count
        lines = []
        for model, counts in sorted(by_model.items()):
            most = counts.most_common(MOST_CLASSES)
            rest = sum(counts.values()) - sum(count for _, count in most)
            if rest:
                most.append(("(others)", rest))
            lines += [f"{name}{_labels({'model': model, 'class': text})} {count}" for text, count in sorted(most)]
        return lines


def _label_text(label: object) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _head(lines: list[str], name: str, kind: str, about: str) -> None:
    lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escaped = {
        name: value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
