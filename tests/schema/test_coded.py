"""Columns as states: levels, whole numbers, bins, holes, batches, and what cannot be used."""

import functools
import operator
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, UnknownColumn, UnseenLevel
from bayesbox.network.learn.survey import cuts_by, survey
from bayesbox.schema.coded import CodedRows, Variable, recode
from bayesbox.schema.intervals import cuts_of, interval_of, interval_states
from bayesbox.schema.kinds import Category, Flag, Ignore, Real
from bayesbox.source.base import Batch, OneBatch, Source
from bayesbox.source.frames import batch_of


class Batches(Source):
    name = "data"

    def __init__(self, *batches):
        self.each = batches

    def batches(self):
        return iter(self.each)


def states(data, **options):
    return {variable.name: variable.levels for variable in survey(OneBatch(batch_of(data)), **options).variables}


def codes(data, **options):
    coded = survey(OneBatch(batch_of(data)), **options).coded
    return {variable.name: column.tolist() for variable, column in zip(coded.variables, coded.columns, strict=True)}


def test_text_flags_and_few_whole_numbers_are_states_as_they_are():
    data = {"car": ["suv", None, "mini"], "new": [True, False, None], "doors": [5.0, 10.0, 3.0], "x": [1.5, 2, 3]}
    assert states(data) == {
        "car": ("mini", "suv"),
        "new": ("false", "true"),
        "doors": ("3", "5", "10"),  # in the order of numbers
        "x": ("<=1.75", "(1.75,2.5]", ">2.5"),
    }
    assert codes(data) == {"car": [1, -1, 0], "new": [1, 0, -1], "doors": [1, 2, 0], "x": [0, 1, 2]}


def test_many_whole_numbers_are_cut():
    assert states({"age": list(range(11))}, bins="width:2") == {"age": ("<=5", ">5")}
    assert states({"age": list(range(11))}, kinds={"age": Category()})["age"] == tuple(map(str, range(11)))
    assert states({"age": [1, 2, 3]}, kinds={"age": Real()}, bins="width:2")["age"] == ("<=2", ">2")


def test_a_value_on_a_cut_goes_low():
    data = {"x": [0.0, 1.0, 1.0, 2.5, None]}
    assert codes(data, bins="width:2", kinds={"x": Real()})["x"] == [0, 0, 0, 1, -1]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.integers(1, 6), st.sampled_from(["width", "frequency"])
)
def test_bins_hold_every_value_and_no_more_than_asked_for(values, count, by):
    found = survey(OneBatch(batch_of({"x": values})), kinds={"x": Real()}, bins=f"{by}:{count}")
    variable = found.variables[0]
    assert len(variable.levels) <= count
    assert cuts_of(variable.levels) in (variable.cuts, None)
    expected = [sum(value > cut for cut in variable.cuts) for value in values]
    assert found.coded.columns[0].tolist() == expected
    if len(set(values)) > 1:
        assert len(set(expected)) == len(variable.levels) or by == "width"


def test_equal_frequencies():
    assert codes({"x": [0.5, 1, 2, 3, 4, 5.5]}, bins="frequency:3")["x"] == [0, 0, 1, 1, 2, 2]


def test_names_of_intervals_hold_their_cuts():
    assert interval_states([]) == ("any",)
    for cuts in [(0.1,), (-2.0, 0.30000000000000004, 1e300), (1.0, 2.0, 3.0)]:
        assert cuts_of(interval_states(cuts)) == cuts
    for others in [("<=a", ">b"), ("<=1", ">2"), ("<=1",), ("<=2", "(2,1]", ">1e"), ("yes", "no")]:
        assert cuts_of(others) is None
    assert interval_of(("<=1", ">1"), "1") == 0
    assert interval_of(("<=1", ">1"), "nan") is None
    assert interval_of(("<=1", ">1"), "x") is None


def test_batches_give_the_same_as_one():
    data = {"car": ["b", "a", None, "c", "b"], "x": [0.5, None, 2.5, 1.5, 0.5], "y": [None, None, None, "p", "q"]}
    whole = batch_of(data)
    one = survey(OneBatch(whole))
    null = Batch(("car", "x", "y"), (pa.array(["b", "a"]), pa.array([0.5, None]), pa.nulls(2)), 2)
    other = survey(Batches(null, whole.slice(2, 3), whole.slice(3, 5)))
    assert one.variables == other.variables
    for mine, theirs in zip(one.coded.columns, other.coded.columns, strict=True):
        assert mine.tolist() == theirs.tolist()
    again = CodedRows.of(whole, one.variables)
    assert [column.tolist() for column in again.columns] == [column.tolist() for column in one.coded.columns]


def test_rows_that_do_not_fit_are_dropped_but_their_states_are_known():
    data = {"car": ["b", "a", None] * 100, "x": [0.5, 1.5, 2.5] * 100}
    found = survey(OneBatch(batch_of(data)), most_bytes=100)
    assert found.coded is None
    assert found.rows == 300
    assert found.variables == survey(OneBatch(batch_of(data))).variables


def test_kinds_and_known_states():
    data = {"id": [1, 2], "on": ["0", "TRUE"], "car": ["suv", "suv"], "size": ["S", "l"]}
    kinds = {"id": Ignore(), "on": Flag(), "car": Category(["van", "suv"])}
    found = states(data, kinds=kinds, known={"size": ("s", "m", "l")})
    assert found == {"on": ("false", "true"), "car": ("suv", "van"), "size": ("s", "m", "l")}
    assert codes(data, kinds=kinds, known={"size": ("s", "m", "l")})["size"] == [0, 2]  # S is s where no S is
    with refusal(UnseenLevel, where="data", found="xl"):
        states({"size": ["xl"]}, known={"size": ("s", "m")})


@pytest.mark.parametrize(
    ("count", "dtype", "unsigned"),
    [(128, np.int8, np.uint8), (129, np.int16, np.uint16), (32768, np.int16, np.uint16), (32769, np.int32, np.uint16)],
)
def test_codes_are_as_narrow_as_the_levels_allow(count, dtype, unsigned):
    texts = [f"t{place:05}" for place in range(count)]
    coded = survey(OneBatch(batch_of({"town": [*texts, None], "near": [*texts, texts[0]]}))).coded
    assert [column.dtype for column in coded.columns] == [dtype, dtype]
    assert [column.tolist() for column in coded.columns] == [[*range(count), -1], [*range(count), 0]]
    columns, sizes = coded.unsigned_columns()
    assert sizes == [count + 1, count]
    assert [column.dtype for column in columns] == [unsigned, unsigned]
    assert [column.tolist() for column in columns] == [[*range(count), count], [*range(count), 0]]
    assert np.shares_memory(columns[1], coded.columns[1]) == (dtype != np.int32)
    filled = coded.with_missing_level("missing")
    assert filled.columns[0].tolist() == [*range(count), count]
    assert filled.columns[0].dtype == filled.variables[0].dtype


def test_recode_maps_texts_to_the_places_of_other_levels():
    codes = np.array([0, 2, -1, 1], dtype=np.int8)
    assert recode(codes, ["a", "b", "c"], {"b": 0, "a": 1}).tolist() == [1, -1, -1, 0]
    assert recode(codes, ["a", "b", "c"], {"b": 0, "a": 1}, unseen=2, dtype=np.int8).tolist() == [1, 2, -1, 0]


def test_holes_as_a_state():
    coded = survey(OneBatch(batch_of({"a": ["x", None], "b": ["y", "y"]}))).coded
    assert coded.incomplete().tolist() == [False, True]
    filled = coded.with_missing_level("missing")
    assert filled.variables[0].levels == ("x", "missing")
    assert filled.variables[1].levels == ("y",)
    assert not filled.incomplete().any()


@pytest.mark.parametrize(
    ("data", "options", "fields"),
    [
        ({"a": [None, None]}, {}, {"column": "a", "found": None}),
        ({"a": [1.5, float("inf")]}, {}, {"column": "a", "found": float("inf")}),
        ({"on": ["maybe"]}, {"kinds": {"on": Flag()}}, {"column": "on", "found": "maybe"}),
    ],
)
def test_what_cannot_be_used(data, options, fields):
    with refusal(BadData, **fields):
        survey(OneBatch(batch_of(data)), **options)


def test_a_column_that_changes_its_kind():
    one = Batch(("a",), (pa.array([1.5, 2.5]),), 2)
    with refusal(BadData, column="a", where="data"):
        survey(Batches(one, Batch(("a",), (pa.array(["x"]),), 1)))
    with pytest.raises(UnknownColumn):
        survey(Batches(one), kinds={"b": Ignore()})


@pytest.mark.parametrize("text", ["mdl", "width:0", "depth:3", "frequency:x", 0])
def test_bins_that_are_none(text):
    with pytest.raises(BadOption):
        cuts_by(text)


class Elsewhere(Batches):
    """A source that counts where its rows lie: what it runs and what comes back goes through bytes."""

    remote = True

    def reduce(self, tally_of, *, threads=1):
        sent = pickle.dumps(tally_of)
        tallies = [pickle.dumps(pickle.loads(sent)(batch)) for batch in self.each]
        return functools.reduce(operator.add, [pickle.loads(tally) for tally in tallies])


def test_a_survey_where_the_rows_lie_is_the_same():
    data = {"car": ["b", "a", None, "c", "b"], "x": [0.5, None, 2.5, 1.5, 0.5], "n": [3, 1, 2, 1, None]}
    whole = batch_of(data)
    one = survey(OneBatch(whole))
    late = [
        Batch(("car", "x", "n"), (pa.nulls(1), pa.nulls(1), pa.nulls(1)), 1),
        *(whole.slice(at, at + 1) for at in range(5)),
    ]
    for batches in (late, late[::-1]):
        other = survey(Elsewhere(*batches))
        assert other.coded is None
        assert other.variables == one.variables
        assert (other.rows, other.holes) == (6, one.holes + 1)
    with refusal(BadData, column="a", where="data"):
        survey(Elsewhere(Batch(("a",), (pa.array(["x"]),), 1), Batch(("a",), (pa.array([1.5]),), 1)))


def test_a_network_is_learned_where_the_rows_lie():
    generator = np.random.default_rng(0)
    a = generator.integers(2, size=400)
    data = {"a": a, "b": np.where(generator.random(400) < 0.2, 1 - a, a), "c": generator.integers(3, size=400)}
    whole = batch_of(data)
    here = bb.learn_network(data)
    there = bb.learn_network(Elsewhere(*(whole.slice(at, at + 100) for at in range(0, 400, 100))))
    assert there == here
    assert here.edges == [("a", "b")]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("least", [0, -1])  # with missing values, and without
def test_counts_of_rows_that_have_all_members(weighted, least):
    generator = np.random.default_rng(5)
    cards = (2, 130, 3)
    variables = tuple(Variable(str(place), tuple(map(str, range(card)))) for place, card in enumerate(cards))
    columns = tuple(generator.integers(least, len(each.levels), 500).astype(each.dtype) for each in variables)
    weights = generator.integers(0, 5, 500) / 4 if weighted else None
    coded = CodedRows(variables, columns, 500, weights)
    for members in [(1,), (2, 1), (0, 1, 2)]:
        expected = np.zeros([cards[member] for member in members])
        for row in range(500):
            place = tuple(int(columns[member][row]) for member in members)
            if min(place) >= 0:
                expected[place] += 1 if weights is None else weights[row]
        assert coded.counts(*members).tolist() == expected.tolist()
