"""log P of long sequences, from both ends at once: as the forward recursion has it, to the last digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayesbox import _core


def long_chain(states: int, steps: int, *, coded: bool, sharp: float = 1.0):
    random = np.random.default_rng([states, steps])
    terms = sharp * np.log(random.dirichlet(np.ones(6), size=states)).T
    codes = random.integers(0, 6, size=steps).astype(np.int32)
    start, transition = random.dirichlet(np.ones(states)), random.dirichlet(np.ones(states), size=states)
    if not coded:
        terms, codes = terms[codes], None
    return np.log(start), np.log(transition), np.ascontiguousarray(terms), codes, np.array([0, steps])


@pytest.mark.parametrize("sharp", [1.0, 300.0])  # with the second, vectors are rescaled at almost every step
@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("steps", [1024, 1025, 1026, 1027, 5001])
@pytest.mark.parametrize("states", [1, 2, 3, 5, 8, 9])
def test_both_halves_give_what_forward_gives(states, steps, coded, sharp):
    given = long_chain(states, steps, coded=coded, sharp=sharp)
    forward = _core.chain_posterior(*given, filtered=True)[0]
    score = _core.chain_score(*given)
    np.testing.assert_allclose(score, forward, rtol=1e-14)
    if steps <= 1024:
        assert score[0] == forward[0]


def test_an_exact_sum():
    """Two states in fractions of powers of two: the sum over all paths has no rounding before its logarithm."""
    steps = 1029
    start, transition = [Fraction(1, 4), Fraction(3, 4)], [[Fraction(1, 2)] * 2, [Fraction(1, 4), Fraction(3, 4)]]
    emission = [[Fraction(1, 2), Fraction(1, 8)], [Fraction(1, 2), Fraction(7, 8)]]  # symbol x state
    codes = np.random.default_rng(1).integers(0, 2, size=steps).astype(np.int32)
    alpha = [start[k] * emission[codes[0]][k] for k in range(2)]
    for code in codes[1:].tolist():
        alpha = [sum(alpha[i] * transition[i][j] for i in range(2)) * emission[code][j] for j in range(2)]
    total = sum(alpha)
    exact = float(np.log(np.longdouble(total.numerator >> (total.numerator.bit_length() - 64)))) + (
        total.numerator.bit_length() - 64 - (total.denominator.bit_length() - 1)
    ) * float(np.log(2.0))
    logs = [np.log(np.array(each, dtype=np.float64)) for each in (start, transition, emission)]
    found = _core.chain_score(*logs, codes, np.array([0, steps]))[0]
    assert found == pytest.approx(exact, rel=1e-13)


def test_impossible_transitions_and_sequences():
    start, transition, terms, codes, offsets = long_chain(3, 3000, coded=True)
    with np.errstate(divide="ignore"):
        cyclic = np.log(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    given = start, cyclic, terms, codes, offsets
    assert _core.chain_score(*given)[0] == _core.chain_posterior(*given, filtered=True)[0][0]
    never = terms.copy()
    never[2] = -np.inf
    assert _core.chain_score(start, transition, never, codes, offsets)[0] == -np.inf
    tiny = np.array([[-1e-9, -900.0, -900.0], [-900.0, -1e-9, -900.0], [-900.0, -900.0, -1e-9]])
    given = start, tiny, terms, codes, offsets
    assert _core.chain_score(*given)[0] == _core.chain_posterior(*given, filtered=True)[0][0]
