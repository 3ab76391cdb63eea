"""A naive Bayes model as an ONNX graph: columns in, class and probabilities out.

Every column is a separate input of shape rows x 1: a category as text ("" if missing), anything else as a double (NaN
if missing; a flag is 0 or 1). The outputs are `label` and `probabilities`, rows x classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

import bayesbox
from bayesbox.dist.expression import (
    CaseWhen,
    Constant,
    InClasses,
    Lookup,
    Operation,
    PointMass,
    Predicate,
    ReadBin,
    ReadFlag,
    ReadLevel,
    ReadNumber,
    Squared,
    TreeNode,
    walk,
)
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport, MissingExtra
from bayesbox.export.family import weighted_terms

OPSET, LEARNING_OPSET, VERSION = 15, 3, 8  # supported by runtimes of the last several years
OPERATORS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "log": "Log",
    "exp": "Exp",
    "abs": "Abs",
    "floor": "Floor",
    "missing": "IsNaN",
    "<": "Less",
    "<=": "LessOrEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
    "=": "Equal",
    "and": "And",
    "or": "Or",
}


def to_onnx(model: NaiveModel, *, one_hot: Mapping[str, Sequence[str]] | None = None, power: float = 1.0) -> bytes:
    """The model as the bytes of an ONNX file.

    The probabilities are raised to `power`, the parameter of calibration by temperature, and normalised.
    """
    if one_hot:
        raise CannotExport(
            f"the one-hot group `{next(iter(one_hot))}` cannot be exported to ONNX",
            remedy="Combine the flags into one column before training",
        )
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", "onnx") from None
    return _Graph(model, onnx, power).data()


class _Graph:
    """Builds nodes and constants; every method returns the name of its output."""

    def __init__(self, model: NaiveModel, onnx: Any, power: float) -> None:
        self.model = model
        self.power = power
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, Any] = {}
        self.written: dict[TreeNode, str] = {}  # equal subtrees share a node of the graph

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, dtype=kind), name))
        return name

    def input(self, name: str, kind: int) -> str:
        """An input column, as doubles or as texts."""
        given = self.inputs.setdefault(name, self.onnx.helper.make_tensor_value_info(name, kind, [None, 1]))
        if given.type.tensor_type.elem_type != kind:
            raise CannotExport(
                f"column `{name}` is used as a number and as a text, but an ONNX graph has one input for it"
            )
        return name

    def number(self, name: str) -> str:
        return self.input(name, self.onnx.TensorProto.DOUBLE)

    def added_up(self, names: Sequence[str]) -> str:
        return reduce(lambda left, right: self.node("Add", left, right), names)

    def data(self) -> bytes:
        terms = weighted_terms(self.model, "ONNX")
        parts = [self.write(term) for term in terms]
        if not self.inputs:
            raise CannotExport("the model uses no column, so the graph would have no input")
        hits = [self.write(each.where) for term in terms for each in walk(term) if isinstance(each, PointMass)]
        self._outputs(parts, hits)
        helper, classes = self.onnx.helper, len(self.model.classes)
        label = self.onnx.TensorProto.INT64 if self._labels_are_integers() else self.onnx.TensorProto.STRING
        outputs = [
            helper.make_tensor_value_info("label", label, [None]),
            helper.make_tensor_value_info("probabilities", self.onnx.TensorProto.DOUBLE, [None, classes]),
        ]
        graph = helper.make_graph(self.nodes, "naive Bayes", list(self.inputs.values()), outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", LEARNING_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, producer_name="bayesbox", producer_version=bayesbox.__version__
        )
        made.ir_version = VERSION
        helper.set_model_props(made, {"classes": "\n".join(self.model.classes)})
        self.onnx.checker.check_model(made)
        data: bytes = made.SerializeToString()
        return data

    def _labels_are_integers(self) -> bool:
        return bool(self.model.labels.dtype.kind in "iu")

    def _outputs(self, terms: Sequence[str], hits: Sequence[str]) -> None:
        """Bayes' rule: the largest log is subtracted first; a row that is impossible in every class gets the prior."""
        joint = self.added_up([self.constant(self.model.log_prior), *terms])
        if hits:
            joint = self._only_highest(joint, hits)
        impossible = self.constant(-math.inf)
        largest = self.node("ReduceMax", joint, axes=[1], keepdims=1)
        nothing = self.node("Equal", largest, impossible)
        joint = self.node("Where", nothing, self.constant(self.model.log_prior), joint)
        largest = self.node("ReduceMax", joint, axes=[1], keepdims=1)
        shares = self.node("Sub", joint, largest)
        if self.power != 1:
            shares = self.node("Mul", shares, self.constant(self.power))
        weights = self.node("Exp", shares)
        total = self.node("ReduceSum", weights, self.constant([1], np.int64), keepdims=1)
        self.nodes.append(self.onnx.helper.make_node("Div", [weights, total], ["probabilities"]))
        best = self.node("ArgMax", "probabilities", axis=1, keepdims=0)
        kind: Any = np.int64 if self._labels_are_integers() else object
        texts = self.model.labels.tolist() if self._labels_are_integers() else list(self.model.classes)
        self.nodes.append(self.onnx.helper.make_node("Gather", [self.constant(texts, kind), best], ["label"], axis=0))

    def _only_highest(self, joint: str, hits: Sequence[str]) -> str:
        """A point mass that is hit outranks every density: only classes with the most hits stay possible."""
        order = self.added_up([self.node("Cast", hit, to=self.onnx.TensorProto.DOUBLE) for hit in hits])
        impossible = self.constant(-math.inf)
        order = self.node("Where", self.node("Equal", joint, impossible), self.constant(-1.0), order)
        highest = self.node("ReduceMax", order, axes=[1], keepdims=1)
        return self.node("Where", self.node("Less", order, highest), impossible, joint)

    def write(self, node: TreeNode) -> str:
        """Add a tree; returns the name of its value, rows x classes, or broadcastable to that."""
        if node not in self.written:
            self.written[node] = self._written(node)
        return self.written[node]

    def _written(self, node: TreeNode) -> str:
        match node:
            case ReadNumber(column):
                return self.number(column)
            case Constant(values):
                return self.constant(values)
            case InClasses(classes):
                return self.constant(classes, np.bool_)
            case Lookup():
                return self._looked_up(node)
            case PointMass(term):
                return self.write(term)
            case Squared(x, scale):
                ratio = self.node("Div", self.write(x), self.write(scale))
                return self.node("Mul", ratio, ratio)
            case CaseWhen(cases, otherwise):
                chosen = self.write(otherwise)
                for condition, expression in reversed(cases):
                    chosen = self.node("Where", self.write(condition), self.write(expression), chosen)
                return chosen
            case Operation("add", operands):
                return self.added_up([self.write(each) for each in operands])
            case Operation("log1p", (x,)):
                return self._log1p(self.write(x))
            case Operation(name, operands):
                return self.node(OPERATORS[name], *(self.write(each) for each in operands))
            case Predicate(relation, operands):
                return self.node(OPERATORS[relation], *(self.write(each) for each in operands))
        raise TypeError(f"not an expression: {node!r}")

    def _log1p(self, x: str) -> str:
        """log(1 + x) is log(y) + (x - (y - 1)) / y for y = 1 + x: this restores the digits of x that the sum loses."""
        one = self.constant(1.0)
        grown = self.node("Add", x, one)
        gained = self.node("Sub", grown, one)
        logarithm = self.node("Log", grown)
        lost = self.node("Div", self.node("Sub", x, gained), grown)
        nothing = self.node("Equal", gained, x)  # for an infinite x too
        return self.node("Where", nothing, logarithm, self.node("Add", logarithm, lost))

    def _looked_up(self, lookup: Lookup) -> str:
        """The rows of a table at the positions of a column: its levels, then an unseen value, then a missing one."""
        if lookup.unseen_is_error:
            raise CannotExport(
                "an ONNX graph cannot raise an error, as unseen='error' requires",
                remedy="Train with unseen='smooth' or 'ignore'",
            )
        unseen = lookup.missing if lookup.unseen is None else lookup.unseen
        table = np.vstack([lookup.rows, unseen, lookup.missing])
        found = self.node("Gather", self.constant(table), self._position(lookup), axis=0)  # rows x 1 x classes
        return self.node("Squeeze", found, self.constant([1], np.int64))

    def _position(self, lookup: Lookup) -> str:
        size = len(lookup.rows)
        match lookup.position:
            case ReadLevel(column, levels):
                return self._level(column, levels)
            case ReadFlag(column):
                value = self.number(column)
                known = [(self.node("Equal", value, self.constant(float(place))), place) for place in range(size)]
                unseen = self.constant([[size]], np.int64)
                return self._chosen([(self.node("IsNaN", value), size + 1), *known], unseen)
            case ReadBin(column, cuts):
                value = self.number(column)
                above = self.node("Greater", value, self.constant([[*cuts, math.inf]]))  # the last is never exceeded
                counted = self.node("Cast", above, to=self.onnx.TensorProto.INT64)
                bins = self.node("ReduceSum", counted, self.constant([1], np.int64), keepdims=1)
                return self._chosen([(self.node("IsNaN", value), size + 1)], bins)

    def _level(self, column: str, levels: Sequence[str]) -> str:
        if "" in levels:
            raise CannotExport(
                f"column `{column}` has an empty level, which means missing in ONNX",
                remedy="Replace it with a missing value or another text, and train again",
            )
        return self.node(
            "LabelEncoder",
            self.input(column, self.onnx.TensorProto.STRING),
            domain="ai.onnx.ml",
            keys_strings=[*levels, ""],
            values_int64s=[*range(len(levels)), len(levels) + 1],
            default_int64=len(levels),
        )

    def _chosen(self, cases: Sequence[tuple[str, int]], otherwise: str) -> str:
        """The position of the first true condition."""
        for condition, place in reversed(cases):
            otherwise = self.node("Where", condition, self.constant([[place]], np.int64), otherwise)
        return otherwise
