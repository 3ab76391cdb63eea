"""The tables of an evaluation as text: metrics, classes, confusion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.display.blocks import TableBlock
from bayesbox.explain.reliability import count_text
from bayesbox.stat.metric import Metric
from bayesbox.stat.metrics import Metrics

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation

MOST_CLASSES = 12  # classes up to which the confusion matrix is printed in full
MOST_CONFUSIONS = 10


def score_table(found: Evaluation) -> TableBlock:
    """The table of metrics with their intervals and baselines."""
    metrics, repeats = found.metrics, found.accuracy_by_repeat
    form = "0 is best, 1 worst (two classes)" if metrics.brier_worst == 1 else "0 is best, 2 worst (sum over classes)"
    spread = f"; repeats {min(repeats):.4f} to {max(repeats):.4f}" if len(repeats) > 1 else ""
    rows = [
        _score("accuracy", found.accuracy, f"always {metrics.baseline}: {metrics.baseline_accuracy:.4f}{spread}"),
        _score("log loss", found.log_loss, f"class shares alone: {metrics.baseline_log_loss:.4f}"),
    ]
    if math.isinf(metrics.log_loss.value):
        rows.append(["log loss, clipped", f"{metrics.clipped_log_loss:.4f}", "", "P at least 2.2e-16"])
    rows.append(_score("Brier score", found.brier, form))
    rows.append(_score("calibration error", found.calibration_error, f"{len(metrics.bins)} bins"))
    if not math.isnan(metrics.area):
        kind = "" if len(found.scored.classes) == 2 else "mean over classes, one against the rest"
        rows.append(_score("area under ROC", found.auc, kind))
    if found.before is not None:
        rows.append(["before calibration", "", "", ""])
        rows.append(["  log loss", f"{found.before.log_loss.value:.4f}", "", ""])
        rows.append(["  Brier score", f"{found.before.brier.value:.4f}", "", ""])
        rows.append(["  calibration error", f"{found.before.calibration_error:.4f}", "", ""])
    return TableBlock(["", "value", "95 % interval", ""], rows, right=(1,))


def class_table(metrics: Metrics) -> TableBlock:
    """Precision, recall and F1 of each class."""
    rows = []
    for each in metrics.per_class:
        shares = (each.precision.value, each.recall.value, each.f1)
        rows.append([each.name, *map(_share, shares), count_text(each.support)])
    macro = metrics.macro
    rows.append(["macro mean", *(_share(macro[name]) for name in ("precision", "recall", "f1")), ""])
    most = len(rows)  # a command prints all of them
    return TableBlock(["class", "precision", "recall", "F1", "rows"], rows, right=(1, 2, 3, 4), most=most)


def confusion_table(metrics: Metrics, repeats: int) -> TableBlock:
    """The confusion matrix; with many classes, only its largest cells."""
    labels, counts = metrics.labels, metrics.confusion
    over = f", over all {repeats} repeats" if repeats > 1 else ""
    if len(labels) > MOST_CLASSES:
        return _worst_confusions(metrics, over)
    rows = [[name, *map(count_text, row)] for name, row in zip(labels, counts.tolist(), strict=True)]
    right = range(1, len(labels) + 1)
    return TableBlock(["true \\ predicted", *labels], rows, caption=f"confusion{over}", right=right)


def _worst_confusions(metrics: Metrics, over: str) -> TableBlock:
    labels, counts = metrics.labels, metrics.confusion.copy()
    np.fill_diagonal(counts, 0)
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_CONFUSIONS]
    pairs = [divmod(int(place), len(labels)) for place in order]
    rows = [[labels[row], labels[column], count_text(counts[row, column])] for row, column in pairs]
    caption = f"most frequent confusions{over}"
    return TableBlock(["true", "predicted", "n"], rows, caption=caption, right=(2,))


def _score(name: str, metric: Metric, remark: str) -> list[str]:
    return [name, f"{metric:.4f}", metric.interval_text(), remark]


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
