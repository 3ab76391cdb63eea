"""The interface of inference algorithms: posteriors of all variables given evidence. One algorithm per file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import ImpossibleEvidence
from bayesbox.extensions import Registry
from bayesbox.network.approximate.estimate import Approximation
from bayesbox.network.exact.compiled import EvidenceCase
from bayesbox.network.factor_graph import FactorModel

Doubles = NDArray[np.float64]


class InferenceAlgorithm:
    """A frozen dataclass, whose fields are the options of the algorithm, with `posteriors`.

    `name` is its name in `approx=` and `--approx`, set by `register_inference`. An algorithm that works on the arrays
    of the core, or that reports errors, defines `run` instead.
    """

    name: ClassVar[str] = ""
    counts_joints: ClassVar[bool] = False
    """Whether `run` returns the joint of several target variables; otherwise it is computed by the chain rule."""

    def posteriors(self, model: FactorModel, likelihoods: Sequence[Doubles]) -> Sequence[Doubles]:
        """P(state | evidence) of each variable.

        `likelihoods` has an array for each variable: all ones if nothing is known, one-hot if a state was observed, and
        the likelihoods of the states if the evidence is virtual.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither `posteriors` nor `run`")

    def run(self, case: EvidenceCase, wanted: Sequence[int] = ()) -> Approximation:  # noqa: ARG002
        """The posteriors of a case, and with `counts_joints` the joint of the target variables."""
        found = self.posteriors(case.model, case.likelihoods_by_variable)
        table = [np.asarray(each, dtype=np.float64) for each in found]
        if not all(np.isfinite(each).all() for each in table):
            raise ImpossibleEvidence("the evidence is impossible")
        return Approximation(self.name, np.concatenate(table))


METHODS: Registry[type[InferenceAlgorithm]] = Registry()
"""Every algorithm by name."""

A = TypeVar("A", bound=type[InferenceAlgorithm])


def register_inference(name: str) -> Callable[[A], A]:
    """A class decorator that registers an inference algorithm under a name.

    The name is then accepted by `net.query(..., approx="name")` and `bayes query --approx name`.
    """

    def enter(algorithm: A) -> A:
        algorithm.name = name
        METHODS.enter(name, algorithm, "inference algorithm")
        return algorithm

    return enter
