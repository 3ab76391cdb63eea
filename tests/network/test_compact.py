"""Noisy-OR, noisy-AND and noisy-MAX against their definitions, and against full tables."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import BadModelFile, BadOption, BadTable, UnknownNode

FORMATS = ("json", "xdsl", "net")


def drawn_max(generator, parents, states, *, leak=True):
    """What each parent causes, by chance: the last state of every parent causes nothing."""
    causes = {
        name: {f"s{state}": generator.dirichlet(np.ones(states)).tolist() for state in range(card - 1)}
        for name, card in parents.items()
    }
    return causes, generator.dirichlet(np.ones(states)).tolist() if leak else None


def by_definition(causes, leak, order, sizes):
    """P(max of all causes = y) by enumeration of what every cause does."""
    count = len(order)
    lowest = [float(place == order[0]) for place in range(count)]
    table = np.zeros((*sizes, count))
    for case in itertools.product(*(range(size) for size in sizes)):
        rows = [leak or lowest, *(each.get(f"s{state}", lowest) for each, state in zip(causes, case, strict=True))]
        for done in itertools.product(range(count), repeat=len(rows)):
            happened = max(done, key=order.index)
            table[(*case, happened)] += math.prod(row[level] for row, level in zip(rows, done, strict=True))
    return table


def network_of(generator, parents, spec, states):
    structure = {**{name: [] for name in parents}, "y": list(parents)}
    cpts = {name: generator.dirichlet(np.ones(card)) for name, card in parents.items()}
    named = {name: [f"s{state}" for state in range(card)] for name, card in parents.items()}
    return bb.BayesianNetwork(structure, {**cpts, "y": spec}, states={**named, "y": states})


@pytest.mark.parametrize("seed", range(200))
def test_a_noisy_max_is_the_highest_of_what_its_causes_do(seed, monkeypatch):
    generator = np.random.default_rng([11, seed])
    parents = {f"x{place}": int(generator.integers(2, 4)) for place in range(int(generator.integers(1, 5)))}
    count = int(generator.integers(2, 4))
    states = [f"t{place}" for place in range(count)]
    order = generator.permutation(states).tolist()
    causes, leak = drawn_max(generator, parents, count, leak=bool(generator.integers(2)))
    table = by_definition(list(causes.values()), leak, [states.index(state) for state in order], list(parents.values()))
    spec = bb.NoisyMax(causes, leak=leak, order=order)
    if seed % 2:  # taken apart, however small it is
        monkeypatch.setattr("bayesbox.network.graph.SMALL_CELLS", 0)
    net = network_of(generator, parents, spec, states)
    full = net.with_cpt("y", table)
    np.testing.assert_allclose(net.cpt("y"), table, atol=1e-14)
    evidence = {"y": str(generator.choice(states))}
    if generator.integers(2):
        evidence["x0"] = "s0"
    for name, shares in full.posteriors(evidence).items():
        assert net.posteriors(evidence)[name] == pytest.approx(shares, abs=1e-12)
    assert set(net.posteriors()) == set(net.nodes)
    assert net.log_probability(evidence) == pytest.approx(full.log_probability(evidence), abs=1e-12)
    states_of, log = net.explanation(evidence)
    assert log == pytest.approx(full.explanation(evidence)[1], abs=1e-12)
    assert full.log_probability(states_of) == pytest.approx(log, abs=1e-12)


def test_a_noisy_or_by_its_formula_in_fractions():
    net = bb.BayesianNetwork(
        {"fever": ["cold", "flu", "malaria"]},
        {"cold": 0.1, "flu": 0.05, "malaria": 0.01, "fever": bb.NoisyOr({"cold": 0.4, "flu": 0.8, "malaria": 0.9})},
    )
    for case in itertools.product((True, False), repeat=3):
        fails = math.prod(
            p for p, there in zip((Fraction(6, 10), Fraction(2, 10), Fraction(1, 10)), case, strict=True) if there
        )
        given = ", ".join(f"{name}={str(there).lower()}" for name, there in zip(net.nodes[:3], case, strict=True))
        assert net.fraction(f"P(fever=true | {given})") == 1 - fails
    assert "P(fever | cold=true alone), noisy-OR" in str(net.tables())
    assert net.parameters()[:2] == (6, 20)
    assert "P(fever=true" in str(net.work("P(cold=true | fever=true)"))
    assert net.svg(evidence={"fever": True}).startswith("<svg")


def test_an_and_is_an_or_of_what_is_not():
    numbers = {"a": 0.9, "b": 0.7, "c": 0.8}
    both = bb.BayesianNetwork(
        {"y": list(numbers)}, {**dict.fromkeys(numbers, 0.5), "y": bb.NoisyAnd(numbers, leak=0.95)}
    )
    for case in itertools.product((True, False), repeat=3):
        met = 0.95 * math.prod(p if there else 0 for p, there in zip(numbers.values(), case, strict=True))
        assert both.cpt("y")[tuple(0 if there else 1 for there in case)][0] == pytest.approx(met, abs=1e-15)


def test_thirty_parents_need_no_table():
    count = 30
    names = [f"x{place}" for place in range(count)]
    generator = np.random.default_rng(0)
    priors, effects = generator.random(count), generator.random(count)
    net = bb.BayesianNetwork(
        {"y": names},
        {**dict(zip(names, priors, strict=True)), "y": bb.NoisyOr(dict(zip(names, effects, strict=True)), leak=0.02)},
    )
    fails = 1 - priors * effects
    absent = 0.98 * math.prod(fails)
    assert net.query("P(y=false)") == pytest.approx(absent, rel=1e-12)
    for place in (0, 17, 29):
        both = priors[place] * (1 - absent / fails[place] * (1 - effects[place]))
        assert net.posteriors({"y": True})[names[place]]["true"] == pytest.approx(both / (1 - absent), rel=1e-12)
    with pytest.raises(BadTable, match="cells"):
        net.cpt("y")
    assert net.sample(10).column_names == [*names, "y"]
    assert max(factor.table.size for factor in net.model.factors) == 8
    assert {each.node for each in net.ask_next({}, "y")} == set(names)
    estimate = net.query("P(x0=true | y=true)", approx="weighting", samples=20_000)
    assert float(estimate) == pytest.approx(net.query("P(x0=true | y=true)"), abs=0.02)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("parents", [2, 20])
def test_files_keep_a_noisy_or(tmp_path, suffix, parents):
    names = [f"x{place}" for place in range(parents)]
    noisy = bb.NoisyOr({name: 0.1 + 0.04 * place for place, name in enumerate(names)}, leak=0.05)
    net = bb.BayesianNetwork(
        {"y": names, "z": ["y"]}, {**dict.fromkeys(names, 0.3), "y": noisy, "z": {True: 0.9, False: 0.2}}
    )
    path = tmp_path / f"net.{suffix}"
    net.write(path)
    again = bb.read_network(path)
    assert again.graph.nodes["y"].compact.kind == "or"
    assert again.query("P(x0=true | z=true)") == pytest.approx(net.query("P(x0=true | z=true)"), abs=1e-15)
    assert path.stat().st_size < 10_000


@pytest.mark.parametrize("suffix", [*FORMATS, "bif", "xmlbif", "uai"])
def test_files_keep_the_probabilities_of_every_kind(tmp_path, suffix):
    severity = {"true": {"none": 0.1, "mild": 0.6, "severe": 0.3}}
    net = bb.BayesianNetwork(
        {"pain": ["a", "b"], "runs": ["a", "b"], "calls": ["pain", "runs"]},
        {
            "a": 0.3,
            "b": 0.4,
            "pain": bb.NoisyMax({"a": severity, "b": {"false": {"none": 0.5, "mild": 0.5, "severe": 0}}}),
            "runs": bb.NoisyAnd({"a": 0.9, "b": {"true": 0.8, "false": 0.1}}, leak=0.7),
            "calls": {
                (p, r): 0.1 + 0.1 * i for i, (p, r) in enumerate(itertools.product(severity["true"], (True, False)))
            },
        },
    )
    path = tmp_path / f"net.{suffix}"
    net.write(path)
    again = bb.read_network(path)
    if suffix == "uai":
        again = again.renamed(dict(zip(again.nodes, net.nodes, strict=True)))
        assert again.posteriors()["calls"]["0"] == pytest.approx(net.query("P(calls=true)"), abs=1e-14)
        return
    for name, shares in net.posteriors({"calls": True}).items():
        assert again.posteriors({"calls": True})[name] == pytest.approx(shares, abs=1e-14)
    if suffix == "json":
        assert again == net


def test_a_noisymax_of_genie_with_its_states_from_the_highest_down():
    document = """<smile version="1.0" id="n"><nodes>
      <cpt id="A"><state id="no"/><state id="yes"/><probabilities>0.4 0.6</probabilities></cpt>
      <noisymax id="N"><state id="high"/><state id="low"/><state id="none"/><parents>A</parents>
        <strengths>1 0</strengths><parameters>0.5 0.3 0.2 0 0 1 0.1 0.1 0.8</parameters></noisymax>
    </nodes></smile>"""
    from bayesbox.network.formats.xdsl import read

    net = bb.BayesianNetwork.of(read(document.encode(), where="n.xdsl"))
    assert net.cpt("N")[0].tolist() == pytest.approx([0.1, 0.1, 0.8])  # A=no: the leak alone
    assert net.cpt("N")[1].tolist() == pytest.approx([1 - 0.9 * 0.5, 0.9 * 0.5 - 0.8 * 0.2, 0.8 * 0.2])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("NoisyOR (a, 0.2, true, 0.9)", [[0.82, 0.18], [0.1, 0.9]]),
        ('NoisyOR (a == "false", 0.5)', [[0, 1], [0.5, 0.5]]),
    ],
)
def test_a_noisy_or_of_hugin(body, found):
    from bayesbox.network.formats.net import read

    text = f"""net {{ }} node a {{ states = ("true" "false"); }} node y {{ states = ("true" "false"); }}
      potential (a) {{ data = (0.5 0.5); }} potential (y | a) {{ model_nodes = (); model_data = ({body}); }}"""
    net = bb.BayesianNetwork.of(read(text.encode(), where="y.net"))
    assert net.cpt("y").tolist() == [pytest.approx(row) for row in found]


@pytest.mark.parametrize(
    "body", ["Normal (0, 1)", "NoisyOR (b, 0.2)", "NoisyOR (a, 2)", 'NoisyOR (a == "x", 0.2)', "NoisyOR (a)"]
)
def test_expressions_that_are_not_read(body):
    from bayesbox.network.formats.net import read

    text = f"""net {{ }} node a {{ states = ("true" "false"); }} node y {{ states = ("true" "false"); }}
      potential (a) {{ data = (0.5 0.5); }} potential (y | a) {{ model_data = ({body}); }}"""
    with pytest.raises(BadModelFile, match="line"):
        read(text.encode(), where="y.net")


def test_json_that_is_wrong(tmp_path):
    net = bb.BayesianNetwork({"y": ["a"]}, {"a": 0.5, "y": bb.NoisyOr({"a": 0.5})})
    path = tmp_path / "n.json"
    net.write(path)
    good = path.read_text()
    for old, new in (('"or"', '"xor"'), ("[[[0.5, 0.5]", "[[[0.5, 0.6]"), ('"leak": [0.0, 1.0]', '"leak": [1.0]')):
        changed = good.replace(old, new)
        assert changed != good
        path.write_text(changed)
        with pytest.raises(BadModelFile):
            bb.read_network(path)


# -- learning ------------------------------------------------------------------------------------------------------


def test_em_finds_the_parameters_that_made_the_rows():
    causes = {"a": 0.7, "b": 0.3, "c": 0.9}
    truth = bb.BayesianNetwork({"y": list(causes)}, {**dict.fromkeys(causes, 0.4), "y": bb.NoisyOr(causes, leak=0.1)})
    rows = truth.sample(20_000, seed=1)
    start = truth.with_cpt("y", bb.NoisyOr(dict.fromkeys(causes, 0.5), leak=0.5))
    net = start.fit(rows, smoothing="mle", iterations=300, tolerance=1e-9)
    compact = net.graph.nodes["y"].compact
    assert [cause[0, 0] for cause in compact.causes] == pytest.approx(list(causes.values()), abs=0.03)
    assert compact.leak[0] == pytest.approx(0.1, abs=0.02)
    assert net.log_likelihood(rows) >= truth.log_likelihood(rows) - 1e-6
    assert all(later >= before - 1e-6 for before, later in itertools.pairwise(net.fit_.history))


def test_em_reaches_the_top_of_the_likelihood_with_missing_values():
    """One cause, no leak: the likelihood has its maximum at the share of effects among the rows with the cause."""
    net = bb.BayesianNetwork({"y": ["a"]}, {"a": 0.5, "y": bb.NoisyOr({"a": 0.5})})
    rows = {"a": ["true"] * 8 + ["false"] * 4, "y": ["true"] * 6 + ["false"] * 6}
    fitted = net.fit(rows, smoothing="mle", iterations=2000, tolerance=1e-14)
    assert fitted.cpt("y")[0, 0] == pytest.approx(6 / 8, abs=1e-6)
    holes = {"a": [*rows["a"], None], "y": [*rows["y"], "true"]}
    again = bb.BayesianNetwork({"y": ["a"]}, {"a": 0.5, "y": bb.NoisyOr({"a": 0.5})})
    again.fit(holes, smoothing="mle", iterations=2000, tolerance=1e-14)
    assert again.cpt("y")[0, 0] == pytest.approx(7 / 9, abs=1e-5)  # the effect tells that its one cause was there


def test_twenty_parents_are_learned_without_their_table():
    names = [f"x{place}" for place in range(20)]
    net = bb.BayesianNetwork(
        {"y": names}, {**dict.fromkeys(names, 0.1), "y": bb.NoisyOr(dict.fromkeys(names, 0.5), leak=0.1)}
    )
    rows = net.sample(300, seed=2)
    before = net.log_likelihood(rows)
    assert net.fit(rows, iterations=20).log_likelihood(rows) > before


def test_editing_keeps_a_table_compact():
    names = [f"x{place}" for place in range(12)]
    net = bb.BayesianNetwork(
        {"y": names}, {**dict.fromkeys(names, 0.2), "y": bb.NoisyOr(dict.fromkeys(names, 0.3), leak=0.1)}
    )
    more = net.with_node("z", parents=[], cpt=0.5).with_edge("z", "y")
    assert more.query("P(y=true)") == pytest.approx(net.query("P(y=true)"))
    fewer = net.without_node("x3")
    assert fewer.query("P(y=true)") == pytest.approx(net.query("P(y=true)"))  # the parents are independent
    assert fewer.query("P(y=true | x4=true)") == pytest.approx(net.query("P(y=true | x4=true)"))
    assert net.do({"y": True}).query("P(x0=true)") == pytest.approx(0.2)
    assert net.renamed({"y": "effect"}).query("P(effect=true)") == pytest.approx(net.query("P(y=true)"))


def test_what_compact_tables_refuse():
    def made(spec, states=None):
        return bb.BayesianNetwork({"y": ["a"]}, {"a": 0.5, "y": spec}, states=states)

    for spec, error in (
        (bb.NoisyOr({"b": 0.5}), UnknownNode),
        (bb.NoisyOr({}), BadTable),
        (bb.NoisyOr({"a": 1.5}), BadTable),
        (bb.NoisyOr({"a": "much"}), BadTable),
        (bb.NoisyOr({"a": {"maybe": 0.5}}), UnknownNode),
        (bb.NoisyOr({"a": 0.5}, leak=-1), BadTable),
        (bb.NoisyOr([0.5]), BadTable),
        (bb.NoisyMax({"a": {"true": [0.5, 0.6]}}), BadTable),
        (bb.NoisyMax({"a": 0.5}), BadTable),
        (bb.NoisyMax({"a": {"true": [0.5, 0.5]}}, order=["true", "true"]), BadTable),
    ):
        with pytest.raises(error):
            made(spec)
    with pytest.raises(BadTable, match="two states"):
        made(bb.NoisyOr({"a": 0.5}), states={"y": ["x", "y", "z"]})
    with pytest.raises(BadOption, match="prior_cases"):
        made(bb.NoisyOr({"a": 0.5})).fit({"a": ["true"], "y": ["true"]}, prior_cases=10)
