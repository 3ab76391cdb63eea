"""The weights of the hyperplane of a linear naive Bayes decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, NotLinear
from bayesbox.schema.levels import level_text
from bayesbox.table.naive.classifier import NaiveClassifier

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work


class LinearWeights(NamedTuple):
    """The weights of a linear decision: the second class is more probable if sum_i w_i x_i + a > 0.

    x_i is 1 for true, 1 for the second of two levels, or the count; an ignored column has the weight 0.
    """

    w: np.ndarray
    a: float


class NamedWeights(LinearWeights):
    """Linear weights with the `names` of their variables and the two `classes`; prints as a table."""

    names: tuple[str, ...] = ()
    classes: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, w: np.ndarray, a: float, names: tuple[str, ...], classes: tuple[str, str]) -> NamedWeights:
        """The weights with their names; `classes` are the positive class and the other."""
        found = cls(w, a)
        found.names, found.classes = names, classes
        return found

    def work(self) -> Work:
        """The weights as a table that prints, also as HTML and LaTeX."""
        from bayesbox.explain.steps import Cell, Row, Step, Work

        rows = [Row(name, (Cell(value=value),)) for name, value in zip(self.names, self.w.tolist(), strict=True)]
        steps = Step("weights", (*rows, Row("constant a", (Cell(value=self.a),))), ("weight",))
        one, zero = self.classes
        return Work(f"{one} is more probable than {zero} if the sum of weight * value, plus a, is above 0", (steps,))

    def __str__(self) -> str:
        return str(self.work())

    def _repr_html_(self) -> str:
        return self.work()._repr_html_()


def linear_weights(classifier: NaiveClassifier, positive: object = None) -> NamedWeights:
    """The weights and the constant, with t = P(x_i = 1 | class) and p = P(class):

    w_i = log[t1 (1 - t0)] - log[t0 (1 - t1)]        a = sum_i log[(1 - t1)/(1 - t0)] + log[p1/p0]
    """
    model = classifier.model
    if len(model.classes) != 2:
        raise NotLinear(
            f"the decision between {len(model.classes)} classes is not a single hyperplane; this needs two classes"
        )
    one = 1 if positive is None else _position(model.classes, positive)
    zero = 1 - one
    constant = model.log_prior[one] - model.log_prior[zero]
    assert classifier.schema is not None
    weights = {name: [0.0] for name in classifier.schema.used}
    for conditional in model.conditionals:
        power = model.weight_of(conditional)
        found = conditional.linear(one, zero)
        weights |= {name: [power * slope for slope in slopes] for name, slopes in found.weights.items()}
        constant += power * found.constant
    w = np.array([weight for column in weights.values() for weight in column])
    if not (np.isfinite(w).all() and np.isfinite(constant)):
        raise NotLinear("a probability of 0 makes a weight infinite", remedy="Use a smoothing rule, such as laplace")
    names = tuple(name for column, slopes in weights.items() for name in _names(model, column, len(slopes)))
    return NamedWeights.of(w, float(constant), names, (model.classes[one], model.classes[zero]))


def _names(model: NaiveModel, column: str, number: int) -> list[str]:
    """The names of the weights of a column: a level, a count, or the words of a matrix."""
    if number > 1:
        return [f"{column}[{place}]" for place in range(number)]
    conditional = model.conditional(column)
    table = None if conditional is None else conditional.level_table()
    return [column if table is None else f"{column}={table.levels[1]}"]


def _position(classes: tuple[str, ...], label: Any) -> int:
    text = level_text(label)
    if text not in classes:
        raise BadOption(f"the classes are {', '.join(classes)}", found=label)
    return classes.index(text)
