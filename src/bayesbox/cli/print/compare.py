"""`bayes evaluate --compare`: every kind of model on the same folds, the best log loss first."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import emit_json, note, say

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.classifier.results.comparison import ModelComparison
    from bayesbox.file.reader import Json

NAMES = {"column_weights": "column weights"}


def compare(judge: Callable[[str, Json], Evaluation], how: str = "") -> ModelComparison:
    """Judge each kind; `judge` cross-validates a model with options."""
    from bayesbox.classifier import registry
    from bayesbox.classifier.results.comparison import ModelComparison
    from bayesbox.cli.print.search_progress import SearchProgress
    from bayesbox.errors import BayesboxError

    models = registry.compared_models()
    found, seconds, refused = {}, {}, {}
    progress = SearchProgress()
    for number, (model, options) in enumerate(models, start=1):
        name = model + "".join(f", {NAMES.get(key, value)}" for key, value in options.items())
        progress.model(name, number, len(models))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd in the rows is told when a model is trained
                found[name] = judge(model, options)
        except BayesboxError as error:
            refused[name] = error.without_remedy()
            continue
        seconds[name] = time.process_time() - start
    progress.close()
    return ModelComparison.of(how, found, seconds, refused)


def print_report(found: ModelComparison, *, as_json: bool) -> None:
    """The table of all models, and their paired differences."""
    if as_json:
        emit_json(found.as_dict())
        return
    say(str(replace(found, refused={})))
    for name, why in found.refused.items():
        note(f"note: {name} takes no part: {why}")
