"""A model compiled for the core, and a case of evidence as arrays for the core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import FactorModel as CoreModel
from bayesbox._core import factor_model
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.exact.orders import flat
from bayesbox.network.factor_graph import FactorModel


class CompiledModel:
    """The tables of a model, passed to the core once; `order` is a topological order if it is a Bayesian network.

    In a Bayesian network each variable has one table, in the order of the variables, its own states on the last axis.
    """

    def __init__(self, model: FactorModel, order: list[int] | None = None) -> None:
        self.model = model
        self.order = order
        members, ends = flat(factor.scope for factor in model.factors)
        cards = np.array(model.cards, dtype=np.int64)
        self.factors = factor_model(cards, members, ends, [factor.table.reshape(-1) for factor in model.factors])

    def case(self, findings: ObservedStates) -> EvidenceCase:
        """Findings as arrays."""
        count = len(self.model.cards)
        states, soft = np.full(count, -1, dtype=np.int32), np.zeros(count, dtype=np.uint8)
        for variable, state in findings.states.items():
            states[variable] = state
        likelihoods = None
        if findings.likelihoods:
            likelihoods = np.ones(int(self.model.offsets[-1]))
            for variable, values in findings.likelihoods.items():
                soft[variable] = 1
                start = int(self.model.offsets[variable])
                likelihoods[start : start + len(values)] = np.asarray(values, dtype=np.float64)
        return EvidenceCase(self, states, soft, likelihoods)


@dataclass(frozen=True)
class EvidenceCase:
    """One case: the state of each variable, -1 if unknown; which variables have likelihoods, and their likelihoods."""

    compiled: CompiledModel
    states: NDArray[np.int32]
    soft: NDArray[np.uint8]
    likelihoods: NDArray[np.float64] | None

    @property
    def model(self) -> FactorModel:
        """The model of this case."""
        return self.compiled.model

    @property
    def arguments(
        self,
    ) -> tuple[CoreModel, NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64] | None]:
        """The first arguments of every function of the core."""
        return self.compiled.factors, self.states, self.soft, self.likelihoods

    @property
    def likelihoods_by_variable(self) -> list[NDArray[np.float64]]:
        """The likelihoods of the states of each variable: one-hot if a state was observed, ones if unobserved."""
        ends = self.model.offsets[1:-1]
        every = np.ones(int(self.model.offsets[-1])) if self.likelihoods is None else self.likelihoods
        found = [each.copy() for each in np.split(every, ends)]
        for variable in np.flatnonzero(self.states >= 0).tolist():
            found[variable] *= np.arange(len(found[variable])) == self.states[variable]
        return found

    @property
    def order(self) -> NDArray[np.int64]:
        """The variables, parents first; empty if the model is not a Bayesian network."""
        return np.array(self.compiled.order or [], dtype=np.int64)

    def given(self, variable: int, state: int) -> EvidenceCase:
        """The case with one more variable observed."""
        states = self.states.copy()
        states[variable] = state
        return EvidenceCase(self.compiled, states, self.soft, self.likelihoods)
