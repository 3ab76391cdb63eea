"""`bayes evaluate --compare`: every kind of model on the same folds, the best log loss first."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import emit_json, note, say

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.classifier.results.comparison import ModelComparison
    from bayesbox.file.reader import Json

NAMES = {"column_weights": "column weights"}


def compare(
    judge: Callable[[str, Json], Evaluation],
    how: str = "",
    yardsticks: Mapping[str, Callable[[], Evaluation]] | None = None,
) -> ModelComparison:
    """Evaluate each kind, and models of other libraries; `judge` cross-validates a model with options."""
    from bayesbox.classifier import registry
    from bayesbox.classifier.results.comparison import ModelComparison
    from bayesbox.cli.print.search_progress import SearchProgress
    from bayesbox.errors import BayesboxError

    trials: dict[str, Callable[[], Evaluation]] = {}
    for model, options in registry.compared_models():
        name = model + "".join(f", {NAMES.get(key, value)}" for key, value in options.items())
        trials[name] = functools.partial(judge, model, options)
    trials |= yardsticks or {}
    found, seconds, refused = {}, {}, {}
    progress = SearchProgress()
    for number, (name, trial) in enumerate(trials.items(), start=1):
        progress.model(name, number, len(trials))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # problems of the rows are reported when a model is trained
                found[name] = trial()
        except BayesboxError as error:
            refused[name] = error.without_remedy()
            continue
        seconds[name] = time.process_time() - start
    progress.close()
    return ModelComparison.of(how, found, seconds, refused)


def print_report(found: ModelComparison, *, as_json: bool) -> None:
    """Print the table of all models, and their paired differences."""
    if as_json:
        emit_json(found.as_dict())
        return
    say(str(replace(found, refused={})))
    for name, why in found.refused.items():
        note(f"note: {name} is not compared: {why}")
