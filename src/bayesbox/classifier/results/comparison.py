"""Several models evaluated on the same rows, with paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.results.group_table import metric_json
from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption
from bayesbox.stat.intervals import IntervalOptions, difference
from bayesbox.stat.metric import Metric
from bayesbox.stat.row_scores import METRICS

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.file.reader import Json

WORDS = {
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "brier": "Brier score",
    "auc": "AUC",
    "calibration_error": "calibration error",
}
PAIRED = ("log_loss", "accuracy")  # the metrics whose differences are printed


@dataclass(frozen=True, repr=False)
class ModelComparison(Result, Mapping[str, "Evaluation"]):
    """A mapping from the name of a model to its evaluation, the best log loss first.

    `best` is the name of the first; `difference(one, other, metric)` is paired, with its interval. `refused` has the
    reasons of models that could not be evaluated, `seconds` the CPU time of each model.
    """

    how: str
    evaluations: Mapping[str, Evaluation]
    seconds: Mapping[str, float]
    refused: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, how: str, found: Mapping[str, Evaluation], seconds: Mapping[str, float], refused: Mapping[str, str]
    ) -> ModelComparison:
        """The evaluations, ordered by their log loss."""
        order = sorted(found, key=lambda name: (math.isnan(found[name].log_loss), found[name].log_loss.value))
        return cls(how, {name: found[name] for name in order}, dict(seconds), dict(refused))

    def __getitem__(self, name: str) -> Evaluation:
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def best(self) -> str:
        """The name of the model with the lowest log loss."""
        return next(iter(self.evaluations))

    def difference(self, one: str, other: str | None = None, metric: str = "log_loss") -> Metric:
        """The difference of a metric between one model and another, by default the best, on the same rows.

        The interval is paired by row; if it contains 0, the difference may be chance.
        """
        first, second = (self._rows(name) for name in (one, self.best if other is None else other))
        if metric not in METRICS:
            raise BadOption("unknown metric", found=metric, remedy=f"Choose one of: {', '.join(METRICS)}")
        return difference(first, second, metric, self._options)

    @property
    def _options(self) -> IntervalOptions:
        return next(iter(self.evaluations.values())).options

    def _rows(self, name: str) -> Any:
        if name not in self.evaluations:
            known = ", ".join(self.evaluations)
            raise BadOption("the comparison has no such model", found=name, remedy=f"Choose one of: {known}")
        return self.evaluations[name]._rows()

    def _headline(self) -> str:
        if not self.evaluations:
            return "ModelComparison(no model could be evaluated)"
        best = self.evaluations[self.best]
        return f"ModelComparison({len(self)} models, best {self.best}: log loss {best.log_loss:.4f})"

    def _blocks(self) -> Sequence[Block]:
        return [
            TextBlock(self.how),
            self._metrics(),
            *self._differences(),
            *(TextBlock(f"{name} is not compared: {why}") for name, why in self.refused.items()),
        ]

    def _metrics(self) -> TableBlock:
        columns = ["model", "log loss", "95 % interval", "accuracy", "AUC", "calib. error", "CPU s"]
        rows = [
            [
                name,
                f"{found.log_loss:.4f}",
                found.log_loss.interval_text(),
                f"{found.accuracy:.4f}",
                "" if math.isnan(found.auc) else f"{found.auc:.4f}",
                f"{found.metrics.calibration_error:.4f}",
                f"{self.seconds[name]:.1f}",
            ]
            for name, found in self.evaluations.items()
        ]
        if rows:
            metrics = next(iter(self.evaluations.values())).metrics
            loss, accuracy = f"{metrics.baseline_log_loss:.4f}", f"{metrics.baseline_accuracy:.4f}"
            rows.append(["(class shares alone)", loss, "", accuracy, "", "", ""])
        return TableBlock(columns, rows, right=(1, 3, 4, 5, 6))

    def _differences(self) -> Iterator[Block]:
        others = [name for name in self.evaluations if name != self.best]
        if not others or any(found.each is None for found in self.evaluations.values()):
            return
        columns = ["model"]
        for metric in PAIRED:
            columns += [WORDS[metric], "95 % interval"]
        rows = []
        for name in others:
            found = [self.difference(name, metric=metric) for metric in PAIRED]
            row = [name]
            for each in found:
                known = not (math.isnan(each) or math.isinf(each))
                row += [f"{each:+.4f}" if known else "", _signed(each)]
            rows.append(row)
        caption = f"difference from {self.best}, paired by row; an interval that contains 0 may be chance"
        yield TableBlock(columns, rows, caption=caption, right=(1, 3))

    def _frame(self) -> Mapping[str, Sequence[object]]:
        found: dict[str, list[Any]] = {"model": list(self.evaluations)}
        for metric in METRICS:
            values = [getattr(each, metric) for each in self.evaluations.values()]
            found[metric] = [value.value for value in values]
            found[f"{metric}_low"], found[f"{metric}_high"] = ([v.low for v in values], [v.high for v in values])
        paired = all(each.each is not None for each in self.evaluations.values())
        for metric in METRICS if paired else ():
            values = [self.difference(name, metric=metric) for name in self.evaluations]
            found[f"{metric}_difference"] = [value.value for value in values]
            found[f"{metric}_difference_low"] = [value.low for value in values]
            found[f"{metric}_difference_high"] = [value.high for value in values]
        found["seconds"] = [self.seconds[name] for name in self.evaluations]
        return found

    def as_dict(self) -> Json:
        """As a dict for JSON: each model with its metrics, and the differences to the best."""
        paired = all(each.each is not None for each in self.evaluations.values())
        models = [
            {
                "model": name,
                "log_loss": each.metrics.log_loss.value,
                "accuracy": each.metrics.accuracy.value,
                "calibration_error": each.metrics.calibration_error,
                "seconds": self.seconds[name],
                "refused": None,
                "brier": each.metrics.brier.value,
                "auc": each.metrics.area,
                "intervals": {metric: metric_json(getattr(each, metric)) for metric in METRICS},
                "difference": {metric: metric_json(self.difference(name, metric=metric)) for metric in METRICS}
                if paired
                else None,
            }
            for name, each in self.evaluations.items()
        ]
        models += [{"model": name, "refused": why, **_NOTHING} for name, why in self.refused.items()]
        return {"how": self.how, "models": models, "best": self.best if self.evaluations else None}


_NOTHING: dict[str, Any] = dict.fromkeys(
    ("log_loss", "accuracy", "calibration_error", "seconds", "brier", "auc", "intervals", "difference")
)


def _signed(metric: Metric) -> str:
    return "" if math.isnan(metric.low) else f"{metric.low:+.4f} to {metric.high:+.4f}"
