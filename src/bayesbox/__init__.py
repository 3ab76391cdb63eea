"""bayesbox: Bayesian classification that people can run, read and audit. Learning is counting.

Every public name is loaded when it is first used; importing the package by itself imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "AODE": "estimators.aode",
    "AveragedNaiveBayes": "estimators.averaged_naive_bayes",
    "BadData": "errors",
    "BadModelFile": "errors",
    "BadOption": "errors",
    "BayesOptimal": "estimators.bayes_optimal",
    "BayesboxError": "errors",
    "BayesianNetwork": "network.network",
    "CannotForget": "errors",
    "CannotMerge": "errors",
    "Category": "schema.kinds",
    "Count": "schema.kinds",
    "DataWarning": "errors",
    "FactorGraph": "network.network",
    "Flag": "schema.kinds",
    "FullBayes": "estimators.full_bayes",
    "HiddenMarkovModel": "sequence.hmm",
    "Ignore": "schema.kinds",
    "ImpossibleEvidence": "errors",
    "Joint": "network.joint.joint",
    "KDB": "estimators.kdb",
    "AutoBayes": "estimators.auto_bayes",
    "NaiveBayes": "estimators.naive_bayes",
    "NetworkClassifier": "estimators.network_classifier",
    "NotLinear": "errors",
    "Real": "schema.kinds",
    "TAN": "estimators.tan",
    "TextClassifier": "estimators.text_classifier",
    "Words": "schema.kinds",
    "bayes_rule": "stat.bayes_rule",
    "learn_network": "network.learn.learn_network",
    "load": "estimators.train",
    "predict": "estimators.predict",
    "read_network": "network.network",
    "sql": "source.sql",
    "train": "estimators.train",
}

__all__ = [*_WHERE, "rules"]

if TYPE_CHECKING:
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
    from bayesbox.estimators.full_bayes import FullBayes as FullBayes
    from bayesbox.estimators.kdb import KDB as KDB
    from bayesbox.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from bayesbox.estimators.network_classifier import NetworkClassifier as NetworkClassifier
    from bayesbox.estimators.predict import predict as predict
    from bayesbox.estimators.tan import TAN as TAN
    from bayesbox.estimators.text_classifier import TextClassifier as TextClassifier
    from bayesbox.estimators.train import load as load
    from bayesbox.estimators.train import train as train
    from bayesbox.network.joint.joint import Joint as Joint
    from bayesbox.network.learn.learn_network import learn_network as learn_network
    from bayesbox.network.network import BayesianNetwork as BayesianNetwork
    from bayesbox.network.network import FactorGraph as FactorGraph
    from bayesbox.network.network import read_network as read_network
    from bayesbox.schema.kinds import Category as Category
    from bayesbox.schema.kinds import Count as Count
    from bayesbox.schema.kinds import Flag as Flag
    from bayesbox.schema.kinds import Ignore as Ignore
    from bayesbox.schema.kinds import Real as Real
    from bayesbox.schema.kinds import Words as Words
    from bayesbox.sequence.hmm import HiddenMarkovModel as HiddenMarkovModel
    from bayesbox.source.sql import sql as sql
    from bayesbox.stat.bayes_rule import bayes_rule as bayes_rule


def __getattr__(name: str) -> Any:
    if name == "rules":
        return importlib.import_module("bayesbox.rules")
    if name in _WHERE:
        return getattr(importlib.import_module(f"bayesbox.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'bayesbox' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
