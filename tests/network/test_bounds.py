"""Block Gibbs sampling and certain bounds against exact answers: of networks, and of grids with strong loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.enumeration import random_evidence, random_network
from tests.refusal import warning

import bayesbox as bb
from bayesbox.errors import NotSettled
from bayesbox.network.factor_graph import FactorModel, FactorTable

QUIET = pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")


def grid(side, strength, seed, states=2):
    """A square of variables, each with the next by a table of its own, and all with a weight of their own."""
    generator = np.random.default_rng(seed)
    place = np.arange(side * side).reshape(side, side)
    pairs = [*zip(place[:, :-1].ravel(), place[:, 1:].ravel(), strict=True)]
    pairs += [*zip(place[:-1].ravel(), place[1:].ravel(), strict=True)]
    factors = [
        FactorTable((int(a), int(b)), np.exp(strength * generator.normal(size=(states, states)))) for a, b in pairs
    ]
    factors += [FactorTable((int(v),), np.exp(0.3 * generator.normal(size=states))) for v in place.ravel()]
    names = tuple(f"v{v}" for v in place.ravel())
    levels = tuple(f"s{state}" for state in range(states))
    return bb.FactorGraph(FactorModel(names, (levels,) * len(names), tuple(factors)))


def cells(found):
    return np.array([share for name in found for share in found[name].values()])


@QUIET
@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    zeros=st.sampled_from([0, 0.3]),
    cases=st.sampled_from([1, 3, 50]),
    table_cells=st.sampled_from([1, 2, 4, 16]),
)
def test_exact_answers_lie_within_the_bounds(seed, zeros, cases, table_cells):
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=8, zeros=zeros)
    evidence = random_evidence(generator, network)
    log = network.log_probability(evidence)
    if math.isinf(log):
        return
    found = network.posteriors(evidence, approx="bounds", cases=cases, table_cells=table_cells)
    low, high = found.approximation.log_evidence_bounds
    assert low - 1e-9 <= log <= high + 1e-9
    exact = network.posteriors(evidence)
    assert (cells(found.lower) <= cells(exact)).all()
    assert (cells(exact) <= cells(found.upper)).all()


@QUIET
@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_grids_hold_and_narrow_with_the_cases(seed):
    graph = grid(5, 1.0, seed, states=2 + seed % 2)
    exact = cells(graph.posteriors())
    widths = []
    for count in (1, 10, 100, 100_000) if seed % 2 == 0 else (1, 10, 100):
        found = graph.posteriors(approx="bounds", cases=count, table_cells=8)
        assert (cells(found.lower) <= exact).all()
        assert (exact <= cells(found.upper)).all()
        widths.append(found.approximation.widest)
    assert widths == sorted(widths, reverse=True)
    if seed % 2 == 0:  # all of them were worked out
        assert widths[-1] < 1e-9
        np.testing.assert_allclose(cells(found), exact, atol=1e-9)


def test_bounds_of_a_question():
    graph = grid(4, 1.0, 3)
    for text in ("P(v5 | v0=s1)", "P(v5=s0 | v0=s1)"):
        exact = graph.query(text)
        found = graph.query(text, approx="bounds", table_cells=4, cases=6)
        pairs = (
            [(found.bounds, exact)] if isinstance(exact, float) else [(found.bounds[key], exact[key]) for key in exact]
        )
        for (low, high), value in pairs:
            assert low <= value <= high
            assert 0 < high - low < 1
    assert graph.query("P(v5=s0, v6=s0)", approx="bounds").bounds is None


def test_wide_bounds_are_told():
    with warning(NotSettled, what="cannot be said"):
        grid(12, 1.5, 0).posteriors(approx="bounds", cases=2, table_cells=4)


@QUIET
@pytest.mark.parametrize("table_cells", [1, 4, 16, 2**20])
def test_errors_of_block_gibbs_hold_whatever_the_blocks(table_cells):
    scores = []
    for seed in range(8):
        graph = grid(5, 0.7, seed, states=2 + seed % 2)
        exact = cells(graph.posteriors({"v7": "s1"}))
        found = graph.posteriors({"v7": "s1"}, approx="blockgibbs", samples=3200, seed=seed, table_cells=table_cells)
        if found.standard_errors is not None:
            errors = cells(found.standard_errors)
            scores += ((cells(found) - exact)[errors > 0] / errors[errors > 0]).tolist()
    assert len(scores) > 200
    assert np.mean(np.abs(scores) > 3) < 0.01
    assert np.mean(np.abs(scores) > 0.3) > 0.15


@QUIET
def test_larger_blocks_cross_what_single_variables_cannot():
    """A ring of copies: drawn one at a time none can change, drawn together all do."""
    same = np.array([[1.0, 1e-9], [1e-9, 1.0]])
    factors = [FactorTable((place, (place + 1) % 6), same) for place in range(6)]
    factors.append(FactorTable((0,), np.array([0.3, 0.7])))
    graph = bb.FactorGraph(FactorModel(tuple("abcdef"), (("x", "y"),) * 6, tuple(factors)))
    apart = graph.posteriors(approx="blockgibbs", table_cells=1)
    assert apart.standard_errors is None  # it cannot say
    together = graph.posteriors(approx="blockgibbs")
    assert together["d"]["x"] == pytest.approx(0.3, abs=3 * together.standard_errors["d"]["x"])
    assert together.standard_errors["d"]["x"] < 0.03
    single = graph.posteriors(approx="gibbs")
    assert single.standard_errors is None
    assert "one block" in together.approximation.notes[0]


@QUIET
def test_joints_of_block_gibbs():
    graph = grid(4, 1.0, 5)
    exact = graph.query("P(v0, v5 | v15=s0)")
    found = graph.query("P(v0, v5 | v15=s0)", approx="blockgibbs", table_cells=8, samples=20_000)
    for key, value in exact.items():
        assert found[key] == pytest.approx(value, abs=4 * found.standard_errors[key])
