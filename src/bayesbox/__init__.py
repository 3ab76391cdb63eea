"""bayesbox: Bayesian classification that people can run, read and audit. Learning is counting.

Public names are loaded on first use, so that importing the package is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_WHERE = {
    "BadData": "bayesbox.errors",
    "BadModelFile": "bayesbox.errors",
    "BadOption": "bayesbox.errors",
    "BayesboxError": "bayesbox.errors",
    "BayesianNetwork": "bayesbox.network.network",
    "CannotForget": "bayesbox.errors",
    "CannotMerge": "bayesbox.errors",
    "Category": "bayesbox.schema.kinds",
    "Client": "bayesbox.serve.client",
    "Count": "bayesbox.schema.kinds",
    "DataWarning": "bayesbox.errors",
    "Date": "bayesbox.schema.kinds",
    "DensityDisplay": "bayesbox.estimators.displays.density",
    "EvidenceDisplay": "bayesbox.estimators.displays.evidence",
    "FactorGraph": "bayesbox.network.network",
    "Flag": "bayesbox.schema.kinds",
    "HiddenMarkovModel": "bayesbox.sequence.hmm",
    "Ignore": "bayesbox.schema.kinds",
    "ImpossibleEvidence": "bayesbox.errors",
    "Joint": "bayesbox.network.joint.joint",
    "NetworkClassifier": "bayesbox.estimators.network_classifier",
    "NetworkDisplay": "bayesbox.estimators.displays.network",
    "NoisyAnd": "bayesbox.network.compact.noisy",
    "NoisyMax": "bayesbox.network.compact.noisy",
    "NoisyOr": "bayesbox.network.compact.noisy",
    "NomogramDisplay": "bayesbox.estimators.displays.nomogram",
    "NotLinear": "bayesbox.errors",
    "Real": "bayesbox.schema.kinds",
    "ReliabilityDisplay": "bayesbox.estimators.displays.reliability",
    "StreamTrainer": "bayesbox.estimators.stream",
    "Words": "bayesbox.schema.kinds",
    "bayes_rule": "bayesbox.explain.bayes_rule",
    "compare": "bayesbox.estimators.judge.evaluate",
    "evaluate": "bayesbox.estimators.judge.evaluate",
    "exercise": "bayesbox.teach.exercise",
    "exercises": "bayesbox.teach.exercise_set",
    "learn_network": "bayesbox.network.learn.learn_network",
    "lesson": "bayesbox.estimators.pictures",
    "limit_context": "bayesbox.limits",
    "load": "bayesbox.estimators.train",
    "predict": "bayesbox.estimators.predict",
    "read_evidence": "bayesbox.network.formats.evidence",
    "read_network": "bayesbox.network.network",
    "robustness": "bayesbox.estimators.robustness",
    "report": "bayesbox.estimators.pictures",
    "sql": "bayesbox.source.sql",
    "train": "bayesbox.estimators.train",
}
"""The modules of the public names, except the estimators, which `classifier.registry` lists."""

_MODULES = ("errors", "extend", "mlflow", "rules")
"""The public modules: `bb.rules.Laplace()`, `bb.errors.UnseenLevels`."""

if TYPE_CHECKING:
    from bayesbox import errors as errors
    from bayesbox import extend as extend
    from bayesbox import mlflow as mlflow
    from bayesbox import rules as rules
    from bayesbox.errors import BadData as BadData
    from bayesbox.errors import BadModelFile as BadModelFile
    from bayesbox.errors import BadOption as BadOption
    from bayesbox.errors import BayesboxError as BayesboxError
    from bayesbox.errors import CannotForget as CannotForget
    from bayesbox.errors import CannotMerge as CannotMerge
    from bayesbox.errors import DataWarning as DataWarning
    from bayesbox.errors import ImpossibleEvidence as ImpossibleEvidence
    from bayesbox.errors import NotLinear as NotLinear
    from bayesbox.estimators.aode import AODE as AODE
    from bayesbox.estimators.auto_bayes import AutoBayes as AutoBayes
    from bayesbox.estimators.averaged_naive_bayes import AveragedNaiveBayes as AveragedNaiveBayes
    from bayesbox.estimators.bayes_optimal import BayesOptimal as BayesOptimal
    from bayesbox.estimators.displays.density import DensityDisplay as DensityDisplay
    from bayesbox.estimators.displays.evidence import EvidenceDisplay as EvidenceDisplay
    from bayesbox.estimators.displays.network import NetworkDisplay as NetworkDisplay
    from bayesbox.estimators.displays.nomogram import NomogramDisplay as NomogramDisplay
    from bayesbox.estimators.displays.reliability import ReliabilityDisplay as ReliabilityDisplay
    from bayesbox.estimators.full_bayes import FullBayes as FullBayes
    from bayesbox.estimators.judge.evaluate import compare as compare
    from bayesbox.estimators.judge.evaluate import evaluate as evaluate
    from bayesbox.estimators.kdb import KDB as KDB
    from bayesbox.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from bayesbox.estimators.network_classifier import NetworkClassifier as NetworkClassifier
    from bayesbox.estimators.pictures import lesson as lesson
    from bayesbox.estimators.pictures import report as report
    from bayesbox.estimators.predict import predict as predict
    from bayesbox.estimators.robustness import robustness as robustness
    from bayesbox.estimators.stream import StreamTrainer as StreamTrainer
    from bayesbox.estimators.tan import TAN as TAN
    from bayesbox.estimators.text_classifier import TextClassifier as TextClassifier
    from bayesbox.estimators.train import load as load
    from bayesbox.estimators.train import train as train
    from bayesbox.explain.bayes_rule import bayes_rule as bayes_rule
    from bayesbox.limits import limit_context as limit_context
    from bayesbox.network.compact.noisy import NoisyAnd as NoisyAnd
    from bayesbox.network.compact.noisy import NoisyMax as NoisyMax
    from bayesbox.network.compact.noisy import NoisyOr as NoisyOr
    from bayesbox.network.formats.evidence import read_evidence as read_evidence
    from bayesbox.network.joint.joint import Joint as Joint
    from bayesbox.network.learn.learn_network import learn_network as learn_network
    from bayesbox.network.network import BayesianNetwork as BayesianNetwork
    from bayesbox.network.network import FactorGraph as FactorGraph
    from bayesbox.network.network import read_network as read_network
    from bayesbox.schema.kinds import Category as Category
    from bayesbox.schema.kinds import Count as Count
    from bayesbox.schema.kinds import Date as Date
    from bayesbox.schema.kinds import Flag as Flag
    from bayesbox.schema.kinds import Ignore as Ignore
    from bayesbox.schema.kinds import Real as Real
    from bayesbox.schema.kinds import Words as Words
    from bayesbox.sequence.hmm import HiddenMarkovModel as HiddenMarkovModel
    from bayesbox.serve.client import Client as Client
    from bayesbox.source.sql import sql as sql
    from bayesbox.teach.exercise import exercise as exercise
    from bayesbox.teach.exercise_set import exercises as exercises


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"bayesbox.{name}")
    if name == "__all__":
        return [*_WHERE, *_estimators(), *_MODULES]
    module = _WHERE.get(name) or (None if name.startswith("_") else _estimators().get(name))
    if module is None:
        if name == "_core":
            _require_core()
        raise AttributeError(f"module 'bayesbox' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def _require_core() -> None:
    """Raise an ImportError that explains why the compiled core is missing."""
    from importlib.util import find_spec

    if find_spec("bayesbox._core") is not None:
        return
    folder = __file__.removesuffix("__init__.py").rstrip("/\\")
    if ".zip" in folder or ".egg" in folder:
        raise ImportError(
            f"bayesbox has a compiled core, which cannot be imported from a zip file ({folder}). Install bayesbox with "
            "pip; on a Spark cluster ship an environment packed by venv-pack or conda-pack with --archives"
        )
    raise ImportError(f"the compiled core of bayesbox is missing from {folder}. Install bayesbox with pip")


def _estimators() -> dict[str, str]:
    """The estimators by name, with their modules."""
    from bayesbox.classifier.registry import public_names

    return public_names()


def __dir__() -> list[str]:
    """The public names, and the attributes that every module has."""
    return sorted([*__getattr__("__all__"), *(name for name in globals() if name.startswith("__"))])
