"""Exact answers within a limit of memory: case by case they are those of one large table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.refusal import warning

import bayesbox as bb
from bayesbox.errors import AnswerByCases, TooCostly
from bayesbox.network.exact.conditioning import AnswerPlan
from bayesbox.network.factor_graph import FactorModel, FactorTable

TINY = 28 * 2**5  # bytes: 32 cells of a junction tree


def random_graph(seed: int, *, zeros: bool = False) -> bb.FactorGraph:
    """A dense graph of 7 variables with 2 to 4 states, in which some cells may be zero."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 5, 7).tolist()
    factors = []
    for _ in range(10):
        scope = tuple(rng.choice(7, rng.integers(1, 4), replace=False).tolist())
        table = rng.random([cards[v] for v in scope]) + 0.01
        if zeros:
            table[rng.random(table.shape) < 0.2] = 0.0
        factors.append(FactorTable(scope, table))
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in cards)
    return bb.FactorGraph(FactorModel(tuple(f"v{place}" for place in range(7)), states, tuple(factors)))


def joint_of(graph: bb.FactorGraph) -> np.ndarray:
    """The product of all tables, by enumeration."""
    model = graph.model
    joint = np.ones(model.cards)
    for states in itertools.product(*map(range, model.cards)):
        for factor in model.factors:
            joint[states] *= factor.table[tuple(states[v] for v in factor.scope)]
    return joint


@pytest.mark.parametrize("seed", range(200))
def test_posteriors_by_cases_are_those_of_the_enumerated_joint(seed: int) -> None:
    graph = random_graph(seed, zeros=seed % 3 == 0)
    graph.max_bytes = TINY
    joint = joint_of(graph)
    joint = joint.take([0], axis=2)  # the evidence
    total = joint.sum()
    evidence = {"v2": "s0"}
    if not total > 0:
        with pytest.raises(bb.ImpossibleEvidence):
            graph.posteriors(evidence)
        return
    plan = graph.cost(evidence)
    assert plan.bytes <= TINY
    found = graph.posteriors(evidence)
    assert graph.log_probability(evidence) == pytest.approx(math.log(total), abs=1e-10)
    for place, name in enumerate(graph.nodes):
        others = tuple(axis for axis in range(7) if axis != place)
        expected = joint.sum(axis=others) / total
        assert list(found[name].values())[: len(expected)] == pytest.approx(expected.tolist(), abs=1e-12)
    states = graph.mpe(evidence)
    best = joint[tuple(0 if name == "v2" else graph.states(name).index(states[name]) for name in graph.nodes)]
    assert best == pytest.approx(joint.max(), rel=1e-12)


def test_most_of_these_graphs_are_answered_by_cases() -> None:
    plans = []
    for seed in range(50):
        graph = random_graph(seed)
        graph.max_bytes = TINY
        plans.append(graph.cost({"v2": "s0"}))
    assert sum(plan.cases > 1 for plan in plans) > 40
    assert sum(len(plan.conditioned_on) > 1 for plan in plans) > 10


def test_queries_frames_and_fractions_by_cases() -> None:
    graph, whole = random_graph(1), random_graph(1)
    graph.max_bytes = TINY
    question = "P(v0, v3 | v5=s1)"
    assert dict(graph.query(question)) == pytest.approx(dict(whole.query(question)), abs=1e-12)
    rows = {"v5": ["s0", "s1", None], "v2": ["s1", "s1", "s0"]}
    ours, theirs = graph.posteriors(rows), whole.posteriors(rows)
    for name in graph.nodes:
        for state in graph.states(name):
            np.testing.assert_allclose(ours[name][state], theirs[name][state], atol=1e-12)
    soft = {"v4": {state: 0.1 + place for place, state in enumerate(graph.states("v4"))}}
    for name, states in whole.posteriors(soft).items():
        assert graph.posteriors(soft)[name] == pytest.approx(states, abs=1e-12)
    assert float(graph.fraction("P(v1=s0 | v6=s1)")) == pytest.approx(whole.query("P(v1=s0 | v6=s1)"), abs=1e-12)


def test_a_long_answer_is_announced_and_one_beyond_the_limit_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(4)
    graph.max_bytes = TINY
    monkeypatch.setattr("bayesbox.network.exact.conditioning.WORTH_A_WORD", 0.0)
    with warning(AnswerByCases, what="cases") as warned:
        graph.posteriors({})
    assert warned is not None
    graph.max_seconds = 1e-9
    for ask in (lambda: graph.posteriors({}), lambda: graph.log_probability({}), lambda: graph.mpe({})):
        with pytest.raises(TooCostly) as refused:
            ask()
        assert refused.value.bytes > TINY
        assert "max_seconds" in str(refused.value)


def test_a_plan_reads_as_a_sentence() -> None:
    plan = AnswerPlan(("a", "b"), 6, 3 * 2.0**20, 130.0)
    assert str(plan) == "conditioning on 2 variables (a, b): 6 cases of 3 MiB, about 2 minutes"
    assert str(AnswerPlan((), 1, 2.0**20, 0.1)) == "one junction tree of 1 MiB, about 1 second"
    assert str(bb.FactorGraph(random_graph(0).model).cost({})).startswith("one junction tree")
