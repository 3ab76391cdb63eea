"""The base classes for extensions of bayesbox, each with the decorator that registers a subclass.

    NumberDensity        register_distribution("name")  P(x | class) of a number
    Distribution         register_distribution("name")  P(x | class) of any kind of column, from its `tally`
    Kind                 register_kind("name")          a type of column, and how its texts are parsed
    SmoothingRule        register_rule("name")          how counts become probabilities
    TableClassifier      register_classifier("name")    a kind of model; its options are a dataclass, `@options`
    Source               register_source("name", ...)   where rows come from
    InferenceAlgorithm   register_inference("name")     posteriors of a network

`plain_work` of a classifier returns a `ClassWork`, made of `Step`, `Row` and `Cell`: its calculation step by step.
`expression` has the nodes of the expression tree that a distribution returns for export to SQL and ONNX.

A registered name works wherever a name is accepted: in Python, in the command, in model files. A package declares its
module in the entry point group `bayesbox.extensions`; `docs/extend.md` has an example of each base class.
"""

from __future__ import annotations

from typing import Any

from bayesbox.classifier.base import Classifier as Classifier
from bayesbox.classifier.registry import register_classifier as register_classifier
from bayesbox.classifier.table import TableClassifier as TableClassifier
from bayesbox.dist import expression as expression
from bayesbox.dist.base import Distribution as Distribution
from bayesbox.dist.base import Doubles as Doubles
from bayesbox.dist.cells import Cells as Cells
from bayesbox.dist.cells import Ratio as Ratio
from bayesbox.dist.cells import Smoothing as SmoothingRule
from bayesbox.dist.factor import Factor as Factor
from bayesbox.dist.factor import Logged as Logged
from bayesbox.dist.fit import FitOptions as FitOptions
from bayesbox.dist.fit import ValueTable as ValueTable
from bayesbox.dist.fit import register as register_distribution
from bayesbox.dist.number.density import NumberDensity as NumberDensity
from bayesbox.explain.class_work import ClassWork as ClassWork
from bayesbox.explain.steps import Cell as Cell
from bayesbox.explain.steps import Row as Row
from bayesbox.explain.steps import Step as Step
from bayesbox.network.approximate.algorithm import InferenceAlgorithm as InferenceAlgorithm
from bayesbox.network.approximate.algorithm import register_inference as register_inference
from bayesbox.network.factor_graph import FactorModel as FactorModel
from bayesbox.rule.naive import naive_model as naive_model
from bayesbox.rule.options import CountOptions as CountOptions
from bayesbox.rule.options import NaiveOptions as NaiveOptions
from bayesbox.rule.smoothing import register_rule as register_rule
from bayesbox.schema.encode import encode as encode
from bayesbox.schema.kind import Kind as Kind
from bayesbox.schema.kinds import register_kind as register_kind
from bayesbox.schema.options import frozen as frozen
from bayesbox.schema.options import option as option
from bayesbox.schema.options import options as options
from bayesbox.schema.takes import OneOf as OneOf
from bayesbox.schema.takes import RealNumber as RealNumber
from bayesbox.schema.takes import WholeNumber as WholeNumber
from bayesbox.source.base import Batch as Batch
from bayesbox.source.base import Source as Source
from bayesbox.source.registry import register_source as register_source
from bayesbox.tally.counts import Counts as Counts
from bayesbox.tally.grid import Grid as Grid
from bayesbox.tally.moments import Moments as Moments
from bayesbox.tally.values import Values as Values
from bayesbox.tally.words import WordCounts as WordCounts


def estimator_of(classifier: type[TableClassifier[Any, Any, Any]]) -> Any:
    """The scikit-learn estimator of a registered kind of classifier."""
    from bayesbox.estimators.made import estimator_of_kind  # importing scikit-learn takes a second

    return estimator_of_kind(classifier)


__all__ = [
    "Batch",
    "Cell",
    "Cells",
    "ClassWork",
    "Classifier",
    "CountOptions",
    "Counts",
    "Distribution",
    "Doubles",
    "Factor",
    "FactorModel",
    "FitOptions",
    "Grid",
    "InferenceAlgorithm",
    "Kind",
    "Logged",
    "Moments",
    "NaiveOptions",
    "NumberDensity",
    "OneOf",
    "Ratio",
    "RealNumber",
    "Row",
    "SmoothingRule",
    "Source",
    "Step",
    "TableClassifier",
    "ValueTable",
    "Values",
    "WholeNumber",
    "WordCounts",
    "encode",
    "estimator_of",
    "expression",
    "frozen",
    "naive_model",
    "option",
    "options",
    "register_classifier",
    "register_distribution",
    "register_inference",
    "register_kind",
    "register_rule",
    "register_source",
]
