"""States that the tables rule out are left out beforehand, and nothing else changes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.enumeration import joint, marginal, random_evidence, random_network
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.exact.possible import PossiblePropagation, propagation_of


@settings(max_examples=200, deadline=None, database=None)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(2, 7), zeros=st.sampled_from([0.3, 0.6, 0.85]))
def test_the_answers_are_those_of_all_states(seed, nodes, zeros):
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=nodes, zeros=zeros)
    compiled = CompiledModel(network.model)
    plain, possible = Propagation(compiled), propagation_of(compiled)
    findings = network.findings(random_evidence(generator, network))
    cells, log_evidence = plain.posteriors(findings)
    found, found_log_evidence = possible.posteriors(findings)
    assert found_log_evidence == pytest.approx(log_evidence, abs=1e-12)
    if math.isfinite(log_evidence):
        assert found == pytest.approx(cells, abs=1e-12)
    rows = np.array([[generator.integers(card) for card in network.model.cards] for _ in range(12)], dtype=np.int32)
    rows[generator.random(rows.shape) < 0.6] = -1
    together, found_together = plain.of_rows(rows), possible.of_rows(rows)
    assert found_together.log_evidence == pytest.approx(together.log_evidence, abs=1e-12)
    some = np.isfinite(together.log_evidence)
    np.testing.assert_allclose(found_together.table[some], together.table[some], atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_no_state_that_occurs_is_called_impossible(seed):
    network = random_network(np.random.default_rng(seed), nodes=5, zeros=0.6)
    table = joint(network)
    possible = CompiledModel(network.model).factors.possible_states().astype(bool)
    for place, name in enumerate(network.nodes):
        start, end = network.model.offsets[place : place + 2]
        occurs = marginal(network, table, [name]) > 0
        assert not (occurs & ~possible[start:end]).any()


@pytest.fixture(scope="module")
def walk():
    """Steps up by one or none, from the first of ten states on: after four steps at most four states up."""
    states = [str(state) for state in range(10)]
    step = np.zeros((10, 10))
    step[np.arange(10), np.arange(10)] = step[np.arange(10), np.minimum(np.arange(10) + 1, 9)] = 0.5
    step[9, 9] = 1
    structure = {"s0": []} | {f"s{each}": [f"s{each - 1}"] for each in range(1, 5)}
    tables = {"s0": np.eye(10)[0]} | {f"s{each}": step for each in range(1, 5)}
    return bb.BayesianNetwork(structure, tables, states=dict.fromkeys(structure, states))


def test_tables_are_smaller_without_them(walk):
    compiled = CompiledModel(walk.model)
    nothing = np.zeros(5, dtype=np.uint8)
    found = propagation_of(compiled)
    assert isinstance(found, PossiblePropagation)
    assert found.model.cards == (1, 2, 3, 4, 5)
    assert found.plan(nothing, nothing).log2_cells < Propagation(compiled).plan(nothing, nothing).log2_cells - 3
    assert walk.posteriors({"s4": "4"})["s2"]["2"] == 1
    assert walk.posteriors()["s4"] == pytest.approx(
        dict(zip(walk.states("s4"), [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16, 0, 0, 0, 0, 0], strict=True))
    )


def test_an_impossible_state_as_evidence_is_named(walk):
    with refusal(bb.ImpossibleEvidence, what="s3=7"):
        walk.posteriors({"s3": "7"})
    found = walk.posteriors({"s3": ["7", "3"]})
    assert np.isnan(found["s2"]["2"][0])
    assert found["s2"]["2"][1] == 1


def test_where_nothing_is_possible_it_says_so():
    model = bb.BayesianNetwork({"a": [], "b": ["a"]}, {"a": [1.0, 0.0], "b": [[0.0, 1.0], [1.0, 0.0]]})
    likelihood = {model.states("b")[0]: 1.0, model.states("b")[1]: 0.0}
    with pytest.raises(bb.ImpossibleEvidence):
        model.posteriors({"b": likelihood})
    assert model.posteriors()["b"] == dict(zip(model.states("b"), [0.0, 1.0], strict=True))
