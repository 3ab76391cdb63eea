"""Forward-backward over chains: likelihood, P(state | sequence), P(state | steps so far), expected counts.

With a_t(i) = P(steps up to t, state i at t) and b_t(i) = P(steps after t | state i at t), Rabiner (1989), eq. 18-27:

    a_1(j) = P(j) P(x_1 | j)             a_t(j) = sum_i a_(t-1)(i) P(j | i) P(x_t | j)
    b_T(i) = 1                           b_t(i) = sum_j P(j | i) P(x_(t+1) | j) b_(t+1)(j)
    P(state i at t | x) = a_t(i) b_t(i) / P(x)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.sequence.model import ChainModel, Steps
from bayesbox.stat.cores import cores


class Expected(NamedTuple):
    """The log-likelihoods of some sequences, and the expected counts."""

    log_likelihood: Doubles  # sequences
    start: Doubles  # states
    transition: Doubles  # states x states
    rows: Doubles  # rows of the steps x states


def log_terms(model: ChainModel, steps: Steps) -> Doubles:
    """log P(step | state), one row per distinct step. Missing values are marginalised; a known state rules out the
    others.

    An infinite number is an error that names its step, counted from 1.
    """
    plan = Plan(steps.rows, np.zeros(len(model.states)))
    for conditional in model.conditionals:
        conditional.add_to(plan, steps.columns)
    terms: Doubles = plan.run(_core.JOINT)
    if steps.codes is None:  # with codes, all columns are categories
        impossible: NDArray[np.bool_] = np.isneginf(terms[:, 0])  # infinite in every state, so also in the first
        if impossible.any():
            refuse_infinite(steps.columns, impossible, 0)
    if steps.known is not None:
        other = (steps.known >= 0)[:, None] & (steps.known[:, None] != np.arange(len(model.states))[None, :])
        terms = np.where(other, -np.inf, terms)
    return np.ascontiguousarray(terms)


Arguments = tuple[Doubles, Doubles, Doubles, NDArray[np.int32] | None, NDArray[np.int64]]


def arguments(model: ChainModel, steps: Steps) -> Arguments:
    """The arguments of the core."""
    return model.log_start, model.log_transition, log_terms(model, steps), steps.codes, steps.offsets


WORTH_A_THREAD = 1e5  # steps times states; with fewer, a second thread costs more than it saves


def threads_for(model: ChainModel, steps: Steps) -> int:
    """The number of threads: one per core if there is enough work. It does not affect the results."""
    return cores() if steps.sequences > 1 and steps.size * len(model.states) > WORTH_A_THREAD else 1


def log_likelihood(model: ChainModel, steps: Steps) -> Doubles:
    """log P(sequence), one per sequence; -inf if impossible."""
    return _core.chain_score(*arguments(model, steps), threads=threads_for(model, steps))


def posterior(model: ChainModel, steps: Steps) -> tuple[Doubles, Doubles]:
    """(log-likelihoods, steps x states of P(state | sequence)); zeros if a sequence is impossible."""
    return _core.chain_posterior(*arguments(model, steps), threads=threads_for(model, steps))


def filtered(model: ChainModel, steps: Steps) -> tuple[Doubles, Doubles]:
    """(log-likelihoods, steps x states of P(state | steps so far)); zeros if a sequence is impossible."""
    return _core.chain_posterior(*arguments(model, steps), filtered=True, threads=threads_for(model, steps))


def expected(model: ChainModel, steps: Steps) -> Expected:
    """The expected counts given the sequences; an impossible one adds nothing."""
    return Expected(*_core.chain_expect(*arguments(model, steps), threads=threads_for(model, steps)))
