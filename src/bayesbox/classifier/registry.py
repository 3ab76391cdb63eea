"""The kinds of models there are for tables: by their names in the command, and by their names in the model file.

A new kind is entered here once, with where its classifier is; it is imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from bayesbox.classifier.base import Classifier
from bayesbox.errors import BadOption


class ModelKind(NamedTuple):
    """Where a kind of model is: the module and the name of its classifier."""

    file: str  # its name in the model file
    module: str
    classifier: str

    def load(self) -> type[Classifier]:
        found: type[Classifier] = getattr(importlib.import_module(f"bayesbox.{self.module}"), self.classifier)
        return found


MODELS: dict[str, ModelKind] = {
    "naive": ModelKind("naive-bayes", "table.naive.classifier", "NaiveClassifier"),
    "averaged": ModelKind("averaged-naive-bayes", "table.averaged.classifier", "AveragedClassifier"),
    "aode": ModelKind("aode", "table.augmented.aode", "OneDependenceClassifier"),
    "tan": ModelKind("tan", "table.augmented.tan", "TreeClassifier"),
    "kdb": ModelKind("kdb", "table.augmented.kdb", "DependenceClassifier"),
    "full": ModelKind("full-bayes", "table.full.classifier", "FullClassifier"),
    "optimal": ModelKind("bayes-optimal", "table.optimal.classifier", "OptimalClassifier"),
    "auto": ModelKind("auto", "table.auto.classifier", "AutoClassifier"),
}
"""By the name that `--model` takes."""


def kind_in_file(name: str) -> type[Classifier] | None:
    """The classifier whose models stand under this name in a file."""
    for kind in MODELS.values():
        if kind.file == name:
            return kind.load()
    return None


def model_name(classifier: Classifier) -> str:
    """The name that `--model` takes for this classifier."""
    return next(name for name, kind in MODELS.items() if kind.file == classifier.kind)


def new_classifier(
    model: str, options: Mapping[str, Any], declared: Mapping[Any, object] | None = None, fold: Any = None
) -> Classifier:
    """A classifier that has learned nothing. A parameter may follow the name after a colon: `kdb:2`.

    `options` are those of the command that say how counts become probabilities: `smoothing`, `prior`, and so on.
    """
    name, _, parameter = model.partition(":")
    if name not in MODELS:
        raise BadOption(f"there is no model `{name}`", remedy=f"There is: {', '.join(MODELS)}, and text for documents")
    classifier = MODELS[name].load()
    return classifier(classifier.rules_from_options(parameter, options), declared, fold)
