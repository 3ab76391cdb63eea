"""How to add to bayesbox from outside: the base classes, each with the decorator that makes a subclass known.

    NumberDensity        register_distribution("name")  P(x | class) of a number
    SmoothingRule        register_rule("name")          how counts become probabilities
    Source               register_source("name", ...)   where rows come from
    InferenceAlgorithm   register_inference("name")     posteriors of a network

`expression` holds the nodes of the tree that a distribution returns to be exported to SQL and ONNX.

What is registered works at once wherever a name is taken: in Python, by the command, in model files. A package
announces its module by the entry point group `bayesbox.extensions`; the page `docs/extend.md` has an example of each.
"""

from __future__ import annotations

from bayesbox.dist import expression as expression
from bayesbox.dist.base import Distribution as Distribution
from bayesbox.dist.base import Doubles as Doubles
from bayesbox.dist.cells import Cells as Cells
from bayesbox.dist.cells import Ratio as Ratio
from bayesbox.dist.cells import Smoothing as SmoothingRule
from bayesbox.dist.fit import FitOptions as FitOptions
from bayesbox.dist.fit import ValueTable as ValueTable
from bayesbox.dist.fit import register as register_distribution
from bayesbox.dist.numbers import NumberDensity as NumberDensity
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
    "Distribution",
    "Doubles",
    "FactorModel",
    "FitOptions",
    "InferenceAlgorithm",
    "NumberDensity",
    "Ratio",
    "SmoothingRule",
    "Source",
    "ValueTable",
    "expression",
    "register_distribution",
    "register_inference",
    "register_rule",
    "register_source",
]
