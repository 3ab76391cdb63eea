"""The work of networks: each way ends in the library's own answer, and every line of it is right."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.network.network import BayesianNetwork


@pytest.fixture
def alarm():
    tables = {
        "B": 0.001,
        "E": 0.002,
        "J": {True: 0.9, False: 0.05},
        "M": {True: 0.7, False: 0.01},
        "A": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
    }
    return bb.BayesianNetwork({"A": ["B", "E"], "J": ["A"], "M": ["A"]}, tables)


def last_value(work):
    return work.steps[-1].rows[0].cells[-1].value


def test_one_product_in_one_line(alarm):
    question = "P(B=false, E=false, A=true, J=true, M=true)"
    work = alarm.work(question)
    [step] = work.steps
    [row] = step.rows
    assert row.cells[-1].value == alarm.fraction(question) == Fraction(31405563, 50000000000)
    assert row.cells[-1].formula == "0.999 x 0.998 x 0.001 x 0.9 x 0.7"
    assert work.text(1000).count("\n") == 1  # the title, and the product
    assert "/ 1" not in work.text(1000)


@pytest.mark.parametrize("method", ["auto", "enumeration", "elimination"])
@pytest.mark.parametrize(
    "question",
    [
        "P(B=true | J=true, M=true)",
        "P(B=true, E=true | J=true)",
        "P(B=true | E=false, A=true, J=true, M=false)",
        "P(A=true | J~(true:0.7, false:0.3))",
        "P(A=true | A~(true:0.7, false:0.3), J=true)",
    ],
)
def test_every_way_ends_in_the_answer(alarm, question, method):
    work = alarm.work(question, method=method)
    assert work.step("posterior").rows[0].cells[0].value == alarm.fraction(question)
    assert max(map(len, str(work).splitlines())) <= 100


@pytest.mark.parametrize("method", ["auto", "enumeration", "elimination"])
def test_a_table_has_a_line_for_each_state(alarm, method):
    rows = alarm.work("P(B | J=true, M=true)", method=method).step("posterior").rows
    assert [row.name for row in rows] == ["P(B=true | J=true, M=true)", "P(B=false | J=true, M=true)"]
    assert sum(row.cells[0].value for row in rows) == 1


@pytest.mark.parametrize("method", ["auto", "enumeration", "elimination"])
def test_nothing_is_divided_by_one(alarm, method):
    work = alarm.work("P(A=true)", method=method)
    assert alarm.fraction("P(A=true)") in [
        row.cells[-1].value for step in work.steps for row in step.rows if row.name == "P(A=true)"
    ]
    assert " / " not in str(work)


def test_the_shorter_way_is_chosen():
    chain = {f"X{i}": [f"X{i - 1}"] for i in range(1, 9)}
    net = bb.BayesianNetwork(chain, {"X0": 0.3, **{name: {True: 0.9, False: 0.2} for name in chain}})
    work = net.work("P(X0=true | X8=true)")
    assert last_value(work) == net.fraction("P(X0=true | X8=true)")
    assert [step.name for step in work.steps if step.name.startswith("sum out")] == [
        f"sum out X{i}" for i in sorted(range(1, 8), key=lambda i: str(work).index(f"sum over X{i} of"))
    ]
    assert len(str(work).splitlines()) < 45
    with pytest.raises(BadOption) as caught:
        net.work("P(X0=true)", method="best")
    assert caught.value.found == "best"
    with pytest.raises(BadOption, match="256 terms"):
        net.work("P(X0 | X8=true)", method="enumeration")


def test_a_factor_may_be_one_number():
    structure = {"B": ["A"], "D": ["C"]}
    rows = {True: 0.9, False: 0.2}
    net = bb.BayesianNetwork(structure, {"A": 0.3, "C": 0.6, "B": rows, "D": rows})
    work = net.work("P(A=true | B=true, D=true)", method="elimination")
    assert last_value(work) == net.fraction("P(A=true | B=true, D=true)")
    assert "f1 = 0.6 x 0.9 + 0.4 x 0.2 = 0.62" in str(work)


def test_large_tables_are_doubles():
    random = np.random.default_rng(0)
    names = [f"X{i}" for i in range(14)]
    structure = {"Y": names}
    shares = random.uniform(size=[2] * 14)
    tables = {name: float(random.uniform()) for name in names} | {"Y": np.stack([shares, 1 - shares], axis=-1)}
    net = bb.BayesianNetwork(structure, tables)
    work = net.work("P(X0=true | Y=true)")
    assert float(net.work("P(Y=true)").step("joint").rows[1].cells[0].value) == pytest.approx(net.query("P(Y=true)"))
    assert float(last_value(work)) == pytest.approx(net.query("P(X0=true | Y=true)"), rel=1e-12)


def test_what_has_no_work(alarm):
    with pytest.raises(BadOption, match="contradicts"):
        alarm.work("P(B=true | B=false)")
    assert "is given" in str(alarm.work("P(B=true | B=true)"))
    certain = bb.BayesianNetwork({"B": ["A"]}, {"A": 0.5, "B": {True: 1, False: 1}})
    with pytest.raises(ImpossibleEvidence):
        certain.work("P(A=true | B=false)")
    with pytest.raises(BadOption, match="weighting or gibbs"):
        alarm.work("P(B)", approx="loopy")
    with pytest.raises(BadOption, match="seed"):
        alarm.work("P(B)", seed=1)


@pytest.mark.parametrize("method", ["weighting", "gibbs"])
def test_first_samples(alarm, method):
    question = "P(B | J=true, M=true)"
    work = alarm.work(question, approx=method, seed=1)
    rows = {row.name: [cell.value for cell in row.cells] for row in work.step("estimates").rows}
    assert rows["exact"] == pytest.approx(list(alarm.query(question).values()), rel=1e-12)
    assert rows[f"the library's {method}"] == list(alarm.query(question, approx=method, seed=1).values())
    assert sum(rows["after 1,000 samples"]) == pytest.approx(1)
    assert work.to_dict() == alarm.work(question, approx=method, seed=1).to_dict()


def test_weights_are_the_product_of_the_evidence(alarm):
    for row in alarm.work("P(B=true | J=true, M=false)", approx="weighting").step("samples").rows:
        drawn, weight = row.cells
        alarmed = "A=true" in drawn.formula
        assert weight.value == pytest.approx(0.9 * 0.3 if alarmed else 0.05 * 0.99)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(["auto", "elimination"]))
def test_law_of_random_networks(seed, method):
    random = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    sizes = random.integers(2, 4, size=4)
    structure, tables, states = {}, {}, {}
    for place, name in enumerate(names):
        parents = [other for other in names[:place] if random.uniform() < 0.6]
        shape = [int(sizes[names.index(parent)]) for parent in parents]
        counts = random.integers(1, 9, size=[*shape, int(sizes[place])]).astype(float)
        structure[name], states[name] = parents, [f"s{state}" for state in range(sizes[place])]
        tables[name] = np.round(counts / counts.sum(axis=-1, keepdims=True), 3)
    net = BayesianNetwork(structure, tables, states=states, normalize=True)
    question = "P(a=s0 | d=s1)"
    work = net.work(question, method=method)
    assert float(work.step("posterior").rows[0].cells[0].value) == pytest.approx(net.query(question), rel=1e-12)


def test_tables_of_the_lung_cancer_network():
    rows = {(True, True): 0.8, (True, False): 0.5, (False, True): 0.7, (False, False): 0.1}
    net = bb.BayesianNetwork({"LC": ["FH", "S"]}, {"FH": 0.3, "S": 0.4, "LC": rows})
    tables = net.tables()
    assert list(tables) == ["FH", "S", "LC"]
    assert [[cell.value for cell in row.cells] for row in tables["LC"].rows] == [
        [Fraction(4, 5), Fraction(1, 5)],
        [Fraction(1, 2), Fraction(1, 2)],
        [Fraction(7, 10), Fraction(3, 10)],
        [Fraction(1, 10), Fraction(9, 10)],
    ]
    assert "P(LC | FH=true, S=false)   0.5   0.5" in str(tables)
    assert tables.parameters == {"numbers": 12, "free": 6, "joint_numbers": 8, "joint_free": 7}
    assert "<table>" in tables._repr_html_()


def test_counted_tables_show_their_counts():
    net = bb.BayesianNetwork({"grass": ["rain"]})
    net.fit({"rain": ["yes", "yes", "no", "no"], "grass": ["wet", "wet", "wet", "dry"]})
    cell = net.tables()["grass"].rows[1].cells[1]
    assert (cell.formula, cell.value) == ("(2 + 1)/(2 + 2)", Fraction(3, 4))
    for name in net.nodes:
        shown = [[float(cell.value) for cell in row.cells] for row in net.tables()[name].rows]
        np.testing.assert_allclose(np.array(shown).reshape(net.cpt(name).shape), net.cpt(name), rtol=1e-12)


def test_rows_that_were_made_to_sum_to_one_show_no_counts():
    net = bb.BayesianNetwork({"grass": ["rain"]})
    net.fit({"rain": ["yes", "yes", "no", "no"], "grass": ["wet", "wet", "wet", "dry"]}, smoothing="replace-zero:half")
    shown = [[float(cell.value) for cell in row.cells] for row in net.tables()["grass"].rows]
    np.testing.assert_allclose(shown, net.cpt("grass"), rtol=1e-9)


def test_tables_that_are_too_large_to_print():
    net = bb.BayesianNetwork(
        {"Y": [f"X{i}" for i in range(15)]},
        {**{f"X{i}": 0.5 for i in range(15)}, "Y": np.full([2] * 16, 0.5)},
    )
    with pytest.raises(BadOption) as caught:
        net.tables()
    assert caught.value.found == "65,566"
    assert "after 1,000 samples" in [row.name for row in net.work("P(X0=true | Y=true)", approx="gibbs").steps[-1].rows]
