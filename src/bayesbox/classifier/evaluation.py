"""The result of an evaluation: as text for people, as a mapping with stable keys for programs, as a picture.

Keys of `as_dict()`; a number that is not defined is NaN, which is null in JSON:

    how                  cross-validation, leave-one-out, or of a model that had learned before: training-rows where it
                         has learned exactly these rows, rows where it is not known whether it has learned some of them
    data, target         the name of the source and of the column with the classes
    rows, unlabelled     rows that were judged; rows left out because they have no label
    skipped              broken rows left out
    weight               the sum of the weights of all predictions; without weights their number
    folds, repeats, seed of cross-validation, else null
    classes              the labels: those of the model, then those it did not know
    accuracy             value, low, high
    accuracy_by_repeat   one value a repeat of cross-validation
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
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.decide.thresholds import Threshold, best_threshold
from bayesbox.errors import BadOption
from bayesbox.explain.reliability import aligned, count_text, reliability_svg, reliability_table
from bayesbox.schema.levels import class_position
from bayesbox.stat.metrics import Metrics, MetricValue, Scored

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

ROWS, TRAINING_ROWS = "rows", "training-rows"
MOST_CLASSES = 12  # whose confusion matrix is printed whole
MOST_CONFUSIONS = 10
MOST_NAMES = 8


@dataclass(frozen=True)
class Evaluation:
    """How good the predictions were. `scored` is what was counted, `metrics` what follows from it."""

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
    before: Metrics | None = None  # without calibration, where the model is calibrated

    def as_dict(self) -> Json:
        """The result under the keys that the head of this file lists."""
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
        }

    def svg(self) -> str:
        """The reliability diagram."""
        before = None if self.before is None else self.before.bins
        return reliability_svg(self.metrics.bins, f"{os.path.basename(self.data)}: {self.target}", before=before)

    def best_threshold(self, label: str, metric: str = "f1") -> Threshold:
        """The threshold on P(label) that would have served a metric best on these rows."""
        classes = self.scored.classes
        found = self.scored.ranks.of_class(class_position(label, classes), len(classes))
        if found is None:
            raise BadOption("there are too many rows and classes to find a threshold on", remedy="Take fewer rows")
        p, true, weights = found
        return best_threshold(p, true, metric, weights)

    def text(self) -> str:
        """The result for the eye."""
        parts = [self._head(), self._scores(), self._classes(), self._confusion()]
        if self.before is not None:
            head = "reliability before calibration (# accuracy, | mean confidence)\n"
            parts.append(head + reliability_table(self.before.bins))
        parts.append("reliability (# accuracy, | mean confidence)\n" + reliability_table(self.metrics.bins))
        return "\n\n".join(part for part in parts if part)

    def worse_than_baseline(self) -> str | None:
        """What to say where always giving the same answer would have been better; None where it would not."""
        metrics, parts = self.metrics, []
        accuracy, loss = metrics.accuracy.value, metrics.log_loss.value
        if accuracy < metrics.baseline_accuracy:
            parts.append(f"accuracy {accuracy:.4f}, always {metrics.baseline}: {metrics.baseline_accuracy:.4f}")
        if loss > metrics.baseline_log_loss:
            parts.append(f"log loss {loss:.4f}, class shares alone: {metrics.baseline_log_loss:.4f}")
        return f"worse than always answering {metrics.baseline}: {'; '.join(parts)}" if parts else None

    def _head(self) -> str:
        return "\n".join([f"{self._how_in_words()}: {self.data}, target {self.target}", *self._remarks()])

    def _how_in_words(self) -> str:
        if self.how != "cross-validation":
            return {TRAINING_ROWS: "training rows", ROWS: "rows of a file"}.get(self.how, self.how)
        repeats = f", {self.repeats} repeats" if self.repeats != 1 else ""
        return f"cross-validation, {self.folds} folds{repeats}, seed {self.seed}"

    def _remarks(self) -> Iterator[str]:
        found = self.scored
        left_out = [f"{found.unlabelled:,} without a label left out"] if found.unlabelled else []
        left_out += [f"{self.skipped:,} broken ones left out"] if self.skipped else []
        yield ", ".join([f"{found.rows:,} row{'s' if found.rows != 1 else ''}", *left_out])
        worse = self.worse_than_baseline()
        if worse is not None:
            yield worse
        if self.how == TRAINING_ROWS:
            yield "these are the rows that the model has learned, so that it looks better than it is"
        elif self.how == ROWS:
            yield "not exactly the rows that the model has learned; whether it has learned some of them is not known"
        if found.unseen:
            names = [f"{name} ({count:,})" for name, count in found.unseen.most_common(MOST_NAMES)]
            more = ", ..." if len(found.unseen) > MOST_NAMES else ""
            yield f"labels not seen in training, counted as errors: {', '.join(names)}{more}"
        if found.impossible:
            gave = "prediction" if found.impossible == 1 else "predictions"
            yield f"{found.impossible:,} {gave} gave the true class probability 0, so the log loss is infinite"

    def _scores(self) -> str:
        metrics, repeats = self.metrics, self.accuracy_by_repeat
        form = "0 best, 1 worst (two classes)" if metrics.brier_worst == 1 else "0 best, 2 worst (sum over classes)"
        spread = f"; repeats {min(repeats):.4f} to {max(repeats):.4f}" if len(repeats) > 1 else ""
        rows = [
            ["", "value", "95 % interval", ""],
            _score("accuracy", metrics.accuracy, f"always {metrics.baseline}: {metrics.baseline_accuracy:.4f}{spread}"),
            _score("log loss", metrics.log_loss, f"class shares alone: {metrics.baseline_log_loss:.4f}"),
        ]
        if math.isinf(metrics.log_loss.value):
            rows.append(["log loss, clipped", f"{metrics.clipped_log_loss:.4f}", "", "P at least 2.2e-16"])
        rows.append(_score("Brier score", metrics.brier, form))
        rows.append(["calibration error", f"{metrics.calibration_error:.4f}", "", f"{len(metrics.bins)} bins"])
        if not math.isnan(metrics.area):
            kind = "" if len(self.scored.classes) == 2 else "mean of one class against the rest"
            rows.append(["area under ROC", f"{metrics.area:.4f}", "", kind])
        if self.before is not None:
            rows.append(["before calibration", "", "", ""])
            rows.append(["  log loss", f"{self.before.log_loss.value:.4f}", "", ""])
            rows.append(["  Brier score", f"{self.before.brier.value:.4f}", "", ""])
            rows.append(["  calibration error", f"{self.before.calibration_error:.4f}", "", ""])
        return "\n".join(aligned(rows, right=(1,)))

    def _classes(self) -> str:
        metrics = self.metrics
        rows = [["class", "precision", "recall", "F1", "rows"]]
        for each in metrics.per_class:
            shares = (each.precision.value, each.recall.value, each.f1)
            rows.append([each.name, *map(_share, shares), count_text(each.support)])
        macro = metrics.macro
        rows.append(["macro mean", *(_share(macro[name]) for name in ("precision", "recall", "f1")), ""])
        return "\n".join(aligned(rows, right=(1, 2, 3, 4)))

    def _confusion(self) -> str:
        labels, counts = self.metrics.labels, self.metrics.confusion
        over = f", over all {self.repeats} repeats" if (self.repeats or 1) > 1 else ""
        if len(labels) > MOST_CLASSES:
            return self._worst_confusions(over)
        rows = [["true \\ predicted", *labels]]
        rows += [[name, *map(count_text, row)] for name, row in zip(labels, counts.tolist(), strict=True)]
        return "\n".join([f"confusion{over}", *aligned(rows, right=range(1, len(labels) + 1))])

    def _worst_confusions(self, over: str) -> str:
        labels, counts = self.metrics.labels, self.metrics.confusion.copy()
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[:MOST_CONFUSIONS]
        pairs = [divmod(int(place), len(labels)) for place in order]
        rows = [["true", "predicted", "n"]]
        rows += [[labels[row], labels[column], count_text(counts[row, column])] for row, column in pairs]
        return "\n".join([f"most frequent confusions{over}", *aligned(rows, right=(2,))])


def _before(metrics: Metrics) -> Json:
    return {
        "log_loss": metrics.log_loss.value,
        "brier": metrics.brier.value,
        "calibration_error": metrics.calibration_error,
        "bins": [each._asdict() for each in metrics.bins],
    }


def _score(name: str, estimate: MetricValue, remark: str) -> list[str]:
    known = not math.isnan(estimate.low)
    interval = f"{estimate.low:.4f} to {estimate.high:.4f}" if known else ""
    return [name, f"{estimate.value:.4f}", interval, remark]


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
