"""Probabilities of a table, against the enumeration of its rows in fractions."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal
from tests.tables import SHAPES

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleEvidence, UnknownColumn
from bayesbox.network.query.notation import Query, Term, Virtual

TABLE = SHAPES.X | {"class": SHAPES.y}
JOINT = bb.Joint(TABLE)

NAMES = "abc"
LEVELS = {"a": ["x", "y", "z"], "b": ["0", "1"], "c": ["p", "q"]}
ROWS = st.lists(
    st.fixed_dictionaries(
        {name: st.sampled_from([*levels, None]) for name, levels in LEVELS.items()}
        | {"w": st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.1, 0.0])}
    ),
    min_size=1,
    max_size=12,
)


def events():
    return st.sampled_from([Term(name, level) for name, levels in LEVELS.items() for level in levels])


def virtuals():
    chance = st.sampled_from([Fraction(0), Fraction(3, 10), Fraction(1)])
    number = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2)])
    listed = st.sampled_from(NAMES).flatmap(
        lambda name: st.tuples(*[number] * len(LEVELS[name])).map(
            lambda numbers: Virtual(name, tuple(zip(LEVELS[name], numbers, strict=True)))
        )
    )
    return st.one_of(chance.map(lambda p: Virtual("b", p)), listed.filter(lambda v: any(n for _, n in v.likelihood)))


QUERIES = st.builds(
    Query,
    st.lists(events() | st.sampled_from(NAMES).map(Term), min_size=1, max_size=3, unique_by=lambda t: t.name).map(
        tuple
    ),
    st.lists(events() | virtuals(), max_size=3).map(tuple),
)


def factor(row, term):
    """1 or 0 for an event, a likelihood for virtual evidence."""
    level = row[term.name]
    if isinstance(term, Term):
        return Fraction(term.value is None or level == term.value)
    if isinstance(term.likelihood, Fraction):
        return term.likelihood if level == "1" else 1 - term.likelihood
    return dict(term.likelihood)[level]


def enumerated(rows, query):
    """(P(evidence), weight of each combination of the targets without a value), row by row."""
    given_weight = Fraction(0)
    tables = {}
    bare = [target.name for target in query.targets if target.value is None]
    for row in rows:
        if any(row[name] is None for name in query.names):
            continue
        weight = Fraction(row["w"])
        for term in query.evidence:
            weight *= factor(row, term)
        given_weight += weight
        for target in query.targets:
            weight *= factor(row, target)
        key = tuple(row[name] for name in bare)
        tables[key] = tables.get(key, 0) + weight
    return given_weight, tables


def declared():
    """A joint knows every level beforehand, so that a small table refuses no question."""
    return {name: bb.Category(levels) for name, levels in LEVELS.items()}


@given(rows=ROWS, query=QUERIES, weighted=st.booleans())
@settings(max_examples=250)
def test_against_enumeration(rows, query, weighted):
    if not weighted:
        rows = [row | {"w": 1.0} for row in rows]
    joint = bb.Joint(rows, weight="w", columns=declared())
    under, over = enumerated(rows, query)
    if under == 0:
        with pytest.raises(ImpossibleEvidence):
            joint.query(str(query))
        return
    answer = joint.ask(str(query))
    if query.is_event:
        assert answer.value == over.get((), 0) / under
        assert joint.query(str(query)) == float(answer.value)
        assert joint.fraction(str(query)) == answer.value
    else:
        bare = [target.name for target in query.targets if target.value is None]
        found = answer.value.fractions
        for key in product(*(LEVELS[name] for name in bare)):
            exact = over.get(key, Fraction(0)) / under
            inner = key[0] if len(bare) == 1 else key
            assert answer.value[inner] == float(exact)
            assert found.get(inner, 0) == exact
        if len(bare) == 1:
            assert list(found) == LEVELS[bare[0]]
        else:
            assert list(found) == sorted(key for key, weight in over.items() if weight)
    weights = {True: Fraction(0), False: Fraction(0)}
    for row in rows:
        weights[any(row[name] is None for name in query.names)] += Fraction(row["w"])
    assert (answer.left_out, answer.counted) == (weights[True], weights[False])


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        ("P(colour=red)", "6/11"),
        ("P(size=large)", "4/11"),
        ("P(colour=red, size=large)", "2/11"),
        ("P(colour=red | class=+)", "2/5"),
        ("P(size=large | class=+)", "2/5"),
        ("P(colour=red, size=large | class=+)", "1/5"),
        ("P(size=small | class=+)", "0"),
        ("P(colour=red, colour=blue)", "0"),
        ("P(colour=red | colour=red)", "1"),
        ("P(class=+ | shape=circle, colour=blue, size=large)", "1"),
    ],
)
def test_shapes(text, fraction):
    assert JOINT.fraction(text) == Fraction(fraction)
    assert JOINT.query(text) == float(Fraction(fraction))
    assert isinstance(JOINT.query(text), float)


def test_a_table():
    sizes = JOINT.query("P(size | class=+)")
    assert dict(sizes) == {"large": 0.4, "medium": 0.6, "small": 0.0}
    assert sizes.fractions == {"large": Fraction(2, 5), "medium": Fraction(3, 5), "small": 0}
    assert sizes.columns == ("size",)
    assert repr(sizes) == "P(size | class=+)\n  large   2/5  0.4\n  medium  3/5  0.6\n  small   0    0"
    with pytest.raises(KeyError):
        sizes["huge"]
    assert "small" in sizes
    assert "huge" not in sizes


def test_a_table_of_combinations():
    both = JOINT.query("P(size, colour | class=+)")
    assert both["large", "red"] == 0.2
    assert ("small", "red") not in list(both)
    assert both["small", "red"] == 0.0
    assert sum(both.fractions.values()) == 1
    with pytest.raises(KeyError):
        both["large"]


def test_a_slice_of_the_joint_table():
    slice_ = JOINT.query("P(colour, size=large)")
    assert slice_.fractions == {"blue": Fraction(2, 11), "red": Fraction(2, 11)}


def test_html_is_escaped_and_cut():
    wide = bb.Joint({"<b>": ["<i>"] + [f"v{i}" for i in range(30)]}).query('P("<b>")')
    text = wide._repr_html_()
    assert "<b>" not in text
    assert "<i>" not in text
    assert "&lt;i&gt;" in text
    assert "11 more" in text
    assert text.count("<tr>") == 1 + 20 + 1
    assert repr(wide).endswith("... 11 more")


def test_levels_in_their_own_type_and_order():
    joint = bb.Joint({"age": [9, 10, 34, 34], "member": [True, False, True, None], "flag": [0, 1, 1, 1]})
    ages = joint.query("P(age)")
    assert list(ages) == ["9", "10", "34"]
    assert ages[34] == ages["34"] == ages[34.0] == 0.5
    assert joint.fraction("P(age=34.0)") == Fraction(1, 2)
    assert joint.fraction("P(age=3.4e1)") == Fraction(1, 2)
    assert joint.fraction("P(member=True)") == joint.fraction("P(member=1)") == Fraction(2, 3)
    assert joint.query("P(member)")[True] == 2 / 3
    assert joint.fraction("P(flag=true)") == joint.fraction("P(flag=1)") == Fraction(3, 4)


def test_text_is_not_taken_for_a_number():
    joint = bb.Joint({"zip": ["01", "1", "1"]})
    assert joint.fraction("P(zip=01)") == Fraction(1, 3)
    with refusal(BadOption, where="data"):
        joint.query("P(zip=1.0)")


def test_missing_values_are_left_out_of_what_asks_for_them():
    joint = bb.Joint({"a": ["x", "x", "y", None], "b": ["p", None, "q", "q"]})
    assert joint.fraction("P(a=x)") == Fraction(2, 3)
    assert joint.fraction("P(a=x, b=p)") == Fraction(1, 2)
    assert joint.fraction("P(a=x | b=q)") == 0
    answer = joint.ask("P(a | b=q)")
    assert (answer.counted, answer.given, answer.left_out) == (2, 1, 2)
    assert (answer.value.counted, answer.value.left_out) == (2, 2)


def test_virtual_evidence():
    joint = bb.Joint({"ill": ["yes", "yes", "no", "no", "no"], "spots": ["yes", "no", "yes", "no", "no"]})
    # 7/10 and 3/10: yes 7 + 3, no 7 + 3 + 3
    assert joint.fraction("P(ill=yes | spots~0.7)") == Fraction(10, 23)
    assert joint.fraction("P(ill=yes | spots~(yes:0.7, no:0.3))") == Fraction(10, 23)
    assert joint.fraction("P(ill=yes | spots~(no:3, yes:7))") == Fraction(10, 23)
    assert joint.fraction("P(ill=yes | spots~1)") == joint.fraction("P(ill=yes | spots=yes)")
    assert joint.fraction("P(ill=yes | spots~0.5)") == joint.fraction("P(ill=yes)")
    # two reports, each by itself
    assert joint.fraction("P(spots=yes | spots~0.7, spots~0.7)") == Fraction(2 * 49, 2 * 49 + 3 * 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P(class | colour~0.7)", "two values, one of them true, yes or 1"),
        ("P(class | colour~(red:0.7))", "no likelihood for blue"),
        ("P(class | colour~(red:0.7, blu:0.3))", "Did you mean `blue`"),
        ("P(colour=rde)", "column `colour` never has the value `rde`. Did you mean `red`?"),
        ("P(colour=RED)", "Did you mean `red`?"),
        ("P(colour=zzz)", "Its values are `blue`, `red`"),
        ("P(class | colour=rde)", "Did you mean `red`?"),
        ("P(colour<=red)", "comparisons are not supported"),
    ],
)
def test_refused_questions(text, message):
    with pytest.raises(BadOption) as caught:
        JOINT.query(text)
    assert message in str(caught.value)


def test_unknown_columns():
    with refusal(UnknownColumn, column="color", where="data"):
        JOINT.query("P(color)")
    with refusal(UnknownColumn, column="sise", where="data"):
        JOINT.query("P(colour | sise=large)")


def test_impossible_evidence():
    with refusal(ImpossibleEvidence, where="data"):
        JOINT.query("P(colour | size=small, class=+)")
    with refusal(ImpossibleEvidence, where="data"):
        bb.Joint({"a": [None, None], "b": ["x", "y"]}).query("P(a)")
    with refusal(ImpossibleEvidence, where="data"):
        bb.Joint({"a": ["x", None], "b": ["p", "q"]}).query("P(a | b=q)")


def test_a_declared_level_that_never_occurs():
    joint = bb.Joint({"car": ["suv", "sports"]}, columns={"car": bb.Category(["suv", "sports", "truck"])})
    assert joint.query("P(car=truck)") == 0.0
    assert dict(joint.query("P(car)")) == {"sports": 0.5, "suv": 0.5, "truck": 0.0}
    with pytest.raises(ImpossibleEvidence):
        joint.query("P(car | car=truck)")


def test_odds():
    assert JOINT.odds("P(colour=red | class=+)") == 2 / 3
    assert JOINT.odds("P(size=small | class=+)") == 0.0
    assert JOINT.odds("P(colour=red | colour=red)") == float("inf")
    with refusal(BadOption, found="P(colour)"):
        JOINT.odds("P(colour)")


def test_counts_beyond_64_bits_and_tiny_weights():
    joint = bb.Joint({"a": ["x", "y", "x"], "w": [2.0**80, 1.0, 2.0**-80]}, weight="w")
    under = Fraction(2**80 + 1) + Fraction(1, 2**80)
    assert joint.fraction("P(a=y)") == 1 / under
    assert joint.query("P(a=x)") == 1.0
    big = bb.Joint({"a": ["x", "y"], "w": [3e9, 6e9]}, weight="w")
    assert big.fraction("P(a=y)") == Fraction(2, 3)
