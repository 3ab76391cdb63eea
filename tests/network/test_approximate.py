"""Approximate inference against exact inference: errors as stated, exact where it should be, bounds that hold."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.enumeration import random_evidence, random_network
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import NotSettled, TooCostly
from bayesbox.network.approximate import gibbs
from bayesbox.network.approximate.methods import METHODS, method_of
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.factor_graph import FactorModel, FactorTable

SAMPLED = ["weighting", "gibbs", "blockgibbs"]


def chest_clinic():
    """The network of Lauritzen and Spiegelhalter (1988), as printed there."""
    return bb.BayesianNetwork(
        {
            "tuberculosis": ["asia"],
            "cancer": ["smoking"],
            "bronchitis": ["smoking"],
            "either": ["tuberculosis", "cancer"],
            "xray": ["either"],
            "dyspnoea": ["either", "bronchitis"],
        },
        {
            "asia": 0.01,
            "smoking": 0.5,
            "tuberculosis": {True: 0.05, False: 0.01},
            "cancer": {True: 0.1, False: 0.01},
            "bronchitis": {True: 0.6, False: 0.3},
            "either": {(True, True): 1.0, (True, False): 1.0, (False, True): 1.0, (False, False): 0.0},
            "xray": {True: 0.98, False: 0.05},
            "dyspnoea": {(True, True): 0.9, (True, False): 0.7, (False, True): 0.8, (False, False): 0.1},
        },
    )


def standard_scores(network, evidence, found):
    """(estimate - exact) / stated error of every state that is not known."""
    exact = network.posteriors(evidence)
    scores = []
    for name in network.nodes:
        for state, value in exact[name].items():
            error = found.standard_errors[name][state]
            if error == 0:
                assert found[name][state] == pytest.approx(value, abs=1e-12)
            else:
                scores.append((found[name][state] - value) / error)
    return scores


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_within_three_stated_errors(method):
    scores = []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        network = random_network(generator, nodes=8, zeros=0, least_states=2)
        evidence = random_evidence(generator, network)
        found = network.posteriors(evidence, approx=method, samples=6000, seed=seed)
        scores += standard_scores(network, evidence, found)
    outside = np.mean(np.abs(scores) > 3)
    assert len(scores) > 500
    assert outside < 0.01
    assert np.mean(np.abs(scores) > 0.5) > 0.15  # errors that mean something, not infinities


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_within_three_stated_errors_with_a_deterministic_table(method):
    network = chest_clinic()
    scores = []
    generator = np.random.default_rng(3)
    for seed in range(40):
        rows = network.sample(1, seed=seed).to_pylist()
        known = generator.permutation(network.nodes)[: int(generator.integers(0, 5))]
        evidence = {str(name): rows[0][name] for name in known}
        scores += standard_scores(
            network, evidence, network.posteriors(evidence, approx=method, samples=10_000, seed=seed)
        )
    assert np.mean(np.abs(scores) > 3) < 0.01


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_weighting_estimates_the_probability_of_the_evidence():
    scores = []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        network = random_network(generator, nodes=8, zeros=0, least_states=2)
        evidence = random_evidence(generator, network)
        found = network.posteriors(
            evidence, approx="weighting", samples=4000, seed=seed, table_cells=1
        ).approximation  # so small that no two tables are multiplied
        difference = found.log_evidence - network.log_probability(evidence)
        if found.log_evidence_error == 0:
            assert difference == pytest.approx(0, abs=1e-9)
        else:
            scores.append(difference / found.log_evidence_error)
    assert np.mean(np.abs(scores) > 3) < 0.05
    assert np.mean(np.abs(scores) > 0.5) > 0.15


@pytest.mark.parametrize("seed", range(20))
def test_weighting_draws_from_the_posterior_where_tables_are_small(seed):
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=9, zeros=0.2, least_states=2)
    evidence = random_evidence(generator, network)
    if not np.isfinite(network.log_probability(evidence)):
        return
    found = network.posteriors(evidence, approx="weighting", samples=4000, seed=seed)
    assert found.approximation.effective_samples == pytest.approx(4000, rel=1e-9)
    assert found.approximation.log_evidence == pytest.approx(network.log_probability(evidence), abs=1e-9)
    exact = network.posteriors(evidence)
    for name in network.nodes:
        for state, p in exact[name].items():
            assert abs(found[name][state] - p) <= 5 * found.standard_errors[name][state] + 1e-12


@pytest.mark.parametrize("cells", [1, 8, 64, 4096])
@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_errors_of_weighting_hold_whatever_the_tables_made_beforehand(cells):
    scores = []
    for seed in range(12):
        generator = np.random.default_rng(100 + seed)
        network = random_network(generator, nodes=10, zeros=0, least_states=2)
        evidence = random_evidence(generator, network)
        exact = network.posteriors(evidence)
        found = network.posteriors(evidence, approx="weighting", samples=6000, seed=seed, table_cells=cells)
        scores += [
            (found[name][state] - p) / found.standard_errors[name][state]
            for name in network.nodes
            if name not in evidence
            for state, p in exact[name].items()
        ]
    assert np.mean(np.abs(scores) > 3) < 0.02
    assert np.max(np.abs(scores)) < 6


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_the_same_seed_the_same_answer(method):
    network = chest_clinic()
    first, again, other = (
        dict(network.posteriors({"dyspnoea": "true"}, approx=method, samples=1000, seed=seed)) for seed in (4, 4, 5)
    )
    assert first == again
    assert first != other


def test_effective_samples_are_all_of_them_without_evidence():
    found = chest_clinic().posteriors({}, approx="weighting", samples=999).approximation
    assert found.effective_samples == pytest.approx(999)
    assert found.log_evidence == pytest.approx(0, abs=1e-12)


def test_few_effective_samples_are_told():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.5, "b": {"true": 0.3, "false": 0.7}})
    with pytest.warns(NotSettled):
        network.posteriors({}, approx="weighting", samples=50)


def random_polytree(generator, nodes):
    """At most one path between any two nodes, in either direction."""
    structure, cards = {}, {}
    for place in range(nodes):
        cards[place] = int(generator.integers(1, 4))
        structure[f"n{place}"] = []
    for place in range(1, nodes):
        other = int(generator.integers(0, place))
        if generator.random() < 0.15:
            continue
        child, parent = (place, other) if generator.random() < 0.5 else (other, place)
        if len(structure[f"n{child}"]) < 4:
            structure[f"n{child}"].append(f"n{parent}")
    tables = {}
    for place in range(nodes):
        shape = [*(cards[int(parent[1:])] for parent in structure[f"n{place}"]), cards[place]]
        table = generator.gamma(0.5, size=shape) + 1e-3
        table[generator.random(shape) < 0.1] = 0
        table[table.sum(axis=-1) == 0] = 1
        tables[f"n{place}"] = table / table.sum(axis=-1, keepdims=True)
    states = {f"n{place}": [f"s{state}" for state in range(cards[place])] for place in range(nodes)}
    return bb.BayesianNetwork(structure, tables, states=states)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), nodes=st.integers(1, 40))
def test_loopy_is_exact_on_polytrees(seed, nodes):
    generator = np.random.default_rng(seed)
    network = random_polytree(generator, nodes)
    evidence = random_evidence(generator, network)
    log_evidence = network.log_probability(evidence)
    if math.isinf(log_evidence):
        with pytest.raises(bb.ImpossibleEvidence):
            network.posteriors(evidence, approx="loopy")
        return
    found = network.posteriors(evidence, approx="loopy")
    exact = network.posteriors(evidence)
    assert found.approximation.residual <= 1e-12
    assert found.approximation.log_evidence == pytest.approx(log_evidence, abs=1e-10)
    for name in network.nodes:
        assert list(found[name].values()) == pytest.approx(list(exact[name].values()), abs=1e-10)


def test_loopy_on_a_long_chain_takes_a_few_sweeps():
    count = 1500
    structure = {f"x{place}": [f"x{place - 1}"] if place else [] for place in range(count)}
    tables = {f"x{place}": {"true": 0.9, "false": 0.2} if place else 0.5 for place in range(count)}
    network = bb.BayesianNetwork(structure, tables)
    evidence = {"x0": "true", f"x{count - 1}": "false"}
    found = network.posteriors(evidence, approx="loopy", sweeps=3)
    assert found["x1"]["true"] == pytest.approx(network.posteriors(evidence)["x1"]["true"], abs=1e-12)
    assert found.approximation.log_evidence == pytest.approx(network.log_probability(evidence), abs=1e-10)


def test_loopy_states_its_residual_where_it_does_not_come_to_rest():
    """Three variables, each of which wants to differ from the next: messages go round and round at first."""
    with pytest.warns(NotSettled):
        found = frustrated().posteriors({}, approx="loopy", sweeps=2, tolerance=0)
    assert found.approximation.residual > 0


def frustrated():
    unlike = np.array([[1e-6, 1.0], [1.0, 1e-6]])
    tilted = np.array([[1e-6, 0.7], [1.0, 1e-6]])
    states = tuple(("a", "b") for _ in range(3))
    factors = (FactorTable((0, 1), unlike), FactorTable((1, 2), unlike), FactorTable((2, 0), tilted))
    return bb.FactorGraph(FactorModel(("x", "y", "z"), states, factors))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), zeros=st.sampled_from([0, 0.3]))
def test_mean_field_bounds_the_evidence_from_below(seed, zeros):
    generator = np.random.default_rng(seed)
    network = random_network(generator, zeros=zeros)
    evidence = random_evidence(generator, network)
    log_evidence = network.log_probability(evidence)
    if math.isinf(log_evidence):
        with pytest.raises(bb.ImpossibleEvidence):
            network.posteriors(evidence, approx="meanfield")
        return
    found = network.posteriors(evidence, approx="meanfield")
    bound = found.approximation.log_evidence
    assert -1e6 < bound <= log_evidence + 1e-9
    for name in network.nodes:
        assert sum(found[name].values()) == pytest.approx(1)


def test_mean_field_is_exact_where_all_is_independent():
    network = bb.BayesianNetwork({"a": [], "b": []}, {"a": 0.2, "b": [0.1, 0.3, 0.6]})
    found = network.posteriors({"a": {"true": 0.5, "false": 0.25}}, approx="meanfield")
    assert found["a"]["true"] == pytest.approx(1 / 3)
    assert found.approximation.log_evidence == pytest.approx(math.log(0.3))


def test_gibbs_tells_that_deterministic_tables_hold_the_chains():
    """Ten copies of a coin: no single one can change, so chains stay where they start."""
    same = {"true": 1.0, "false": 0.0}
    structure = {f"c{place}": [f"c{place - 1}"] if place else [] for place in range(10)}
    network = bb.BayesianNetwork(structure, {name: same if above else 0.3 for name, above in structure.items()})
    with warning(NotSettled, what="zeros"):
        found = network.posteriors({}, approx="gibbs")
    assert abs(found["c9"]["true"] - 0.3) < 3 * found.standard_errors["c9"]["true"]
    assert 0.01 < found.standard_errors["c9"]["true"] < 0.1  # that of 256 draws, not of 100,000
    assert found.approximation.effective_samples < 1000


def test_gibbs_of_a_factor_graph_finds_a_start_among_zeros():
    """Neighbours must differ, on a ring of eight: two states of 256 are possible."""
    unlike = np.array([[0.0, 1.0], [1.0, 0.0]])
    names = tuple(f"v{place}" for place in range(8))
    factors = tuple(FactorTable((place, (place + 1) % 8), unlike) for place in range(8))
    graph = bb.FactorGraph(FactorModel(names, (("a", "b"),) * 8, factors))
    found = graph.posteriors({"v0": "a"}, approx="gibbs", samples=2000)
    assert [found[name]["a"] for name in names] == [1, 0] * 4
    found = graph.posteriors({"v0": "a"}, approx="weighting", samples=2000)
    assert [found[name]["a"] for name in names] == [1, 0] * 4


@pytest.mark.parametrize("method", METHODS)
def test_joints_events_and_observed_targets(method):
    tables = {"a": 0.4, "b": {"true": 0.7, "false": 0.2}, "c": {"true": 0.6, "false": 0.1}}
    network = bb.BayesianNetwork({"b": ["a"], "c": ["b"]}, tables)
    within = 0.3 if method == "meanfield" else 0.02
    joint, exact = (network.query("P(a, c | b~0.8)", **given) for given in ({"approx": method}, {}))
    assert joint.keys() == exact.keys()
    for key, value in exact.items():
        assert joint[key] == pytest.approx(value, abs=within)
    assert sum(joint.values()) == pytest.approx(1)
    event = network.query("P(a=true, c=false | b~0.8)", approx=method)
    assert event == pytest.approx(joint["true", "false"], abs=1e-12)
    assert network.query("P(a=true | a=true)", approx=method) == 1
    assert network.query("P(a=true, a=false | c=true)", approx=method) == 0
    assert network.query("P(a | a=false, b=true)", approx=method)["true"] == 0
    mixed = network.query("P(a, b=true, a=true | c=true)", approx=method)
    assert mixed["false"] == 0
    assert (event.standard_error is not None) == (method in SAMPLED)
    assert bool(joint.standard_errors) == (method in SAMPLED)
    again = pickle.loads(pickle.dumps(event))
    assert (again, again.standard_error) == (event, event.standard_error)


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_evidence_are_the_cases_one_by_one(method):
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.4, "b": {"true": 0.7, "false": 0.2}})
    found = network.posteriors({"b": ["true", None, "never heard of"]}, approx=method)
    for place, evidence in enumerate([{"b": "true"}, {}, {}]):
        assert found["a"]["true"][place] == network.posteriors(evidence, approx=method)["a"]["true"]
    assert len(found.approximation) == 3


@pytest.mark.parametrize("method", METHODS)
def test_impossible_evidence(method):
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": [1.0, 0.0], "b": {"true": 0.25, "false": 0.5}})
    with pytest.raises(bb.ImpossibleEvidence):
        network.posteriors({"a": "false"}, approx=method)


@pytest.mark.parametrize("method", METHODS)
def test_where_exact_is_refused_each_method_answers(method):
    side = 25
    structure = {
        f"g{row}_{column}": [f"g{row - 1}_{column}"] * bool(row) + [f"g{row}_{column - 1}"] * bool(column)
        for row in range(side)
        for column in range(side)
    }
    generator = np.random.default_rng(0)
    tables = {name: generator.uniform(0.3, 0.7, size=[2] * len(above)) for name, above in structure.items()}
    network = bb.BayesianNetwork(structure, tables)
    evidence = {f"g{side - 1}_{side - 1}": "true"}
    network.max_bytes = 10**6
    with refusal(TooCostly, remedy=method):
        network.posteriors(evidence)
    options = {"blockgibbs": {"samples": 320}, "bounds": {"cases": 16}}.get(method, {})
    options = options or ({"samples": 2000} if method in SAMPLED else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)
        found = network.posteriors(evidence, approx=method, **options)
    near = network.query("P(g1_1=true)")  # far from the evidence, and cheap
    assert found["g1_1"]["true"] == pytest.approx(near, abs=0.1)


def test_wrong_options_are_refused():
    network = bb.BayesianNetwork({"a": []}, {"a": 0.4})
    for wrong in (
        {"approx": "magic"},
        {"approx": 3},
        {"approx": "gibbs", "sweeps": 3},
        {"approx": "loopy", "seed": 3},
        {"approx": "gibbs", "samples": 0},
        {"approx": "gibbs", "samples": 2.5},
        {"approx": "gibbs", "chains": 1},
        {"approx": "weighting", "seed": -1},
        {"approx": "loopy", "tolerance": math.nan},
        {"samples": 3},
    ):
        with pytest.raises(bb.BadOption):
            network.posteriors({}, **wrong)
    wide = bb.BayesianNetwork({f"v{place}": [] for place in range(30)}, {f"v{place}": 0.5 for place in range(30)})
    with refusal(bb.BadOption, what="30"):
        wide.query(f"P({', '.join(wide.nodes)})", approx="weighting")


def test_a_method_may_be_given_ready_made():
    network = bb.BayesianNetwork({"a": []}, {"a": 0.4})
    method = method_of("weighting", {"samples": 500})
    assert network.posteriors({}, approx=method).approximation.samples == 500
    assert network.posteriors({}, approx=method, samples=700).approximation.samples == 700


@pytest.mark.parametrize(("samples", "burn_in"), [(4000, 101), (40, 2)])
def test_the_first_tenth_of_a_chain_is_not_counted(monkeypatch, samples, burn_in):
    """A chain begins where chance puts it, and takes a while to forget that."""
    asked = {}
    core = gibbs.gibbs_means

    def watched(*arrays, **options):
        asked.update(options)
        return core(*arrays, **options)

    monkeypatch.setattr(gibbs, "gibbs_means", watched)
    net = bb.BayesianNetwork({"b": ["a"]}, {"a": [0.4, 0.6], "b": [[0.5, 0.5], [0.45, 0.55]]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few samples may not agree
        net.posteriors(approx=gibbs.Gibbs(samples=samples, chains=4))
    assert asked["burn_in"] == burn_in
    assert asked["sweeps"] == samples // 4


def two_nodes(table):
    """A case of a fair coin and its child, nothing observed."""
    factors = (FactorTable((0,), np.array([0.5, 0.5])), FactorTable((0, 1), np.array(table)))
    return CompiledModel(FactorModel(("a", "b"), (("no", "yes"),) * 2, factors), [0, 1]).case(ObservedStates())


def test_chains_that_never_mix_are_worth_no_more_than_their_starts():
    """Stuck chains stand for the draws they started from: 64 of them from 10 effective draws are not 64 answers."""
    case = two_nodes([[1.0, 0], [0, 1]])
    stuck = np.repeat([[1.0, 0, 1, 0], [0, 1.0, 0, 1]], 32, axis=0)
    mixing = np.tile([[0.52, 0.48, 0.52, 0.48], [0.48, 0.52, 0.48, 0.52]], (32, 1))
    for means, extra in ((stuck, 1 / 10), (mixing, 0)):
        between = means.var(axis=0, ddof=1)
        alone = gibbs.summary_of(case, means, 64_000, zeros=False)
        found = gibbs.summary_of(case, means, 64_000, zeros=False, starts=10.0)
        worth = 0.5 / ((1 / 64 + extra) * between[:2].sum())
        np.testing.assert_allclose(found.errors**2, between * (1 / 64 + extra) + (2 / worth) ** 2, rtol=1e-12)
        assert (found.effective < alone.effective) == bool(extra)


def test_the_core_says_what_the_starts_are_worth():
    """All 20 draws a chain where elimination is exact; nothing of a factor graph, whose starts are searched."""
    case = two_nodes([[0.9, 0.1], [0.2, 0.8]])
    options = {"chains": 8, "burn_in": 1, "sweeps": 4, "seed": 0}
    nothing = np.array([], dtype=np.int64)
    _, _, starts = gibbs.gibbs_means(*case.arguments, case.order, nothing, **options)
    assert starts == pytest.approx(160)
    assert gibbs.gibbs_means(*case.arguments, nothing, nothing, **options)[2] == 0
