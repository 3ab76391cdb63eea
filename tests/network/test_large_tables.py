"""Tables of which most cells are zero: only the others are visited, and the answers are those of the whole table."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbox as bb

SIZES = (12, 12, 12, 12)
SUMS = 10


@pytest.fixture(scope="module")
def network_and_joint():
    """Four numbers, their sum modulo ten, and something that is seen of the sum and the first number."""
    random = np.random.default_rng(0)
    priors = [random.dirichlet(np.ones(size)) for size in SIZES]
    sums = np.indices(SIZES).sum(axis=0) % SUMS
    total = np.eye(SUMS)[sums]
    seen = random.dirichlet(np.ones(3), size=(SIZES[0], SUMS))
    names = ["a", "b", "c", "d"]
    states = {name: [str(state) for state in range(size)] for name, size in zip(names, SIZES, strict=True)}
    states |= {"sum": [str(state) for state in range(SUMS)], "seen": ["x", "y", "z"]}
    structure = {name: [] for name in names} | {"sum": names, "seen": ["a", "sum"]}
    tables = dict(zip(names, priors, strict=True)) | {"sum": total, "seen": seen}
    joint = np.einsum("a,b,c,d,abcds,asx->abcdsx", *priors, total, seen)
    return bb.BayesianNetwork(structure, tables, states=states), joint


@pytest.mark.parametrize(
    "evidence", [{}, {"seen": "y"}, {"d": "3"}, {"seen": "z", "b": "11"}, {"sum": "4"}, {"sum": "0", "seen": "x"}]
)
def test_posteriors_are_those_of_the_joint(network_and_joint, evidence):
    network, joint = network_and_joint
    axes = ["a", "b", "c", "d", "sum", "seen"]
    part = joint
    for name, state in evidence.items():
        mask = np.zeros(joint.shape[axes.index(name)])
        mask[network.states(name).index(state)] = 1
        part = part * mask.reshape([-1 if axis == name else 1 for axis in axes])
    assert network.log_probability(evidence) == pytest.approx(np.log(part.sum()), abs=1e-12)
    for _ in range(2):  # a plan that is made, and one that is kept
        found = network.posteriors(evidence)
        for place, name in enumerate(axes):
            wanted = part.sum(axis=tuple(axis for axis in range(len(axes)) if axis != place)) / part.sum()
            np.testing.assert_allclose(list(found[name].values()), wanted, atol=1e-12)


def test_rows_follow_one_another_in_the_same_tables(network_and_joint):
    network, _ = network_and_joint
    rows = {"seen": ["x", "y", "z", "x"], "b": ["0", "5", "11", None]}
    together = network.posteriors(rows)
    for row in range(4):
        alone = network.posteriors({name: column[row] for name, column in rows.items() if column[row] is not None})
        for name in ("a", "c", "d", "sum"):
            for state, p in alone[name].items():
                assert together[name][state][row] == pytest.approx(p, abs=1e-12)


def test_rows_with_holes_are_expected_by_them(network_and_joint):
    network, joint = network_and_joint
    marginal = joint.sum(axis=(1, 2, 4))  # a, d, seen
    rows = {
        "a": ["1", "2"],
        "b": [None, None],
        "c": [None, None],
        "d": ["0", "7"],
        "sum": [None, None],
        "seen": ["x", "z"],
    }
    wanted = np.log(marginal[1, 0, 0]) + np.log(marginal[2, 7, 2])
    assert network.log_likelihood(rows) == pytest.approx(wanted, abs=1e-10)
