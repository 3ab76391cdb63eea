"""Approximate inference by name, and joint posteriors from methods that give marginals only."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.network.approximate import (  # noqa: F401  they register themselves
    bounds,
    gibbs,
    gibbs_blocks,
    loopy,
    meanfield,
    weighting,
)
from bayesbox.network.approximate.algorithm import METHODS, InferenceAlgorithm
from bayesbox.network.approximate.estimate import Approximation
from bayesbox.network.exact.compiled import EvidenceCase

MOST_JOINT_CELLS = 2**20


MOST = {"table_cells": 2**27, "samples": 10**10, "chains": 10**5, "sweeps": 10**7, "cases": 10**7}


def method_of(approx: str | InferenceAlgorithm, options: Mapping[str, Any]) -> InferenceAlgorithm:
    """A method by its name, with its options; BadOption if it is unknown.

    >>> method_of("gibbs", {"samples": 1000})
    Gibbs(samples=1000, chains=256, seed=0)
    """
    if not isinstance(approx, str):
        if not isinstance(approx, InferenceAlgorithm):
            raise BadOption("unknown approximation", found=approx, remedy=f"Choose one of: {_listed(METHODS)}")
        return dataclasses.replace(approx, **options) if options else approx  # type: ignore[type-var]
    kind = METHODS.get(approx)
    if kind is None:
        raise BadOption("unknown approximation", found=approx, remedy=f"Choose one of: {_listed(METHODS)}")
    known = [each.name for each in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name, value in options.items():
        if name not in known:
            raise BadOption(f"`{name}` is not an option of {approx}", remedy=f"Its options are {_listed(known)}")
        least = 0 if name == "seed" else 1
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if name != "tolerance" and not (whole and least <= value <= MOST.get(name, 2**64 - 1)):
            raise BadOption(f"`{name}` must be an integer of at least {least}", found=value)
        if name == "tolerance" and not (isinstance(value, (int, float)) and 0 <= value < math.inf):
            raise BadOption("`tolerance` must be a non-negative number", found=value)
    made: InferenceAlgorithm = kind(**options)
    return made


def _listed(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else str(last)


class JointEstimate(NamedTuple):
    """P(targets | evidence) with one axis per target, the errors in the same shape, and the approximation behind it."""

    table: NDArray[np.float64]
    errors: NDArray[np.float64] | None
    approximation: Approximation


def joint_posterior(method: InferenceAlgorithm, case: EvidenceCase, wanted: Sequence[int]) -> JointEstimate:
    """The joint posterior of some variables."""
    shape = [case.model.cards[variable] for variable in wanted]
    if math.prod(shape) > MOST_JOINT_CELLS:
        raise BadOption(
            f"the joint of {len(shape)} variables has {math.prod(shape):,} combinations, too many to estimate",
            remedy=f"Ask about fewer at a time; the limit is {MOST_JOINT_CELLS:,}",
        )
    if len(wanted) > 1 and method.counts_joints:
        found = method.run(case, wanted)
        assert found.joint is not None
        errors = None if found.joint_errors is None else found.joint_errors.reshape(shape)
        return JointEstimate(found.joint.reshape(shape), errors, found)
    found = method.run(case)
    if len(wanted) == 1:
        part = slice(int(case.model.offsets[wanted[0]]), int(case.model.offsets[wanted[0] + 1]))
        return JointEstimate(found.table[part], None if found.errors is None else found.errors[part], found)
    return JointEstimate(_chained(method, case, wanted, found), None, found)


def _chained(
    method: InferenceAlgorithm, case: EvidenceCase, wanted: Sequence[int], found: Approximation
) -> NDArray[np.float64]:
    """The joint by the chain rule, P(first) P(second | first) ..., with one run per combination of the earlier
    states."""
    if not wanted:
        return np.ones(())
    first, *rest = wanted
    start = int(case.model.offsets[first])
    shares = found.table[start : start + case.model.cards[first]]
    parts = np.zeros([len(shares), *(case.model.cards[variable] for variable in rest)])
    for state, share in enumerate(shares):
        if share > 0:
            within = case.given(first, state)
            parts[state] = share * (_chained(method, within, rest, method.run(within)) if rest else 1.0)
    return parts
