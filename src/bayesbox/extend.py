"""How to add to bayesbox from outside: the base classes, each with the decorator that makes a subclass known.

    SmoothingRule        register_rule("name")          how counts become probabilities
    Source               register_source("name", ...)   where rows come from
    InferenceAlgorithm   register_inference("name")     posteriors of a network

What is registered works at once wherever a name is taken: in Python, by the command, in model files. A package
announces its module by the entry point group `bayesbox.extensions`; the page `docs/extend.md` has an example of each.
"""

from __future__ import annotations

from bayesbox.dist.cells import Cells as Cells
from bayesbox.dist.cells import Ratio as Ratio
from bayesbox.dist.cells import Smoothing as SmoothingRule
from bayesbox.network.approximate.algorithm import InferenceAlgorithm as InferenceAlgorithm
from bayesbox.network.approximate.algorithm import register_inference as register_inference
from bayesbox.network.factor_graph import FactorModel as FactorModel
from bayesbox.rule.smoothing import register_rule as register_rule
from bayesbox.source.base import Batch as Batch
from bayesbox.source.base import Source as Source
from bayesbox.source.registry import register_source as register_source

__all__ = [
    "Batch",
    "Cells",
    "FactorModel",
    "InferenceAlgorithm",
    "Ratio",
    "SmoothingRule",
    "Source",
    "register_inference",
    "register_rule",
    "register_source",
]
