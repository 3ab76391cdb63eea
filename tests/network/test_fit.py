"""The tables of a network from rows: counting, rules, priors, EM, exact changes."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.oracle.enumeration import joint, marginal, random_network, weighed
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import (
    BadData,
    BadModelFile,
    BadOption,
    CannotForget,
    CannotMerge,
    NoCounts,
    UnknownColumn,
    UnknownNode,
    UnseenLevel,
)

RAIN = {
    "rain": ["yes", "yes", "yes", "no", "no", "no", "no", "no"],
    "grass": ["wet", "wet", "dry", "dry", "dry", "dry", "wet", "dry"],
}


def rain(**given):
    return bb.BayesianNetwork({"grass": ["rain"]}, **given)


def holed(table, share, seed=0):
    """The rows with a share of their cells missing."""
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            name: pa.array(
                [None if gone else value for value, gone in zip(table[name].to_pylist(), lost, strict=True)],
                pa.string(),
            )
            for name, lost in ((name, generator.random(len(table)) < share) for name in table.column_names)
        }
    )


def distance(one, other):
    """The mean difference of the tables."""
    return float(np.mean([np.abs(one.cpt(name) - other.cpt(name)).mean() for name in one.nodes]))


def test_counting():
    net = rain().fit(RAIN, smoothing="mle")
    assert net.states("rain") == ["no", "yes"]  # those of the rows, as nobody gave others
    assert net.cpt("grass").tolist() == [[4 / 5, 1 / 5], [1 / 3, 2 / 3]]
    assert net.book_.counts("grass").tolist() == [[4, 1], [1, 2]]
    assert net.fraction("P(rain=yes)") == Fraction(3, 8)
    given = rain(states={"rain": ["yes", "no", "maybe"], "grass": ["wet", "dry"]}).fit(RAIN)
    assert given.states("rain") == ["yes", "no", "maybe"]
    assert given.cpt("grass").tolist() == [[3 / 5, 2 / 5], [2 / 7, 5 / 7], [1 / 2, 1 / 2]]


def test_every_rule():
    grass = {
        "mle": [[4 / 5, 1 / 5], [1 / 3, 2 / 3]],
        "laplace": [[5 / 7, 2 / 7], [2 / 5, 3 / 5]],
        "k2": [[5 / 7, 2 / 7], [2 / 5, 3 / 5]],
        "lidstone:0.5": [[4.5 / 6, 1.5 / 6], [1.5 / 4, 2.5 / 4]],
        "m:2": [[5 / 7, 2 / 7], [2 / 5, 3 / 5]],
        "bdeu:8": [[6 / 9, 3 / 9], [3 / 7, 4 / 7]],
        "prior-counts:wet=2": [[4 / 7, 3 / 7], [1 / 5, 4 / 5]],
        "as-written:1,2": [[5 / 7, 2 / 7], [2 / 5, 3 / 5]],
        "replace-zero:half": [[4 / 5, 1 / 5], [1 / 3, 2 / 3]],
    }
    for rule, expected in grass.items():
        assert rain().fit(RAIN, smoothing=rule).cpt("grass") == pytest.approx(np.array(expected)), rule
    named = rain().fit(RAIN, smoothing={"grass": "mle"})
    assert named.cpt("grass").tolist() == [[4 / 5, 1 / 5], [1 / 3, 2 / 3]]
    assert named.cpt("rain").tolist() == [6 / 10, 4 / 10]
    uneven = rain().fit(RAIN, smoothing="as-written:1,9").cpt("grass")
    assert uneven.sum(axis=1) == pytest.approx([1, 1])  # a network's rows sum to 1, whatever the rule


def test_a_combination_that_never_occurred():
    states = {"rain": ["yes", "no", "snow"], "grass": ["wet", "dry"]}
    table = rain(states=states).fit(RAIN, smoothing="mle").cpt("grass")
    assert table[2].tolist() == [3 / 8, 5 / 8]  # that of all rows


def test_expert_tables_are_prior_cases():
    tables = {
        "rain": {"yes": 0.5, "no": 0.5},
        "grass": {"yes": {"wet": 0.9, "dry": 0.1}, "no": {"wet": 0.2, "dry": 0.8}},
    }
    net = rain(cpts=tables).fit(RAIN, prior_cases=10)
    # ten cases beforehand: 5 of rain, of which 4.5 wet; 5 without, of which 1 wet
    assert net.cpt("rain") == pytest.approx([(3 + 5) / 18, (5 + 5) / 18])
    assert net.cpt("grass") == pytest.approx(np.array([[(2 + 4.5) / 8, (1 + 0.5) / 8], [(1 + 1) / 10, (4 + 4) / 10]]))
    before = net.cpt("grass")
    net.partial_fit(RAIN).forget(RAIN)
    assert net.cpt("grass").tolist() == before.tolist()
    with refusal(BadData, what="tables"):
        rain().fit(RAIN, prior_cases=3)


def test_learning_forgetting_and_merging_are_exact():
    truth = random_network(np.random.default_rng(1), nodes=6, least_states=2)
    rows = truth.sample(500, seed=2)
    states = {name: truth.states(name) for name in truth.nodes}
    structure = {name: truth.parents(name) for name in truth.nodes}

    def fresh():
        return bb.BayesianNetwork(structure, states=states)

    whole = fresh().fit(rows)
    parts = fresh().fit(rows[:200]).partial_fit(rows[200:])
    merged = fresh().fit(rows[:123]) + fresh().fit(rows[123:])
    assert whole == parts == merged
    assert whole.book_ == parts.book_ == merged.book_
    assert whole.book_.digest() == merged.book_.digest()
    half = fresh().fit(rows[:250])
    assert whole.forget(rows[250:]) == half
    assert whole.book_ == half.book_
    assert fresh().partial_fit(rows[:250]) == half
    with refusal(CannotForget, where="node `n4`"):
        half.forget(rows)
    assert half == fresh().fit(rows[:250])  # nothing was changed on the way
    with pytest.raises(CannotMerge):
        half + fresh().fit(rows, smoothing="mle")
    with pytest.raises(CannotMerge):
        half + bb.BayesianNetwork(structure).fit(truth.sample(500, seed=2).slice(0, 3))
    with pytest.raises(NoCounts):
        truth.forget(rows)


def test_weights_count_for_so_many_rows():
    twice = {**RAIN, "times": [2, 1, 1, 3, 0, 1, 1, 0.5]}
    net = rain().fit(twice, weight="times", smoothing="mle")
    assert net.cpt("grass") == pytest.approx(np.array([[4.5 / 5.5, 1 / 5.5], [1 / 4, 3 / 4]]))
    assert net.book_.n == 9.5


def test_weights_of_rows_with_holes():
    truth = random_network(np.random.default_rng(11), nodes=5, least_states=2)
    structure = {name: truth.parents(name) for name in truth.nodes}
    states = {name: truth.states(name) for name in truth.nodes}
    random = np.random.default_rng(1)
    columns = {
        name: [None if random.random() < 0.2 else value for value in column]
        for name, column in truth.sample(300, seed=3).to_pydict().items()
    }
    times = random.integers(0, 4, size=300)
    repeated = {name: [column[row] for row in np.repeat(np.arange(300), times)] for name, column in columns.items()}

    def fresh():
        return bb.BayesianNetwork(structure, states=states)

    weighed = fresh().fit({**columns, "times": times.astype(float)}, weight="times", iterations=15, tolerance=0)
    plain = fresh().fit(repeated, iterations=15, tolerance=0)
    for name in truth.nodes:
        np.testing.assert_allclose(weighed.cpt(name), plain.cpt(name), rtol=1e-9)
    assert weighed.log_likelihood({**columns, "times": times.astype(float)}, weight="times") == pytest.approx(
        plain.log_likelihood(repeated), rel=1e-12
    )


def test_files_and_streams_give_the_same(tmp_path):
    truth = random_network(np.random.default_rng(5), nodes=5, least_states=2)
    rows = truth.sample(3000, seed=1)
    from pyarrow import csv

    csv.write_csv(rows, tmp_path / "rows.csv")
    states = {name: truth.states(name) for name in truth.nodes}
    net = bb.BayesianNetwork({name: truth.parents(name) for name in truth.nodes}, states=states)
    from_file = net.fit(tmp_path / "rows.csv")
    in_memory = bb.BayesianNetwork({name: truth.parents(name) for name in truth.nodes}, states=states).fit(rows)
    assert from_file == in_memory


@pytest.mark.parametrize("missing", ["em", "ignore", "drop"])
def test_rows_that_are_read_again_give_the_same(missing, tmp_path):
    from pyarrow import csv

    truth = random_network(np.random.default_rng(6), nodes=4, least_states=2, zeros=0)
    csv.write_csv(holed(truth.sample(600, seed=1), 0.1), tmp_path / "rows.csv")
    states = {name: truth.states(name) for name in truth.nodes}
    structure = {name: truth.parents(name) for name in truth.nodes}
    held = bb.BayesianNetwork(structure, states=states).fit(tmp_path / "rows.csv", missing=missing)
    again = bb.BayesianNetwork(structure, states=states).fit(tmp_path / "rows.csv", missing=missing, most_bytes=100)
    for name in truth.nodes:
        assert again.cpt(name) == pytest.approx(held.cpt(name), abs=1e-12)
    unseen = truth.nodes[1]
    options = {"hidden": [unseen], "iterations": 3, "missing": "em"}
    hidden = bb.BayesianNetwork(structure, states=states).fit(tmp_path / "rows.csv", **options)
    elsewhere = bb.BayesianNetwork(structure, states=states).fit(tmp_path / "rows.csv", **options, most_bytes=100)
    for name in truth.nodes:
        assert elsewhere.cpt(name) == pytest.approx(hidden.cpt(name), abs=1e-12)


def test_categories_that_no_row_has_are_no_states():
    """As in a frame that was filtered, or a file whose dictionary holds more."""
    rows = pd.DataFrame({"rain": ["yes", "no"] * 5, "grass": ["wet", "dry"] * 5})
    coded = rows.assign(rain=pd.Categorical(rows["rain"], categories=["maybe", "yes", "no"]))
    assert bb.learn_network(coded) == bb.learn_network(rows)
    network = bb.BayesianNetwork({"grass": ["rain"]}).fit(rows)
    assert network.fit(coded) == bb.BayesianNetwork({"grass": ["rain"]}).fit(rows)
    assert network.partial_fit(coded).fit_.rows == 20


def test_numbers_in_bins_stay_so():
    rows = {"x": [0.5, 1.0, 2.0, 9.0], "y": ["a", "a", "b", "b"]}
    net = bb.BayesianNetwork({"y": ["x"]}).fit(rows, bins="width:2", smoothing="mle")
    assert net.states("x") == ["<=4.75", ">4.75"]
    assert net.query("P(y=a | x=3)") == 2 / 3  # a number finds its bin
    assert net.posteriors({"x": 4.75})["y"]["a"] == pytest.approx(2 / 3)
    again = bb.BayesianNetwork({"y": ["x"]}, states={"x": net.states("x"), "y": ["a", "b"]}).fit(rows, smoothing="mle")
    assert again == net


def test_log_likelihood_and_scores():
    net = rain().fit(RAIN, smoothing="mle")
    by_rows = sum(
        np.log(net.probability({"rain": r, "grass": g})) for r, g in zip(RAIN["rain"], RAIN["grass"], strict=True)
    )
    assert net.log_likelihood(RAIN) == pytest.approx(by_rows)
    assert net.score(RAIN, "loglik") == pytest.approx(by_rows)
    assert net.score(RAIN, "bic") == pytest.approx(by_rows - 3 * np.log(8) / 2)
    some = {"rain": ["yes", None, None], "grass": [None, "wet", None]}
    expected = np.log(net.probability({"rain": "yes"})) + np.log(net.probability({"grass": "wet"}))
    assert net.log_likelihood(some) == pytest.approx(expected)
    with pytest.raises(BadData):
        net.score(some)


def expected_tables(net, rows, pseudo):
    """One round of EM by adding up the whole joint distribution."""
    whole = joint(net)
    counts = {name: np.full_like(net.cpt(name), pseudo) for name in net.nodes}
    log_likelihood = 0.0
    for row in rows.to_pylist():
        known = {name: value for name, value in row.items() if value is not None}
        table = weighed(net, whole, known)
        log_likelihood += np.log(table.sum())
        for name in net.nodes:
            counts[name] += marginal(net, table, [*net.parents(name), name]) / table.sum()
    return {name: table / table.sum(axis=-1, keepdims=True) for name, table in counts.items()}, log_likelihood


@pytest.mark.parametrize("seed", range(6))
def test_a_round_of_em_is_that_of_the_whole_joint_distribution(seed):
    generator = np.random.default_rng(seed)
    truth = random_network(generator, nodes=5, least_states=2, zeros=0)
    rows = holed(truth.sample(40 if seed % 2 else 120, seed=seed), 0.3, seed)
    states = {name: truth.states(name) for name in truth.nodes}
    net = bb.BayesianNetwork({name: truth.parents(name) for name in truth.nodes}, states=states)
    net.fit(rows, iterations=1)
    before = net.fit_.history
    start = bb.BayesianNetwork({name: truth.parents(name) for name in truth.nodes}, states=states)
    start.fit(rows, missing="ignore")  # where EM begins
    tables, log_likelihood = expected_tables(start, rows, 1.0)
    for name in net.nodes:
        assert net.cpt(name) == pytest.approx(tables[name], abs=1e-12)
    prior = sum(np.log(start.cpt(name)).sum() for name in start.nodes)
    assert before == pytest.approx([log_likelihood + prior])


@pytest.mark.parametrize("smoothing", ["mle", "laplace", "bdeu:4", "m:3", "replace-zero:half"])
def test_em_never_falls(smoothing):
    truth = random_network(np.random.default_rng(11), nodes=7, least_states=2)
    rows = holed(truth.sample(300, seed=1), 0.25)
    states = {name: truth.states(name) for name in truth.nodes}
    net = bb.BayesianNetwork({name: truth.parents(name) for name in truth.nodes}, states=states)
    told = []
    net.fit(rows, smoothing=smoothing, iterations=60, tolerance=0, progress=lambda *step: told.append(step))
    history = net.fit_.history
    assert np.diff(history).min() >= -1e-9 * abs(history[0])
    assert [what for _, _, what in told[:-1]] == [
        f"round {number}, log-likelihood {objective:,.1f}" for number, objective in enumerate(history, start=1)
    ]
    assert net.book_ is None
    with pytest.raises(CannotForget):
        net.forget(rows)


def test_em_is_counting_where_nothing_is_missing_and_better_than_dropping_rows():
    truth = random_network(np.random.default_rng(2), nodes=7, least_states=2, zeros=0)
    rows = truth.sample(1500, seed=3)
    structure, states = {n: truth.parents(n) for n in truth.nodes}, {n: truth.states(n) for n in truth.nodes}
    fit = {
        missing: bb.BayesianNetwork(structure, states=states).fit(holed(rows, 0.3), missing=missing)
        for missing in ("em", "ignore", "drop")
    }
    assert distance(fit["em"], truth) < distance(fit["drop"], truth)
    assert fit["em"].log_likelihood(rows) > fit["ignore"].log_likelihood(rows) - 1e-6
    counted = bb.BayesianNetwork(structure, states=states).fit(rows, missing="em")
    assert counted == bb.BayesianNetwork(structure, states=states).fit(rows, missing="drop")


def test_a_hidden_node_is_found_again():
    """Three coins that follow a hidden one: the classes come back, but for their names."""
    tables = {"h": 0.3, "a": {True: 0.9, False: 0.2}, "b": {True: 0.8, False: 0.1}, "c": {True: 0.95, False: 0.3}}
    truth = bb.BayesianNetwork({"a": ["h"], "b": ["h"], "c": ["h"]}, tables)
    rows = truth.sample(8_000, seed=0).drop_columns(["h"])
    states = {name: ["true", "false"] for name in "habc"}
    net = bb.BayesianNetwork({"a": ["h"], "b": ["h"], "c": ["h"]}, states=states)
    net.fit(rows, hidden=["h"], smoothing="mle", restarts=2, iterations=200, tolerance=1e-8)
    found = net.cpt("a")[:, 0]
    assert sorted(found) == pytest.approx([0.2, 0.9], abs=0.06)
    assert net.log_likelihood(rows, hidden=["h"]) >= truth.log_likelihood(rows, hidden=["h"])


def test_one_hidden_node_by_its_name():
    rows = {"cough": ["yes", "no"] * 10, "fever": ["yes", "no"] * 10}
    structure, states = {"cough": ["flu"], "fever": ["flu"]}, {"flu": ["yes", "no"]}
    one = bb.BayesianNetwork(structure, states=states).fit(rows, hidden="flu")
    assert one == bb.BayesianNetwork(structure, states=states).fit(rows, hidden=["flu"])


def test_partial_fit_takes_complete_rows():
    net = rain().fit(RAIN)
    with pytest.raises(BadData):
        net.partial_fit({"rain": ["yes"], "grass": [None]})
    with pytest.raises(BadData):
        rain().partial_fit({"rain": ["yes", "no"], "grass": [None, "dry"]})


def test_what_cannot_be_learned_from():
    with refusal(UnknownColumn, column="grass", where="data"):
        rain().fit({"rain": ["yes"]})
    with refusal(UnseenLevel, where="data", found="snow"):
        rain(states={"rain": ["yes", "no"], "grass": ["wet", "dry"]}).fit({"rain": ["snow"], "grass": ["wet"]})
    with refusal(BadData, where="data"):
        rain().fit({"rain": [], "grass": []})
    with refusal(BadOption, found="guess"):
        rain().fit(RAIN, missing="guess")
    with refusal(BadOption, what="`grass`"):
        rain().fit({"rain": ["yes"]}, hidden=["grass"])
    with pytest.raises(UnknownNode):
        rain().fit(RAIN, smoothing={"gras": "mle"})
    with refusal(BadOption, found="bdeu:x"):
        rain().fit(RAIN, smoothing="bdeu:x")
    with refusal(BadOption, found=-1):
        rain().fit(RAIN, prior_cases=-1)
    net = rain(states={"rain": ["yes", "no"], "grass": ["wet", "dry"]})
    net.fit({"rain": ["yes", "no"], "grass": ["wet", "dry"]}, smoothing="mle")
    with refusal(BadData, where="rows 1 to 8192"):
        net.log_likelihood({"rain": ["yes", None], "grass": ["dry", "dry"]})


COUNTED_ROWS = {"rain": ["yes", "yes", "no", "no", "no"], "grass": ["wet", "wet", "wet", "dry", "dry"]}
MORE_ROWS = {"rain": ["yes", "no"], "grass": ["dry", "dry"]}


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smoothing": "bdeu:3"},
        {"smoothing": {"rain": "mle", "grass": "lidstone:0.25"}},
        {"prior_cases": 2.5},
        {"weight": "w"},
    ],
)
def test_a_network_in_json_goes_on_learning(tmp_path, how):
    first = {**COUNTED_ROWS, "w": [0.1, 0.2, 0.3, 2.0, 1.5]} if "weight" in how else COUNTED_ROWS
    more = {**MORE_ROWS, "w": [0.7, 1.0]} if "weight" in how else MORE_ROWS
    reading = {"weight": "w"} if "weight" in how else {}
    expert = {"rain": 0.25, "grass": {"yes": {"wet": 0.75, "dry": 0.25}, "no": {"wet": 0.5, "dry": 0.5}}}
    states = {"rain": ["yes", "no"], "grass": ["wet", "dry"]}
    network = bb.BayesianNetwork({"grass": ["rain"]}, expert, states=states).fit(first, **how)
    network.write(tmp_path / "net.json")
    again = bb.read_network(tmp_path / "net.json")
    assert again == network
    assert again.book_ == network.book_
    together = again.partial_fit(more, **reading)
    assert together == network.partial_fit(more, **reading)
    assert together.forget(more, **reading) == bb.read_network(tmp_path / "net.json")
    merged = bb.read_network(tmp_path / "net.json") + bb.read_network(tmp_path / "net.json")
    assert merged.book_ == again.book_ + again.book_
    again.write(tmp_path / "other.json")
    assert (tmp_path / "other.json").read_bytes() == (tmp_path / "net.json").read_bytes()


def test_counts_that_are_not_those_of_the_tables_are_refused(tmp_path):
    import json

    path = tmp_path / "net.json"
    bb.BayesianNetwork({"grass": ["rain"]}).fit(COUNTED_ROWS).write(path)
    whole = json.loads(path.read_text())

    def refused(change):
        document = json.loads(path.read_text())
        change(document)
        (tmp_path / "bad.json").write_text(json.dumps(document))
        with refusal(BadModelFile, where="bad.json"):
            bb.read_network(tmp_path / "bad.json")

    refused(lambda each: each["learned"]["counts"]["rain"].__setitem__(0, 7))
    refused(lambda each: each["learned"]["counts"].pop("rain"))
    refused(lambda each: each["learned"]["counts"].__setitem__("rain", [1]))
    refused(lambda each: each["learned"]["counts"].__setitem__("rain", [-1, 3]))
    refused(lambda each: each["learned"].__setitem__("rows", 5))
    refused(lambda each: each["learned"].__setitem__("smoothing", {"rule": "none"}))
    refused(lambda each: each["learned"].__setitem__("more", 1))
    refused(lambda each: each["learned"]["by_node"].__setitem__("sun", {"rule": "laplace"}))
    refused(lambda each: each["nodes"][0].__setitem__("table", [[0.5, 0.5]]))
    del whole["learned"]
    (tmp_path / "bare.json").write_text(json.dumps(whole))
    assert bb.read_network(tmp_path / "bare.json").book_ is None
