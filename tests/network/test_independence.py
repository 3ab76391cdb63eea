"""Independence: exactly, against enumeration; by chance, against scipy."""

import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency
from tests.explain.latex import check_latex
from tests.refusal import refusal
from tests.tables import SHAPES

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.network.query.notation import Independence, Term

JOINT = bb.Joint(SHAPES.X | {"class": SHAPES.y})


def test_red_and_large():
    found = JOINT.independent("colour=red", "size=large")
    assert not found
    assert (found.joint, found.product) == (Fraction(2, 11), Fraction(24, 121))
    assert found.factors == (Fraction(6, 11), Fraction(4, 11))
    assert repr(found) == (
        "not independent: P(colour=red, size=large) = 2/11, P(colour=red) P(size=large) = 6/11 x 4/11 = 24/121"
    )


def test_red_and_large_given_the_class():
    found = JOINT.independent("colour=red", "size=large", given="class=+")
    assert not found
    assert (found.joint, found.product) == (Fraction(1, 5), Fraction(4, 25))
    assert found.factors == (Fraction(2, 5), Fraction(2, 5))
    assert found == JOINT.independent("colour=red _|_ size=large | class=+")
    assert found == JOINT.independent("colour=red", "size=large", given=["class=+"])


def test_the_furthest_value_is_named():
    found = JOINT.independent("colour", "size", given="class")
    assert not found
    assert str(found.witness) == "colour=blue _|_ size=large | class=-"
    assert (found.joint, found.product) == (Fraction(1, 6), Fraction(1, 9))
    assert repr(found).startswith(
        "not independent, with the largest difference at P(colour=blue, size=large | class=-) = 1/6, "
    )


def test_independent_variables():
    rows = [{"a": a, "b": b} for a in "xxy" for b in "pqqr"]
    found = bb.Joint(rows).independent("a", "b")
    assert found
    assert found.joint == found.product
    assert (found.chi_square.statistic, found.g.statistic) == (0.0, 0.0)
    assert (found.chi_square.degrees, found.chi_square.p_value) == (2, 1.0)
    assert repr(found).startswith("independent for every value, such as P(a=")


def test_a_constant_is_independent_of_all():
    joint = bb.Joint({"a": ["x", "y", "y"], "b": ["k", "k", "k"]})
    found = joint.independent("a", "b")
    assert found
    assert (found.g.degrees, found.g.statistic, found.g.p_value) == (0, 0.0, 1.0)
    assert joint.independent("a=x", "b=k")


def test_events_that_exclude_one_another():
    joint = bb.Joint({"a": ["x", "y"], "b": ["p", "q"]})
    found = joint.independent("a=x", "b=q")
    assert not found
    assert (found.joint, found.product) == (0, Fraction(1, 4))


def test_independent_here_and_not_there():
    rows = [{"a": a, "b": b, "c": "even"} for a, b in product("xy", "pq")]
    rows += [{"a": "x", "b": "p", "c": "odd"}, {"a": "y", "b": "q", "c": "odd"}]
    joint = bb.Joint(rows)
    assert joint.independent("a", "b", given="c=even")
    assert not joint.independent("a", "b", given="c=odd")
    assert not joint.independent("a", "b", given="c")
    assert joint.independent("a", "b", given="c").witness.given == (Term("c", "odd"),)


def test_the_furthest_is_by_probability_not_by_rows():
    """In a small stratum the two exclude one another; a large one is a little off, by many more rows."""
    few = rows_of([[0, 1], [1, 0]], c="few")
    many = rows_of([[110, 100], [100, 100]], c="many")
    found = bb.Joint(few + many, weight="n").independent("a", "b", given="c")
    assert found.witness.given == (Term("c", "few"),)
    assert abs(found.joint - found.product) == Fraction(1, 4)


LEVELS = {"a": "xyz", "b": "pq", "c": "01", "d": "mn"}
ROWS = st.lists(
    st.fixed_dictionaries(
        {name: st.sampled_from([*levels, *levels, None]) for name, levels in LEVELS.items()}
        | {"w": st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.1])}
    ),
    min_size=1,
    max_size=16,
)


def terms(names, *, events):
    chosen = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    if not events:
        return chosen.map(lambda some: tuple(Term(name) for name in some))
    return chosen.flatmap(
        lambda some: st.tuples(*(st.sampled_from(LEVELS[name]).map(lambda v, n=name: Term(n, v)) for name in some))
    )


QUESTIONS = st.builds(
    Independence,
    st.booleans().flatmap(lambda events: terms("ab", events=events)),
    st.booleans().flatmap(lambda events: terms("c", events=events)),
    st.one_of(st.just(()), terms("d", events=True), terms("d", events=False)),
)


def value_of(row, side):
    """What a side is in a row: true or false for an event, the values of variables."""
    if side and side[0].value is not None:
        return all(row[term.name] == term.value for term in side)
    return tuple(row[term.name] for term in side)


def strata_of(rows, question):
    """A dict of counts (left, right) -> weight for every stratum."""
    strata = {}
    for row in rows:
        if any(row[name] is None for name in question.names):
            continue
        if any(term.value not in (None, row[term.name]) for term in question.given):
            continue
        cells = strata.setdefault(tuple(row[t.name] for t in question.given if t.value is None), {})
        key = value_of(row, question.left), value_of(row, question.right)
        cells[key] = cells.get(key, 0) + Fraction(row["w"])
    return strata


def sides_of(cells, question):
    """Of each side, the values that occur, and those the question speaks of: of an event, that it holds."""
    occurring = [{key[place] for key in cells} for place in (0, 1)]
    asked = [
        {True} if side[0].value is not None else values
        for side, values in zip((question.left, question.right), occurring, strict=True)
    ]
    return occurring, asked


def probabilities(cells, a, b):
    """P(a, b), P(a) and P(b) in a stratum."""
    n = sum(cells.values())
    of_a = sum(weight for key, weight in cells.items() if key[0] == a)
    of_b = sum(weight for key, weight in cells.items() if key[1] == b)
    return Fraction(cells.get((a, b), 0)) / n, Fraction(of_a) / n, Fraction(of_b) / n


@given(rows=ROWS, question=QUESTIONS, weighted=st.booleans())
@settings(max_examples=250)
def test_against_enumeration(rows, question, weighted):
    if not weighted:
        rows = [row | {"w": 1.0} for row in rows]
    columns = {name: bb.Category(list(levels)) for name, levels in LEVELS.items()}
    joint = bb.Joint(rows, weight="w", columns=columns)
    strata = strata_of(rows, question)
    if not strata:
        with pytest.raises(ImpossibleEvidence):
            joint.independent(str(question))
        return
    found = joint.independent(str(question))
    exact, greatest, degrees, chi_square, g = True, Fraction(0), 0, 0.0, 0.0
    for cells in strata.values():
        (lefts, rights), asked = sides_of(cells, question)
        n = sum(cells.values())
        degrees += (len(lefts) - 1) * (len(rights) - 1)
        for a, b in product(lefts, rights):
            p_ab, p_a, p_b = probabilities(cells, a, b)
            exact = exact and p_ab == p_a * p_b
            chi_square += float(n * (p_ab - p_a * p_b) ** 2 / (p_a * p_b))
            g += 2 * float(n * p_ab) * np.log(float(p_ab / (p_a * p_b))) if p_ab else 0.0
        for a, b in product(*asked):
            p_ab, p_a, p_b = probabilities(cells, a, b)
            if p_ab or (True in (a, b)):  # of variables only what occurs is named
                greatest = max(greatest, abs(p_ab - p_a * p_b))
    assert bool(found) is found.independent is exact
    assert found.chi_square.degrees == found.g.degrees == degrees
    assert found.chi_square.statistic == pytest.approx(chi_square, rel=1e-9, abs=1e-12)
    assert found.g.statistic == pytest.approx(g, rel=1e-9, abs=1e-9)
    assert found.left_out + found.counted == sum(Fraction(row["w"]) for row in rows)

    witness = found.witness
    row = {term.name: term.value for term in (*witness.left, *witness.right, *witness.given)}
    cells = strata[tuple(row[term.name] for term in question.given if term.value is None)]
    p_ab, p_a, p_b = probabilities(cells, value_of(row, question.left), value_of(row, question.right))
    assert (found.joint, found.factors, found.product) == (p_ab, (p_a, p_b), p_a * p_b)
    assert float(abs(p_ab - p_a * p_b)) == pytest.approx(float(greatest), rel=1e-12, abs=0)


TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width), min_size=2, max_size=4)
)


def rows_of(table, **more):
    return [
        {"a": f"a{i}", "b": f"b{j}", "n": n, **more} for i, line in enumerate(table) for j, n in enumerate(line) if n
    ]


def without_empty(table):
    array = np.array(table)
    return array[array.any(axis=1)][:, array.any(axis=0)]


@given(table=TABLES.filter(lambda table: min(without_empty(table).shape) > 1))
@settings(max_examples=150)
def test_against_scipy(table):
    found = bb.Joint(rows_of(table), weight="n").independent("a", "b")
    for test, power in ((found.chi_square, "pearson"), (found.g, "log-likelihood")):
        theirs = chi2_contingency(without_empty(table), correction=False, lambda_=power)
        assert test.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
        assert test.degrees == theirs.dof
        assert test.p_value == pytest.approx(theirs.pvalue, rel=1e-7, abs=1e-12)


def test_strata_add_up():
    """Empty rows and columns of a stratum take no degrees of freedom."""
    one, two = [[5, 3, 0], [1, 4, 0]], [[2, 6, 1], [3, 0, 4]]
    found = bb.Joint(rows_of(one, c="1") + rows_of(two, c="2"), weight="n").independent("a", "b", given="c")
    parts = [chi2_contingency(without_empty(table), correction=False) for table in (one, two)]
    assert found.chi_square.degrees == 1 + 2
    assert found.chi_square.statistic == pytest.approx(sum(part.statistic for part in parts))
    assert found.chi_square.p_value == pytest.approx(chi2.sf(sum(part.statistic for part in parts), 3))


def test_events_are_tested_by_two_by_two():
    found = JOINT.independent("colour=red", "size=large")
    theirs = chi2_contingency([[2, 4], [2, 3]], correction=False)
    assert (found.chi_square.statistic, found.chi_square.degrees) == (pytest.approx(theirs.statistic), 1)
    assert found.chi_square.p_value == pytest.approx(theirs.pvalue)


def test_large_counts_are_exact():
    """One row more or less among 10**10 squared: far below the precision of doubles."""
    even = [{"a": a, "b": b, "n": 10**10} for a, b in product("xy", "pq")]
    assert bb.Joint(even, weight="n").independent("a", "b")
    odd = [*even, {"a": "x", "b": "p", "n": 1}]
    found = bb.Joint(odd, weight="n").independent("a", "b")
    assert not found
    assert found.chi_square.statistic == pytest.approx(1 / (4 * 10**10), rel=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "given", "message"),
    [
        ("colour=red, size", "class", None, "each side must consist of events, or of variables"),
        ("colour", "colour=red", None, "`colour` occurs twice"),
        ("colour", "size", "size=large", "`size` occurs twice"),
        ("colour _|_ size", None, "class", "independence needs two sides"),
        ("P(colour)", None, None, "independence needs two sides"),
        ("colour=rde", "size", None, "Did you mean `red`"),
        ("colour |", "size", None, "column 8"),
    ],
)
def test_refused(left, right, given, message):
    with pytest.raises(BadOption) as caught:
        JOINT.independent(left, right, given=given)
    assert message in str(caught.value)


def test_impossible_evidence():
    with refusal(ImpossibleEvidence, where="data"):
        JOINT.independent("colour", "shape", given="size=small, class=+")


def test_events_need_no_scipy():
    code = (
        "import sys, bayesbox as bb;"
        "v = bb.Joint({'a': ['x', 'y', 'y'], 'b': ['p', 'q', 'p']}).independent('a=x', 'b=p');"
        "assert 0 < v.g.p_value < 1 and 0 < v.chi_square.p_value < 1;"
        "print([m for m in ('scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_work_has_the_factors_and_their_counts():
    work = JOINT.work("colour=red _|_ size=large")
    assert str(work).splitlines()[:6] == [
        "colour=red _|_ size=large",
        "P(colour=red, size=large) = 2/11 = 0.1818182",
        "P(colour=red) = 6/11 = 0.5454545",
        "P(size=large) = 4/11 = 0.3636364",
        "P(colour=red) P(size=large) = 6/11 x 4/11 = 24/121 = 0.1983471",
        "2/11 is not 24/121, so they are not independent",
    ]
    assert str(work) == str(JOINT.independent("colour=red", "size=large").work())
    check_latex(work.latex())
    assert work.to_dict()["steps"][2]["rows"][0]["cells"][0]["fraction"] == "24/121"
    assert "6/11" in JOINT.independent("colour=red", "size=large")._repr_html_()
    given = JOINT.independent("colour", "size", given="class")
    assert given.counts.both / given.counts.given == given.joint
    assert (given.counts.one / given.counts.given, given.counts.other / given.counts.given) == given.factors
    assert "difference is largest" in str(given.work())
    rows = {"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]}
    assert "every other value: they are independent" in str(bb.Joint(rows).work("a _|_ b"))


def test_the_work_of_an_answer_is_a_count_over_a_count():
    assert str(JOINT.work("P(colour=red, size=large | class=+)")).splitlines()[1:] == [
        "rows with class=+ = 5",
        "P(colour=red, size=large | class=+) = 1/5 = 0.2",
    ]
    table = JOINT.ask("P(size | class=+)").work()
    cells = [row.cells[0] for row in table.step("answer").rows]
    assert [cell.formula for cell in cells] == ["2/5", "3/5", "0/5"]
    soft = JOINT.ask("P(class=+ | size~(large:0.7, medium:0.2, small:0.1))")
    [row] = soft.work().step("answer").rows
    assert row.cells[0].value == soft.value
    assert soft.weighed == Fraction(4 * 7 + 4 * 2 + 3 * 1, 10)
    assert soft.value == Fraction(2 * 7 + 3 * 2, 10) / soft.weighed
    assert row.cells[0].formula == "2/3.9"
    lacking = bb.Joint({"a": ["x", None, "y"]}).work("P(a=x)")
    assert lacking.step("left out").rows[0].cells[0].value == 1


@given(st.lists(st.sampled_from(["xp", "xq", "yp", "yq"]), min_size=1, max_size=12))
def test_the_work_of_any_table_is_exact(cells):
    rows = {"a": [each[0] for each in cells], "b": [each[1] for each in cells]}
    found = bb.Joint(rows).independent("a", "b")
    work = found.work()
    assert work.step("product").rows[0].cells[0].value == found.factors[0] * found.factors[1] == found.product
    assert work.step("joint").rows[0].cells[0].value == found.joint
    check_latex(work.latex())
