"""A naive Bayes model as an ONNX graph: columns in, class and probabilities out.

Every column is an input of its own, of shape rows x 1: a category a text ("" where it is missing), all else a double
(NaN where it is missing; a flag is 0 or 1). The outputs are `label` and `probabilities`, rows x classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import bayesbox
from bayesbox.dist.base import Doubles, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.lognormal import LogNormal
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.poisson import Poisson
from bayesbox.dist.student import Student, log_student
from bayesbox.dist.table import Table
from bayesbox.errors import CannotExport, MissingExtra

OPSET, LEARNING_OPSET, VERSION = 15, 3, 8  # what runtimes of several years read


def to_onnx(model: NaiveModel, *, fold: Mapping[str, Sequence[str]] | None = None, power: float = 1.0) -> bytes:
    """The model as the bytes of an ONNX file.

    The probabilities are raised to `power`, which calibration by temperature learns, and made to sum to 1.
    """
    if fold:
        raise CannotExport(
            f"the folded group `{next(iter(fold))}` has no form in ONNX", remedy="Fold the flags in the data"
        )
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", "onnx") from None
    return _Graph(model, onnx, power).data()


class _Graph:
    """Nodes and constants, put together step by step; every step gives the name of what it makes."""

    def __init__(self, model: NaiveModel, onnx: Any, power: float) -> None:
        self.model = model
        self.power = power
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.terms: list[str] = []  # rows x classes each
        self.hits: list[str] = []  # point masses that are hit, rows x classes of 0 and 1

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, dtype=kind), name))
        return name

    def number(self, name: str) -> str:
        """An input of doubles."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, self.onnx.TensorProto.DOUBLE, [None, 1]))
        return name

    def text(self, name: str) -> str:
        """An input of texts."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, self.onnx.TensorProto.STRING, [None, 1]))
        return name

    def rows_of(self, codes: str, table: Doubles) -> str:
        """The rows of a table at some positions, rows x 1."""
        found = self.node("Gather", self.constant(table), codes, axis=0)  # rows x 1 x classes
        return self.node("Squeeze", found, self.constant([1], np.int64))

    def data(self) -> bytes:
        for conditional in self.model.conditionals:
            form = FORMS.get(type(conditional))
            if form is None:
                columns = ", ".join(f"`{name}`" for name in conditional.columns)
                raise CannotExport(
                    f"the {type(conditional).__name__.lower()} distribution of {columns} has no form in ONNX",
                    remedy="Give the column another density, or leave it out",
                )
            before = len(self.terms)
            form(self, conditional)
            weight = self.model.weight_of(conditional)
            if weight != 1:
                self.terms[before:] = [self.node("Mul", term, self.constant(weight)) for term in self.terms[before:]]
        if not self.terms:
            raise CannotExport("no column takes part in the model, so that the graph would have no input")
        self._outputs()
        helper, classes = self.onnx.helper, len(self.model.classes)
        label = self.onnx.TensorProto.INT64 if self._labels_are_integers() else self.onnx.TensorProto.STRING
        outputs = [
            helper.make_tensor_value_info("label", label, [None]),
            helper.make_tensor_value_info("probabilities", self.onnx.TensorProto.DOUBLE, [None, classes]),
        ]
        graph = helper.make_graph(self.nodes, "naive Bayes", self.inputs, outputs, self.constants)
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

    def _outputs(self) -> None:
        """Bayes' rule: the largest is taken off before the exponential; a row that no class allows gets the prior."""
        joint = self.constant(self.model.log_prior)
        for term in self.terms:
            joint = self.node("Add", joint, term)
        if self.hits:
            joint = self._only_highest(joint)
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

    def _only_highest(self, joint: str) -> str:
        """A point mass that is hit outranks every density: only classes with the most hits stay possible."""
        order = self.hits[0]
        for more in self.hits[1:]:
            order = self.node("Add", order, more)
        impossible = self.constant(-math.inf)
        order = self.node("Where", self.node("Equal", joint, impossible), self.constant(-1.0), order)
        highest = self.node("ReduceMax", order, axes=[1], keepdims=1)
        return self.node("Where", self.node("Less", order, highest), impossible, joint)


def _table(graph: _Graph, table: Table) -> None:
    _refuse_errors(table)
    if "" in table.levels:
        raise CannotExport(
            f"column `{table.column}` has an empty level, which means missing in ONNX",
            remedy="Put a missing value or another text in its place, and train again",
        )
    codes = graph.node(
        "LabelEncoder",
        graph.text(table.column),
        domain="ai.onnx.ml",
        keys_strings=[*table.levels, ""],
        values_int64s=[*range(len(table.levels)), len(table.levels) + 1],
        default_int64=len(table.levels),
    )
    graph.terms.append(graph.rows_of(codes, np.vstack([table.log_p, table.log_unseen, table.log_missing])))


def _bernoulli(graph: _Graph, flag: Bernoulli) -> None:
    _refuse_errors(flag)
    value = graph.number(flag.column)
    code = graph.constant([[2]], np.int64)
    for number in (0, 1):
        same = graph.node("Equal", value, graph.constant(float(number)))
        code = graph.node("Where", same, graph.constant([[number]], np.int64), code)
    code = graph.node("Where", graph.node("IsNaN", value), graph.constant([[3]], np.int64), code)
    graph.terms.append(graph.rows_of(code, flag.rows))


def _gaussian(graph: _Graph, normal: Gaussian) -> None:
    value = graph.number(normal.column)
    missing = graph.node("IsNaN", value)
    point = normal.point_mass
    spread = np.where(point, 1.0, normal.std)
    distance = graph.node("Sub", graph.node("Sub", value, graph.constant(normal.mean)), graph.constant(normal.mean_low))
    scaled = graph.node("Div", distance, graph.constant(spread))
    half = graph.node("Mul", graph.node("Mul", scaled, scaled), graph.constant(-0.5))
    constant = normal.log_constant + normal.log_observed
    term = graph.node("Add", half, graph.constant(constant))
    if point.any():
        hit = graph.node("Equal", value, graph.constant(np.where(point, normal.mean, math.nan)))
        mass = graph.node("Where", hit, graph.constant(constant), graph.constant(-math.inf))
        term = graph.node("Where", graph.constant(point, np.bool_), mass, term)
        graph.hits.append(graph.node("Cast", hit, to=graph.onnx.TensorProto.DOUBLE))
    graph.terms.append(graph.node("Where", missing, graph.constant(normal.log_missing), term))


def _student(graph: _Graph, student: Student) -> None:
    value = graph.number(student.column)
    missing = graph.node("IsNaN", value)
    distance = graph.node("Sub", graph.node("Sub", value, graph.constant(student.base)), graph.constant(student.shift))
    scaled = graph.node("Div", distance, graph.constant(student.scale))
    share = graph.node("Div", graph.node("Mul", scaled, scaled), graph.constant(student.df))
    tail = graph.node("Log", graph.node("Add", share, graph.constant(1.0)))
    zero = np.zeros((1, 1))
    constant = log_student(zero, np.zeros_like(student.scale), student.scale, student.df)[0] + student.log_observed
    lost = graph.node("Mul", tail, graph.constant((student.df + 1) / 2))
    term = graph.node("Sub", graph.constant(constant), lost)
    graph.terms.append(graph.node("Where", missing, graph.constant(student.log_missing), term))


def _lognormal(graph: _Graph, normal: LogNormal) -> None:
    """Without the logarithm of x itself, which is the same in every class and falls out."""
    value = graph.number(normal.column)
    missing = graph.node("IsNaN", value)
    positive = graph.node("Greater", value, graph.constant(0.0))
    logs = graph.node("Log", graph.node("Where", positive, value, graph.constant(1.0)))
    scaled = graph.node("Div", graph.node("Sub", logs, graph.constant(normal.mean)), graph.constant(normal.std))
    half = graph.node("Mul", graph.node("Mul", scaled, scaled), graph.constant(-0.5))
    constant = normal.log_positive - np.log(normal.std) + normal.log_observed
    rest = np.zeros_like(constant) if np.isneginf(normal.log_nonpositive).all() else normal.log_nonpositive
    above = graph.node("Add", half, graph.constant(constant))
    term = graph.node("Where", positive, above, graph.constant(rest + normal.log_observed))
    graph.terms.append(graph.node("Where", missing, graph.constant(normal.log_missing), term))


def _bins(graph: _Graph, bins: Bins) -> None:
    value = graph.number(bins.column)
    if len(bins.cuts):
        above = graph.node("Greater", value, graph.constant(bins.cuts[None, :]))
        counted = graph.node("Cast", above, to=graph.onnx.TensorProto.INT64)
        code = graph.node("ReduceSum", counted, graph.constant([1], np.int64), keepdims=1)
    else:
        code = graph.constant([[0]], np.int64)
    missing = graph.constant([[len(bins.rows) - 1]], np.int64)
    graph.terms.append(graph.rows_of(graph.node("Where", graph.node("IsNaN", value), missing, code), bins.rows))


def _poisson(graph: _Graph, counts: Poisson) -> None:
    """Without log x!, which is the same in every class and falls out."""
    value = graph.number(counts.column)
    missing = graph.node("IsNaN", value)
    log_rate = log(counts.rate)
    zero = graph.node("Equal", value, graph.constant(0.0))
    power = graph.node("Where", zero, graph.constant(0.0), graph.node("Mul", value, graph.constant(log_rate)))
    term = graph.node("Add", power, graph.constant(counts.log_observed - counts.rate))
    whole = graph.node("Equal", value, graph.node("Floor", value))
    valid = graph.node("And", whole, graph.node("Not", graph.node("Less", value, graph.constant(0.0))))
    term = graph.node("Where", valid, term, graph.constant(np.zeros(len(log_rate))))
    graph.terms.append(graph.node("Where", missing, graph.constant(counts.log_missing), term))


def _multinomial(graph: _Graph, counts: Multinomial) -> None:
    if counts.group is not None:
        raise CannotExport("a matrix of counts has no columns with names", remedy="Learn from a frame of Count columns")
    for name, weights in zip(counts.words, counts.log_p, strict=True):
        value = graph.number(name)
        none = graph.node("Not", graph.node("Greater", value, graph.constant(0.0)))  # 0, or missing
        term = graph.node("Mul", value, graph.constant(weights))
        graph.terms.append(graph.node("Where", none, graph.constant(np.zeros(len(weights))), term))


def _refuse_errors(column: Table | Bernoulli) -> None:
    if column.unseen_is_error:
        raise CannotExport(
            "a graph cannot end in an error, as unseen='error' asks for",
            remedy="Train with unseen='smooth' or 'ignore'",
        )


FORMS: dict[type, Callable[[_Graph, Any], None]] = {
    Table: _table,
    Bernoulli: _bernoulli,
    Gaussian: _gaussian,
    Student: _student,
    LogNormal: _lognormal,
    Bins: _bins,
    Poisson: _poisson,
    Multinomial: _multinomial,
}
"""The conditional distributions that ONNX can say, each with how."""
