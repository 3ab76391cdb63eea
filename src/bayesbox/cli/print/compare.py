"""`bayes evaluate --compare`: every kind of model on the same folds, the best log loss first."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from bayesbox.cli.print.output import emit_json, note, say, table

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.file.reader import Json

NAMES = {"column_weights": "column weights"}


class Compared(NamedTuple):
    """How one kind of model did; `refused` says why it takes no part."""

    model: str
    log_loss: float
    accuracy: float
    calibration_error: float
    seconds: float
    refused: str | None = None


def compare(judge: Callable[[str, Json], Evaluation]) -> list[Compared]:
    """Judge each kind; `judge` cross-validates a model with options."""
    from bayesbox.classifier import registry
    from bayesbox.cli.print.search_progress import SearchProgress
    from bayesbox.errors import BayesboxError

    models = registry.compared_models()
    found = []
    progress = SearchProgress()
    for number, (model, options) in enumerate(models, start=1):
        name = model + "".join(f", {NAMES.get(key, value)}" for key, value in options.items())
        progress.model(name, number, len(models))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd in the rows is told when a model is trained
                metrics = judge(model, options).metrics
        except BayesboxError as error:
            found.append(Compared(name, math.nan, math.nan, math.nan, math.nan, error.without_remedy()))
            continue
        took = time.process_time() - start
        scores = (metrics.log_loss.value, metrics.accuracy.value, metrics.calibration_error)
        found.append(Compared(name, *scores, took))
    progress.close()
    return sorted(found, key=lambda each: (math.isnan(each.log_loss), each.log_loss))


def print_report(found: list[Compared], *, how: str, as_json: bool) -> None:
    """The table of all models."""
    if as_json:
        emit_json({"how": how, "models": [each._asdict() for each in found]})
        return
    say(how)
    say()
    rows = [
        [each.model, *(f"{value:.4f}" for value in each[1:4]), f"{each.seconds:.1f}"]
        for each in found
        if each.refused is None
    ]
    table(["model", "log loss", "accuracy", "calibration error", "CPU seconds"], rows, right=[1, 2, 3, 4])
    for each in found:
        if each.refused is not None:
            note(f"note: {each.model} takes no part: {each.refused}")
