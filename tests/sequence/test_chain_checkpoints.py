"""Long sequences: the vectors of a block of steps are held, others are made again; the same bits in little memory."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from bayesbox import _core


@pytest.mark.parametrize("states", [2, 5, 9])
def test_counts_with_blocks_have_the_bits_of_posteriors_without(states):
    """P(state | sequence) of each step: once by the recursion that holds a block, once by the one that holds all."""
    random = np.random.default_rng(states)
    terms = np.log(random.dirichlet(np.ones(states), size=10_000))
    given = (
        np.log(random.dirichlet(np.ones(states))),
        np.log(random.dirichlet(np.ones(states), size=states)),
        terms,
        None,
        np.array([0, len(terms)]),
    )
    _, _, _, emission = _core.chain_expect(*given)
    assert emission.tobytes() == _core.chain_posterior(*given)[1].tobytes()


def log_of_sum(logs: list[float]) -> float:
    top = max(logs)
    if top == -math.inf:
        return top
    total = 0.0
    for each in logs:
        total += math.exp(each - top)
    return top + math.log(total)


def test_logarithms_with_blocks_have_the_bits_of_those_without():
    """The same operations on doubles, with the vectors of all steps held."""
    random = np.random.default_rng(3)
    states, steps = range(2), 1100
    terms = random.normal(scale=20, size=(steps, 2))
    start, transition = np.array([-0.5, -2000.0]), np.array([[-1e-3, -3000.0], [-700.0, -1e-4]])
    alpha = [[float(start[j]) + float(terms[0, j]) for j in states]]
    for t in range(1, steps):
        before = alpha[-1]
        alpha.append([log_of_sum([before[i] + transition[i, j] for i in states]) + terms[t, j] for j in states])
    total, beta, rows = log_of_sum(alpha[-1]), [0.0, 0.0], []
    for t in range(steps - 1, -1, -1):
        rows.append([min(math.exp(alpha[t][k] + beta[k] - total), 1.0) for k in states])
        weighted = [beta[k] + terms[t, k] for k in states]
        beta = [log_of_sum([transition[i, j] + weighted[j] for j in states]) for i in states]
    log_p, found = _core.chain_posterior(start, transition, terms, None, np.array([0, steps]))
    assert log_p[0] == total
    assert found.tobytes() == np.array(rows[::-1], dtype=np.float64).tobytes()


MEASURED = """
import resource
import numpy as np
from bayesbox import _core

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

random = np.random.default_rng(0)
steps, states = {steps}, 5
start, transition = np.log(np.full(5, 0.2)), np.log(random.dirichlet(np.ones(5), size=5))
{given}
offsets = np.array([0, steps])
_core.chain_best(start, transition, terms[:7], None, np.array([0, 7]))
before = peak()
{call}
print(peak() - before)
"""
CODED = "terms, codes = np.log(random.dirichlet(np.ones(20), size=5).T), random.integers(0, 20, steps, dtype=np.int32)"
OWN = "terms, codes = random.normal(size=(steps, 5)), None"
TINY = CODED + "\ntransition[0, 1] = -2000.0"  # calls for logarithms
MEGABYTE = 2**20


@pytest.mark.parametrize(
    ("given", "call", "steps", "answer"),
    [
        (CODED, "_core.chain_score(start, transition, terms, codes, offsets)", 4_000_000, 0),
        (CODED, "_core.chain_expect(start, transition, terms, codes, offsets)", 4_000_000, 0),
        (CODED, "_core.chain_best(start, transition, terms, codes, offsets)", 4_000_000, 4),
        (CODED, "_core.chain_posterior(start, transition, terms, codes, offsets)", 4_000_000, 40),
        (OWN, "_core.chain_score(start, transition, terms, codes, offsets)", 1_000_000, 0),
        (OWN, "_core.chain_expect(start, transition, terms, codes, offsets)", 1_000_000, 40),
        (TINY, "_core.chain_expect(start, transition, terms, codes, offsets)", 1_000_000, 0),
    ],
)
def test_memory_beside_the_answer_and_the_codes(given, call, steps, answer):
    """A vector of each step would take 40 bytes a step and more."""
    program = MEASURED.format(steps=steps, given=given, call=call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    codes = 4 if "codes = random" in given else 0  # they are copied, so that none can change meanwhile
    assert float(done.stdout) < 8 + steps * (answer + codes) / MEGABYTE
