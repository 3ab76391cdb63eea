"""The result of an evaluation: as text, as a dict with stable keys, and as a picture.

Keys of `as_dict()`; a number that is not defined is NaN, which is null in JSON:

    how                  cross-validation, leave-one-out, or of a model that had learned before: training-rows where it
                         has learned exactly these rows, rows where it is not known whether it has learned some of them
    data, target         the name of the source and of the column with the classes
    rows, unlabelled     rows that were evaluated; rows dropped because they have no label
    skipped              malformed rows skipped
    weight               the sum of the weights of all predictions; without weights their number
    folds, repeats, seed of cross-validation, else null
    classes              the labels: those of the model, then those it did not know
    accuracy             value, low, high
    accuracy_by_repeat   one value per repeat of cross-validation
    log_loss             value, low, high, clipped, impossible (rows whose true class had probability 0)
    brier                value, low, high, worst (1 for two classes, else 2), sum (the form over all classes)
    calibration_error    with `bins`: start, stop, n, confidence, accuracy, low, high of each
    auc                  area under the ROC curve; of more than two classes the mean of one against the rest
    baseline             class, accuracy, log_loss of the best constant answer
    macro                precision, recall, f1
    per_class            class, precision, recall (each value, low, high), f1, support
    confusion            true x predicted, in the order of `classes`
    unseen               rows of each label that the model did not know
    absent               columns of the model that the data lack
    before_calibration   log_loss, brier, calibration_error and bins without calibration; null if there is none
    intervals            of accuracy, log_loss, brier, auc and calibration_error: low and high, and how it was found
    by                   with groups: column, and groups, each with group, rows, few (fewer than 20) and the metrics
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.results.evaluation_tables import class_table, confusion_table, score_table
from bayesbox.classifier.results.group_table import GroupTable, group_codes, metric_json
from bayesbox.classifier.results.row_table import PredictedRows
from bayesbox.classifier.results.threshold_table import ThresholdTable
from bayesbox.decide.costs import Costs, cheapest, cost_matrix
from bayesbox.decide.thresholds import Threshold, best_threshold
from bayesbox.display.blocks import Block, PictureBlock, TextBlock
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.errors import BadOption
from bayesbox.explain.reliability import reliability_block, reliability_svg
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import class_position
from bayesbox.source.base import Batch
from bayesbox.stat.intervals import CLOSED, DEFAULT_INTERVALS, IntervalOptions, metric_of, standard_error
from bayesbox.stat.metric import Metric
from bayesbox.stat.metrics import Z95, Metrics, Scored, measure, scored
from bayesbox.stat.row_scores import MEANS, METRICS, RowScores

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

ROWS, TRAINING_ROWS = "rows", "training-rows"
MOST_NAMES = 8


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """The metrics of predictions: `accuracy`, `log_loss`, `brier`, `auc`, `calibration_error`, each with `interval`.

    It prints as a table, shows as HTML with the reliability diagram, and has `to_frame()`, `svg()`, the `confusion`
    matrix, `rows(true=, predicted=)` behind each of its cells, `thresholds(label)`, `best_threshold(label)`,
    `cost(costs)`, and `by` group where groups were requested. `scored` is what was counted, `metrics` what follows.
    """

    how: str
    data: str
    target: str
    metrics: Metrics
    scored: Scored
    folds: int | None = None
    repeats: int | None = None
    seed: int | None = None
    accuracy_by_repeat: tuple[float, ...] = ()
    skipped: int = 0
    absent: tuple[str, ...] = ()
    before: Metrics | None = None  # before calibration, if the model is calibrated
    model: str = ""  # what was evaluated, if it is to be shown
    options: IntervalOptions = DEFAULT_INTERVALS
    by: GroupTable | None = None
    batch: Batch | None = None  # the rows themselves, if they are in memory

    # -- numbers -----------------------------------------------------------------------------------------------------

    @cached_property
    def each(self) -> RowScores | None:
        """The prediction of each row; None if there were too many rows to keep."""
        return self.scored.by_row.joined(self.scored.classes)

    @cached_property
    def accuracy(self) -> Metric:
        """The share of rows whose most probable class is the true one."""
        return self._metric("accuracy", self.metrics.accuracy)

    @cached_property
    def log_loss(self) -> Metric:
        """The mean of -log P(true class)."""
        return self._metric("log_loss", self.metrics.log_loss)

    @cached_property
    def brier(self) -> Metric:
        """The Brier score: from 0 to 1 for two classes, else the sum over classes, from 0 to 2."""
        return self._metric("brier", self.metrics.brier)

    @cached_property
    def auc(self) -> Metric:
        """The area under the ROC curve; for more than two classes, the mean of one against the rest."""
        return self._metric("auc", (self.metrics.area,))

    @cached_property
    def calibration_error(self) -> Metric:
        """The mean absolute difference of accuracy and confidence over bins of confidence."""
        return self._metric("calibration_error", (self.metrics.calibration_error,))

    @property
    def auc_of_pairs(self) -> float:
        """The mean over pairs of classes of the area under the ROC curve (Hand and Till); NaN without rows."""
        return math.nan if self.each is None else self.each.area_of_pairs()

    def _metric(self, name: str, known: Sequence[float]) -> Metric:
        """The value of a metric with the requested interval."""
        if name in MEANS and self.options.how == CLOSED:
            how = "score" if name == "accuracy" else "normal"
            return Metric(known[0], known[1], known[2], how)
        if self.each is None:
            return Metric(known[0])
        found = metric_of(self.each, name, self.options._replace(bins=self.scored.bins))
        return Metric(known[0], found.low, found.high, found.how)

    @property
    def confusion(self) -> Any:
        """The confusion matrix, true x predicted, in the order of `labels`."""
        return self.metrics.confusion

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of the model, followed by unknown ones."""
        return self.metrics.labels

    def rows(self, *, true: object = None, predicted: object = None) -> PredictedRows:
        """The rows of a cell of the confusion matrix, or of a whole row or column, the most surprising first."""
        scores = self._rows()
        kept = np.ones(len(scores), dtype=bool)
        for label, codes in ((true, scores.true), (predicted, scores.predicted)):
            if label is not None:
                kept &= codes == scores.place_of(label)
        found = scores.take(kept)
        order = np.lexsort((found.rows, -found.confidence, found.log_true))
        return PredictedRows(found.take(order), self.batch)

    def thresholds(self, label: object) -> ThresholdTable:
        """The metrics at each threshold on P(label)."""
        scores = self._rows()
        code = class_position(label, scores.classes)
        return ThresholdTable.of(scores.classes[code], *scores.of_class(code))

    def cost(self, costs: Costs) -> Metric:
        """The mean cost of the decisions of least expected cost; `costs` maps (true class, decision) to a cost."""
        scores = self._rows()
        matrix, known = cost_matrix(costs, scores.classes), scores.true < len(scores.classes)
        if not known.all():
            raise BadOption(
                "some rows have classes that the model does not know, so their costs are not known",
                remedy="Drop these rows",
            )
        paid = matrix[scores.true, cheapest(scores.p, matrix)]
        total = scores.weights.sum()
        value = float(scores.weights @ paid / total)
        reach = Z95 * standard_error(scores.by_unit((paid - value) / total), scores.unit_weights)
        return Metric(value, value - reach, value + reach, "normal")

    def _rows(self) -> RowScores:
        if self.each is None:
            raise BadOption("too many rows and classes to keep the prediction of each row", remedy="Use fewer rows")
        return self.each

    def subset(self, chosen: Any) -> Evaluation:
        """The metrics of a subset of the predictions; `chosen` selects from `each`."""
        part = self._rows().take(chosen)
        levels = list(part.labels)
        found = scored(
            part.log_p,
            Encoded(part.true.astype(np.int32), levels, levels),
            part.classes,
            weights=part.weights,
            bins=self.scored.bins,
            rows=part.rows,
        )
        rows = len(part.units[0])
        metrics = measure(found, repeats=max(round(len(part) / max(rows, 1)), 1))
        return replace(self, metrics=metrics, scored=replace(found, rows=rows), before=None, by=None)

    def by_groups(self, name: str | None) -> Evaluation:
        """A copy with the metrics of each group as well, if the rows have groups."""
        scores = None if name is None else self._rows()
        if name is None or scores is None or scores.groups is None:
            return self
        own, names = group_codes(name, scores.groups)
        found = {
            text: self.subset(np.flatnonzero(own == code))
            for code, text in enumerate(names)
            if scores.weights[own == code].any()
        }
        return replace(self, by=GroupTable(name, found))

    # -- for programs --------------------------------------------------------------------------------------------------

    def as_dict(self) -> Json:
        """The result for JSON: the metrics with their intervals, the confusion matrix, and how they were computed."""
        found, metrics = self.scored, self.metrics
        return {
            "how": self.how,
            "data": self.data,
            "target": self.target,
            "rows": found.rows,
            "unlabelled": found.unlabelled,
            "skipped": self.skipped,
            "weight": metrics.weight,
            "folds": self.folds,
            "repeats": self.repeats,
            "seed": self.seed,
            "classes": list(metrics.labels),
            "accuracy": metrics.accuracy._asdict(),
            "accuracy_by_repeat": list(self.accuracy_by_repeat),
            "log_loss": {
                **metrics.log_loss._asdict(),
                "clipped": metrics.clipped_log_loss,
                "impossible": found.impossible,
            },
            "brier": {**metrics.brier._asdict(), "worst": metrics.brier_worst, "sum": metrics.brier_sum},
            "calibration_error": metrics.calibration_error,
            "auc": metrics.area,
            "baseline": {
                "class": metrics.baseline,
                "accuracy": metrics.baseline_accuracy,
                "log_loss": metrics.baseline_log_loss,
            },
            "macro": dict(metrics.macro),
            "per_class": [
                {
                    "class": each.name,
                    "precision": each.precision._asdict(),
                    "recall": each.recall._asdict(),
                    "f1": each.f1,
                    "support": each.support,
                }
                for each in metrics.per_class
            ],
            "confusion": metrics.confusion.tolist(),
            "bins": [each._asdict() for each in metrics.bins],
            "unseen": dict(sorted(found.unseen.items())),
            "absent": list(self.absent),
            "before_calibration": None if self.before is None else _before(self.before),
            "intervals": {name: self._interval_json(name) for name in METRICS},
            "by": None if self.by is None else self.by.as_dict(),
        }

    def _interval_json(self, name: str) -> Json:
        metric: Metric = getattr(self, name)
        return {"low": metric.low, "high": metric.high, "how": metric.how}

    def _frame(self) -> Mapping[str, Sequence[object]]:
        found = [metric_json(getattr(self, name)) for name in METRICS]
        metrics = self.metrics
        return {
            "metric": list(METRICS),
            "value": [each["value"] for each in found],
            "low": [each["low"] for each in found],
            "high": [each["high"] for each in found],
            "baseline": [metrics.baseline_accuracy, metrics.baseline_log_loss, None, None, None],
        }

    def svg(self) -> Picture:
        """The reliability diagram."""
        before = None if self.before is None else self.before.bins
        title = self.model or f"{os.path.basename(self.data)}: {self.target}"
        return Picture(reliability_svg(self.metrics.bins, title, before=before), "reliability diagram")

    def best_threshold(self, label: object, metric: str = "f1") -> Threshold:
        """The threshold on P(label) that maximises a metric on these rows."""
        if self.each is None:
            raise BadOption("too many rows and classes to find a threshold", remedy="Use fewer rows")
        p, true, weights = self.each.of_class(class_position(label, self.each.classes))
        return best_threshold(p, true, metric, weights)

    # -- as text -------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The result as text."""
        return str(self)

    def _headline(self) -> str:
        return (
            f"Evaluation({self._how_in_words()}: {self.scored.rows:,} rows, accuracy {self.accuracy:.4f}, "
            f"log loss {self.log_loss:.4f})"
        )

    def _blocks(self) -> Sequence[Block]:
        groups = [] if self.by is None else [*self.by._blocks()]
        legend = "(# accuracy, | mean confidence)"
        before = None if self.before is None else self.before.bins
        return [
            TextBlock(self._head()),
            score_table(self),
            *groups,
            class_table(self.metrics),
            confusion_table(self.metrics, self.repeats or 1),
            *([] if before is None else [reliability_block(before, f"reliability before calibration {legend}")]),
            reliability_block(self.metrics.bins, f"reliability {legend}"),
            PictureBlock(self.svg()),
        ]

    def worse_than_baseline(self) -> str | None:
        """A warning if a constant prediction would have been better; else None."""
        metrics, parts = self.metrics, []
        accuracy, loss = metrics.accuracy.value, metrics.log_loss.value
        if accuracy < metrics.baseline_accuracy:
            parts.append(f"accuracy {accuracy:.4f}, always {metrics.baseline}: {metrics.baseline_accuracy:.4f}")
        if loss > metrics.baseline_log_loss:
            parts.append(f"log loss {loss:.4f}, class shares alone: {metrics.baseline_log_loss:.4f}")
        return f"worse than always predicting {metrics.baseline}: {'; '.join(parts)}" if parts else None

    def _head(self) -> str:
        of = self.model or f"{self.data}, target {self.target}"
        return "\n".join([f"{self._how_in_words()}: {of}", *self._remarks()])

    def _how_in_words(self) -> str:
        if self.how != "cross-validation":
            return {TRAINING_ROWS: "training rows", ROWS: "rows of a file"}.get(self.how, self.how)
        repeats = f", {self.repeats} repeats" if self.repeats != 1 else ""
        return f"cross-validation, {self.folds} folds{repeats}, seed {self.seed}"

    def _remarks(self) -> Iterator[str]:
        found = self.scored
        dropped = [f"{found.unlabelled:,} without a label dropped"] if found.unlabelled else []
        dropped += [f"{self.skipped:,} malformed ones skipped"] if self.skipped else []
        yield ", ".join([f"{found.rows:,} row{'s' if found.rows != 1 else ''}", *dropped])
        worse = self.worse_than_baseline()
        if worse is not None:
            yield worse
        if self.how == TRAINING_ROWS:
            yield "the model was trained on these rows, so the figures are too optimistic"
            if self.model:
                yield "evaluate it on held-out rows: evaluate(model, X, y, cv=10)"
        elif self.how == ROWS:
            yield "these are not exactly the training rows, but some of them may have been used for training"
        if found.unseen:
            names = [f"{name} ({count:,})" for name, count in found.unseen.most_common(MOST_NAMES)]
            more = ", ..." if len(found.unseen) > MOST_NAMES else ""
            yield f"labels not seen in training, counted as errors: {', '.join(names)}{more}"
        if found.impossible:
            gave = "prediction" if found.impossible == 1 else "predictions"
            yield f"{found.impossible:,} {gave} gave the true class probability 0, so the log loss is infinite"


def _before(metrics: Metrics) -> Json:
    return {
        "log_loss": metrics.log_loss.value,
        "brier": metrics.brier.value,
        "calibration_error": metrics.calibration_error,
        "bins": [each._asdict() for each in metrics.bins],
    }
