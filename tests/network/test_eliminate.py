"""Exact inference against the sum over the whole joint distribution, on networks made at random."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.enumeration import joint, marginal, random_evidence, random_network, weighed
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import TooCostly, UnknownStates
from bayesbox.network.exact import junction
from bayesbox.network.exact.eliminate import eliminate

SEEDS = range(0, 400, 20)


@settings(max_examples=2000, deadline=None, database=None)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 5), zeros=st.sampled_from([0.0, 0.15, 0.5]))
def test_random_networks(seed, nodes, zeros):
    """Junction tree, variable elimination and the sum over all states agree, whatever the evidence."""
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=nodes, zeros=zeros)
    evidence = random_evidence(generator, network)
    table = weighed(network, joint(network), evidence)
    total = table.sum()
    if total == 0:
        assert network.log_probability(evidence) == -math.inf
        with pytest.raises(bb.ImpossibleEvidence):
            network.posteriors(evidence)
        return
    assert abs(network.log_probability(evidence) - math.log(total)) <= 1e-12
    found = network.posteriors(evidence)
    findings = network.findings(evidence)
    for place, name in enumerate(network.nodes):
        expected = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != place)) / total
        assert np.abs(np.array(list(found[name].values())) - expected).max() <= 1e-12
    eliminated = eliminate(network.model, findings, [place]).table
    assert np.abs(eliminated / eliminated.sum() - expected).max() <= 1e-12


@pytest.mark.parametrize("seed", range(60))
def test_larger_random_networks(seed):
    generator = np.random.default_rng(seed)
    network = random_network(generator, nodes=9)
    evidence = random_evidence(generator, network)
    table = weighed(network, joint(network), evidence)
    total = table.sum()
    if total == 0:
        assert network.log_probability(evidence) == -math.inf
        return
    found = network.posteriors(evidence)
    for name in network.nodes:
        expected = marginal(network, table, [name]) / total
        assert list(found[name].values()) == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize("first", SEEDS)
def test_random_questions(first):
    for seed in range(first, first + 20):
        generator = np.random.default_rng(1000 + seed)
        network = random_network(generator)
        evidence = random_evidence(generator, network)
        table = weighed(network, joint(network), evidence)
        targets = generator.permutation(network.nodes)[:3].tolist()
        text = f"P({', '.join(targets)}{' | ' if any_known(evidence) else ''}{written(evidence)})"
        if table.sum() == 0:
            with pytest.raises(bb.ImpossibleEvidence):
                network.query(text)
            continue
        expected = marginal(network, table, targets) / table.sum()
        found = network.query(text)
        states = [network.states(name) for name in targets]
        for place, value in np.ndenumerate(expected):
            key = tuple(each[at] for each, at in zip(states, place, strict=True))
            assert found[key if len(key) > 1 else key[0]] == pytest.approx(value, abs=1e-12)


def any_known(evidence):
    return any(value is not None for value in evidence.values())


def written(evidence):
    parts = []
    for name, value in evidence.items():
        if isinstance(value, dict):
            parts.append(f"{name}~({', '.join(f'{state}:{number!r}' for state, number in value.items())})")
        elif value is not None:
            parts.append(f"{name}={value}")
    return ", ".join(parts)


@pytest.mark.parametrize("seed", range(150))
def test_most_probable(seed):
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    evidence = random_evidence(generator, network)
    table = weighed(network, joint(network), evidence)
    if table.sum() == 0:
        with pytest.raises(bb.ImpossibleEvidence):
            network.mpe(evidence)
        return
    states, log_probability = network.explanation(evidence)
    assert log_probability == pytest.approx(math.log(table.max()), abs=1e-12)
    place = tuple(network.states(name).index(states[name]) for name in network.nodes)
    assert table[place] == pytest.approx(table.max(), rel=1e-12)
    some = generator.permutation(network.nodes)[:2].tolist()
    part, log_part = network.explanation(evidence, some)
    summed = marginal(network, table, some)
    assert log_part == pytest.approx(math.log(summed.max()), abs=1e-12)
    where = tuple(network.states(name).index(part[name]) for name in some)
    assert summed[where] == pytest.approx(summed.max(), rel=1e-12)


def test_rows_of_evidence_are_the_cases_one_by_one():
    generator = np.random.default_rng(5)
    network = random_network(generator, nodes=6, zeros=0)
    rows = [random_evidence(generator, network, soft=False) for _ in range(60)]
    frame = {name: [row.get(name) for row in rows] for name in network.nodes}
    found = network.posteriors(frame)
    for place, row in enumerate(rows):
        alone = network.posteriors(row)
        for name in network.nodes:
            for state, value in alone[name].items():
                assert found[name][state][place] == pytest.approx(value, abs=1e-14)


def test_rows_with_states_never_heard_of_and_impossible_ones():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": [1.0, 0.0], "b": {"true": 0.25, "false": 0.5}})
    found = network.posteriors({"a": ["true", "maybe", "false"]})
    assert found["b"]["true"][:2].tolist() == [0.25, 0.25]
    assert np.isnan(found["b"]["true"][2])


def test_a_column_without_any_state_of_its_node_is_told():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.5, "b": {"true": 0.25, "false": 0.5}})
    with warning(UnknownStates, column="a", levels=("0", "1"), states=("true", "false")):
        found = network.posteriors(pd.DataFrame({"a": [1, 0], "b": ["true", None]}))
    assert found["a"]["true"].tolist() == pytest.approx([1 / 3, 0.5])


@pytest.mark.parametrize("approx", [None, "weighting", "loopy"])
def test_a_frame_without_rows(approx):
    """Which is no row, in whatever columns."""
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.5, "b": {"true": 0.25, "false": 0.5}})
    found = network.posteriors(pd.DataFrame({"a": [], "b": []}), approx=approx)
    assert found["b"]["true"].shape == (0,)
    with refusal(KeyError, kind="node", name="bb"):
        found["bb"]
    assert network.classifier("a").predict_proba(pd.DataFrame({"b": []})).shape == (0, 2)
    assert network.classifier("a").predict_proba(pd.DataFrame(index=[])).shape == (0, 2)


def test_evidence_that_is_missing_or_is_none():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.5, "b": {"true": 0.25, "false": 0.5}})
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        assert network.posteriors({"a": missing, "b": "true"}) == network.posteriors({"b": "true"})
    row = pd.DataFrame({"a": [None], "b": ["true"]}).iloc[0]
    assert network.posteriors(row) == network.posteriors({"b": "true"})
    assert network.mpe(row) == network.mpe({"b": "true"})
    assert network.probability(row) == network.probability({"b": "true"})
    for asked in (network.mpe, network.probability, network.log_probability):
        with refusal(bb.BadData, found="DataFrame"):
            asked(pd.DataFrame({"a": ["true"]}))
    with refusal(bb.BadOption, found="high"):
        network.posteriors({"a": {"true": "high", "false": 1}})
    with refusal(bb.BadOption, what="`a=true`"):
        network.query("P(b | a~(true:1e400, false:1))")


def test_the_explanation_of_one_target_by_its_name():
    network = bb.BayesianNetwork({"grass": ["rain"]}, {"rain": 0.2, "grass": {"true": 0.9, "false": 0.1}})
    assert network.mpe({"grass": "true"}, targets="rain") == {"rain": "true"}


def test_findings_of_one_node_are_taken_together():
    """As in a table: each finding multiplies, and two that contradict each other are impossible."""
    rows = {
        "b": ["true"] * 3 + ["false"] * 5,
        "a": ["true", "true", "false", "true", "false", "false", "false", "false"],
    }
    table = bb.Joint(rows)
    network = bb.BayesianNetwork({"b": ["a"]}).fit(rows, smoothing="mle")
    for known in ("a~0.7, a~0.7", "a~0.7, a=true", "a=true, a=true", "a~(true:0.7, false:0.3), a~0.2"):
        counted = pytest.approx(table.query(f"P(b=true | {known})"), abs=1e-15)
        assert network.query(f"P(b=true | {known})") == counted
        assert float(network.fraction(f"P(b=true | {known})")) == counted
    for asked in (network, table):
        with pytest.raises(bb.ImpossibleEvidence):
            asked.query("P(b | a=true, a=false)")


def test_long_chain_does_not_underflow():
    """P(evidence) is about 1e-600; the posterior is that of the last few nodes."""
    count = 2000
    structure = {f"x{place}": [f"x{place - 1}"] if place else [] for place in range(count)}
    structure |= {f"y{place}": [f"x{place}"] for place in range(count)}
    tables = {f"x{place}": {"true": 0.9, "false": 0.2} if place else 0.5 for place in range(count)}
    tables |= {f"y{place}": {"true": 0.6, "false": 0.3} for place in range(count)}
    network = bb.BayesianNetwork(structure, tables)
    evidence = {f"y{place}": "true" for place in range(count)}
    log_forward, belief = 0.0, np.array([0.5, 0.5])
    step, seen = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.6, 0.3])
    for place in range(count):
        belief = (belief @ step if place else belief) * seen
        log_forward += math.log(belief.sum())
        belief /= belief.sum()
    found = network.posteriors(evidence)
    assert network.log_probability(evidence) == pytest.approx(log_forward, rel=1e-12)
    assert found[f"x{count - 1}"]["true"] == pytest.approx(belief[0], rel=1e-10)


def test_many_findings_of_one_node_do_not_underflow():
    """Two thousand observed children of one node: the products are near 1e-2000."""
    names = [f"c{place}" for place in range(2000)]
    tables = {name: {"true": 0.1, "false": 0.1 + 1e-4} for name in names}
    network = bb.BayesianNetwork({name: ["class"] for name in names}, {"class": 0.5, **tables})
    evidence = dict.fromkeys(names, "true")
    odds = math.exp(2000 * (math.log(0.1) - math.log(0.1 + 1e-4)))
    assert network.posteriors(evidence)["class"]["true"] == pytest.approx(odds / (1 + odds), rel=1e-9)
    text = f"P(class=true | {', '.join(f'{name}=true' for name in names)})"
    assert network.query(text) == pytest.approx(odds / (1 + odds), rel=1e-9)


def grid(side):
    structure = {}
    for row in range(side):
        for column in range(side):
            above = [f"g{row - 1}_{column}"] * bool(row) + [f"g{row}_{column - 1}"] * bool(column)
            structure[f"g{row}_{column}"] = above
    tables = {name: np.full((*[2] * len(above), 2), 0.5) for name, above in structure.items()}
    return bb.BayesianNetwork(structure, tables)


def test_terabytes_are_refused_with_the_figure():
    network = grid(40)
    for ask in (
        lambda: network.posteriors({}),
        lambda: network.query("P(g0_0 | g39_39=true)"),
        lambda: network.mpe({}),
        lambda: network.log_probability({"g39_39": "true"}),
    ):
        with pytest.raises(TooCostly) as told:
            ask()
        assert told.value.bytes > 2**40
        assert "2 GiB" in str(told.value)


def test_what_is_not_asked_for_costs_nothing():
    assert grid(40).query("P(g1_1=true | g0_1=true)") == 0.5


def test_a_joint_that_is_too_large_is_refused():
    network = bb.BayesianNetwork({f"v{place}": [] for place in range(40)}, {f"v{place}": 0.5 for place in range(40)})
    with pytest.raises(TooCostly):
        network.query(f"P({', '.join(network.nodes)})")


def test_exact_fractions():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.1, "b": {"true": 0.3, "false": 0.7}})
    assert str(network.fraction("P(a=true | b=true)")) == "1/22"
    assert str(network.fraction("P(b=true | a~0.5)")) == "33/50"


def test_contradicting_targets_and_evidence_on_a_target():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.1, "b": {"true": 0.3, "false": 0.7}})
    assert network.query("P(a=true, a=false)") == 0
    assert network.query("P(a=true | a=true)") == 1
    assert network.query("P(a | a=false)")["true"] == 0
    with refusal(bb.ImpossibleEvidence, what="b=true, b=false"):
        network.query("P(a=true | b=true, b=false)")


def test_inexact_rows_are_counted_as_they_are():
    """Rows that sum to 1 within 1e-6: every way to an answer takes the same product."""
    tables = {"a": [0.3333333, 0.6666666], "b": [[0.2, 0.8000005], [0.5, 0.5]]}
    network = bb.BayesianNetwork({"b": ["a"]}, tables)
    table = joint(network)
    expected = table.sum(axis=network.nodes.index("b"))[0] / table.sum()
    assert network.query("P(a=true)") == pytest.approx(expected, abs=1e-15)
    assert network.posteriors({})["a"]["true"] == pytest.approx(expected, abs=1e-15)


def test_a_network_can_be_copied_and_pickled():
    network = bb.BayesianNetwork({"b": ["a"]}, {"a": 0.1, "b": {"true": 0.3, "false": 0.7}})
    before = network.posteriors({"b": "true"})["a"]
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert other == network
        assert other.posteriors({"b": "true"})["a"] == before


def test_threads_share_a_network():
    network = random_network(np.random.default_rng(2), nodes=7, zeros=0)
    cases = [random_evidence(np.random.default_rng(seed), network) for seed in range(40)]
    alone = [dict(network.posteriors(case)) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda case: dict(network.posteriors(case)), cases * 3))
    assert together == alone * 3


@pytest.mark.parametrize("seed", range(6))
def test_one_plan_for_all_rows_gives_what_a_plan_for_each_gives(seed, monkeypatch):
    """Rows of which nearly each observes other variables, some of them impossible."""
    random = np.random.default_rng(seed)
    network = random_network(random, nodes=9, zeros=0.2 if seed % 2 else 0.0, least_states=2)
    cards = network.model.cards
    states = np.array([[random.integers(card) for card in cards] for _ in range(300)], dtype=np.int32)
    states[random.random(states.shape) < 0.5] = -1
    states[:, 0] = random.integers(cards[0], size=300)  # always observed
    propagation = network._propagation
    patterns = len(np.unique(np.packbits((states >= 0).astype(np.uint8), axis=1), axis=0))
    assert patterns > junction.FEW_PATTERNS
    monkeypatch.setattr(junction, "MAKE_A_VARIABLE", 1e12)
    together = propagation.of_rows(states)
    monkeypatch.setattr(junction, "FEW_PATTERNS", 10**9)
    apart = propagation.of_rows(states)
    assert together.log_evidence == pytest.approx(apart.log_evidence, abs=1e-12)
    possible = np.isfinite(apart.log_evidence)
    assert possible.any()
    assert seed % 2 == 0 or not possible.all()
    np.testing.assert_allclose(together.table[possible], apart.table[possible], atol=1e-12)
